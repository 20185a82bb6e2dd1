import { describe, expect, it } from "vitest";
import { EventParser } from "./eventReader";

const text =
  ': alive\n\nid: 1\nevent: event\ndata: {"a":1}\n\nid: 2\nevent: event\ndata: one\ndata: two\n\nevent: done\ndata:\n\n';

describe("reading server-sent events", () => {
  it("gives the same messages however they are cut", () => {
    const whole = new EventParser().push(text);
    expect(whole).toEqual([
      { event: "event", data: '{"a":1}', id: "1" },
      { event: "event", data: "one\ntwo", id: "2" },
      { event: "done", data: "", id: "2" },
    ]);
    for (const size of [1, 2, 3, 7, 20]) {
      const parser = new EventParser();
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
        text.slice(i * size, (i + 1) * size),
      );
      expect(pieces.flatMap((piece) => parser.push(piece))).toEqual(whole);
    }
  });

  it("takes fields without space or value, and values with colons", () => {
    expect(new EventParser().push("event:a\ndata:x: y\ndata\ndata:  z\nretry: 5\n\n")).toEqual([
      { event: "a", data: "x: y\n\n z", id: "" },
    ]);
  });

  it("leaves out comments and messages without data", () => {
    expect(new EventParser().push(": ping\n\nevent: x\n\n")).toEqual([]);
  });
});
