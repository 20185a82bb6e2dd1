// What waits for the person: turns of the model's seat, and what ADK asks the user. Everything that counts, marks, tells
// or jumps asks here, so that they agree.
import type { Session, Turn } from "../api/types";

/** How much waits in a session. */
export function waitingIn(session: Pick<Session, "pending_turns" | "open_requests">): number {
  return session.pending_turns + session.open_requests;
}

export interface Waiting {
  key: string;
  what: "turn" | "question";
  session_id: string;
  agent_name: string;
  since: string;
}

/** Everything that waits, oldest first. A question has no time of its own here; its session changed last when it came. */
export function allWaiting(turns: Turn[], sessions: Session[]): Waiting[] {
  const asked: Waiting[] = turns.map((turn) => ({
    key: turn.turn_id,
    what: "turn",
    session_id: turn.session_id,
    agent_name: turn.agent_name,
    since: turn.created_at,
  }));
  const questions = sessions.flatMap((session) =>
    Array.from(
      { length: session.open_requests },
      (_, index): Waiting => ({
        key: `${session.id} ${index}`,
        what: "question",
        session_id: session.id,
        agent_name: session.agent ?? session.app_name,
        since: session.updated_at,
      }),
    ),
  );
  return [...asked, ...questions].sort((a, b) => Date.parse(a.since) - Date.parse(b.since));
}
