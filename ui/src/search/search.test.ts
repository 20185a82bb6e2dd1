import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Snippet } from "./Snippet";
import { entryPath, pieces } from "./snippet";

const found = {
  session_id: "7d0f/1",
  title: "Refund",
  seq: 12,
  kind: "event",
  author: "shop",
  timestamp: "2026-01-05T10:00:00.000Z",
  snippet: "…please \u0002refund\u0003 the\n\torder and \u0002refund\u0003",
};

describe("what a search found", () => {
  it("is cut into pieces at the marks", () => {
    expect(pieces(found.snippet)).toEqual([
      { text: "…please ", hit: false },
      { text: "refund", hit: true },
      { text: " the order and ", hit: false },
      { text: "refund", hit: true },
    ]);
  });

  it("takes marks that are missing, empty or doubled", () => {
    expect(pieces("plain")).toEqual([{ text: "plain", hit: false }]);
    expect(pieces("")).toEqual([]);
    expect(pieces("a\u0002b")).toEqual([
      { text: "a", hit: false },
      { text: "b", hit: true },
    ]);
    expect(pieces("a\u0003b\u0002\u0003c\u0002\u0002d\u0003")).toEqual([
      { text: "ab", hit: false },
      { text: "c", hit: false },
      { text: "d", hit: true },
    ]);
  });

  it("is never read as HTML", () => {
    const html = renderToStaticMarkup(createElement(Snippet, { text: "<img src=x onerror=\u0002alert\u0003(1)>" }));
    expect(html).toBe("<span>&lt;img src=x onerror=</span><mark>alert</mark><span>(1)&gt;</span>");
  });

  it("leads to its entry", () => {
    expect(entryPath(found)).toBe("/sessions/7d0f%2F1#12");
  });
});
