import { describe, expect, it } from "vitest";
import type { Entry, LogEvent, StreamMessage } from "../api/types";
import { Exact, parseJson } from "../json/json";
import { securityWords } from "../session/Security";
import { emptyStream, fold } from "../stream/fold";
import { type AgentNode, agentTree } from "./agentTree";
import { changesOf, startOf, stateAfter, stateSteps } from "./stateSteps";

const time = "2026-01-05T10:00:00.000Z";
const base = { event_id: "e", session_id: "s", timestamp: time };

describe("the state over time", () => {
  const log = parseJson(`[
    {"seq": 1, "kind": "event", "author": "user", "timestamp": "${time}", "event": {"content": {}, "actions": {"state_delta": {}}}},
    {"seq": 2, "kind": "event", "author": "shop", "timestamp": "${time}", "event": {"actions": {"state_delta": {"city": "Porto", "total": 5.0}}}},
    {"seq": 3, "kind": "tool_run", "author": "shop", "timestamp": "${time}", "event": {"actions": {"state_delta": {"no": 1}}}},
    {"seq": 4, "kind": "event", "author": "desk", "timestamp": "${time}", "event": {"actions": {"stateDelta": {"city": null, "constructor": 1, "total": 5.0}}}},
    {"seq": 5, "kind": "event", "author": "desk", "timestamp": "${time}", "event": null},
    {"seq": 6, "kind": "event", "author": "desk", "timestamp": "${time}", "event": {"actions": null}}
  ]`) as unknown as LogEvent[];
  const steps = stateSteps(log);

  it("has a step for each ADK event that changed it, in either spelling", () => {
    expect(steps.map((step) => [step.seq, step.author])).toEqual([
      [2, "shop"],
      [4, "desk"],
    ]);
  });

  it("is what the steps up to then left", () => {
    expect(stateAfter({}, steps, 0)).toEqual({});
    expect(stateAfter({}, steps, 1)).toEqual({ city: "Porto", total: new Exact("5.0") });
    expect(stateAfter({ a: 1 }, steps, 2)).toEqual({ a: 1, city: null, total: new Exact("5.0"), constructor: 1 });
  });

  it("begins with what the session was created with, and what other sessions have set", () => {
    const known = { now: { "user:lang": "pt", city: null, total: 7 }, created: { city: "Faro" } };
    expect(startOf(steps, known)).toEqual({ "user:lang": "pt", city: "Faro" });
    expect(startOf(steps, undefined)).toEqual({});
  });

  it("tells what a step changed, and leaves out what stayed", () => {
    expect(changesOf({}, steps, 0).map((change) => [change.key, change.before])).toEqual([
      ["city", undefined],
      ["total", undefined],
    ]);
    expect(changesOf({}, steps, 1)).toEqual([
      { key: "city", before: "Porto", after: null },
      { key: "constructor", before: undefined, after: 1 },
    ]);
    expect(changesOf({}, steps, 7)).toEqual([]);
  });
});

describe("warnings about a session", () => {
  it("are counted in a line", () => {
    expect(securityWords(true, 0, 0)).toBe("This session is flagged");
    expect(securityWords(true, 1, 3)).toBe("This session is flagged · 1 warning · 3 failed accesses");
    expect(securityWords(false, 2, 1)).toBe("2 warnings · 1 failed access");
  });
});

describe("the agents of a session", () => {
  let seq = 0;
  const event = (author: string, more: object = {}, ...entries: object[]): StreamMessage => {
    seq += 1;
    const where = more as { branch?: string; parent_call_id?: string };
    const own = { seq, timestamp: time, agent_name: author, ...where };
    return {
      ...base,
      seq,
      kind: "event",
      event: null,
      author,
      agent_name: author,
      ...where,
      entries: entries.map((entry) => ({ ...own, ...entry }) as Entry),
    };
  };
  const call = (id: string) => ({ type: "tool_call", tool_name: "t", arguments: {}, call_id: id });
  const tree = (...messages: StreamMessage[]) => {
    const state = fold(emptyStream, messages);
    return agentTree([...state.parts.values()], state.cards).map(brief);
  };
  const brief = (node: AgentNode): unknown => ({
    [`${node.name}${node.how ? ` ${node.how}` : ""}`]: [node.events, node.calls, node.errors],
    ...(node.children.length > 0 ? { children: node.children.map(brief) } : {}),
  });

  it("are a tree by transfers, and coming back makes no second place", () => {
    seq = 0;
    expect(
      tree(
        event("user"),
        event("root", {}, { type: "transfer", to_agent: "desk", call_id: "x" }),
        event("desk", {}, call("c1")),
        event("desk", {}, { type: "tool_error", call_id: "c1", error_type: "E", error_message: "m" }),
        event("desk", {}, { type: "transfer", to_agent: "root" }),
        event("root"),
      ),
    ).toEqual([{ root: [2, 0, 0], children: [{ "desk transfer": [3, 1, 1] }] }]);
  });

  it("are under the agent that called them as a tool, once however often it did", () => {
    seq = 0;
    expect(
      tree(
        event("root", {}, call("c1"), call("c2")),
        event("helper", { parent_call_id: "c1" }),
        event("helper", { parent_call_id: "c2" }),
      ),
    ).toEqual([{ root: [1, 2, 0], children: [{ "helper tool": [2, 0, 0] }] }]);
  });

  it("follow their branches, with those that only the branch names", () => {
    seq = 0;
    expect(
      tree(
        event("a", { branch: "all.a" }),
        event("b", { branch: "all.b" }, call("c")),
        event("c", { branch: "all.b" }),
      ),
    ).toEqual([
      {
        all: [0, 0, 0],
        children: [{ "a branch": [1, 0, 0] }, { "b branch": [1, 1, 0], children: [{ "c branch": [1, 0, 0] }] }],
      },
    ]);
  });

  it("are nobody in an empty session", () => {
    expect(agentTree([], [])).toEqual([]);
  });
});
