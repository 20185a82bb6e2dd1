// The inputs for single values. Each shows its default as a hint and sends nothing until something is entered;
// clearing an input takes the value away again.
import { Checkbox, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { useRef, useState } from "react";
import { isNumber, sameJson, Unread, writeJson } from "../../json/json";
import { NULLABLE, type Schema } from "../schema";
import { formatProblem, parseNumber } from "../value";
import { type FieldProps, usePlace } from "./context";

export function TextInputField(props: FieldProps) {
  const { value, set, schema, ...shared } = useInput(props);
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : writeJson(value);
  if (schema.format === "date-time") return <DateTimeInput {...shared} text={text} set={set} />;
  if (schema.format !== undefined) {
    const native = NATIVE[schema.format];
    const type = native && (text === "" || native.test(text)) ? schema.format : "text";
    return (
      <TextInput
        {...shared}
        type={type}
        step={schema.format === "time" ? 1 : undefined}
        autoComplete="off"
        value={text}
        onChange={(event) => set(event.currentTarget.value || undefined)}
      />
    );
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

/** What the browser's own inputs for these formats can show; anything else is shown as text. */
const NATIVE: Record<string, RegExp> = {
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d(:\d\d)?$/,
};

type SharedProps = Omit<ReturnType<typeof useInput>, "value" | "set" | "schema">;

/** Typed to the letter, zone included, or picked in the time zone of the browser. */
function DateTimeInput({ text, set, ...shared }: SharedProps & { text: string; set: (value: unknown) => void }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <div className="date-time">
      <TextInput
        {...shared}
        autoComplete="off"
        value={text}
        onChange={(event) => set(event.currentTarget.value || undefined)}
      />
      <button type="button" className="link" onClick={() => openPicker(picker.current)}>
        pick
      </button>
      <button type="button" className="link" onClick={() => set(withZone(new Date()))}>
        now
      </button>
      <input
        ref={picker}
        className="picker"
        type="datetime-local"
        step={1}
        tabIndex={-1}
        aria-hidden="true"
        onChange={(event) => event.currentTarget.value && set(withZone(new Date(event.currentTarget.value)))}
      />
    </div>
  );
}

function openPicker(input: HTMLInputElement | null): void {
  try {
    input?.showPicker();
  } catch {
    input?.focus();
  }
}

function withZone(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const two = (value: number) => String(Math.trunc(Math.abs(value))).padStart(2, "0");
  const zone = minutes === 0 ? "Z" : `${minutes < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
  return `${new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, 19)}${zone}`;
}

/** Keeps the text as typed ("1.", "-"), since a number alone would lose it between two keys. */
export function NumberInput(props: FieldProps) {
  const { schema, value, set, ...shared } = useInput(props);
  const [typed, setTyped] = useState("");
  const whole = schema.type === "integer";
  const shown = sameNumber(parseNumber(typed, whole), value) ? typed : textOf(value);
  return (
    <TextInput
      {...shared}
      inputMode={whole ? "numeric" : "decimal"}
      autoComplete="off"
      value={shown}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        set(parseNumber(event.currentTarget.value, whole));
      }}
    />
  );
}

function sameNumber(a: unknown, b: unknown): boolean {
  return a === b || (a !== undefined && b !== undefined && sameJson(a, b));
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return isNumber(value) || value instanceof Unread || typeof value === "string" ? String(value) : writeJson(value);
}

/** A required switch is a box; one that may be left out has three answers. */
export function BooleanInput(props: FieldProps) {
  const { schema, value, set, error: _, placeholder, ...shared } = useInput(props);
  if (props.required && schema[NULLABLE] !== true) {
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
      <option value="">{props.required ? "choose…" : (placeholder ?? "not set")}</option>
      <option value="true">true</option>
      <option value="false">false</option>
    </NativeSelect>
  );
}

export function Choice(props: FieldProps) {
  const { schema, value, set, placeholder, ...shared } = useInput(props);
  const choices = schema.enum ?? [];
  const index = choices.findIndex((choice) => value !== undefined && sameJson(choice, value));
  const strange = index < 0 && value !== undefined;
  return (
    <NativeSelect
      {...shared}
      className={index < 0 && !strange ? "unset" : undefined}
      value={strange ? "strange" : index}
      onChange={(event) => set(choices[Number(event.currentTarget.value)])}
    >
      <option value={-1} disabled={props.required}>
        {props.required ? "choose…" : placeholder}
      </option>
      {strange && <option value="strange">{writeJson(value)}</option>}
      {choices.map((choice, place) => (
        <option key={writeJson(choice)} value={place}>
          {typeof choice === "string" && choice !== "" ? choice : writeJson(choice)}
        </option>
      ))}
    </NativeSelect>
  );
}

function useInput({ schema, path, required }: FieldProps) {
  const { errors, at, id, value, set } = usePlace(path);
  const last = path[path.length - 1];
  const hasError = errors.has(at);
  return {
    schema,
    value,
    set,
    id,
    error: hasError,
    placeholder: value === "" ? "empty text" : required ? hint(schema) : notSet(schema.default),
    "data-testid": `field-${path.join(".")}`,
    "aria-required": required || undefined,
    "aria-label": typeof last === "number" ? `item ${last + 1}` : undefined,
    "aria-describedby": hasError ? `${id}__error` : schema.description ? `${id}__description` : undefined,
  };
}

function notSet(preset: unknown): string {
  if (preset === undefined || preset === null) return "not set";
  return `${typeof preset === "string" ? preset || '""' : writeJson(preset)} · default`;
}

function hint(schema: Schema): string | undefined {
  const example = Array.isArray(schema.examples) ? schema.examples[0] : undefined;
  if (typeof example === "string" || typeof example === "number") return `e.g. ${example}`;
  return schema.format && formatProblem(schema.format, "")?.replace("must be ", "");
}
