// A form from a JSON Schema. Controlled: `value` is what would be sent, nothing more. Errors appear beside their field
// once it was left, and all of them when `showAll` says that the person tried to send. Loaded on demand: RJSF is the
// heaviest part of the page.
// By path: the package's index also brings its test helpers, and with them a validator that compiles code.
import getDefaultRegistry from "@rjsf/core/lib/getDefaultRegistry.js";
import withTheme from "@rjsf/core/lib/withTheme.js";
import type { RJSFSchema } from "@rjsf/utils";
import { useCallback, useId, useMemo, useRef, useState } from "react";
import type { FieldError, JsonSchema } from "../api/types";
import { check } from "./check";
import { setAt } from "./path";
import { afterPointer } from "./pointerUp";
import { prepare } from "./prepare";
import { asSchema, type Schema } from "./schema";
import { type FormShare, FormShareProvider } from "./theme/context";
import { RootField } from "./theme/Field";
import { validator } from "./theme/validator";
import { inOrder } from "./value";

const defaults = getDefaultRegistry();
const ThemedForm = withTheme({
  templates: defaults.templates,
  fields: { ...defaults.fields, SchemaField: RootField },
});
const NOTHING = {};

export interface SchemaFormProps {
  schema: JsonSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  /** Complaints of the server, by JSON pointer into the value. */
  serverErrors?: FieldError[];
  showAll?: boolean;
  empty?: string;
}

export default function SchemaForm(props: SchemaFormProps) {
  const { schema, value, onChange, serverErrors = [], showAll = false } = props;
  const prepared = useMemo(() => prepare(asSchema(schema)), [schema]);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const latest = useRef(value);
  latest.current = value;
  const prefix = useId().replaceAll(/[^a-z0-9]/gi, "");
  const touch = useCallback((at: string) => {
    afterPointer(() => setTouched((before) => (before.has(at) ? before : new Set(before).add(at))));
  }, []);
  const errors = useMemo(() => {
    const byField = new Map<string, string[]>();
    const add = ({ path, message }: FieldError) => byField.set(path, [...(byField.get(path) ?? []), message]);
    for (const finding of check(asSchema(schema), value)) {
      if (showAll || (touched.has(finding.path) && !finding.missing)) add(finding);
    }
    for (const error of serverErrors) add(error);
    return byField;
  }, [schema, value, touched, showAll, serverErrors]);
  const share = useMemo<FormShare>(
    () => ({
      root: prepared,
      prefix,
      value,
      errors,
      touch,
      setAt: (path, next) => {
        latest.current = inOrder(setAt(latest.current, path, next), prepared, prepared);
        onChange(latest.current);
      },
      retrieve: (found) => found,
    }),
    [prepared, prefix, value, errors, touch, onChange],
  );
  if (takesNothing(prepared) && Object.keys(asSchema(value)).length === 0) {
    return <p className="quiet">{props.empty ?? "No parameters."}</p>;
  }
  return (
    <FormShareProvider value={share}>
      <ThemedForm
        tagName="div"
        schema={prepared as RJSFSchema}
        formData={NOTHING}
        validator={validator}
        idPrefix={prefix}
        noValidate
        noHtml5Validate
        showErrorList={false}
        uiSchema={{ "ui:submitButtonOptions": { norender: true } }}
        experimental_defaultFormStateBehavior={{
          emptyObjectFields: "skipDefaults",
          arrayMinItems: { populate: "never" },
          constAsDefaults: "never",
        }}
      >
        {null}
      </ThemedForm>
    </FormShareProvider>
  );
}

/** A function without parameters: an object of which nothing is said. */
function takesNothing(schema: Schema): boolean {
  const { type, properties, additionalProperties: others } = schema;
  return type === "object" && Object.keys(properties ?? {}).length === 0 && (others === undefined || others === false);
}
