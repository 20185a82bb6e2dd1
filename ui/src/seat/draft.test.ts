import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Tool } from "../api/types";
import { typeJson } from "../form/edited";
import {
  type Draft,
  errorsOfCall,
  keepsOpen,
  loadDraft,
  offerOf,
  problemOf,
  saveDraft,
  startDraft,
  toDecision,
} from "./draft";

const add: Tool = {
  name: "add",
  parameters: {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "integer" }, c: { type: "integer", default: 1 } },
    required: ["a", "b"],
  },
};
const ping: Tool = { name: "ping", parameters: null };
const tools = [add, ping];

const draft = (change: Partial<Draft>): Draft => ({ ...startDraft(tools), ...change });

describe("a decision", () => {
  it("holds the open call without what was left out", () => {
    const made = draft({ tool: "add", forms: { add: { value: { a: 5, b: 3, c: undefined }, text: null } } });
    expect(toDecision(made, { tools, output: null, finalTool: null })).toEqual({
      candidates: [{ role: "model", parts: [{ function_call: { name: "add", args: { a: 5, b: 3 } } }] }],
    });
  });

  it("puts text first, then calls that were put aside, then the open one", () => {
    const made = draft({
      withText: true,
      text: "Both at once.",
      calls: [{ tool: "add", edited: { value: { a: 1, b: 2 }, text: null } }],
      tool: "ping",
    });
    const parts = toDecision(made, { tools, output: null, finalTool: null }).candidates[0]?.parts ?? [];
    expect(parts.map((part) => part.text ?? part.function_call?.name)).toEqual(["Both at once.", "add", "ping"]);
  });

  it("sends a structured final response as JSON text", () => {
    const made = draft({ choice: "final", finalEdited: { value: { answer: "x", confidence: 1 }, text: null } });
    const parts = toDecision(made, { tools, output: { type: "object" }, finalTool: null }).candidates[0]?.parts;
    expect(parts).toEqual([{ text: '{"answer":"x","confidence":1}' }]);
  });
});

describe("the final response", () => {
  const setModelResponse: Tool = {
    name: "set_model_response",
    parameters: { type: "object", properties: { guilty: { type: "boolean" } }, required: ["guilty"] },
  };

  it("is ADK's own tool where an agent has tools and an output schema", () => {
    const offer = offerOf({ tools: [add, setModelResponse], output_schema: { type: "object" } });
    expect(offer.tools.map((tool) => tool.name)).toEqual(["add"]);
    const made = draft({ choice: "final", finalEdited: { value: { guilty: true }, text: null } });
    expect(toDecision(made, offer).candidates[0]?.parts).toEqual([
      { function_call: { name: "set_model_response", args: { guilty: true } } },
    ]);
    expect(problemOf(draft({ choice: "final", finalEdited: { value: {}, text: null } }), offer)).toContain("fields");
  });

  it("may be a list, and keeps every digit", () => {
    const output = { type: "array", items: { type: "integer" } };
    const offer = offerOf({ tools: [], output_schema: output });
    const edited = typeJson({ value: [], text: null }, "[1.0, 9007199254740993]", false);
    const made = draft({ choice: "final", finalEdited: edited });
    expect(problemOf(made, offer)).toBeNull();
    expect(toDecision(made, offer).candidates[0]?.parts).toEqual([{ text: "[1,9007199254740993]" }]);
  });
});

describe("what keeps a draft back", () => {
  it("is a missing tool, a missing field, missing text, or unfinished JSON", () => {
    expect(problemOf(draft({}), { tools, output: null, finalTool: null })).toContain("tool");
    expect(problemOf(draft({ tool: "add" }), { tools, output: null, finalTool: null })).toContain("fields");
    expect(problemOf(draft({ tool: "ping" }), { tools, output: null, finalTool: null })).toBeNull();
    expect(problemOf(draft({ choice: "final" }), { tools, output: null, finalTool: null })).toContain("response");
    expect(
      problemOf(draft({ tool: "ping", forms: { ping: { value: {}, text: "{" } } }), {
        tools,
        output: null,
        finalTool: null,
      }),
    ).toContain("JSON");
  });

  it("is also a call that was put aside and does not fit", () => {
    const made = draft({ calls: [{ tool: "add", edited: { value: { a: 1 }, text: null } }], tool: "ping" });
    expect(problemOf(made, { tools, output: null, finalTool: null })).toContain("fields");
  });
});

describe("the server's complaints", () => {
  it("go to the call they are about, whether or not text goes first", () => {
    const errors = [{ part: 1, path: "/a", message: "no" }];
    expect(errorsOfCall(errors, draft({ withText: true, text: "hi" }), 0)).toHaveLength(1);
    expect(errorsOfCall(errors, draft({}), 0)).toHaveLength(0);
    expect(errorsOfCall(errors, draft({}), 1)).toHaveLength(1);
  });
});

describe("drafts", () => {
  const memory = new Map<string, string>();
  beforeEach(() => {
    memory.clear();
    vi.stubGlobal("sessionStorage", {
      getItem: (key: string) => memory.get(key) ?? null,
      setItem: (key: string, value: string) => memory.set(key, value),
      removeItem: (key: string) => memory.delete(key),
    });
  });

  it("come back per turn and go when the turn is answered", () => {
    const made = draft({ finalText: "half a sen" });
    saveDraft("t1", made);
    expect(loadDraft("t1")).toEqual(made);
    expect(loadDraft("t2")).toBeUndefined();
    saveDraft("t1", undefined);
    expect(loadDraft("t1")).toBeUndefined();
  });

  it("start with the only tool, or with the final response if there is none", () => {
    expect(startDraft([add]).tool).toBe("add");
    expect(startDraft(tools).tool).toBeNull();
    expect(startDraft([]).choice).toBe("final");
  });

  it("leaves the session open while the user is asked something, unless chosen otherwise", () => {
    expect(keepsOpen(startDraft(tools), 0)).toBe(false);
    expect(keepsOpen(startDraft(tools), 1)).toBe(true);
    expect(keepsOpen(draft({ keepOpen: false }), 1)).toBe(false);
    expect(keepsOpen(draft({ keepOpen: true }), 0)).toBe(true);
  });

  it("survive storage that is full", () => {
    vi.stubGlobal("sessionStorage", {
      getItem: () => null,
      setItem: () => {
        throw new Error("quota");
      },
      removeItem: () => undefined,
    });
    expect(() => saveDraft("t1", draft({}))).not.toThrow();
  });
});
