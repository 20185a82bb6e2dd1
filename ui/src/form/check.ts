// Says what is wrong with a value, by field and in words, while it is typed. The server checks every decision again
// with a complete validator and has the last word; this one covers what forms can get wrong. It interprets the schema
// instead of compiling it to code, so the page runs under a content security policy without `unsafe-eval`.
import type { FieldError } from "../api/types";
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

function visit(schema: Schema, value: unknown, root: Schema, path: Path, out: Finding[]): void {
  const found = resolve(schema, root);
  const options = (found.anyOf ?? found.oneOf)?.map(asSchema);
  if (options && options.length > 0) {
    if (value === null && options.some((option) => isNullOnly(resolve(option, root)))) return;
    const possible = options.filter((option) => !isNullOnly(option));
    const option = possible[closestOption(possible, value, root)];
    if (option) visit(option, value, root, path, out);
    return;
  }
  for (const part of found.allOf ?? []) visit(asSchema(part), value, root, path, out);
  if (value === null && found.nullable === true) return;
  const problem = problemWith(found, value);
  if (problem) {
    out.push({ path: pointer(path), message: problem, missing: false });
    return;
  }
  if (Array.isArray(value)) visitItems(found, value, root, path, out);
  else if (typeof value === "object" && value !== null)
    visitFields(found, value as Record<string, unknown>, root, path, out);
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
  if ("const" in schema) return same(schema.const, value) ? undefined : `must be ${JSON.stringify(schema.const)}`;
  if (schema.enum) return schema.enum.some((option) => same(option, value)) ? undefined : "must be one of the choices";
  if (!hasType(schema, value)) return `must be ${typeName(schema, value)}`;
  if (typeof value === "string") return stringProblem(schema, value);
  if (typeof value === "number") return numberProblem(schema, value);
  if (Array.isArray(value)) return listProblem(schema, value);
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

function numberProblem(schema: Schema, value: number): string | undefined {
  const step = limit(schema, "multipleOf");
  const [least, most] = [limit(schema, "minimum"), limit(schema, "maximum")];
  const [above, below] = [limit(schema, "exclusiveMinimum"), limit(schema, "exclusiveMaximum")];
  if (least !== undefined && value < least) return `at least ${least}`;
  if (most !== undefined && value > most) return `at most ${most}`;
  if (above !== undefined && value <= above) return `more than ${above}`;
  if (below !== undefined && value >= below) return `less than ${below}`;
  if (step && Math.abs(value / step - Math.round(value / step)) > 1e-9) return `must be a multiple of ${step}`;
  return undefined;
}

function listProblem(schema: Schema, value: unknown[]): string | undefined {
  const least = limit(schema, "minItems");
  const most = limit(schema, "maxItems");
  if (least !== undefined && value.length < least) return `at least ${least} ${least === 1 ? "item" : "items"}`;
  if (most !== undefined && value.length > most) return `at most ${most} ${most === 1 ? "item" : "items"}`;
  if (schema.uniqueItems === true && new Set(value.map((item) => JSON.stringify(item))).size < value.length) {
    return "items must differ";
  }
  return undefined;
}

function typeName(schema: Schema, value: unknown): string {
  const type = [schema.type ?? "object"].flat()[0];
  if (type === "integer" && isHugeNumber(value)) {
    return "a smaller number: beyond ±9007199254740991 the browser would round it";
  }
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

function isHugeNumber(value: unknown): boolean {
  return typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value) && !Number.isSafeInteger(Number(value));
}

function limit(schema: Schema, key: string): number | undefined {
  return typeof schema[key] === "number" ? schema[key] : undefined;
}

/** Patterns come from other languages; one that JavaScript cannot read is left to the server. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
