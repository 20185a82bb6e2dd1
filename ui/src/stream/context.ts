// What every card of one session needs: whose it is, how to go back to before an answer, and whether that is possible.
import { createContext, useContext } from "react";

export interface StreamShare {
  sessionId: string;
  /** The session can take messages and results. */
  open: boolean;
  /** More than one agent took part, so it matters who spoke. */
  several: boolean;
  /** Absent where going back is not possible: the user's own program drives the session. */
  goBack?: (turnId: string) => void;
}

const Context = createContext<StreamShare>({ sessionId: "", open: false, several: false });

export const StreamShareProvider = Context.Provider;

export function useStreamShare(): StreamShare {
  return useContext(Context);
}
