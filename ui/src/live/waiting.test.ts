import { describe, expect, it } from "vitest";
import { matchesFilter } from "../api/queries";
import type { Session, Turn } from "../api/types";
import { allWaiting, waitingIn, waitingInAll, withoutSession, withSession } from "./waiting";

const session = (id: string, more: Partial<Session> = {}): Session => ({
  id,
  agent: "shop",
  app_name: "shop",
  user_id: "local",
  description: null,
  title: null,
  status: "active",
  state: "active",
  source: "web",
  created_at: "2026-01-05T10:00:00.000Z",
  updated_at: "2026-01-05T10:00:00.000Z",
  last_seq: 1,
  removed_through: 0,
  pending_turns: 0,
  open_requests: 0,
  run: null,
  adk_id: id,
  event_count: 0,
  message_count: 0,
  bytes: 0,
  flagged: false,
  ...more,
});
const turn = (id: string, sessionId: string, at: string): Turn => ({
  turn_id: id,
  session_id: sessionId,
  agent_name: "math",
  created_at: at,
  seq: 1,
  position: 1,
  head: true,
});

describe("what waits", () => {
  it("counts turns and questions together", () => {
    expect(waitingIn(session("a", { pending_turns: 2, open_requests: 1 }))).toBe(3);
    expect(waitingIn(session("a", { open_requests: 1 }))).toBe(1);
    expect(waitingIn(session("a", { pending_turns: 2 }))).toBe(2);
  });

  it("lists both, oldest first, each question once", () => {
    const turns = [turn("t1", "a", "2026-01-05T10:00:05.000Z"), turn("t2", "b", "2026-01-05T10:00:01.000Z")];
    const asking = session("c", { open_requests: 2, updated_at: "2026-01-05T10:00:03.000Z" });
    const waiting = allWaiting({ turns, sessions: [session("a", { pending_turns: 1 }), asking] });
    expect(waiting.map((item) => item.session_id)).toEqual(["b", "c", "c", "a"]);
    expect(new Set(waiting.map((item) => item.key)).size).toBe(4);
    expect(waiting[1]).toMatchObject({ what: "question", agent_name: "shop" });
  });

  it("counts as much in all as in each, as soon as a session has changed", () => {
    const turns = [turn("t1", "a", "2026-01-05T10:00:05.000Z")];
    const before = { turns, sessions: [session("a", { pending_turns: 1 })] };
    const more = withSession(before, session("a", { pending_turns: 3 }));
    expect(waitingInAll(more)).toBe(3);
    expect(waitingInAll(withSession(more, session("b", { open_requests: 1 })))).toBe(4);
    expect(withSession(more, session("a"))).toEqual({ turns: [], sessions: [] });
    expect(withoutSession(more, "a")).toEqual({ turns: [], sessions: [] });
  });

  it("decides which sessions are in the list of waiting ones", () => {
    expect(matchesFilter(session("a", { open_requests: 1 }), "waiting")).toBe(true);
    expect(matchesFilter(session("a"), "waiting")).toBe(false);
  });
});
