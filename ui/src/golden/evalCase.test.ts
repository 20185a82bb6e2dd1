import { describe, expect, it } from "vitest";
import type { Json } from "../api/types";
import { compareCases, moveUse, readCase, removeUse, setArgs, setQuery, setResponse } from "./evalCase";

const use = (id: string, name: string, args: object) => ({ id, name, args });
const golden = (uses: object[], response = "35") =>
  ({
    eval_id: "math_1",
    conversation: [
      {
        invocation_id: "e-1",
        user_content: { role: "user", parts: [{ text: "Calculate" }] },
        final_response: { role: "model", parts: [{ text: response }] },
        intermediate_data: {
          tool_uses: uses,
          tool_responses: uses.map((call) => ({ ...call, response: { result: 1 } })),
        },
      },
    ],
    creation_timestamp: 5,
  }) as unknown as Json;

const one = use("c1", "multiply", { a: 5, b: 5 });
const two = use("c2", "add", { a: 25, b: 10 });

describe("an EvalCase", () => {
  it("is read in both spellings and both shapes", () => {
    expect(readCase(golden([one, two])).invocations[0]?.uses.map((call) => call.name)).toEqual(["multiply", "add"]);
    const camel = {
      evalId: "x",
      conversation: [
        {
          userContent: { parts: [{ text: "Hi" }] },
          intermediateData: { invocationEvents: [{ content: { parts: [{ functionCall: one }] } }] },
        },
      ],
    } as unknown as Json;
    expect(readCase(camel)).toMatchObject({
      evalId: "x",
      invocations: [{ query: "Hi", uses: [{ name: "multiply" }] }],
    });
    expect(readCase(null).invocations).toEqual([]);
  });

  it("is edited without losing what is not edited", () => {
    const before = golden([one, two]);
    const edited = setArgs(setResponse(setQuery(before, 0, "Reckon"), 0, "36"), 0, 1, { a: 26, b: 10 });
    expect(readCase(edited).invocations[0]).toMatchObject({ query: "Reckon", response: "36" });
    expect(readCase(edited).invocations[0]?.uses[1]?.args).toEqual({ a: 26, b: 10 });
    expect(edited).toMatchObject({ creation_timestamp: 5, conversation: [{ invocation_id: "e-1" }] });
    expect(readCase(before).invocations[0]?.query).toBe("Calculate");
  });

  it("keeps responses with their calls when these move or go", () => {
    const ids = (...order: string[]) => order.map((id) => ({ id }));
    expect(moveUse(golden([one, two]), 0, 1, -1)).toMatchObject({
      conversation: [{ intermediate_data: { tool_uses: ids("c2", "c1"), tool_responses: ids("c2", "c1") } }],
    });
    expect(removeUse(golden([one, two]), 0, 0)).toMatchObject({
      conversation: [{ intermediate_data: { tool_uses: ids("c2"), tool_responses: ids("c2") } }],
    });
  });
});

describe("two cases", () => {
  it("that are equal differ nowhere, whatever the order of keys", () => {
    const swapped = use("other", "multiply", { b: 5, a: 5 });
    const [compared] = compareCases(golden([one]), golden([swapped]));
    expect(compared).toMatchObject({ query: "same", response: "same", uses: [{ difference: "same" }] });
  });

  it("show which arguments differ, and which calls only one has", () => {
    const [compared] = compareCases(
      golden([one, use("x", "search", { query: "tea" }), two], "35"),
      golden([one, use("y", "add", { a: 25, b: 11 })], "36"),
    );
    expect(compared?.uses.map(({ difference, args }) => [difference, args])).toEqual([
      ["same", []],
      ["left", []],
      ["differs", ["b"]],
    ]);
    expect(compared?.response).toBe("differs");
  });

  it("of different length show the rest on one side", () => {
    const [only] = readOnly(golden([one]));
    const long = { eval_id: "long", conversation: [only ?? null, {}] };
    expect(compareCases(long, golden([one]))[1]).toMatchObject({ query: "left", right: null });
  });
});

function readOnly(value: Json): Json[] {
  return (value as { conversation: Json[] }).conversation;
}
