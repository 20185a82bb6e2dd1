import { describe, expect, it } from "vitest";
import type { Entry, StreamMessage } from "../api/types";
import { emptyStream, fold, openAsks, openResults } from "./fold";
import { toRows } from "./rows";
import { findCards, placeOfSeq } from "./search";
import { restAfter, toSegments } from "./timeline";

const at = (second: number) => new Date(Date.UTC(2026, 0, 5, 10, 0, second)).toISOString();
const base = { event_id: "e", session_id: "s" };

function message(seq: number, kind: StreamMessage["kind"], more: object = {}, entry?: object): StreamMessage {
  const timestamp = at(seq);
  const entries = entry ? [{ seq, timestamp, ...entry } as Entry] : [];
  return { ...base, seq, timestamp, kind, event: null, entries, ...more } as unknown as StreamMessage;
}
const call = (seq: number, id: string, more = {}) =>
  message(seq, "event", {}, { type: "tool_call", tool_name: "ticket", arguments: { a: id }, call_id: id, ...more });
const output = (seq: number, id: string, author = "agent", result: object = { ok: true }) =>
  message(seq, "event", { author }, { type: "tool_output", call_id: id, result });
const query = (seq: number, content: string) =>
  message(seq, "event", { author: "user" }, { type: "user_query", content });

describe("what ADK asks the user", () => {
  const ask = (seq: number, id: string) =>
    message(
      seq,
      "event",
      {},
      { type: "input_request", request: "confirmation", call_id: id, name: "n", arguments: {} },
    );
  const answer = (seq: number, id: string) =>
    message(seq, "event", {}, { type: "input_response", call_id: id, name: "n", response: { confirmed: true } });

  it("is open until it is answered", () => {
    const asked = fold(emptyStream, [query(1, "go"), call(2, "c1"), ask(3, "q1"), ask(4, "q2")]);
    expect(openAsks(asked.cards).map((card) => card.ask.call_id)).toEqual(["q1", "q2"]);
    const answered = fold(asked, [answer(5, "q1")]);
    expect(openAsks(answered.cards).map((card) => card.ask.call_id)).toEqual(["q2"]);
    expect(answered.cards).toHaveLength(4);
  });

  it("is left behind by a new message", () => {
    const state = fold(emptyStream, [query(1, "go"), ask(2, "q1"), query(3, "never mind")]);
    expect(openAsks(state.cards)).toEqual([]);
  });
});

describe("a long-running call", () => {
  it("stays open after its first answer, until the user gives the result", () => {
    const first = fold(emptyStream, [call(1, "c1", { long_running: true }), output(2, "c1")]);
    expect(openResults(first.cards)).toHaveLength(1);
    const done = fold(first, [output(3, "c1", "user", { closed: true })]);
    expect(openResults(done.cards)).toEqual([]);
    expect(done.cards[0]).toMatchObject({ interim: { seq: 2 }, outcome: { seq: 3 } });
  });
});

describe("running tools", () => {
  const run = (seq: number, status: string, more = {}) =>
    message(seq, "tool_run", { event: { call_id: "c1", tool_name: "ticket", status, ...more } });

  it("tell how far they are and how long they ran when cancelled", () => {
    const going = fold(emptyStream, [
      call(1, "c1"),
      run(2, "started"),
      run(4, "progress", { fraction: 0.4, message: "half" }),
    ]);
    expect(going.running).toEqual([{ callId: "c1", toolName: "ticket", since: at(2), said: "40 % · half" }]);
    const asked = fold(going, [run(5, "cancel_requested")]);
    expect(asked.running).toHaveLength(1);
    const gone = fold(asked, [run(7, "cancelled")]);
    expect(gone.cards[0]).toMatchObject({ running: null, cancelled: { afterMs: 5000 } });
  });
});

describe("the state", () => {
  it("is told as what changed since the request before", () => {
    const delta = (seq: number, state_delta: object) =>
      message(seq, "event", {}, { type: "agent_text", content: "x", state_delta });
    const request = (seq: number, turn: string) => message(seq, "request", { turn_id: turn, agent_name: "desk" });
    const state = fold(emptyStream, [
      delta(1, { a: 1 }),
      request(2, "t1"),
      delta(3, { b: 2 }),
      delta(4, { b: 3 }),
      request(5, "t2"),
    ]);
    expect(state.deltas).toEqual({ t1: { a: 1 }, t2: { b: 3 } });
    expect(state.askers.t2).toBe("desk");
  });
});

describe("search and links", () => {
  const state = fold(emptyStream, [
    query(1, "Where is my Teapot?"),
    call(2, "c1"),
    output(3, "c1", "agent", { text: 'the "lid"' }),
  ]);

  it("find all words, whatever their case and place", () => {
    expect(findCards(state.cards, "teapot where")).toEqual([0]);
    expect(findCards(state.cards, 'the "lid"')).toEqual([1]);
    expect(findCards(state.cards, "nothing")).toEqual([]);
    expect(findCards(state.cards, "  ")).toEqual([]);
  });

  it("lead to an entry, its outcome, or the last one before", () => {
    expect(placeOfSeq(state.cards, 2)).toBe(1);
    expect(placeOfSeq(state.cards, 3)).toBe(1);
    expect(placeOfSeq(state.cards, 99)).toBe(1);
  });
});

describe("the timeline", () => {
  const rows = (count: number) =>
    toRows(
      fold(
        emptyStream,
        Array.from({ length: count }, (_, index) => query(index + 1, `message ${index}`)),
      ).cards,
    );

  it("has a segment for each entry, as wide as the time until the next", () => {
    const segments = toSegments(rows(5), at(9));
    expect(segments).toHaveLength(5);
    expect(segments[4]?.weight).toBe(4 * (segments[0]?.weight ?? 0));
  });

  it("joins neighbours when there are very many, and covers all of them", () => {
    const segments = toSegments(rows(5000), null);
    expect(segments.length).toBeLessThanOrEqual(170);
    expect(segments[0]?.from).toBe(0);
    expect(segments[segments.length - 1]?.to).toBe(5000);
    const ends = segments.slice(0, -1).map((segment) => segment.to);
    expect(segments.slice(1).map((segment) => segment.from)).toEqual(ends);
  });

  it("rests on each entry neither too short nor too long", () => {
    expect(restAfter(rows(3), 0)).toBeGreaterThanOrEqual(350);
    expect(restAfter(rows(3), 2)).toBeLessThanOrEqual(1500);
  });
});

describe("ten thousand entries", () => {
  it("fold in well under a second", () => {
    const messages = Array.from({ length: 20_000 }, (_, index) =>
      index % 2 === 0 ? call(index + 1, `c${index}`) : output(index + 1, `c${index - 1}`),
    );
    const began = performance.now();
    const state = fold(emptyStream, messages);
    expect(toRows(state.cards)).toHaveLength(10_000);
    expect(performance.now() - began).toBeLessThan(800);
  });
});
