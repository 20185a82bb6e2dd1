import { describe, expect, it } from "vitest";
import type { Json } from "../api/types";
import { Exact } from "../json/json";
import { embeddedJson, looksLikeMarkdown } from "./kind";
import { argumentsLine, oneLine, unwrapResult } from "./oneLine";
import { fits, preview } from "./preview";
import { findInTree, pathText, valueAt } from "./treeSearch";

describe("JSON inside text", () => {
  it("is an object or a list, also with space around it, nested or empty", () => {
    for (const text of ['{"a": 1}', "[1, 2]", '  \n{"a": {"b": [1]}}\n', "{}", "[]", '{"ü": "茶"}']) {
      expect(embeddedJson(text), text).toBeDefined();
    }
  });

  it("is not a number, a word, a quoted text, or anything that does not parse", () => {
    for (const text of ["42", "true", "null", '"text"', "{a: 1}", '{"a": 1', "[1, 2", "plain", ""]) {
      expect(embeddedJson(text), text).toBeUndefined();
    }
  });
});

describe("Markdown", () => {
  it("shows by headings, bold, lists, code blocks, quotes, tables and links", () => {
    const samples = [
      ...[1, 2, 3, 4, 5, 6].map((level) => `${"#".repeat(level)} Heading`),
      "text\n# Heading",
      "some **bold** words",
      "* one\n* two",
      "1. one\n2. two",
      "```\ncode\n```",
      "> quoted",
      "| a | b |\n|---|---|\n| 1 | 2 |",
      "see [there](https://example.com)",
    ];
    for (const text of samples) expect(looksLikeMarkdown(text), text).toBe(true);
  });

  it("is not a hash without a space, a heading in mid-line, inline code, a lone dash or a short word", () => {
    for (const text of ["#x", "no # heading", "`code`", "- 5 degrees", "a * b * c", "#", "**", "hi", "[1](2)"]) {
      expect(looksLikeMarkdown(text), text).toBe(false);
    }
  });
});

describe("one line", () => {
  it("shows arguments, cut where they are long", () => {
    const line = argumentsLine({ id: 1182, include: ["items"], note: "a\nb", long: "x".repeat(500) });
    expect(line.map(({ name, text }) => `${name}: ${text}`).slice(0, 3)).toEqual([
      "id: 1182",
      'include: ["items"]',
      'note: "a⏎b"',
    ]);
    expect(line[3]?.text.length).toBeLessThan(170);
  });

  it("takes off the wrapper that ADK puts around a plain result", () => {
    expect(unwrapResult({ result: 25 })).toBe(25);
    expect(unwrapResult({ result: 25, more: 1 })).toEqual({ result: 25, more: 1 });
    expect(oneLine(new Exact("5.0"))).toBe("5.0");
  });
});

describe("a preview", () => {
  it("is JSON as long as it fits, and never much longer than asked", () => {
    const value: Json = { a: [1, new Exact("2.0"), null, "x"], b: { c: true } };
    expect(preview(value, 100)).toBe('{"a":[1,2.0,null,"x"],"b":{"c":true}}');
    expect(fits(value, 10)).toBe(false);
    const rows: Json = Array.from({ length: 100_000 }, (_, id) => ({ id, text: "y".repeat(50) }));
    const began = performance.now();
    expect(preview(rows, 200).length).toBeLessThan(400);
    expect(performance.now() - began).toBeLessThan(50);
  });
});

describe("a tree", () => {
  const value: Json = { items: [{ name: "teapot" }, { name: "lid" }], inner: '{"deep": {"name": "spout"}}' };

  it("is searched by key and value, also inside text that holds JSON", () => {
    expect(findInTree(value, "NAME").count).toBe(3);
    const found = findInTree(value, "spout");
    expect(found.count).toBe(1);
    expect(found.open.has('=["inner","deep","name"]')).toBe(true);
    expect(found.open.has('["inner","deep"]')).toBe(true);
    expect(found.open.has('["items"]')).toBe(false);
  });

  it("names places as one would write them, and finds what is there", () => {
    expect(pathText(["items", 0, "name"])).toBe("items[0].name");
    expect(pathText(["odd key", ""])).toBe('["odd key"][""]');
    expect(pathText([])).toBe("$");
    expect(valueAt(value, ["inner", "deep", "name"])).toBe("spout");
    expect(valueAt(value, ["items", 1, "name"])).toBe("lid");
    expect(valueAt(value, ["nothing", "there"])).toBeNull();
  });
});
