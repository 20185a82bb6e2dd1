// Changing a case before it is written: texts, arguments, the order of calls. The session's log keeps what really
// happened; only the golden trace says what should have.
import { Textarea } from "@mantine/core";
import { useState } from "react";
import type { Json } from "../api/types";
import { isObject, parseJson, writeJson } from "../json/json";
import { Cross, Down, Up } from "../shell/icons";
import { hasPlainUses, moveUse, readCase, removeUse, setArgs, setQuery, setResponse, type ToolUse } from "./evalCase";

export function CaseEditor({ value, onChange }: { value: Json; onChange: (value: Json) => void }) {
  const { invocations } = readCase(value);
  return (
    <div className="case" data-testid="case-editor">
      {invocations.map((invocation, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: invocations have no identity but their place.
        <div className="case-edit" key={index}>
          <div className="step-blue">
            <b>User query</b>
            <Textarea
              aria-label="User query"
              autosize
              minRows={1}
              maxRows={10}
              data-testid={`case-query-${index}`}
              value={invocation.query}
              onChange={(event) => onChange(setQuery(value, index, event.currentTarget.value))}
            />
          </div>
          {invocation.uses.map((use, place) => (
            <UseEditor
              key={use.id ?? place}
              use={use}
              name={`${index}-${place}`}
              fixed={!hasPlainUses(value, index)}
              first={place === 0}
              last={place === invocation.uses.length - 1}
              onArgs={(args) => onChange(setArgs(value, index, place, args))}
              onMove={(by) => onChange(moveUse(value, index, place, by))}
              onRemove={() => onChange(removeUse(value, index, place))}
            />
          ))}
          <div className="step-violet">
            <b>Final response</b>
            <Textarea
              aria-label="Final response of the case"
              autosize
              minRows={1}
              maxRows={10}
              data-testid={`case-response-${index}`}
              value={invocation.response}
              onChange={(event) => onChange(setResponse(value, index, event.currentTarget.value))}
            />
          </div>
        </div>
      ))}
    </div>
  );
}

interface UseEditorProps {
  use: ToolUse;
  name: string;
  fixed: boolean;
  first: boolean;
  last: boolean;
  onArgs: (args: { [key: string]: Json }) => void;
  onMove: (by: number) => void;
  onRemove: () => void;
}

function UseEditor({ use, name, fixed, first, last, onArgs, onMove, onRemove }: UseEditorProps) {
  const [text, setText] = useState(() => writeJson(use.args));
  const problem = problemOf(text);
  const type = (next: string) => {
    setText(next);
    if (problemOf(next) === null) onArgs(parseJson(next) as { [key: string]: Json });
  };
  if (fixed) {
    return (
      <div className="step-amber">
        <b>Tool call</b> <code>{use.name}</code> <span className="quiet">changed as JSON only</span>
      </div>
    );
  }
  return (
    <div className="step-amber case-use">
      <div className="case-use-head">
        <b>Tool call</b> <code>{use.name}</code>
        <span className="spring" />
        <button
          type="button"
          className="icon-button"
          aria-label={`Move ${use.name} up`}
          disabled={first}
          onClick={() => onMove(-1)}
        >
          <Up />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label={`Move ${use.name} down`}
          disabled={last}
          onClick={() => onMove(1)}
        >
          <Down />
        </button>
        <button type="button" className="icon-button" aria-label={`Remove ${use.name}`} onClick={onRemove}>
          <Cross />
        </button>
      </div>
      <Textarea
        className="mono-input"
        aria-label={`Arguments of ${use.name}`}
        data-testid={`case-args-${name}`}
        autosize
        minRows={1}
        maxRows={12}
        spellCheck={false}
        error={problem !== null}
        value={text}
        onChange={(event) => type(event.currentTarget.value)}
      />
      {problem && <div className="field-error">{problem}</div>}
    </div>
  );
}

function problemOf(text: string): string | null {
  try {
    return isObject(parseJson(text)) ? null : "Must be an object: { … }.";
  } catch (error) {
    return `Not JSON yet: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
