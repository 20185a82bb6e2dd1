import { describe, expect, it } from "vitest";
import { Exact, Unread } from "../json/json";
import { check } from "./check";
import { jsonProblem, typeJson } from "./edited";
import { setAt } from "./path";
import { partError, pointer } from "./pointer";
import { prepare } from "./prepare";
import { NULLABLE, optionNames, type Schema, typeWords } from "./schema";
import { clean, closestOption, inOrder, parseAnything, parseNumber, startValue, toArgs } from "./value";

const search: Schema = {
  type: "object",
  properties: {
    query: { type: "string" },
    limit: { type: "integer", default: 10 },
    format: { type: "string", enum: ["json", "xml"] },
  },
  required: ["query"],
};

const pets: Schema = {
  $defs: {
    Cat: {
      type: "object",
      title: "Cat",
      properties: { kind: { const: "cat" }, lives: { type: "integer" } },
      required: ["kind"],
    },
    Dog: {
      type: "object",
      title: "Dog",
      properties: { kind: { const: "dog" }, bark: { type: "string" } },
      required: ["kind", "bark"],
    },
  },
  type: "object",
  properties: { pet: { oneOf: [{ $ref: "#/$defs/Cat" }, { $ref: "#/$defs/Dog" }] } },
  required: ["pet"],
};

describe("arguments", () => {
  it("leave out what was not set and do not send defaults", () => {
    expect(toArgs(startValue(search, search))).toEqual({});
    expect(toArgs({ query: "tea", limit: undefined })).toEqual({ query: "tea" });
  });

  it("keep an object or list that was set on purpose, though empty", () => {
    expect(toArgs({ options: {}, tags: [] })).toEqual({ options: {}, tags: [] });
  });

  it("hold whole numbers as whole numbers", () => {
    expect(
      JSON.stringify(toArgs({ a: parseNumber("5", true), b: parseNumber("5.0", true), c: parseNumber("-3", true) })),
    ).toBe('{"a":5,"b":5,"c":-3}');
  });

  it("start with constants, required switches and required objects", () => {
    const schema: Schema = {
      type: "object",
      properties: {
        kind: { const: "x" },
        mode: { const: "y", default: "y" },
        on: { type: "boolean" },
        maybe: { type: "boolean" },
        inner: { type: "object", properties: { k: { const: 1 } }, required: ["k"] },
        list: { type: "array", items: { type: "string" } },
      },
      required: ["kind", "on", "inner", "list"],
    };
    expect(startValue(schema, schema)).toEqual({ kind: "x", on: false, inner: { k: 1 }, list: [] });
  });

  it("come in the order of the schema, extra keys last", () => {
    const made = inOrder({ extra: 1, limit: 5, query: "tea" }, search, search);
    expect(Object.keys(made as object)).toEqual(["query", "limit", "extra"]);
  });

  it("turn a list item that was never filled into null rather than losing its place", () => {
    expect(clean({ list: ["a", undefined] })).toEqual({ list: ["a", null] });
  });
});

describe("typed text", () => {
  it("becomes a number only when nothing is lost", () => {
    expect(parseNumber("", true)).toBeUndefined();
    expect(parseNumber("1e3", true)).toBe(1000);
    expect(parseNumber("abc", true)).toEqual(new Unread("abc"));
    expect(parseNumber("9007199254740993", true)).toEqual(new Exact("9007199254740993"));
    expect(parseNumber("5.0", false)).toEqual(new Exact("5.0"));
  });

  it("is JSON where anything goes, else text", () => {
    expect(parseAnything('{"a":1}')).toEqual({ a: 1 });
    expect(parseAnything("hello")).toBe("hello");
    expect(parseAnything(" ")).toBeUndefined();
  });

  it("keeps the last good value while JSON is incomplete", () => {
    const broken = typeJson({ value: { a: 1 }, text: null }, '{"a": ');
    expect(broken.value).toEqual({ a: 1 });
    expect(jsonProblem(broken)).toContain("Not JSON yet");
    expect(typeJson(broken, '{"a": 2}')).toEqual({ value: { a: 2 }, text: '{"a": 2}' });
    expect(jsonProblem({ value: {}, text: "[1]" })).toContain("object");
  });
});

