// A place for anything: JSON is sent as JSON, other text as text, and a line below says which.
import { Textarea } from "@mantine/core";
import { useState } from "react";
import { isNumber, writeJson } from "../../json/json";
import { clean, parseAnything } from "../value";
import { type FieldProps, usePlace } from "./context";

export function JsonInput({ path, required, schema }: FieldProps) {
  const { id, value, set, errors, at } = usePlace(path);
  const [text, setText] = useState(() => (value === undefined ? "" : writeJson(clean(value), 2)));
  // What was typed is shown as long as it is what the value came from.
  const mine = writeJson(clean(parseAnything(text))) === writeJson(clean(value));
  const shown = mine ? text : value === undefined ? "" : writeJson(clean(value), 2);
  const change = (next: string) => {
    setText(next);
    set(parseAnything(next));
  };
  const last = path[path.length - 1];
  return (
    <>
      <Textarea
        id={id}
        autosize
        minRows={1}
        maxRows={12}
        className="mono-input"
        spellCheck={false}
        data-testid={`field-${path.join(".")}`}
        aria-label={typeof last === "number" ? `item ${last + 1}` : last === undefined ? "value" : undefined}
        aria-required={required || undefined}
        error={errors.has(at)}
        value={shown}
        placeholder={placeholder(required, schema.default)}
        onChange={(event) => change(event.currentTarget.value)}
      />
      {shown.trim() !== "" && <div className="field-help">sent as {kindWords(value)}</div>}
    </>
  );
}

function placeholder(required: boolean, preset: unknown): string {
  if (preset !== undefined && preset !== null) return `${writeJson(preset)} · default`;
  return required ? "JSON or text" : "not set · JSON or text";
}

function kindWords(value: unknown): string {
  if (value === null) return "null";
  if (isNumber(value)) return "a number";
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
