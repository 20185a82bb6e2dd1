// "Complete when this run is over." A final response completes its session unless the person keeps it open; the
// server wants the run finished first. The wish is kept in this tab's storage, so a reload does not lose it, and the
// last decision in a session decides.

const KEY = "hotseat.complete";

export interface Wish {
  /** The seq of the accepted decision: only a state of the session after it counts. */
  after: number;
  /** Whoever wished it knew that the user is asked something. */
  anyway?: boolean;
}

export function wishCompletion(sessionId: string, after: number, anyway: boolean): void {
  write({ ...read(), [sessionId]: { after, anyway } });
}

export function dropWish(sessionId: string): void {
  const { [sessionId]: _, ...rest } = read();
  write(rest);
}

export function wishFor(sessionId: string): Wish | undefined {
  return read()[sessionId];
}

export function wishedSessions(): string[] {
  return Object.keys(read());
}

export function isOver(
  session: { run: unknown; pending_turns: number; open_requests: number; last_seq: number; status: string },
  wish: Wish,
): boolean {
  return (
    session.status === "active" &&
    session.run === null &&
    session.pending_turns === 0 &&
    (session.open_requests === 0 || wish.anyway === true) &&
    session.last_seq > wish.after
  );
}

function read(): Record<string, Wish> {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as Record<string, Wish>;
  } catch {
    return {};
  }
}

function write(wishes: Record<string, Wish>): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(wishes));
  } catch {
    // Storage can be full or forbidden; then the person completes the session by hand.
  }
}
