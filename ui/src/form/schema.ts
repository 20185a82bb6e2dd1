// Looking at JSON Schema: references, types, and the words a person reads for them. Knows nothing of React or RJSF.
import type { JsonSchema } from "../api/types";

export type Schema = JsonSchema & {
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema | Schema[] | boolean;
  prefixItems?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
};

/** Marks a field that may also be null; null is offered beside the field instead of as a type of its own. */
export const NULLABLE = "x-nullable";

export function asSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}

/** Arguments are objects; what an agent gives back may be a list or a text too. */
export function isForObject(schema: JsonSchema): boolean {
  const { type, properties } = asSchema(schema);
  return type === "object" || (type === undefined && properties !== undefined);
}

/** Follows references and lone `allOf`s. A reference that leads nowhere, or in a circle, is an open schema. */
export function resolve(schema: Schema, root: Schema): Schema {
  let current = schema;
  for (let steps = 0; steps < 20; steps++) {
    const only = current.allOf?.length === 1 ? current.allOf[0] : undefined;
    if (only) {
      const { allOf: _, ...rest } = current;
      current = { ...asSchema(only), ...rest };
    } else if (typeof current.$ref === "string") {
      const { $ref, ...rest } = current;
      current = { ...lookUp($ref, root), ...rest };
    } else {
      return current;
    }
  }
  return {};
}

/** True if nothing is said about the value: Python's `Any`. */
export function isAny(schema: Schema): boolean {
  const says = ["type", "$ref", "properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "enum", "const"];
  return !says.some((key) => key in schema);
}

/** An object with no known fields and no type for the others: Python's `dict` or `dict[str, Any]`. */
export function isOpenObject(schema: Schema): boolean {
  if (schema.type !== "object" || Object.keys(schema.properties ?? {}).length > 0) return false;
  const others = schema.additionalProperties;
  return others === true || others === undefined || (typeof others === "object" && isAny(others));
}

export function isNullOnly(schema: Schema): boolean {
  return schema.type === "null" || (("const" in schema && schema.const === null) as boolean);
}

/** A short name for what goes into a field: "integer", "list of text", "date | text". */
export function typeWords(schema: Schema, root: Schema): string {
  const found = resolve(schema, root);
  const options = found.anyOf ?? found.oneOf;
  if (options) return options.map((option) => optionName(asSchema(option), root)).join(" | ");
  if ("const" in found) return "fixed";
  if (found.enum) return "choice";
  if (Array.isArray(found.type)) return found.type.map((type) => typeWords({ type }, root)).join(" | ");
  switch (found.type) {
    case "string":
      return found.contentEncoding === "base64" ? "file" : stringWords(found.format);
    case "array":
      return arrayWords(found, root);
    case "object":
      return found.properties ? "object" : "open object";
    case undefined:
      return found.properties ? "object" : "anything";
    default:
      return found.type;
  }
}

/** What a choice between several schemas calls one of them: its own title, else what it holds. */
export function optionName(option: Schema, root: Schema): string {
  if (isNullOnly(option)) return "null";
  const found = resolve(option, root);
  if ("const" in found) return JSON.stringify(found.const);
  if (found.enum && found.enum.length <= 3) return found.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (found.type === "object" || found.properties) {
    return found.title ?? refName(option) ?? discriminator(found) ?? "object";
  }
  return typeWords(found, root);
}

/** Options that would read the same get a number, so that they can be told apart. */
export function optionNames(options: Schema[], root: Schema): string[] {
  const names = options.map((option) => optionName(option, root));
  return names.map((name, index) => {
    const twins = names.filter((other) => other === name).length;
    return twins > 1 ? `${name} ${names.slice(0, index + 1).filter((other) => other === name).length}` : name;
  });
}

function stringWords(format: string | undefined): string {
  switch (format) {
    case "date":
    case "time":
    case "email":
    case "uuid":
      return format;
    case "date-time":
      return "date and time";
    case "binary":
    case "byte":
    case "base64":
    case "data-url":
      return "file";
    case "uri":
    case "url":
      return "link";
    default:
      return "text";
  }
}

function arrayWords(schema: Schema, root: Schema): string {
  const tuple = schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : undefined);
  if (tuple) return `(${tuple.map((item) => optionName(item, root)).join(", ")})`;
  const items = asSchema(schema.items);
  return isAny(items) ? "list" : `list of ${optionName(items, root)}`;
}

function discriminator(schema: Schema): string | undefined {
  for (const property of Object.values(schema.properties ?? {})) {
    if (typeof property.const === "string") return property.const;
  }
  return undefined;
}

function refName(schema: Schema): string | undefined {
  return schema.$ref?.split("/").pop();
}

function lookUp(ref: string, root: Schema): Schema {
  if (!ref.startsWith("#")) return {};
  let at: unknown = root;
  for (const step of ref.slice(1).split("/").filter(Boolean)) {
    at = asSchema(at)[decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return asSchema(at);
}
