// The schema as the form renderer likes it. RJSF knows draft-07 and draws an `Optional[X]` as a choice between X and
// null; people think of X that may be left out. Only the drawing uses the result: checking uses the tool's own schema.
import { asSchema, isNullOnly, NULLABLE, type Schema } from "./schema";

export function prepare(schema: Schema): Schema {
  return node(schema);
}

function node(value: unknown): Schema {
  const source = asSchema(value);
  let result: Schema = { ...source };
  if (result.oneOf && !result.anyOf) {
    result.anyOf = result.oneOf;
    delete result.oneOf;
  }
  if (Array.isArray(result.type)) result = splitTypes(result, result.type);
  if (result.anyOf) result = liftNull(result, result.anyOf.map(asSchema));
  if (result.allOf?.length === 1) {
    const { allOf, ...rest } = result;
    result = { ...asSchema(allOf[0]), ...rest };
  }
  if (result.nullable === true) result[NULLABLE] = true;
  if (result.enum?.includes(null)) {
    result.enum = result.enum.filter((option) => option !== null);
    result[NULLABLE] = true;
  }
  return children(result);
}

function children(source: Schema): Schema {
  const result: Schema = { ...source };
  for (const key of ["properties", "$defs", "definitions"] as const) {
    const group = result[key];
    if (group) result[key] = mapValues(asSchema(group)) as never;
  }
  if (result.prefixItems) {
    result.additionalItems = typeof result.items === "object" ? node(result.items) : result.items === true;
    result.items = result.prefixItems.map(node);
    delete result.prefixItems;
  } else if (Array.isArray(result.items)) {
    result.items = result.items.map(node);
  } else if (result.items === true) {
    result.items = {};
  } else if (typeof result.items === "object") {
    result.items = node(result.items);
  } else if (result.type === "array") {
    result.items = {};
  }
  if (typeof result.additionalProperties === "object") result.additionalProperties = node(result.additionalProperties);
  if (result.anyOf) result.anyOf = result.anyOf.map(node);
  if (result.allOf) result.allOf = result.allOf.map(node);
  return result;
}

function splitTypes(source: Schema, types: string[]): Schema {
  const others = types.filter((type) => type !== "null");
  const result: Schema = { ...source };
  if (others.length < types.length) result[NULLABLE] = true;
  if (others.length === 1) return { ...result, type: others[0] };
  const { type: _, title, description, default: preset, ...shared } = result;
  return {
    title,
    description,
    default: preset,
    [NULLABLE]: result[NULLABLE],
    anyOf: others.map((type) => ({ ...shared, type })),
  };
}

function liftNull(source: Schema, options: Schema[]): Schema {
  const others = options.filter((option) => !isNullOnly(option));
  const { anyOf: _, ...rest } = source;
  const nullable = others.length < options.length ? { [NULLABLE]: true } : {};
  const constants = others.map(constantsOf);
  if (others.length > 1 && constants.every((values) => values !== undefined)) {
    return { ...rest, ...nullable, enum: constants.flat() };
  }
  const only = others.length === 1 ? others[0] : undefined;
  return only ? { ...node(only), ...rest, ...nullable } : { ...rest, ...nullable, anyOf: others };
}

function constantsOf(option: Schema): unknown[] | undefined {
  return "const" in option ? [option.const] : option.enum;
}

function mapValues(group: Schema): Record<string, Schema> {
  return Object.fromEntries(Object.entries(group).map(([key, value]) => [key, node(value)]));
}
