// A value in one readable line: `id: 1182   include: ["items","shipments"]`. Long values are cut; the tree has all.
import type { Json } from "../api/types";
import { isJsonObject, isNumber, writeJson } from "../json/json";

const LONGEST = 160;

export interface Argument {
  name: string;
  text: string;
  plain: boolean;
}

export function argumentsLine(args: { [key: string]: Json }): Argument[] {
  return Object.entries(args).map(([name, value]) => ({
    name,
    text: cut(typeof value === "string" ? quote(value) : writeJson(value)),
    plain: isNumber(value) || typeof value === "string" || typeof value === "boolean",
  }));
}

export function oneLine(value: Json): string {
  return cut(typeof value === "string" ? value.replaceAll(/\s+/g, " ") : writeJson(value));
}

/** Functions of ADK answer with an object; the common wrapper around a plain result says nothing. */
export function unwrapResult(result: Json): Json {
  if (!isJsonObject(result)) return result;
  const names = Object.keys(result);
  return names.length === 1 && names[0] === "result" ? (result.result ?? null) : result;
}

function quote(text: string): string {
  return `"${text.replaceAll("\n", "⏎")}"`;
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
