// What tools and models write is shown, and never becomes part of the page.
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import Markdown from "./Markdown";

const draw = (text: string) => renderToStaticMarkup(createElement(Markdown, { text }));

/** Every tag that was drawn, with its attributes; text is escaped and has none. */
const tags = (html: string) => html.match(/<[a-z][^>]*>/gi) ?? [];

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg/onload=alert(1)>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<style>body{background:url(http://evil.example)}</style>",
  "[click](javascript:alert(1))",
  "[click](JaVaScRiPt:alert(1))",
  "[click](&#106;avascript:alert(1))",
  "[click](java\tscript:alert(1))",
  "[click](data:text/html;base64,PHNjcmlwdD4=)",
  "[click](vbscript:x)",
  "![look](javascript:alert(1))",
  '![look](x" onerror="alert(1))',
  "<a href='javascript:alert(1)'>click</a>",
  "<javascript:alert(1)>",
  "[click][1]\n\n[1]: javascript:alert(1)",
  "| a |\n|---|\n| <script>alert(1)</script> |",
  "```html\n<script>alert(1)</script>\n```",
  "text\n\n<form action=http://evil.example><button>Go</button></form>",
];

describe("hostile Markdown", () => {
  it.each(HOSTILE)("is only shown: %s", (text) => {
    for (const tag of tags(draw(text))) {
      expect(tag).not.toMatch(/^<(script|img|svg|iframe|style|form|button|object|embed|link|meta|base)\b/i);
      expect(tag).not.toMatch(/\son[a-z]+\s*=/i);
      expect(tag).not.toMatch(/\b(href|src|action)\s*=\s*"(?!https?:|mailto:)/i);
    }
  });

  it("loads no picture, but says where it is", () => {
    expect(draw("![look](https://pages.example/a.png)")).toContain(
      '<a href="https://pages.example/a.png" target="_blank" rel="noreferrer noopener">look</a>',
    );
  });
});
