// Where a user's message is written: a text box, or a form if the agent declares what it takes in. Enter sends, Shift
// and Enter makes a new line.
import { Textarea } from "@mantine/core";
import { useState } from "react";
import type { JsonObject, JsonSchema } from "../api/types";
import { check } from "../form/check";
import { type Edited, jsonProblem } from "../form/edited";
import { FormOrJson } from "../form/FormOrJson";
import { asSchema } from "../form/schema";
import { startValue, toArgs } from "../form/value";
import "./query.css";

export type Query = { text: string } | { structured: JsonObject };

export function toBody(query: Query): Query {
  return "text" in query ? { text: query.text.trim() } : query;
}

interface QueryFormProps {
  inputSchema: JsonSchema | null;
  label: string;
  placeholder: string;
  action: string;
  busy: boolean;
  error: string | null;
  start?: Query;
  onSend: (query: Query) => void;
  onEdit?: (query: Query) => void;
}

export function QueryForm(props: QueryFormProps) {
  return (
    <div className="query">
      {props.inputSchema ? <Structured {...props} schema={props.inputSchema} /> : <PlainText {...props} />}
      {props.error && (
        <div className="note note-bad" role="alert">
          {props.error}
        </div>
      )}
    </div>
  );
}

function PlainText({ label, placeholder, action, busy, start, onSend, onEdit }: QueryFormProps) {
  const [text, setText] = useState(start && "text" in start ? start.text : "");
  const send = () => {
    if (text.trim() !== "" && !busy) onSend({ text });
  };
  return (
    <div className="query-row">
      <Textarea
        aria-label={label}
        placeholder={placeholder}
        data-testid="query-input"
        autosize
        minRows={1}
        maxRows={10}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          onEdit?.({ text: event.currentTarget.value });
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <button
        type="button"
        className="btn btn-strong"
        data-testid="query-send"
        disabled={busy || text.trim() === ""}
        onClick={send}
      >
        {busy ? "Sending…" : action}
      </button>
    </div>
  );
}

function Structured({ schema, label, action, busy, start, onSend, onEdit }: QueryFormProps & { schema: JsonSchema }) {
  const [edited, setEdited] = useState<Edited>(() => ({
    value: start && "structured" in start ? start.structured : startValue(asSchema(schema), asSchema(schema)),
    text: null,
  }));
  const [mode, setMode] = useState<"form" | "json">("form");
  const [tried, setTried] = useState(false);
  const send = () => {
    setTried(true);
    if (jsonProblem(edited) || check(asSchema(schema), edited.value).length > 0) return;
    onSend({ structured: toArgs(edited.value, asSchema(schema)) });
  };
  return (
    <div className="query-structured" data-testid="query-form">
      <FormOrJson
        schema={schema}
        edited={edited}
        mode={mode}
        showAll={tried}
        label={label}
        onChange={(next) => {
          setEdited(next);
          onEdit?.({ structured: toArgs(next.value, asSchema(schema)) });
        }}
      />
      <div className="query-actions">
        <button type="button" className="link" onClick={() => setMode(mode === "form" ? "json" : "form")}>
          {mode === "form" ? "JSON" : "Form"}
        </button>
        <span className="spring" />
        <button type="button" className="btn btn-strong" data-testid="query-send" disabled={busy} onClick={send}>
          {busy ? "Sending…" : action}
        </button>
      </div>
    </div>
  );
}
