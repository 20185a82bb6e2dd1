// A value in one readable line: `id: 1182   include: ["items","shipments"]`. Long values are cut; the tree has all.
import type { Json } from "../api/types";
import { isJsonObject, isNumber } from "../json/json";
import { preview } from "./preview";

const LONGEST = 160;

export interface Argument {
  name: string;
  text: string;
  plain: boolean;
}

export function argumentsLine(args: { [key: string]: Json }): Argument[] {
  return Object.entries(args).map(([name, value]) => ({
    name,
    text: cut(typeof value === "string" ? quote(value) : preview(value, LONGEST + 1)),
    plain: isNumber(value) || typeof value === "string" || typeof value === "boolean",
  }));
}

export function oneLine(value: Json): string {
  return cut(
    typeof value === "string" ? value.slice(0, 4 * LONGEST).replaceAll(/\s+/g, " ") : preview(value, LONGEST + 1),
  );
}

/** Functions of ADK answer with an object; the common wrapper around a plain result says nothing. */
export function unwrapResult(result: Json): Json {
  if (!isJsonObject(result)) return result;
  const names = Object.keys(result);
  return names.length === 1 && names[0] === "result" ? (result.result ?? null) : result;
}

function quote(text: string): string {
  return `"${text.slice(0, 2 * LONGEST).replaceAll("\n", "⏎")}${text.length > 2 * LONGEST ? "" : '"'}`;
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
