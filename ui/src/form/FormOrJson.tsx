// A form and its JSON side by side, one at a time. Both edit the same value, so switching keeps what was typed; JSON
// that does not parse stays as text, is never lost, and holds back the form until it parses.
import { Textarea } from "@mantine/core";
import { lazy, Suspense } from "react";
import type { FieldError, JsonSchema } from "../api/types";
import { writeJson } from "../json/json";
import { type Edited, jsonProblem, typeJson } from "./edited";
import { isForObject } from "./schema";
import { clean } from "./value";
import "./form.css";

const SchemaForm = lazy(() => import("./SchemaForm"));

export interface FormOrJsonProps {
  schema: JsonSchema;
  edited: Edited;
  onChange: (edited: Edited) => void;
  mode: "form" | "json";
  serverErrors?: FieldError[];
  showAll?: boolean;
  empty?: string;
  label: string;
}

export function FormOrJson(props: FormOrJsonProps) {
  const { schema, edited, onChange, mode } = props;
  if (mode === "json" || jsonProblem(edited, isForObject(schema)) !== null) return <JsonEditor {...props} />;
  return (
    <Suspense fallback={<div className="form-loading" />}>
      <SchemaForm
        schema={schema}
        value={edited.value}
        onChange={(value) => onChange({ value, text: null })}
        serverErrors={props.serverErrors}
        showAll={props.showAll}
        empty={props.empty}
      />
    </Suspense>
  );
}

function JsonEditor({ schema, edited, onChange, label, mode, serverErrors = [] }: FormOrJsonProps) {
  const objectOnly = isForObject(schema);
  const problem = jsonProblem(edited, objectOnly);
  return (
    <div>
      <Textarea
        aria-label={label}
        data-testid="json-input"
        className="mono-input"
        autosize
        minRows={4}
        maxRows={24}
        spellCheck={false}
        value={edited.text ?? writeJson(clean(edited.value), 2)}
        error={problem !== null}
        onChange={(event) => onChange(typeJson(edited, event.currentTarget.value, objectOnly))}
      />
      {problem && (
        <div className="field-error">
          {problem}
          {mode === "form" && " The form comes back once this is JSON."}
        </div>
      )}
      {serverErrors.map((error) => (
        <div className="field-error" key={error.path + error.message}>
          <code>{error.path || "/"}</code> {error.message}
        </div>
      ))}
    </div>
  );
}
