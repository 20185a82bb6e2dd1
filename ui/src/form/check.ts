// Says what is wrong with a value, by field and in words, while it is typed. The server checks every decision again
// with a complete validator and has the last word; this one covers what forms can get wrong. It interprets the schema
// instead of compiling it to code, so the page runs under a content security policy without `unsafe-eval`.
import type { FieldError } from "../api/types";
import { compareNumbers, Exact, isNumber, isObject, sameJson, Unread, writeJson } from "../json/json";
import { pointer } from "./pointer";
import { asSchema, isNullOnly, resolve, type Schema } from "./schema";
import { closestOption, formatProblem, hasType } from "./value";

export interface Finding extends FieldError {
  /** Nothing was entered yet: shown only once the person tries to send. */
  missing: boolean;
}

type Path = (string | number)[];

export function check(schema: Schema, value: unknown, root: Schema = schema): Finding[] {
  const findings: Finding[] = [];
  visit(schema, value, root, [], findings);
  return findings;
}

/** Of the options that accept the value the closest; if none does, the one it was probably meant for. */
export function fittingOption(options: Schema[], value: unknown, root: Schema): number {
  const closest = closestOption(options, value, root);
  const fits = (option: Schema | undefined) => option !== undefined && check(option, value, root).length === 0;
  if (value === undefined || fits(options[closest])) return closest;
  const other = options.findIndex(fits);
  return other < 0 ? closest : other;
}

function visit(schema: Schema, value: unknown, root: Schema, path: Path, out: Finding[]): void {
  const found = resolve(schema, root);
  const options = (found.anyOf ?? found.oneOf)?.map(asSchema);
  if (options && options.length > 0) {
    if (value === null && options.some((option) => isNullOnly(resolve(option, root)))) return;
    const possible = options.filter((option) => !isNullOnly(option));
    const option =
      value instanceof Unread
        ? possible.find((candidate) => isNumeric(resolve(candidate, root)))
        : possible[fittingOption(possible, value, root)];
    if (option) visit(option, value, root, path, out);
    return;
  }
  for (const part of found.allOf ?? []) visit(asSchema(part), value, root, path, out);
  if (value === null && found.nullable === true) return;
  if (value instanceof Unread) {
    out.push({ path: pointer(path), message: `must be ${typeName(found)}`, missing: false });
    return;
  }
  const problem = problemWith(found, value);
  if (problem) {
    out.push({ path: pointer(path), message: problem, missing: false });
    return;
  }
  if (Array.isArray(value)) visitItems(found, value, root, path, out);
  else if (isObject(value)) visitFields(found, value, root, path, out);
}

function visitFields(schema: Schema, value: Record<string, unknown>, root: Schema, path: Path, out: Finding[]): void {
  for (const name of schema.required ?? []) {
    if (value[name] === undefined) out.push({ path: pointer([...path, name]), message: "required", missing: true });
  }
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const property = schema.properties?.[name];
    const others = schema.additionalProperties;
    if (property !== undefined) visit(asSchema(property), item, root, [...path, name], out);
    else if (typeof others === "object") visit(others, item, root, [...path, name], out);
    else if (others === false) {
      out.push({ path: pointer([...path, name]), message: "this tool has no such field", missing: false });
    }
  }
}

function visitItems(schema: Schema, value: unknown[], root: Schema, path: Path, out: Finding[]): void {
  const tuple = schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : []);
  value.forEach((item, index) => {
    const place = [...path, index];
    const itemSchema = tuple[index] ?? (Array.isArray(schema.items) ? {} : asSchema(schema.items));
    if (item === undefined) out.push({ path: pointer(place), message: "required", missing: true });
    else visit(itemSchema, item, root, place, out);
  });
}

