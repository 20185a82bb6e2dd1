// Objects: the fields that the schema knows, then rows of key and value if others are allowed. Complaints about keys
// that are not drawn stand below the fields.
import { TextInput } from "@mantine/core";
import { useRef, useState } from "react";
import { isObject } from "../../json/json";
import { Cross } from "../../shell/icons";
import { pointer } from "../pointer";
import { asSchema, isOpenObject, type Schema } from "../schema";
import { startValue } from "../value";
import { type FieldProps, messagesAt, usePlace } from "./context";
import { Field } from "./Field";
import { addAndFocus, ItemButton } from "./ListField";

export function ObjectField({ schema, path }: FieldProps) {
  const { value } = usePlace(path);
  const fields = isObject(value) ? value : {};
  const names = Object.keys(schema.properties ?? {});
  const extras = Object.keys(fields).filter((name) => !names.includes(name) && fields[name] !== undefined);
  const open = typeof schema.additionalProperties === "object" || isOpenObject(schema);
  return (
    <div className={path.length > 0 ? "nest" : "fields"}>
      {names.length > 0 && (
        <div className="field-grid">
          {names.map((name) => (
            <Field
              key={name}
              schema={asSchema(schema.properties?.[name])}
              path={[...path, name]}
              required={schema.required?.includes(name) ?? false}
            />
          ))}
        </div>
      )}
      {open ? (
        <Entries path={path} keys={extras} schema={asSchema(schema.additionalProperties)} />
      ) : (
        <Strangers path={path} keys={extras} />
      )}
    </div>
  );
}

/** Rows of key and value. A key is renamed as it is typed; the value, its row and its place stay. */
function Entries({ path, keys, schema }: { path: FieldProps["path"]; keys: string[]; schema: Schema }) {
  const { root, value, set } = usePlace(path);
  const ids = useRef(new Map<string, number>());
  const next = useRef(0);
  const idOf = (key: string) => {
    const known = ids.current.get(key) ?? ++next.current;
    ids.current.set(key, known);
    return known;
  };
  const fields = isObject(value) ? value : {};
  const add = () => {
    const key = freeKey(fields);
    const added = { ...fields, [key]: startValue(schema, root) ?? emptyOf(schema) };
    addAndFocus(() => set(added), `key-${[...path, key].join(".")}`);
  };
  const rename = (from: string, to: string) => {
    ids.current.set(to, idOf(from));
    ids.current.delete(from);
    set(Object.fromEntries(Object.entries(fields).map(([key, item]) => [key === from ? to : key, item])));
  };
  const remove = (key: string) => {
    ids.current.delete(key);
    const { [key]: _, ...rest } = fields;
    set(rest);
  };
  return (
    <>
      {keys.map((key) => (
        <div className="extra-row" key={idOf(key)}>
          <KeyInput path={path} name={key} taken={Object.keys(fields)} onRename={(to) => rename(key, to)} />
          <Field schema={schema} path={[...path, key]} required name="" />
          <ItemButton label={`Remove ${key}`} onClick={() => remove(key)}>
            <Cross />
          </ItemButton>
        </div>
      ))}
      <button type="button" className="not-set" onClick={add} data-testid={`add-${path.join(".")}`}>
        + add a key
      </button>
    </>
  );
}

interface KeyInputProps {
  path: FieldProps["path"];
  name: string;
  taken: string[];
  onRename: (name: string) => void;
}

/** A key that is there already is not taken over, and the old one comes back when the field is left. */
function KeyInput({ path, name, taken, onRename }: KeyInputProps) {
  const [refused, setRefused] = useState<string | null>(null);
  const change = (typed: string) => {
    if (typed !== name && (taken.includes(typed) || typed === "")) return setRefused(typed);
    setRefused(null);
    if (typed !== name) onRename(typed);
  };
  return (
    <div className="key-input">
      <TextInput
        value={refused ?? name}
        aria-label="key"
        data-testid={`key-${[...path, name].join(".")}`}
        className="mono-input"
        error={refused !== null}
        onFocus={(event) => event.currentTarget.select()}
        onChange={(event) => change(event.currentTarget.value)}
        onBlur={() => setRefused(null)}
      />
      {refused !== null && (
        <div className="field-error">{refused === "" ? `still ${name}` : `there already, so still ${name}`}</div>
      )}
    </div>
  );
}

function Strangers({ path, keys }: { path: FieldProps["path"]; keys: string[] }) {
  const { errors, value, set } = usePlace(path);
  const remove = (key: string) => {
    const { [key]: _, ...rest } = isObject(value) ? value : {};
    set(rest);
  };
  return keys.map((key) => (
    <div key={key} className="field-error">
      <code>{key}</code> {messagesAt(errors, pointer([...path, key]), true).join("; ") || "is not in the form"}
      <button type="button" className="link" onClick={() => remove(key)}>
        remove
      </button>
    </div>
  ));
}

function freeKey(fields: Record<string, unknown>): string {
  for (let number = 1; ; number++) {
    const key = number === 1 ? "key" : `key${number}`;
    if (!(key in fields)) return key;
  }
}

/** A row needs a value to be there at all. */
function emptyOf(schema: Schema): unknown {
  switch (schema.type) {
    case "integer":
    case "number":
      return 0;
    case "boolean":
      return false;
    default:
      return "";
  }
}
