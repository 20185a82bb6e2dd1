// What a string holds, for choosing how to show it first: JSON inside text, Markdown, or plain text.
import type { Json } from "../api/types";

export function embeddedJson(text: string): Json | undefined {
  const start = text.trimStart()[0];
  if (start !== "{" && start !== "[") return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

export function looksLikeMarkdown(text: string): boolean {
  return /(^|\n)(#{1,6} \S|[-*] \S|\d+\. \S|> |```|\|.+\|)|\*\*[^*\n]+\*\*|\[[^\]\n]+\]\([^)\s]+\)/.test(text);
}
