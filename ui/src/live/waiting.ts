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

/** What waits where: the sessions tell how much, and at once; the turns tell since when. */
export interface AllWaiting {
  turns: Turn[];
  sessions: Session[];
}

/** How much waits in all sessions: the sum of what each session's badge says. */
export function waitingInAll({ sessions }: AllWaiting): number {
  return sessions.reduce((sum, session) => sum + waitingIn(session), 0);
}

/** With a session as it is now. */
export function withSession({ turns, sessions }: AllWaiting, session: Session): AllWaiting {
  const others = sessions.filter((other) => other.id !== session.id);
  const gone = waitingIn(session) === 0;
  return {
    turns: session.pending_turns === 0 ? turns.filter((turn) => turn.session_id !== session.id) : turns,
    sessions: gone ? others : [...others, session],
  };
}

export function withoutSession({ turns, sessions }: AllWaiting, id: string): AllWaiting {
  return {
    turns: turns.filter((turn) => turn.session_id !== id),
    sessions: sessions.filter((session) => session.id !== id),
  };
}

/** Everything that waits, oldest first. A question has no time of its own here; its session changed last when it came. */
export function allWaiting({ turns, sessions }: AllWaiting): Waiting[] {
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
