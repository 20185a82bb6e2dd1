// Writing the answer: the instruction to follow, the one choice of the job, and the form or text for it. One hot
// button says what pressing it will do.
import { Checkbox, Textarea } from "@mantine/core";
import { lazy, Suspense, useMemo, useRef, useState } from "react";
import type { FieldError } from "../api/types";
import { FormOrJson } from "../form/FormOrJson";
import { asSchema } from "../form/schema";
import { endsWithAnswer } from "../sessions/origin";
import { modKey, useKeys } from "../shell/keys";
import { CallEditor } from "./CallEditor";
import {
  callsOf,
  type Draft,
  errorsOfCall,
  finalEdited,
  keepsOpen,
  loadDraft,
  offerOf,
  problemOf,
  saveDraft,
  startDraft,
} from "./draft";
import { focusFirst, focusFirstError } from "./focus";
import { Instruction } from "./Instruction";
import type { TurnPanelProps } from "./TurnPanel";
import { useDecision } from "./useDecision";

const Markdown = lazy(() => import("../value/Markdown"));

export function AnswerTab(props: TurnPanelProps) {
  const { turn, request, session, questions } = props;
  const offer = useMemo(() => offerOf(request), [request]);
  const { tools, output: outputSchema } = offer;
  const endsSession = endsWithAnswer(session, turn);
  const [draft, setDraftState] = useState<Draft>(() => loadDraft(turn.turn_id) ?? startDraft(tools));
  const latest = useRef(draft);
  const [tried, setTried] = useState(false);
  const decision = useDecision(props);
  const setDraft = (change: Partial<Draft>) => {
    latest.current = { ...latest.current, ...change };
    setDraftState(latest.current);
    saveDraft(turn.turn_id, latest.current);
    decision.forget();
  };
  const choose = (choice: Draft["choice"]) => {
    if (choice === "tool" && tools.length === 0) return;
    setDraft({ choice });
    setTried(false);
    setTimeout(focusFirst, 0);
  };
  const send = () => {
    setTried(true);
    if (decision.busy) return;
    if (problemOf(latest.current, offer)) {
      setTimeout(focusFirstError, 0);
      return;
    }
    void decision.send(latest.current, endsSession && !keepsOpen(latest.current, questions));
  };
  useKeys({
    "1": () => choose("tool"),
    "2": () => choose("final"),
    "mod+enter": send,
    escape: () => (document.activeElement as HTMLElement | null)?.blur(),
  });
  const problem = tried ? problemOf(draft, offer) : null;
  return (
    <>
      <div className="seat-body" role="tabpanel" aria-labelledby="tab-answer">
        <Instruction text={request.system_instruction ?? ""} />
        <Choice draft={draft} hasTools={tools.length > 0} onChoose={choose} />
        {draft.choice === "tool" ? (
          <CallEditor
            draft={draft}
            tools={tools}
            setDraft={setDraft}
            tried={tried}
            onTried={setTried}
            errors={decision.errors}
          />
        ) : (
          <FinalEditor
            {...{ draft, setDraft, tried, outputSchema, endsSession, questions }}
            serverErrors={errorsOfCall(decision.errors, draft, 0)}
          />
        )}
        {decision.failure && (
          <div className="note note-bad" role="alert">
            {decision.failure}
          </div>
        )}
      </div>
      <footer className="seat-foot">
        {problem && (
          <span className="seat-problem" role="status">
            {problem}
          </span>
        )}
        {showsModes(draft, outputSchema !== null) && (
          <>
            <ModeButton draft={draft} mode="form" label="Form" setDraft={setDraft} />
            <ModeButton draft={draft} mode="json" label="JSON" setDraft={setDraft} />
          </>
        )}
        <span className="spring" />
        {draft.choice === "tool" && <AnotherCall draft={draft} tools={tools} setDraft={setDraft} onTried={setTried} />}
        <button
          type="button"
          className="btn btn-hot"
          data-testid="submit-decision"
          disabled={decision.busy || (draft.choice === "tool" && callsOf(draft, tools).length === 0)}
          onClick={send}
        >
          {decision.busy ? "Sending…" : effectWords(draft, tools)} <span className="key">{modKey}⏎</span>
        </button>
      </footer>
    </>
  );
}

function Choice(props: { draft: Draft; hasTools: boolean; onChoose: (choice: Draft["choice"]) => void }) {
  const { draft, hasTools, onChoose } = props;
  return (
    <div className="choice" role="radiogroup" aria-label="Your answer">
      <button
        type="button"
        role="radio"
        aria-checked={draft.choice === "tool"}
        disabled={!hasTools}
        title={hasTools ? undefined : "This agent has no tools"}
        data-testid="choice-tool"
        onClick={() => onChoose("tool")}
      >
        Call a tool <kbd>1</kbd>
      </button>
      <button
        type="button"
        role="radio"
        aria-checked={draft.choice === "final"}
        data-testid="choice-final"
        onClick={() => onChoose("final")}
      >
        Send final response <kbd>2</kbd>
      </button>
    </div>
  );
}

