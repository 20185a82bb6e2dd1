// The frame of every field: its name, what goes in, the description, and what is wrong, always in these places. The
// name is the parameter's own, since that is what the tool and the trace will say.
import type { ReactNode } from "react";
import { pointer } from "../pointer";
import { NULLABLE, type Schema, typeWords } from "../schema";
import { useFormShare } from "./context";

export interface FrameProps {
  id: string;
  name: string;
  path: readonly (string | number)[];
  schema: Schema;
  required: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
  wide: boolean;
  /** Groups (objects, lists) label themselves by role instead of pointing at one input. */
  group?: boolean;
  children: ReactNode;
}

export function Frame(props: FrameProps) {
  const { id, name, path, schema, required, value, children } = props;
  const { root, errors, touch } = useFormShare();
  const at = pointer(path);
  const messages = errors.get(at) ?? [];
  const labelled = name !== "";
  const words = typeWords(schema, root);
  const help = typeof schema.description === "string" && schema.description !== "" && (
    <div className="field-help" id={`${id}__description`}>
      {schema.description}
    </div>
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices that a field inside was left.
    <div
      className={`field${props.wide ? " field-wide" : ""}${messages.length > 0 ? " field-bad" : ""}`}
      onBlur={() => touch(at)}
      {...(props.group && labelled ? { role: "group", "aria-labelledby": `${id}__label` } : {})}
    >
      {labelled && (
        <div className="field-head">
          <label id={`${id}__label`} htmlFor={props.group ? undefined : id} title={words}>
            {name}
          </label>
          <span className="field-meta">
            <span className="field-type">
              {words}
              {required && " · required"}
            </span>
            <FieldActions {...props} />
          </span>
        </div>
      )}
      {props.group && help}
      {value === null && schema[NULLABLE] ? <NullValue id={id} onClear={() => props.onChange(undefined)} /> : children}
      {!props.group && help}
      {messages.map((message) => (
        <div key={message} className="field-error" id={`${id}__error`} role="alert">
          {message}
          {message === "required" && schema.type === "string" && !schema.enum && !schema.format && (
            <button type="button" className="link" title="Send empty text" onClick={() => props.onChange("")}>
              or empty
            </button>
          )}
        </div>
      ))}
    </div>
  );
}

function FieldActions({ schema, required, value, onChange, group }: FrameProps) {
  return (
    <>
      {schema[NULLABLE] === true && value !== null && (
        <button type="button" className="link" title="Send null" onClick={() => onChange(null)}>
          null
        </button>
      )}
      {!required && group && value !== undefined && (
        <button type="button" className="link" onClick={() => onChange(undefined)}>
          leave out
        </button>
      )}
    </>
  );
}

function NullValue({ id, onClear }: { id: string; onClear: () => void }) {
  return (
    <div className="null-value">
      <code>null</code>
      <button type="button" id={id} className="link" onClick={onClear}>
        set a value instead
      </button>
    </div>
  );
}
