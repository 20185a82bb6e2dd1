// The frame of every field: its name, what goes in, the description, and what is wrong, always in these places. The
// name is the parameter's own, since that is what the tool and the trace will say.
import type { ReactNode } from "react";
import { NULLABLE, type Schema, typeWords } from "../schema";
import { type FieldProps, messagesAt, usePlace } from "./context";

interface FrameProps extends FieldProps {
  wide: boolean;
  /** Groups (objects, lists) label themselves by role instead of pointing at one input. */
  group?: boolean;
  /** Errors deeper inside are shown here, because nothing inside can show them. */
  leaf?: boolean;
  children: ReactNode;
}

export function Frame(props: FrameProps) {
  const { path, schema, required, children } = props;
  const { root, errors, touch, at, id, value, set } = usePlace(path);
  if (props.bare) return <>{children}</>;
  const messages = messagesAt(errors, at, props.leaf ?? false);
  const name = nameOf(props);
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
      {...(props.group && name ? { role: "group", "aria-labelledby": `${id}__label` } : {})}
    >
      {name !== "" && (
        <div className="field-head">
          <label id={`${id}__label`} htmlFor={props.group ? undefined : id} title={words}>
            {name}
          </label>
          <span className="field-meta">
            <span className="field-type">
              {words}
              {required && " · required"}
            </span>
            <FieldActions {...{ schema, required, value, set, name }} group={props.group ?? false} />
          </span>
        </div>
      )}
      {props.group && name !== "" && help}
      {value === null && schema[NULLABLE] ? <NullValue id={id} onClear={() => set(undefined)} /> : children}
      {!props.group && help}
      {messages.map((message) => (
        <div key={message} className="field-error" id={`${id}__error`} role="alert">
          {message}
          {message === "required" && <Instead schema={schema} set={set} />}
        </div>
      ))}
    </div>
  );
}

export function nameOf({ name, path }: FieldProps): string {
  const last = path[path.length - 1];
  return name ?? (typeof last === "string" ? last : "");
}

/** What an empty field could also mean, one click away. */
function Instead({ schema, set }: { schema: Schema; set: (value: unknown) => void }) {
  const mayBeEmpty = schema.type === "string" && !schema.enum && !schema.format;
  return (
    <>
      {mayBeEmpty && (
        <button type="button" className="link" title="Send empty text" onClick={() => set("")}>
          or empty
        </button>
      )}
      {schema[NULLABLE] === true && (
        <button type="button" className="link" title="Send null" onClick={() => set(null)}>
          or null
        </button>
      )}
    </>
  );
}

interface ActionsProps {
  schema: Schema;
  required: boolean;
  value: unknown;
  set: (value: unknown) => void;
  name: string;
  group: boolean;
}

function FieldActions({ schema, required, value, set, name, group }: ActionsProps) {
  return (
    <>
      {schema[NULLABLE] === true && value !== null && (
        <button
          type="button"
          className="link"
          title="Send null"
          aria-label={`Send null for ${name}`}
          onClick={() => set(null)}
        >
          null
        </button>
      )}
      {!required && group && value !== undefined && value !== null && (
        <button type="button" className="link" aria-label={`Leave out ${name}`} onClick={() => set(undefined)}>
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