describe("checking", () => {
  const messages = (schema: Schema, value: unknown) =>
    check(schema, value).map(({ path, message }) => `${path} ${message}`);

  it("names the missing fields, also inside objects and lists", () => {
    const schema: Schema = {
      type: "object",
      properties: { list: { type: "array", items: search }, inner: search },
      required: ["inner"],
    };
    expect(messages(schema, { list: [{}] })).toEqual(["/inner required", "/list/0/query required"]);
    expect(check(search, {})[0]?.missing).toBe(true);
  });

  it("says what a number or text must be", () => {
    expect(messages({ type: "integer" }, 1.5)).toEqual([" must be a whole number"]);
    expect(messages({ type: "integer", minimum: 1 }, 0)).toEqual([" at least 1"]);
    expect(messages({ type: "string", minLength: 4 }, "12")).toEqual([" at least 4 characters"]);
    expect(messages({ type: "string", format: "date" }, "soon")[0]).toContain("a date");
    expect(messages({ type: "string", pattern: "^[A-Z]+$" }, "a")).toEqual([" must match ^[A-Z]+$"]);
  });

  it("complains about the chosen option of a choice only", () => {
    expect(messages(pets, { pet: { kind: "dog" } })).toEqual(["/pet/bark required"]);
    expect(messages(pets, { pet: { kind: "cat", lives: "9" } })).toEqual(["/pet/lives must be a whole number"]);
  });

  it("accepts null where the schema does", () => {
    const schema: Schema = { anyOf: [{ type: "string" }, { type: "null" }] };
    expect(messages(schema, null)).toEqual([]);
    expect(messages({ type: "string" }, null)).toEqual([" must be text"]);
  });

  it("does not fail on patterns of other languages or references to nowhere", () => {
    expect(messages({ type: "string", pattern: "(?P<x>a)" }, "b")).toEqual([]);
    expect(messages({ $ref: "#/$defs/None" }, 3)).toEqual([]);
  });
});

describe("preparing a schema for drawing", () => {
  it("turns Optional[X] into X that may be null", () => {
    const prepared = prepare({ anyOf: [{ type: "integer" }, { type: "null" }], default: null, title: "Limit" });
    expect(prepared).toMatchObject({ type: "integer", [NULLABLE]: true, title: "Limit" });
    expect(prepared.anyOf).toBeUndefined();
  });

  it("turns a choice of constants into an enum and a list of types into a choice", () => {
    expect(prepare({ anyOf: [{ const: "a" }, { const: "b" }] }).enum).toEqual(["a", "b"]);
    expect(prepare({ type: ["string", "integer", "null"] })).toMatchObject({
      anyOf: [{ type: "string" }, { type: "integer" }],
      [NULLABLE]: true,
    });
  });

  it("does not change the schema it was given", () => {
    const before = JSON.stringify(pets);
    prepare(pets);
    expect(JSON.stringify(pets)).toBe(before);
  });
});

describe("words for schemas", () => {
  it("name the options of a choice by title, type or constant", () => {
    const options: Schema[] = [
      { $ref: "#/$defs/Cat" },
      { type: "string", format: "date" },
      { type: "array", items: { type: "integer" } },
      { type: "string" },
      { type: "null" },
      { const: "x" },
    ];
    expect(optionNames(options, pets)).toEqual(["Cat", "date", "list of integer", "text", "null", '"x"']);
  });

  it("tell twins apart", () => {
    expect(optionNames([{ type: "string" }, { type: "string", minLength: 3 }], {})).toEqual(["text 1", "text 2"]);
  });

  it("describe what goes into a field", () => {
    expect(typeWords({ type: "integer" }, {})).toBe("integer");
    expect(typeWords({ anyOf: [{ type: "string", format: "date" }, { type: "string" }] }, {})).toBe("date | text");
    expect(typeWords({}, {})).toBe("anything");
    expect(typeWords({ type: "array", items: { $ref: "#/$defs/Dog" } }, pets)).toBe("list of Dog");
  });
});

describe("choices", () => {
  it("match a value by its constants and fields", () => {
    const options = [{ $ref: "#/$defs/Cat" }, { $ref: "#/$defs/Dog" }, { type: "string" }];
    expect(closestOption(options, { kind: "dog" }, pets)).toBe(1);
    expect(closestOption(options, "x", pets)).toBe(2);
    expect(closestOption(options, undefined, pets)).toBe(0);
  });
});

describe("paths", () => {
  it("escape as JSON pointers do", () => {
    expect(pointer(["a/b", 0, "c~d"])).toBe("/a~1b/0/c~0d");
  });

  it("split the server's pointers into part and field", () => {
    expect(partError({ path: "/candidates/0/parts/2/function_call/args/address/postcode", message: "m" })).toEqual({
      part: 2,
      path: "/address/postcode",
      message: "m",
    });
    expect(partError({ path: "/candidates", message: "m" }).part).toBeNull();
    expect(partError({ path: "/candidates/0/parts/0/text/name", message: "m" })).toMatchObject({
      part: 0,
      path: "/name",
    });
    expect(partError({ path: "/candidates/0/parts/1/function_call/args", message: "m" })).toMatchObject({
      part: 1,
      path: "",
    });
    expect(partError({ path: "/candidates/0/parts/0/function_call/name", message: "m" }).part).toBeNull();
  });

  it("set one place and leave the rest", () => {
    const before = { a: [{ b: 1 }, { b: 2 }], c: 3 };
    expect(setAt(before, ["a", 1, "b"], 5)).toEqual({ a: [{ b: 1 }, { b: 5 }], c: 3 });
    expect(before.a[1]?.b).toBe(2);
  });
});
