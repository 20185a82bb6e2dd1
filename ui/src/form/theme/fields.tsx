// The fields that RJSF does not have: values that were not set, constants, JSON, and choices between schemas. They
// replace RJSF's own at the one place every field goes through.
import { NativeSelect, Textarea } from "@mantine/core";
import getDefaultRegistry from "@rjsf/core/lib/getDefaultRegistry.js";
import type { FieldProps } from "@rjsf/utils";
import { useState } from "react";
import { asSchema, isAny, isOpenObject, NULLABLE, optionNames, type Schema } from "../schema";
import { clean, closestOption, parseAnything, startValue } from "../value";
import { useFormShare } from "./context";
import { Frame } from "./Frame";

const { SchemaField: PlainField } = getDefaultRegistry().fields;

export function AnyField(props: FieldProps) {
  const { registry, formData, required = false } = props;
  const schema = asSchema(registry.schemaUtils.retrieveSchema(props.schema, formData));
  const root = registry.rootSchema as Schema;
  const set = (value: unknown) => props.onChange(value, props.fieldPathId.path);
  const isRoot = props.fieldPathId.path.length === 0;
  const frame = {
    id: props.fieldPathId.$id,
    name: isRoot ? "" : String(props.name),
    path: props.fieldPathId.path,
    schema,
    required,
    value: formData,
    onChange: set,
  };
  if ("const" in schema || schema.type === "null") {
    return (
      <Frame {...frame} wide={false}>
        <code className="const-value">{JSON.stringify(schema.const ?? null)}</code>
      </Frame>
    );
  }
  if (isAny(schema) || isOpenObject(schema)) {
    return (
      <Frame {...frame} wide>
        <JsonValue {...frame} objectOnly={!isAny(schema)} />
      </Frame>
    );
  }
  const container = schema.type === "object" || schema.type === "array" || schema.properties !== undefined;
  if (formData === null && schema[NULLABLE]) {
    return (
      <Frame {...frame} wide>
        {null}
      </Frame>
    );
  }
  if (container && formData === undefined && !isRoot) {
    return <NotSet name={frame.name} required={required} onAdd={() => set(startValue(schema, root))} />;
  }
  return PlainField ? <PlainField {...props} /> : null;
}

function NotSet({ name, required, onAdd }: { name: string; required: boolean; onAdd: () => void }) {
  return (
    <div className="field field-wide">
      <button type="button" className="not-set" onClick={onAdd}>
        + {name} <span className="chip">{required ? "required" : "not set"}</span>
      </button>
    </div>
  );
}

interface JsonValueProps {
  id: string;
  value: unknown;
  required: boolean;
  onChange: (value: unknown) => void;
  objectOnly: boolean;
}

/** Anything: JSON is sent as JSON, other text as text, and a line below says which. */
function JsonValue({ id, value, required, onChange, objectOnly }: JsonValueProps) {
  const [text, setText] = useState(() => (value === undefined ? "" : JSON.stringify(clean(value), null, 2)));
  const change = (next: string) => {
    setText(next);
    onChange(parseAnything(next));
  };
  return (
    <>
      <Textarea
        id={id}
        autosize
        minRows={1}
        maxRows={12}
        className="mono-input"
        value={text}
        placeholder={`${required ? "" : "not set · "}${objectOnly ? '{"key": "value"}' : "JSON or text"}`}
        onChange={(event) => change(event.currentTarget.value)}
      />
      {text.trim() !== "" && !objectOnly && <div className="field-help">sent as {jsonKind(value)}</div>}
    </>
  );
}

function jsonKind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "object":
      return "an object";
    case "string":
      return "text";
    default:
      return `a ${typeof value}`;
  }
}

/** A choice between several schemas. The chosen one stays chosen while its fields are still empty. */
export function UnionField(props: FieldProps) {
  const { registry, formData, required = false, fieldPathId } = props;
  const { root } = useFormShare();
  const options = ((props.options ?? []) as unknown[]).map(asSchema);
  const names = optionNames(((props.schema.anyOf ?? props.schema.oneOf ?? options) as unknown[]).map(asSchema), root);
  const [chosen, setChosen] = useState(() =>
    formData === undefined && !required ? -1 : closestOption(options, formData, root),
  );
  const { SchemaField } = registry.fields;
  const option = options[chosen];
  const choose = (index: number) => {
    setChosen(index);
    const next = options[index];
    props.onChange(next ? startValue(next, root) : undefined, fieldPathId.path);
  };
  return (
    <div className={`union${option && isPlain(option) ? " union-plain" : ""}`}>
      <NativeSelect
        id={chosen === -1 ? fieldPathId.$id : `${fieldPathId.$id}__option`}
        aria-label={`kind of ${props.name}`}
        className={chosen === -1 ? "unset" : undefined}
        value={chosen}
        onChange={(event) => choose(Number(event.currentTarget.value))}
      >
        {!required && <option value={-1}>not set</option>}
        {names.map((name, index) => (
          <option key={name} value={index}>
            {name}
          </option>
        ))}
      </NativeSelect>
      {option && SchemaField && (
        <SchemaField
          key={chosen}
          {...props}
          name=""
          required
          schema={{ ...option, title: undefined, description: undefined } as never}
          uiSchema={{}}
        />
      )}
    </div>
  );
}

function isPlain(schema: Schema): boolean {
  return schema.type !== "object" && schema.type !== "array" && !schema.properties;
}
