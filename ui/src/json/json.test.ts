import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareNumbers, Exact, isWhole, parseJson, readNumber, Unread, writeJson } from "./json";

describe("numbers", () => {
  it("beyond 2^53 are written as they were read", () => {
    const text = '{"id":9007199254740993,"list":[123456789012345678901234567890,-9007199254740995]}';
    expect(writeJson(parseJson(text))).toBe(text);
  });

  it("keep what JavaScript would drop: 5.0, 1e3, trailing zeros", () => {
    const text = "[5.0,1e3,1.50,-0,1E+2,0.1]";
    expect(writeJson(parseJson(text))).toBe(text);
  });

  it("inside text stay text", () => {
    expect(parseJson('{"a":"9007199254740993 and \\"5.0\\"","b":"1e3"}')).toEqual({
      a: '9007199254740993 and "5.0"',
      b: "1e3",
    });
  });

  it("are told from ids and times, wherever they stand", () => {
    const text = '{"id":"7d0f3e81-22aa","at":"10:00:00.120Z","n": 1.0,"m":[-0, 1234567890.123456789,\t2e5],"k":-3.10}';
    expect(writeJson(parseJson(text))).toBe(text.replaceAll(/(?<=[:,])\s/g, ""));
  });

  it("keep their digits in any place", () => {
    const number = fc.stringMatching(/^-?(0|[1-9]\d{0,18})(\.\d{1,18})?([eE][+-]?\d{1,2})?$/);
    fc.assert(
      fc.property(number, (n) => {
        for (const text of [n, `[${n}]`, `{"a":${n}}`, `[1,${n},"x"]`]) expect(writeJson(parseJson(text))).toBe(text);
      }),
    );
  });

  it("are read as people type them", () => {
    expect(readNumber("+5", true)).toBe(5);
    expect(readNumber("007", true)).toBe(7);
    expect(readNumber(".5", false)).toBe(0.5);
    expect(readNumber("5.", false)).toBe(5);
    expect(readNumber("5.00", true)).toBe(5);
    expect(readNumber("5.00", false)).toEqual(new Exact("5.00"));
    expect(readNumber("1,5", false)).toBeUndefined();
    expect(readNumber("0x10", true)).toBeUndefined();
    expect(readNumber("1e400", false)).toEqual(new Exact("1e400"));
  });

  it("are compared by every digit", () => {
    expect(compareNumbers(new Exact("9007199254740993"), 9007199254740992)).toBeGreaterThan(0);
    expect(compareNumbers(new Exact("-9007199254740993"), -9007199254740992)).toBeLessThan(0);
    expect(isWhole(new Exact("5.0"))).toBe(true);
    expect(isWhole(new Exact("5.50"))).toBe(false);
  });

  it("of any length survive reading, writing and reading", () => {
    fc.assert(
      fc.property(fc.bigInt(), (number) => {
        const read = readNumber(String(number), true);
        expect(writeJson(read)).toBe(String(number));
        expect(writeJson(parseJson(`[${number}]`))).toBe(`[${number}]`);
      }),
    );
  });
});

describe("JSON", () => {
  it("is what JSON.parse and JSON.stringify make of it, wherever no number would change", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value = JSON.parse(text);
        if (text.includes("-0") || /e[+-]?\d/i.test(text)) return;
        expect(JSON.parse(writeJson(parseJson(text)))).toEqual(value);
      }),
    );
  });

  it("writes what could not be read as text", () => {
    expect(writeJson({ a: new Unread("12x") })).toBe('{"a":"12x"}');
    expect(writeJson(undefined)).toBe("null");
  });
});