function problemWith(schema: Schema, value: unknown): string | undefined {
  if ("const" in schema) return sameJson(schema.const, value) ? undefined : `must be ${writeJson(schema.const)}`;
  if (schema.enum)
    return schema.enum.some((option) => sameJson(option, value)) ? undefined : "must be one of the choices";
  if (!hasType(schema, value)) return `must be ${typeName(schema)}`;
  if (typeof value === "string") return stringProblem(schema, value);
  if (isNumber(value)) return numberProblem(schema, value);
  if (Array.isArray(value)) return listProblem(schema, value);
  if (isObject(value)) return objectProblem(schema, value);
  return undefined;
}

function stringProblem(schema: Schema, value: string): string | undefined {
  const length = [...value].length;
  const least = limit(schema, "minLength");
  const most = limit(schema, "maxLength");
  if (least !== undefined && length < least) {
    return least === 1 ? "must not be empty" : `at least ${least} characters`;
  }
  if (most !== undefined && length > most) return `at most ${most} characters`;
  if (typeof schema.pattern === "string" && !matches(schema.pattern, value)) return `must match ${schema.pattern}`;
  return schema.format ? formatProblem(schema.format, value) : undefined;
}

function numberProblem(schema: Schema, value: number | Exact): string | undefined {
  const step = limit(schema, "multipleOf");
  const [least, most] = [limit(schema, "minimum"), limit(schema, "maximum")];
  const [above, below] = [limit(schema, "exclusiveMinimum"), limit(schema, "exclusiveMaximum")];
  if (least !== undefined && compareNumbers(value, least) < 0) return `at least ${least}`;
  if (most !== undefined && compareNumbers(value, most) > 0) return `at most ${most}`;
  if (above !== undefined && compareNumbers(value, above) <= 0) return `more than ${above}`;
  if (below !== undefined && compareNumbers(value, below) >= 0) return `less than ${below}`;
  if (step && !isMultiple(value, step)) return `must be a multiple of ${step}`;
  return undefined;
}

function listProblem(schema: Schema, value: unknown[]): string | undefined {
  const least = limit(schema, "minItems");
  const most = limit(schema, "maxItems");
  if (least !== undefined && value.length < least) return `at least ${least} ${least === 1 ? "item" : "items"}`;
  if (most !== undefined && value.length > most) return `at most ${most} ${most === 1 ? "item" : "items"}`;
  if (schema.uniqueItems === true && new Set(value.map((item) => writeJson(item))).size < value.length) {
    return "items must differ";
  }
  return undefined;
}

function objectProblem(schema: Schema, value: Record<string, unknown>): string | undefined {
  const count = Object.values(value).filter((item) => item !== undefined).length;
  const [least, most] = [limit(schema, "minProperties"), limit(schema, "maxProperties")];
  if (least !== undefined && count < least) return `at least ${least} ${least === 1 ? "key" : "keys"}`;
  if (most !== undefined && count > most) return `at most ${most} ${most === 1 ? "key" : "keys"}`;
  return undefined;
}

function isMultiple(value: number | Exact, step: number): boolean {
  if (value instanceof Exact && /^-?\d+$/.test(value.text) && Number.isInteger(step)) {
    return BigInt(value.text) % BigInt(step) === 0n;
  }
  const times = Number(value) / step;
  return Math.abs(times - Math.round(times)) <= 1e-9;
}

function typeName(schema: Schema): string {
  const type = [schema.type ?? "object"].flat()[0];
  const names: Record<string, string> = {
    integer: "a whole number",
    number: "a number",
    boolean: "true or false",
    array: "a list",
    object: "an object",
    string: "text",
    null: "null",
  };
  return names[type ?? "object"] ?? String(type);
}

function isNumeric(schema: Schema): boolean {
  return schema.type === "integer" || schema.type === "number";
}

function limit(schema: Schema, key: string): number | undefined {
  const value = schema[key];
  return isNumber(value) ? Number(value) : undefined;
}

/** Patterns come from other languages; one that JavaScript cannot read is left to the server. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}
