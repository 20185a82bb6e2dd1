// The value behind a form is exactly what will be sent: what was not set is not there. A new object starts with what
// has only one possible answer (required constants, objects and lists) and with required switches off, since an
// unticked box is an answer. An option of a choice also starts with its optional constants: they tell it apart.
import type { Json, JsonObject } from "../api/types";
import {
  Exact,
  isJsonObject,
  isNumber,
  isObject,
  isWhole,
  parseJson,
  readNumber,
  sameJson,
  Unread,
} from "../json/json";
import { asSchema, isNullOnly, resolve, type Schema } from "./schema";

export function startValue(schema: Schema, root: Schema, depth = 0, isOption = false): unknown {
  const found = resolve(schema, root);
  if ("const" in found) return found.const;
  if (isNullOnly(found)) return null;
  if (isOption && found.enum?.length === 1) return found.enum[0];
  if (found.anyOf ?? found.oneOf) return undefined;
  if (found.type === "array") return tupleOf(found).map((item) => startValue(item, root, depth + 1));
  if (found.type !== "object" && !found.properties) return undefined;
  if (depth > 8) return {};
  const value: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(found.properties ?? {})) {
    const field = resolve(asSchema(property), root);
    const required = found.required?.includes(name) ?? false;
    if ("const" in field && (required || isOption)) value[name] = field.const;
    else if (required && isNullOnly(field)) value[name] = null;
    else if (required && field.type === "boolean") value[name] = field.default === true;
    else if (required && isContainer(field)) value[name] = startValue(field, root, depth + 1);
  }
  return value;
}

/** The value with the fields of each object in the order of the schema, as a reader of the trace expects them. */
export function inOrder(value: unknown, schema: Schema, root: Schema): unknown {
  const found = resolve(schema, root);
  if (Array.isArray(value)) {
    return Array.isArray(found.items) ? value : value.map((item) => inOrder(item, asSchema(found.items), root));
  }
  if (!isObject(value)) return value;
  const fields = value;
  const names = Object.keys(found.properties ?? {}).filter((name) => name in fields);
  const ordered = names.map((name) => [name, inOrder(fields[name], asSchema(found.properties?.[name]), root)] as const);
  return { ...Object.fromEntries(ordered), ...omit(fields, names) };
}

function omit(fields: Record<string, unknown>, names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** Call arguments: the value without what was left open. */
export function toArgs(value: unknown, schema?: Schema): JsonObject {
  const cleaned = toOutput(value, schema);
  return isJsonObject(cleaned) ? cleaned : {};
}

/** The value without what was left open, of any type; integers are written as integers wherever the schema says so. */
export function toOutput(value: unknown, schema?: Schema): Json {
  return clean(schema ? withIntegers(value, schema, schema) : value);
}

export function clean(value: unknown): Json {
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : clean(item)));
  if (value instanceof Unread) return value.text;
  if (isObject(value)) {
    const kept = Object.entries(value).filter(([, item]) => item !== undefined);
    return Object.fromEntries(kept.map(([key, item]) => [key, clean(item)]));
  }
  return (value ?? null) as Json;
}

/** Somebody may write 5.0 into the JSON of an integer; what is sent is 5. */
function withIntegers(value: unknown, schema: Schema, root: Schema): unknown {
  const found = chosenOption(resolve(schema, root), value, root);
  if (value instanceof Exact) {
    return found.type === "integer" ? (readNumber(value.text, true) ?? value) : value;
  }
  if (Array.isArray(value)) {
    const tuple = tupleOf(found);
    const rest = Array.isArray(found.items) ? {} : asSchema(found.items);
    return value.map((item, index) => withIntegers(item, tuple[index] ?? rest, root));
  }
  if (!isObject(value)) return value;
  const others = asSchema(found.additionalProperties);
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([name, item]) => [name, withIntegers(item, found.properties?.[name] ?? others, root)]),
  );
}

function chosenOption(schema: Schema, value: unknown, root: Schema): Schema {
  const options = (schema.anyOf ?? schema.oneOf)?.map(asSchema).filter((option) => !isNullOnly(option));
  const option = options?.[closestOption(options, value, root)];
  return option ? resolve(option, root) : schema;
}

/** What is typed into a field for numbers: a number to the last digit, or what is not one, which the check explains. */
export function parseNumber(text: string, whole: boolean): number | Exact | Unread | undefined {
  if (text.trim() === "") return undefined;
  return readNumber(text, whole) ?? new Unread(text);
}

/** Where anything goes, JSON is taken as JSON and everything else as text. */
export function parseAnything(text: string): Json | undefined {
  if (text.trim() === "") return undefined;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** Which option of a choice a value belongs to: the one whose type, constants and fields it fits best. */
export function closestOption(options: Schema[], value: unknown, root: Schema): number {
  if (value === undefined) return 0;
  let best = 0;
  let bestScore = Number.NEGATIVE_INFINITY;
  options.forEach((option, index) => {
    const score = fitOf(resolve(option, root), value, root);
    if (score > bestScore) {
      best = index;
      bestScore = score;
    }
  });
  return best;
}

function fitOf(schema: Schema, value: unknown, root: Schema): number {
  if ("const" in schema) return sameJson(schema.const, value) ? 10 : -10;
  if (schema.enum) return schema.enum.some((choice) => sameJson(choice, value)) ? 8 : -8;
  if (!hasType(schema, value)) return -20;
  if (typeof value === "string") return fitOfText(schema.format, value);
  if (schema.type === "integer") return 2;
  if (!isObject(value)) return 1;
  let score = 1;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const field = resolve(asSchema(property), root);
    if (!(name in value)) {
      if (schema.required?.includes(name)) score -= 0.5;
      continue;
    }
    const item = value[name];
    score += "const" in field ? (sameJson(field.const, item) ? 10 : -10) : 1;
  }
  return score;
}

function fitOfText(format: string | undefined, value: string): number {
  if (!format) return 1;
  return formatProblem(format, value) ? 0 : 3;
}

export function hasType(schema: Schema, value: unknown): boolean {
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (value instanceof Unread) return false;
  if (types.length === 0) return !schema.properties || isObject(value);
  return types.some((type) => {
    switch (type) {
      case "integer":
        return isNumber(value) && isWhole(value);
      case "number":
        return isNumber(value);
      case "array":
        return Array.isArray(value);
      case "null":
        return value === null;
      case "object":
        return isObject(value);
      default:
        return typeof value === type;
    }
  });
}

const FORMATS: Record<string, { test: (value: string) => boolean; words: string }> = {
  date: { test: (v) => /^\d{4}-\d\d-\d\d$/.test(v) && !Number.isNaN(Date.parse(v)), words: "a date like 2026-01-31" },
  "date-time": {
    test: (v) => /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?$/.test(v),
    words: "a date and time like 2026-01-31T12:00:00Z",
  },
  time: { test: (v) => /^\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?$/.test(v), words: "a time like 12:00" },
  email: { test: (v) => /^\S+@\S+$/.test(v), words: "an address like name@example.com" },
  uri: { test: (v) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(v), words: "a link like https://example.com" },
  uuid: { test: (v) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(v), words: "a UUID" },
};

export function formatProblem(format: string, value: string): string | undefined {
  const known = FORMATS[format];
  return known && !known.test(value) ? `must be ${known.words}` : undefined;
}

/** The fixed places of a list, if it has any. */
export function tupleOf(schema: Schema): Schema[] {
  return schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : []);
}

function isContainer(schema: Schema): boolean {
  return schema.type === "object" || schema.type === "array" || schema.properties !== undefined;
}
