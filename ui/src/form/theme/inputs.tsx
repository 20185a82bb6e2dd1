// The inputs for single values. Each shows its default as a hint and sends nothing until something is entered;
// clearing an input takes the value away again. They replace RJSF's own fields, which parse numbers by locale and
// fill in values nobody gave.
import { Checkbox, NativeSelect, Textarea, TextInput } from "@mantine/core";
import type { FieldProps } from "@rjsf/utils";
import { useState } from "react";
import { pointer } from "../pointer";
import { asSchema, type Schema } from "../schema";
import { parseNumber } from "../value";
import { useFormShare } from "./context";

export function TextField(props: FieldProps) {
  const input = useInput(props);
  const { schema, value, set, ...shared } = input;
  if (schema.enum) return <Choice {...input} />;
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
  if (schema.format !== undefined) {
    const type = schema.format === "date" ? "date" : "text";
    return <TextInput {...shared} type={type} value={text} onChange={(e) => set(e.currentTarget.value || undefined)} />;
  }
  return (
    <Textarea
      {...shared}
      autosize
      minRows={1}
      maxRows={12}
      value={text}
      onChange={(event) => set(event.currentTarget.value || undefined)}
    />
  );
}

/** Keeps the text as typed ("1.", "-"), since a number alone would lose it between two keys. */
export function NumberField(props: FieldProps) {
  const input = useInput(props);
  const { schema, value, set, ...shared } = input;
  const [typed, setTyped] = useState("");
  if (schema.enum) return <Choice {...input} />;
  const shown = parseNumber(typed) === value ? typed : value === undefined || value === null ? "" : String(value);
  const change = (text: string) => {
    setTyped(text);
    set(parseNumber(text));
  };
  return (
    <TextInput
      {...shared}
      inputMode={schema.type === "integer" ? "numeric" : "decimal"}
      autoComplete="off"
      value={shown}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

/** A required switch is a box; one that may be left out has three answers. */
export function BooleanField(props: FieldProps) {
  const input = useInput(props);
  const { schema, value, set, error: _, placeholder, ...shared } = input;
  if (schema.enum) return <Choice {...input} />;
  if (props.required) {
    return (
      <Checkbox
        {...shared}
        size="xs"
        className="field-check"
        label={value === true ? "true" : "false"}
        checked={value === true}
        onChange={(event) => set(event.currentTarget.checked)}
      />
    );
  }
  return (
    <NativeSelect
      {...shared}
      className={value === undefined ? "unset" : undefined}
      value={value === undefined ? "" : String(value)}
      onChange={(event) => set(event.currentTarget.value === "" ? undefined : event.currentTarget.value === "true")}
    >
      <option value="">{placeholder ?? "not set"}</option>
      <option value="true">true</option>
      <option value="false">false</option>
    </NativeSelect>
  );
}

type Input = ReturnType<typeof useInput>;

function Choice({ schema, value, set, placeholder, ...shared }: Input) {
  const choices = schema.enum ?? [];
  const index = choices.indexOf(value);
  const required = shared["aria-required"] === true;
  return (
    <NativeSelect
      {...shared}
      className={index < 0 ? "unset" : undefined}
      value={index}
      onChange={(event) => set(choices[Number(event.currentTarget.value)])}
    >
      <option value={-1} disabled={required}>
        {required ? "choose…" : placeholder}
      </option>
      {choices.map((choice, place) => (
        <option key={String(choice)} value={place}>
          {typeof choice === "string" ? choice : JSON.stringify(choice)}
        </option>
      ))}
    </NativeSelect>
  );
}

function useInput(props: FieldProps) {
  const { errors } = useFormShare();
  const { fieldPathId, required = false, formData } = props;
  const schema = asSchema(props.schema);
  const id = fieldPathId.$id;
  const last = fieldPathId.path[fieldPathId.path.length - 1];
  const hasError = errors.has(pointer(fieldPathId.path));
  return {
    schema,
    value: formData as unknown,
    set: (value: unknown) => props.onChange(value, fieldPathId.path),
    id,
    error: hasError,
    placeholder: formData === "" ? "empty text" : required ? hint(schema) : notSet(schema.default),
    "data-testid": `field-${fieldPathId.path.join(".")}`,
    "aria-required": required || undefined,
    "aria-label": typeof last === "number" ? `item ${last + 1}` : undefined,
    "aria-describedby": hasError ? `${id}__error` : schema.description ? `${id}__description` : undefined,
  };
}

function notSet(preset: unknown): string {
  if (preset === undefined || preset === null) return "not set";
  return `${typeof preset === "string" ? preset || '""' : JSON.stringify(preset)} · default`;
}

function hint(schema: Schema): string | undefined {
  if (schema.format === "date-time") return "2026-01-31T12:00:00Z";
  const example = Array.isArray(schema.examples) ? schema.examples[0] : undefined;
  return typeof example === "string" || typeof example === "number" ? `e.g. ${example}` : undefined;
}
