// For generated schemas and values that fit them: what a form holds, what is sent, and what the checks say agree.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJson, readNumber, writeJson } from "../json/json";
import { check } from "./check";
import { jsonProblem, typeJson } from "./edited";
import { setAt } from "./path";
import { prepare } from "./prepare";
import { isNullOnly, resolve, type Schema } from "./schema";
import { clean, inOrder, parseNumber, startValue, toArgs } from "./value";

interface Sample {
  schema: Schema;
  value: unknown;
}

const key = fc.stringMatching(/^[a-z][a-z0-9_]{0,6}$/);

const sample: fc.Arbitrary<Sample> = fc.letrec<{ any: Sample; object: Sample }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.string().map((value) => ({ schema: { type: "string" }, value })),
    fc.bigInt().map((n) => ({ schema: { type: "integer" }, value: readNumber(String(n), true) })),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => ({
      schema: { type: "number" },
      value: readNumber(JSON.stringify(n), false),
    })),
    fc.boolean().map((value) => ({ schema: { type: "boolean" }, value })),
    fc.constant<Sample>({ schema: { anyOf: [{ type: "string" }, { type: "null" }] }, value: null }),
    fc
      .uniqueArray(fc.string(), { minLength: 1, maxLength: 4 })
      .map((choices) => ({ schema: { type: "string", enum: choices }, value: choices[0] })),
    fc.string().map((value) => ({ schema: { const: value }, value })),
    fc.array(fc.string(), { maxLength: 3 }).map((value) => ({
      schema: { type: "array", items: { type: "string" } },
      value,
    })),
    fc.dictionary(key, fc.integer()).map((value) => ({
      schema: { type: "object", additionalProperties: { type: "integer" } },
      value,
    })),
    fc.tuple(tie("any"), tie("any")).map(([a, b]) => ({
      schema: { type: "array", prefixItems: [a.schema, b.schema], minItems: 2, maxItems: 2 },
      value: [a.value, b.value],
    })),
    tie("object"),
  ),
  object: fc
    .uniqueArray(fc.record({ name: key, sample: tie("any"), required: fc.boolean(), given: fc.boolean() }), {
      selector: (field) => field.name,
      maxLength: 5,
    })
    .map((fields) => {
      const given = fields.filter((field) => field.required || field.given);
      return {
        schema: {
          type: "object",
          properties: Object.fromEntries(fields.map((field) => [field.name, field.sample.schema])),
          required: fields.filter((field) => field.required).map((field) => field.name),
          additionalProperties: false,
        },
        value: Object.fromEntries(given.map((field) => [field.name, field.sample.value])),
      };
    }),
})).object;

describe("for any schema and a value that fits", () => {
  it("the check has nothing to say, and the call carries the value to the last digit", () => {
    fc.assert(
      fc.property(sample, ({ schema, value }) => {
        expect(check(schema, value)).toEqual([]);
        const sent = writeJson(toArgs(value, schema));
        expect(sent).toBe(writeJson(value));
        expect(check(schema, parseJson(sent))).toEqual([]);
      }),
    );
  });

  it("form and JSON hold the same", () => {
    fc.assert(
      fc.property(sample, ({ schema, value }) => {
        const prepared = prepare(schema);
        const ordered = inOrder(value, prepared, prepared);
        const edited = typeJson({ value: {}, text: null }, writeJson(clean(ordered), 2));
        expect(jsonProblem(edited)).toBeNull();
        expect(writeJson(toArgs(edited.value, schema))).toBe(writeJson(toArgs(ordered, schema)));
      }),
    );
  });

  it("entering it field by field gives the same call", () => {
    fc.assert(
      fc.property(sample, ({ schema, value }) => {
        let form = startValue(schema, schema);
        for (const [path, leaf] of leaves(value)) form = setAt(form, path, leaf);
        const prepared = prepare(schema);
        const call = toArgs(inOrder(form, prepared, prepared), schema);
        expect(JSON.parse(writeJson(call))).toMatchObject(JSON.parse(writeJson(toArgs(value, schema))));
        expect(check(schema, call).filter((finding) => !finding.missing)).toEqual([]);
      }),
    );
  });

  it("leaving out a required field is noticed", () => {
    fc.assert(
      fc.property(sample, ({ schema, value }) => {
        for (const name of schema.required ?? []) {
          const { [name]: _, ...rest } = value as Record<string, unknown>;
          expect(check(schema, rest).map((finding) => finding.path)).toContain(`/${name}`);
        }
      }),
    );
  });

  it("is accepted beside any other option, in any order", () => {
    fc.assert(
      fc.property(sample, sample, (a, b) => {
        expect(check({ anyOf: [a.schema, b.schema] }, a.value)).toEqual([]);
        expect(check({ anyOf: [b.schema, { type: "null" }, a.schema] }, a.value)).toEqual([]);
      }),
    );
  });
});

describe("whole numbers", () => {
  it("typed in any way never carry a fraction", () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.constantFrom("", ".0", ".000"), (number, tail) => {
        const read = parseNumber(`${number}${tail}`, true);
        expect(writeJson(toArgs({ n: read }))).toBe(`{"n":${number}}`);
      }),
    );
  });

  it("written as 5.0 in JSON are sent as 5", () => {
    const schema: Schema = {
      $defs: { N: { type: "integer" } },
      type: "object",
      properties: { n: { anyOf: [{ $ref: "#/$defs/N" }, { type: "null" }] }, list: { items: { type: "integer" } } },
    };
    const edited = typeJson({ value: {}, text: null }, '{"n": 5.0, "list": [1.0, 2]}');
    expect(writeJson(toArgs(edited.value, schema))).toBe('{"n":5,"list":[1,2]}');
  });
});

function* leaves(value: unknown, path: (string | number)[] = []): Generator<[(string | number)[], unknown]> {
  const plain = JSON.parse(writeJson(value) ?? "null");
  if (Array.isArray(value) && value.length > 0) {
    for (const [index, item] of value.entries()) yield* leaves(item, [...path, index]);
  } else if (typeof plain === "object" && plain !== null && !Array.isArray(plain) && Object.keys(plain).length > 0) {
    for (const [name, item] of Object.entries(value as object)) yield* leaves(item, [...path, name]);
  } else if (path.length > 0) yield [path, value];
}

describe("references", () => {
  it("to a recursive type end", () => {
    const tree: Schema = {
      $defs: {
        Node: {
          type: "object",
          properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/Node" } } },
          required: ["name", "children"],
        },
      },
      $ref: "#/$defs/Node",
    };
    expect(startValue(tree, tree)).toEqual({ children: [] });
    expect(isNullOnly(resolve(tree, tree))).toBe(false);
    const value = { name: "a", children: [{ name: "b", children: [] }] };
    expect(check(tree, value)).toEqual([]);
    expect(check(tree, { name: "a", children: [{ children: [] }] })).toMatchObject([{ path: "/children/0/name" }]);
  });
});
