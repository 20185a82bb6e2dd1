// What a string holds, for choosing how to show it first: JSON inside text, Markdown, or plain text.
import type { Json } from "../api/types";
import { parseJson } from "../json/json";

export function embeddedJson(text: string): Json | undefined {
  const start = text.trimStart()[0];
  if (start !== "{" && start !== "[") return undefined;
  try {
    const value = parseJson(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

export function looksLikeMarkdown(text: string): boolean {
  return /(^|\n)(#{1,6} \S|[-*] \S|\d+\. \S|> |```|\|.+\|)|\*\*[^*\n]+\*\*|\[[^\]\n]+\]\([^)\s]+\)/.test(text);
}
