// A value in one readable line: `id: 1182   include: ["items","shipments"]`. Long values are cut; the tree has all.
import type { Json } from "../api/types";

const LONGEST = 160;

export interface Argument {
  name: string;
  text: string;
  plain: boolean;
}

export function argumentsLine(args: { [key: string]: Json }): Argument[] {
  return Object.entries(args).map(([name, value]) => ({
    name,
    text: cut(typeof value === "string" ? quote(value) : JSON.stringify(value)),
    plain: typeof value === "number" || typeof value === "string" || typeof value === "boolean",
  }));
}

export function oneLine(value: Json): string {
  return cut(typeof value === "string" ? value.replaceAll(/\s+/g, " ") : JSON.stringify(value));
}

/** Functions of ADK answer with an object; the common wrapper around a plain result says nothing. */
export function unwrapResult(result: Json): Json {
  if (typeof result !== "object" || result === null || Array.isArray(result)) return result;
  const names = Object.keys(result);
  return names.length === 1 && names[0] === "result" ? (result.result ?? null) : result;
}

function quote(text: string): string {
  return `"${text.replaceAll("\n", "⏎")}"`;
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
