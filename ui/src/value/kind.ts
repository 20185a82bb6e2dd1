// What a string holds, for choosing how to show it first: JSON inside text, Markdown, or plain text. JSON has the first
// say; whatever is guessed wrong is one click away as it is.
import type { Json } from "../api/types";
import { parseJson } from "../json/json";

/** Markdown shows itself early; a whole book need not be read for it. */
const LOOKED_AT = 20_000;

export function embeddedJson(text: string): Json | undefined {
  const first = firstCharacter(text);
  if (first !== "{" && first !== "[") return undefined;
  try {
    const value = parseJson(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const MARKDOWN = [
  /^#{1,6} \S/m, // a heading: the sign, a space, words
  /\*\*[^\s*][^*\n]*\*\*/, // bold
  /^\s{0,3}[-*+] \S.*\n\s*[-*+] \S/m, // a list of at least two
  /^\s{0,3}\d+[.)] \S.*\n\s*\d+[.)] \S/m,
  /^```/m,
  /^> \S/m,
  /^\|.+\|\s*\n\|[\s:|-]+\|/m, // a table
  /\[[^\]\n]+\]\((https?:|mailto:|\/)[^)\s]*\)/,
];

export function looksLikeMarkdown(text: string): boolean {
  if (text.length < 4) return false;
  const start = text.slice(0, LOOKED_AT);
  return MARKDOWN.some((pattern) => pattern.test(start));
}

function firstCharacter(text: string): string | undefined {
  return /\S/.exec(text.length > 1000 ? text.slice(0, 1000) : text)?.[0];
}
