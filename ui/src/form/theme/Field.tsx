// One field of a form, whatever its schema says. RJSF's form calls it for the root; from there on fields draw their own
// fields, so that "not set", null and choices mean the same at every depth.
import type { FieldProps as RjsfProps } from "@rjsf/utils";
import { useMemo } from "react";
import { writeJson } from "../../json/json";
import { asSchema, isAny, isNullOnly, NULLABLE, resolve, type Schema } from "../schema";
import { hasType, startValue } from "../value";
import { type FieldProps, FormShareProvider, useFormShare, usePlace } from "./context";
import { BytesInput, isBytes } from "./bytes";
import { Frame, nameOf } from "./Frame";
import { BooleanInput, Choice, NumberInput, TextInputField } from "./inputs";
import { JsonInput } from "./JsonInput";
import { ListField } from "./ListField";
import { ObjectField } from "./ObjectField";
import { UnionField } from "./UnionField";

export function RootField(props: RjsfProps) {
  const share = useFormShare();
  const { schemaUtils } = props.registry;
  const complete = useMemo(
    () => ({
      ...share,
      retrieve: (schema: Schema, value: unknown) => {
        const found = resolve(schema, share.root);
        if (!isConditional(found)) return found;
        return asSchema(schemaUtils.retrieveSchema(found as never, value as never));
      },
    }),
    [share, schemaUtils],
  );
  return (
    <FormShareProvider value={complete}>
      <Field schema={asSchema(props.schema)} path={[]} required />
    </FormShareProvider>
  );
}

export function Field(props: FieldProps) {
  const { path, required } = props;
  const { retrieve, value, errors } = usePlace(path);
  const schema = retrieve(props.schema, value);
  const own = { ...props, schema };
  const isRoot = path.length === 0;
  if (isNullOnly(schema) || ("const" in schema && required)) return <Fixed {...own} />;
  if ("const" in schema) return <Simple {...own} schema={{ ...schema, enum: [schema.const] }} />;
  if (isAny(schema)) return <Json {...own} />;
  if (value === null && schema[NULLABLE]) {
    return (
      <Frame {...own} wide={isWide(schema, path.length)} group={isContainer(schema)}>
        {null}
      </Frame>
    );
  }
  if (schema.anyOf) {
    return (
      <Frame {...own} wide group>
        <UnionField {...own} />
      </Frame>
    );
  }
  if (!isContainer(schema)) return <Simple {...own} />;
  if (value === undefined && !isRoot) return <NotSet {...own} />;
  // Something else came in as JSON: it is shown as it is, with what is wrong with it.
  if (value !== undefined && !hasType({ type: containerType(schema) }, value)) return <Json {...own} />;
  if (containerType(schema) === "array") {
    return (
      <Frame {...own} wide group>
        <ListField {...own} />
      </Frame>
    );
  }
  if (isRoot) {
    return (
      <>
        {(errors.get("") ?? []).map((message) => (
          <div key={message} className="field-error" role="alert">
            {message}
          </div>
        ))}
        <ObjectField {...own} />
      </>
    );
  }
  return (
    <Frame {...own} wide group>
      <ObjectField {...own} />
    </Frame>
  );
}

function Simple(props: FieldProps) {
  const { schema, path } = props;
  const bytes = isBytes(schema);
  return (
    <Frame {...props} wide={bytes || isWide(schema, path.length)} leaf>
      {bytes ? (
        <BytesInput {...props} />
      ) : schema.enum ? (
        <Choice {...props} />
      ) : schema.type === "boolean" ? (
        <BooleanInput {...props} />
      ) : schema.type === "integer" || schema.type === "number" ? (
        <NumberInput {...props} />
      ) : (
        <TextInputField {...props} />
      )}
    </Frame>
  );
}

function Json(props: FieldProps) {
  return (
    <Frame {...props} wide leaf>
      <JsonInput {...props} />
    </Frame>
  );
}

function Fixed(props: FieldProps) {
  return (
    <Frame {...props} wide={false}>
      <code className="const-value">{writeJson(props.schema.const ?? null)}</code>
    </Frame>
  );
}

/** An object or list that may be left out is one line until it is wanted; that is also where recursion ends. */
function NotSet(props: FieldProps) {
  const { schema, path, required } = props;
  const { root, errors, at, set } = usePlace(path);
  const name = nameOf(props) || "add";
  const messages = [...errors]
    .filter(([place]) => place === at || place.startsWith(`${at}/`))
    .flatMap(([, all]) => all);
  return (
    <div className={`field field-wide${messages.length > 0 ? " field-bad" : ""}`}>
      <button
        type="button"
        className="not-set"
        data-testid={`set-${path.join(".")}`}
        title={typeof schema.description === "string" ? schema.description : undefined}
        onClick={() => set(startValue(schema, root))}
      >
        + {name} <span className="chip">{required ? "required" : notSetWords(schema.default)}</span>
      </button>
      {schema[NULLABLE] === true && (
        <button type="button" className="link" aria-label={`Send null for ${name}`} onClick={() => set(null)}>
          null
        </button>
      )}
      {messages.map((message) => (
        <div key={message} className="field-error" role="alert">
          {message}
        </div>
      ))}
    </div>
  );
}

function notSetWords(preset: unknown): string {
  if (preset === undefined || preset === null) return "not set";
  const text = writeJson(preset);
  return `${text.length > 40 ? `${text.slice(0, 40)}…` : text} · default`;
}

function isContainer(schema: Schema): boolean {
  return schema.type === "object" || schema.type === "array" || schema.properties !== undefined;
}

function containerType(schema: Schema): "array" | "object" {
  return schema.type === "array" ? "array" : "object";
}

function isConditional(schema: Schema): boolean {
  return ["if", "dependencies", "dependentRequired", "dependentSchemas"].some((key) => key in schema) || !!schema.allOf;
}

function isWide(schema: Schema, depth: number): boolean {
  if (schema.enum || "const" in schema) return false;
  switch (schema.type) {
    case "integer":
    case "number":
    case "boolean":
      return false;
    case "string":
      return schema.format === "date-time" || (schema.format === undefined && depth < 2);
    default:
      return true;
  }
}
