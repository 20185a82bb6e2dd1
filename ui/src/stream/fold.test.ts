import { describe, expect, it } from "vitest";
import type { Entry, StreamMessage } from "../api/types";
import { addGap, emptyStream, fold } from "./fold";
import { toRows } from "./rows";

const base = {
  event_id: "e",
  session_id: "s",
  timestamp: "2026-01-05T10:00:00.000Z",
  author: "human",
  agent_name: "agent",
};

function entries(seq: number, ...list: object[]): StreamMessage {
  return {
    ...base,
    seq,
    kind: "event",
    event: null,
    entries: list.map((entry) => ({ seq, timestamp: base.timestamp, ...entry }) as Entry),
  };
}
const call = (seq: number, id: string, more = {}) =>
  entries(seq, { type: "tool_call", tool_name: "add", arguments: { a: 1 }, call_id: id, ...more });
const output = (seq: number, id: string) =>
  entries(seq, { type: "tool_output", call_id: id, result: { result: 2 }, duration_ms: 3 });
const request = (seq: number, turn: string): StreamMessage => ({
  ...base,
  seq,
  kind: "request",
  event: null,
  turn_id: turn,
  entries: [],
});
const response = (seq: number, turn: string): StreamMessage => ({
  ...base,
  seq,
  kind: "response",
  event: {},
  turn_id: turn,
});
const toolRun = (seq: number, id: string, status: "started" | "succeeded" | "cancelled"): StreamMessage => ({
  ...base,
  seq,
  kind: "tool_run",
  event: { call_id: id, tool_name: "add", status },
});
const run = (seq: number, status: "queued" | "started" | "finished"): StreamMessage => ({
  ...base,
  seq,
  kind: "run",
  event: { run_id: "r", status },
});

describe("folding the stream", () => {
  it("knows who answers for the model and by which way the latest message came", () => {
    const queued = (seq: number, event: object): StreamMessage => ({
      ...base,
      seq,
      kind: "run",
      event: { run_id: `r${seq}`, status: "queued", ...event },
    });
    const first = fold(emptyStream, [queued(1, { seat: "model", client: { protocol: "ag-ui" } })]);
    expect(first).toMatchObject({ seat: "model", hosted: true, protocol: "ag-ui" });
    // What follows in the same run says nothing of it and changes nothing.
    const started = fold(first, [run(2, "started"), run(3, "finished")]);
    expect(started).toMatchObject({ seat: "model", hosted: true, protocol: "ag-ui" });
    expect(fold(started, [queued(4, {})])).toMatchObject({ seat: "human", protocol: "ag-ui" });
    // A program's own runs are started, never queued here.
    expect(fold(emptyStream, [run(1, "started")])).toMatchObject({ hosted: false, protocol: null });
  });

  it("joins a call and its outcome into one card", () => {
    const state = fold(emptyStream, [call(1, "c1"), output(2, "c1")]);
    expect(state.cards).toHaveLength(1);
    expect(state.cards[0]).toMatchObject({ type: "tool_call", seq: 1, outcome: { type: "tool_output", seq: 2 } });
  });

  it("joins parallel calls with their own outcomes, whatever the order", () => {
    const state = fold(emptyStream, [call(1, "c1"), call(2, "c2"), output(3, "c2"), output(4, "c1")]);
    expect(state.cards.map((card) => card.type === "tool_call" && card.outcome?.seq)).toEqual([4, 3]);
  });

  it("gives the same state for any batching", () => {
    const messages = [run(1, "queued"), request(2, "t1"), response(3, "t1"), call(4, "c1"), output(5, "c1")];
    const whole = fold(emptyStream, messages);
    const steps = messages.reduce((state, message) => fold(state, [message]), emptyStream);
    expect(steps).toEqual(whole);
  });

  it("takes no longer for each of many turns", () => {
    const messages = Array.from({ length: 5000 }, (_, index) => [
      request(3 * index + 1, `t${index}`),
      response(3 * index + 2, `t${index}`),
      call(3 * index + 3, `c${index}`),
    ]).flat();
    const began = performance.now();
    expect(fold(emptyStream, messages).requests).toHaveLength(5000);
    // Some ten milliseconds; many seconds if each turn costs as much as all before it.
    expect(performance.now() - began).toBeLessThan(2000);
  });

  it("counts a seq once, across and within batches", () => {
    const once = fold(emptyStream, [call(1, "c1"), call(1, "c1")]);
    const again = fold(once, [call(1, "c1")]);
    expect(once.cards).toHaveLength(1);
    expect(again).toBe(once);
  });

  it("keeps pending turns in the order they were asked", () => {
    const state = fold(emptyStream, [request(1, "a"), request(2, "b"), request(3, "c"), response(4, "b")]);
    expect(state.pending).toEqual(["a", "c"]);
    expect(state.requests).toEqual(["a", "b", "c"]);
  });

  it("shows a tool as running from its start to its end", () => {
    const started = fold(emptyStream, [call(1, "c1"), toolRun(2, "c1", "started")]);
    expect(started.cards[0]).toMatchObject({ running: { callId: "c1" } });
    const ended = fold(started, [toolRun(3, "c1", "cancelled")]);
    expect(ended.running).toEqual([]);
    expect(ended.cards[0]).toMatchObject({ running: null, cancelled: { afterMs: 0 } });
  });

  it("ends running tools when the run is over", () => {
    const state = fold(emptyStream, [run(1, "started"), call(2, "c"), toolRun(3, "c", "started"), run(4, "finished")]);
    expect(state.running).toEqual([]);
    expect(state.run).toBeNull();
  });

  it("shows what the user said until the agent has recorded it", () => {
    const queued: StreamMessage = {
      ...base,
      seq: 1,
      kind: "run",
      event: { run_id: "r", status: "queued", message: { role: "user", parts: [{ text: "hi" }] } },
    };
    const sent = fold(emptyStream, [queued]);
    expect(sent.unheard?.text).toBe("hi");
    expect(fold(sent, [entries(2, { type: "user_query", content: "hi" })]).unheard).toBeNull();
  });

  it("does not show the answer to a transfer and keeps an outcome without a call", () => {
    const state = fold(emptyStream, [
      entries(1, { type: "transfer", to_agent: "logistics", call_id: "t" }),
      output(2, "t"),
      output(3, "unknown"),
    ]);
    expect(state.cards.map((card) => card.type)).toEqual(["transfer", "outcome"]);
  });
});