interface FinalEditorProps {
  draft: Draft;
  setDraft: (change: Partial<Draft>) => void;
  tried: boolean;
  outputSchema: { [key: string]: unknown } | null;
  endsSession: boolean;
  questions: number;
  serverErrors: FieldError[];
}

function FinalEditor({ draft, setDraft, tried, outputSchema, endsSession, questions, serverErrors }: FinalEditorProps) {
  const open = keepsOpen(draft, questions);
  const schema = outputSchema && asSchema(outputSchema);
  const [shown, setShown] = useState(false);
  return (
    <div className="final">
      {schema ? (
        <div className="seat-form" data-testid="final-form">
          <FormOrJson
            schema={schema}
            edited={finalEdited(draft, schema)}
            onChange={(edited) => setDraft({ finalEdited: edited })}
            mode={draft.mode}
            showAll={tried}
            serverErrors={serverErrors}
            label="Final response as JSON"
          />
        </div>
      ) : (
        <div className="final-field">
          <div className="preview-switch">
            <button type="button" className="link" aria-pressed={!shown} onClick={() => setShown(false)}>
              Write
            </button>
            <button
              type="button"
              className="link"
              aria-pressed={shown}
              data-testid="final-preview"
              onClick={() => setShown(true)}
            >
              Preview
            </button>
          </div>
          {shown ? (
            <div className="preview" data-testid="final-rendered">
              <Suspense fallback={draft.finalText}>
                <Markdown text={draft.finalText} />
              </Suspense>
            </div>
          ) : (
            <Textarea
              aria-label="Final response"
              data-testid="final-text"
              placeholder="What the agent answers the user; Markdown if you like"
              autosize
              minRows={5}
              maxRows={20}
              value={draft.finalText}
              onChange={(event) => setDraft({ finalText: event.currentTarget.value })}
            />
          )}
          {serverErrors.map((error) => (
            <div className="field-error" key={error.message}>
              {error.message}
            </div>
          ))}
        </div>
      )}
      {endsSession ? (
        <Checkbox
          size="xs"
          data-testid="keep-open"
          label="Keep the conversation open"
          description={afterwards(open, questions)}
          checked={open}
          onChange={(event) => setDraft({ keepOpen: event.currentTarget.checked })}
        />
      ) : (
        <p className="quiet">The answer goes back to whoever asked; the session stays open.</p>
      )}
    </div>
  );
}

function afterwards(open: boolean, questions: number): string {
  if (questions === 0)
    return open ? "You can send another message afterwards." : "The session is completed afterwards.";
  return open
    ? "The user is asked something; you can answer that afterwards."
    : "The session is completed afterwards, and what the user is asked is never answered.";
}

function ModeButton(props: {
  draft: Draft;
  mode: Draft["mode"];
  label: string;
  setDraft: (d: Partial<Draft>) => void;
}) {
  return (
    <button
      type="button"
      className="btn"
      aria-pressed={props.draft.mode === props.mode}
      data-testid={`mode-${props.mode}`}
      onClick={() => props.setDraft({ mode: props.mode })}
    >
      {props.label}
    </button>
  );
}

function AnotherCall(props: {
  draft: Draft;
  tools: TurnPanelProps["request"]["tools"];
  setDraft: (change: Partial<Draft>) => void;
  onTried: (tried: boolean) => void;
}) {
  const { draft, tools, setDraft, onTried } = props;
  if (!draft.tool) return null;
  const putAside = () => {
    const calls = callsOf(draft, tools);
    onTried(true);
    if (problemOf(draft, { tools, output: null, finalTool: null })) return;
    const { [draft.tool ?? ""]: _, ...forms } = draft.forms;
    setDraft({ calls, tool: null, forms });
    onTried(false);
    setTimeout(focusFirst, 0);
  };
  return (
    <button type="button" className="btn" data-testid="another-call" onClick={putAside}>
      + another call
    </button>
  );
}

function showsModes(draft: Draft, structured: boolean): boolean {
  return draft.choice === "tool" ? draft.tool !== null : structured;
}

function effectWords(draft: Draft, tools: TurnPanelProps["request"]["tools"]): string {
  if (draft.choice === "final") return "Send final response";
  const calls = callsOf(draft, tools);
  if (calls.length > 1) return `Execute ${calls.length} calls`;
  const tool = tools.find((candidate) => candidate.name === calls[0]?.tool);
  if (tool?.kind === "transfer") return "Transfer";
  if (tool?.kind === "agent") return "Run agent";
  return "Execute";
}
