// Reading and changing an ADK EvalCase: what the user said, which tools were called with what, how it ended. Files may
// be in snake_case or camelCase; a change keeps the spelling and everything else that is there.
import type { Json, JsonObject } from "../api/types";
import { isJsonObject, sameJson } from "../json/json";

export interface ToolUse {
  id: string | null;
  name: string;
  args: JsonObject;
}

export interface Invocation {
  query: string;
  uses: ToolUse[];
  response: string;
}

export interface ReadCase {
  evalId: string;
  invocations: Invocation[];
}

export function readCase(golden: Json): ReadCase {
  return {
    evalId: textAt(golden, "eval_id"),
    invocations: list(field(golden, "conversation")).map((invocation) => ({
      query: textOf(field(invocation, "user_content")),
      uses: usesOf(field(invocation, "intermediate_data")),
      response: textOf(field(invocation, "final_response")),
    })),
  };
}

/** The tool calls, in either of the two shapes that ADK writes. */
function usesOf(data: Json): ToolUse[] {
  const calls = list(field(data, "tool_uses"));
  const events = list(field(data, "invocation_events"));
  const inEvents = events.flatMap((event) =>
    list(field(field(event, "content"), "parts")).map((part) => field(part, "function_call")),
  );
  return [...calls, ...inEvents].filter(isJsonObject).map((call) => ({
    id: typeof call.id === "string" ? call.id : null,
    name: typeof call.name === "string" ? call.name : "",
    args: isJsonObject(call.args ?? null) ? (call.args as JsonObject) : {},
  }));
}

/** Whether the calls can be changed one by one; cases made of events are changed as JSON. */
export function hasPlainUses(golden: Json, invocation: number): boolean {
  const data = field(list(field(golden, "conversation"))[invocation] ?? null, "intermediate_data");
  return list(field(data, "invocation_events")).length === 0;
}

export function setQuery(golden: Json, invocation: number, text: string): Json {
  return changeInvocation(golden, invocation, (one) =>
    changeField(one, "user_content", (c) => setText(c, text, "user")),
  );
}

export function setResponse(golden: Json, invocation: number, text: string): Json {
  return changeInvocation(golden, invocation, (one) =>
    changeField(one, "final_response", (c) => setText(c, text, "model")),
  );
}

export function setArgs(golden: Json, invocation: number, use: number, args: JsonObject): Json {
  return changeUses(golden, invocation, (uses) =>
    uses.map((call, index) => (index === use && isJsonObject(call) ? { ...call, args } : call)),
  );
}

export function moveUse(golden: Json, invocation: number, use: number, by: number): Json {
  return changeUses(golden, invocation, (uses) => {
    const target = use + by;
    if (target < 0 || target >= uses.length) return uses;
    const next = [...uses];
    [next[use], next[target]] = [next[target] ?? null, next[use] ?? null];
    return next;
  });
}

export function removeUse(golden: Json, invocation: number, use: number): Json {
  return changeUses(golden, invocation, (uses) => uses.filter((_, index) => index !== use));
}

/** Responses follow their calls: in the same order, and gone with them. */
function changeUses(golden: Json, invocation: number, change: (uses: Json[]) => Json[]): Json {
  return changeInvocation(golden, invocation, (one) =>
    changeField(one, "intermediate_data", (data) => {
      const before = list(field(data, "tool_uses"));
      const uses = change(before);
      const withUses = changeField(data, "tool_uses", () => uses);
      const responses = list(field(data, "tool_responses"));
      if (responses.length === 0) return withUses;
      const kept = uses
        .map((use) => responses.find((response) => sameCall(response, use)))
        .filter((r) => r !== undefined);
      const others = responses.filter((response) => !before.some((use) => sameCall(response, use)));
      return changeField(withUses, "tool_responses", () => [...kept, ...others]);
    }),
  );
}

function sameCall(a: Json, b: Json): boolean {
  const id = field(a, "id");
  return typeof id === "string" && id === field(b, "id");
}

function setText(content: Json, text: string, role: string): Json {
  const parts = list(field(content, "parts"));
  const first = parts.findIndex((part) => typeof field(part, "text") === "string");
  const next: Json[] =
    first < 0
      ? [{ text }, ...parts]
      : parts
          .map((part, index) => (index === first && isJsonObject(part) ? { ...part, text } : part))
          // Further pieces of text were shown joined, so they are part of what was edited.
          .filter((part, index) => index <= first || typeof field(part, "text") !== "string");
  return isJsonObject(content) ? { ...content, parts: next } : { role, parts: next };
}