describe("what is no longer there, or never was an event", () => {
  it("counts removed entries once", () => {
    const cleared = addGap(emptyStream, { after: 0, through: 7 });
    expect(cleared.removed).toBe(7);
    expect(addGap(cleared, { after: 0, through: 7 })).toBe(cleared);
    const later = fold(cleared, [call(8, "a")]);
    expect(later.cards).toHaveLength(1);
    expect(addGap(later, { after: 8, through: 10 }).removed).toBe(9);
  });

  it("takes what a session began with for what it is", () => {
    const began: StreamMessage = { ...base, seq: 1, kind: "session", event: { state: { city: "Porto" } }, entries: [] };
    expect(fold(emptyStream, [began])).toMatchObject({ completed: false, lastSeq: 1, cards: [] });
  });

  const message = (seq: number, role: string): StreamMessage => ({
    ...base,
    seq,
    kind: "message",
    event: { role, content: `${role} speaks` },
    entries: [],
  });

  it("shows messages until events tell what was said, whatever the batches", () => {
    const said = fold(emptyStream, [message(1, "user"), message(2, "assistant")]);
    expect(said.cards.map((card) => card.type)).toEqual(["user_query", "agent_text"]);
    const all = [message(1, "user"), call(2, "a"), message(3, "assistant")];
    const once = fold(emptyStream, all);
    expect(once.cards.map((card) => card.seq)).toEqual([2]);
    expect(all.reduce((state, next) => fold(state, [next]), emptyStream).cards).toEqual(once.cards);
  });
});

describe("a question to the user", () => {
  const asked = entries(2, {
    type: "input_request",
    request: "confirmation",
    call_id: "q",
    name: "adk_request_confirmation",
    arguments: {},
    for_call_id: "a",
  });
  const said = (confirmed: boolean) =>
    entries(3, { type: "input_response", call_id: "q", name: "adk_request_confirmation", response: { confirmed } });

  it("knows the tool that waits, and a no from an error", () => {
    const no = fold(emptyStream, [call(1, "a"), asked, said(false)]);
    expect(no.cards[1]).toMatchObject({ type: "input_request", tool: "add" });
    expect(no.cards[0]).toMatchObject({ rejected: true });
    expect(fold(emptyStream, [call(1, "a"), asked, said(true)]).cards[0]).toMatchObject({ rejected: false });
  });
});

describe("reading order", () => {
  it("puts what a nested agent did under the call that ran it", () => {
    const state = fold(emptyStream, [
      call(1, "outer"),
      call(2, "other"),
      call(3, "inner", { parent_call_id: "outer" }),
      entries(4, { type: "final_response", content: "x", parent_call_id: "inner" }),
    ]);
    expect(toRows(state.cards).map((row) => [row.card.seq, row.depth])).toEqual([
      [1, 0],
      [3, 1],
      [4, 2],
      [2, 0],
    ]);
  });

  it("leaves entries whose call is unknown in place", () => {
    const state = fold(emptyStream, [call(1, "a"), call(2, "b", { parent_call_id: "gone" })]);
    expect(toRows(state.cards).map((row) => row.depth)).toEqual([0, 0]);
  });
});
