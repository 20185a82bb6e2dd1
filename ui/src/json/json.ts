// JSON that keeps every number as it was written. JavaScript rounds integers beyond 2^53 and forgets that 5.0 is not 5;
// Python does neither, so a page that stands between a person and a Python function must not either. A number that
// JavaScript would write differently is held as an `Exact` and written back to the letter.
import type { Json } from "../api/types";

/** A number as text, because a JavaScript number would print differently. */
export class Exact {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What was typed where something else belongs, "12x" for a number. No schema accepts it, not even one for text. */
export class Unread {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

// Private-use characters: they pass JSON.stringify unescaped, and no one types them.
const OPEN = "\uE0F1num:";
const CLOSE = "\uE0F2";
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
/**
 * Anything where a value can stand that could be a number JavaScript prints differently; most texts have none, and are
 * parsed once. Ids (`3e8…` in a UUID) and times (`.120Z`) look the same but stand elsewhere or end otherwise.
 */
const SUSPECT = /(?:^|[:,[\s])(?:-0(?![.\d])|-?(?:\d+(?:\.\d+)?[eE]|[\d.]{16}|\d+\.\d*0(?![\dZ])))/;
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
/** Beyond this a text is only looked at once: such outputs are read, not sent. */
const EXACT_UP_TO = 4_000_000;

export function parseJson(text: string): Json {
  const plain = JSON.parse(text) as Json;
  if (text.length > EXACT_UP_TO || !SUSPECT.test(text)) return plain;
  let found = false;
  const marked = text.replace(TOKENS, (token) => {
    if (token.startsWith('"') || String(Number(token)) === token) return token;
    found = true;
    return `"${OPEN}${token}${CLOSE}"`;
  });
  if (!found) return plain;
  return JSON.parse(marked, (_key, value: unknown) => {
    if (typeof value !== "string" || !value.startsWith(OPEN) || !value.endsWith(CLOSE)) return value;
    return new Exact(value.slice(OPEN.length, -CLOSE.length));
  }) as Json;
}

export function writeJson(value: unknown, indent?: number): string {
  let found = false;
  const text = JSON.stringify(
    value,
    (_key, item: unknown) => {
      if (item instanceof Unread) return item.text;
      if (!(item instanceof Exact)) return item;
      found = true;
      return `${OPEN}${item.text}${CLOSE}`;
    },
    indent,
  );
  if (text === undefined) return "null";
  return found ? text.replaceAll(`"${OPEN}`, "").replaceAll(`${CLOSE}"`, "") : text;
}

/** The number a text says, or undefined if it says none. `whole` takes 5.0 as 5 and keeps every digit. */
export function readNumber(text: string, whole: boolean): number | Exact | undefined {
  let said = text.trim().replace(/^\+/, "");
  if (/^-?\.\d/.test(said)) said = said.replace(".", "0.");
  if (/^-?\d+\.$/.test(said)) said = said.slice(0, -1);
  said = said.replace(/^(-?)0+(?=\d)/, "$1");
  if (whole && /^-?\d+\.0+$/.test(said)) said = said.slice(0, said.indexOf("."));
  if (said === "-0" && whole) said = "0";
  if (!NUMBER.test(said)) return undefined;
  const number = Number(said);
  if (String(number) === said) return number;
  // 1e3 for a whole number is the integer 1000: integers are written with digits.
  if (whole && Number.isSafeInteger(number)) return number;
  return new Exact(said);
}

export function isNumber(value: unknown): value is number | Exact {
  return typeof value === "number" || value instanceof Exact;
}

/** True for 5, 5.0, 1e3 and integers of any length. */
export function isWhole(value: number | Exact): boolean {
  if (typeof value === "number") return Number.isInteger(value);
  return /^-?\d+(\.0*)?$/.test(value.text) || (/[eE]/.test(value.text) && Number.isInteger(Number(value.text)));
}

/** Less than, equal or more than zero. Whole numbers are compared by every digit, others as numbers. */
export function compareNumbers(a: number | Exact, b: number): number {
  if (a instanceof Exact && /^-?\d+$/.test(a.text) && Number.isInteger(b)) {
    const [left, right] = [BigInt(a.text), BigInt(b)];
    return left < right ? -1 : left > right ? 1 : 0;
  }
  return Number(a) - b;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Exact) &&
    !(value instanceof Unread)
  );
}

export function isJsonObject(value: Json | undefined): value is { [key: string]: Json } {
  return isObject(value);
}

export function sameJson(a: unknown, b: unknown): boolean {
  return a === b || writeJson(a) === writeJson(b);
}