function changeInvocation(golden: Json, index: number, change: (invocation: Json) => Json): Json {
  return changeField(golden, "conversation", (conversation) =>
    list(conversation).map((invocation, place) => (place === index ? change(invocation) : invocation)),
  );
}

function changeField(value: Json, snake: string, change: (field: Json) => Json): Json {
  const object: JsonObject = isJsonObject(value) ? value : {};
  const camel = toCamel(snake);
  const key = camel in object ? camel : snake;
  return { ...object, [key]: change(object[key] ?? null) };
}

export function field(value: Json, snake: string): Json {
  if (!isJsonObject(value)) return null;
  return value[snake] ?? value[toCamel(snake)] ?? null;
}

function textAt(value: Json, snake: string): string {
  const found = field(value, snake);
  return typeof found === "string" ? found : "";
}

export function textOf(content: Json): string {
  const texts = list(field(content, "parts")).map((part) => field(part, "text"));
  return texts.filter((text) => typeof text === "string").join("");
}

function list(value: Json): Json[] {
  return Array.isArray(value) ? value : [];
}

function toCamel(snake: string): string {
  return snake.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

// Two cases beside each other.

export type Difference = "same" | "differs" | "left" | "right";

export interface ComparedUse {
  difference: Difference;
  left: ToolUse | null;
  right: ToolUse | null;
  /** Names of the arguments that differ. */
  args: string[];
}

export interface ComparedInvocation {
  query: Difference;
  response: Difference;
  left: Invocation | null;
  right: Invocation | null;
  uses: ComparedUse[];
}

export function compareCases(left: Json, right: Json): ComparedInvocation[] {
  const [a, b] = [readCase(left).invocations, readCase(right).invocations];
  return Array.from({ length: Math.max(a.length, b.length) }, (_, index) => {
    const [one, other] = [a[index] ?? null, b[index] ?? null];
    return {
      left: one,
      right: other,
      query: differenceOf(one?.query, other?.query),
      response: differenceOf(one?.response, other?.response),
      uses: compareUses(one?.uses ?? [], other?.uses ?? []),
    };
  });
}

function differenceOf(left: string | undefined, right: string | undefined): Difference {
  if (left === undefined) return "right";
  if (right === undefined) return "left";
  return left === right ? "same" : "differs";
}

/** Calls of the same tool in the same order belong together; what is left stands alone. */
function compareUses(left: ToolUse[], right: ToolUse[]): ComparedUse[] {
  const length = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0));
  const at = (row: number, column: number) => length[row]?.[column] ?? 0;
  const score = (a: ToolUse, b: ToolUse) =>
    a.name !== b.name ? 0 : sameJson(sorted(a.args), sorted(b.args)) ? 1.01 : 1;
  for (let row = left.length - 1; row >= 0; row--) {
    for (let column = right.length - 1; column >= 0; column--) {
      const [a, b] = [left[row] as ToolUse, right[column] as ToolUse];
      const pair = score(a, b);
      const paired = pair > 0 ? pair + at(row + 1, column + 1) : 0;
      (length[row] as number[])[column] = Math.max(at(row + 1, column), at(row, column + 1), paired);
    }
  }
  const found: ComparedUse[] = [];
  let [row, column] = [0, 0];
  while (row < left.length || column < right.length) {
    const [a, b] = [left[row] ?? null, right[column] ?? null];
    if (a && b && score(a, b) > 0 && at(row, column) === score(a, b) + at(row + 1, column + 1)) {
      const args = differingArgs(a.args, b.args);
      found.push({ difference: args.length === 0 ? "same" : "differs", left: a, right: b, args });
      row += 1;
      column += 1;
    } else if (a && (!b || at(row + 1, column) >= at(row, column + 1))) {
      found.push({ difference: "left", left: a, right: null, args: [] });
      row += 1;
    } else {
      found.push({ difference: "right", left: null, right: b, args: [] });
      column += 1;
    }
  }
  return found;
}

function differingArgs(a: JsonObject, b: JsonObject): string[] {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return names.filter((name) => !(name in a) || !(name in b) || !sameJson(sorted(a[name]), sorted(b[name])));
}

/** The order of keys makes no difference. */
function sorted(value: Json | undefined): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value ?? null;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
