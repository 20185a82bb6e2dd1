// What ADK asks the user before it goes on: to confirm a call, to give a credential, or some input. Several questions of
// one step are answered together, as ADK expects them.
import { PasswordInput, Textarea, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { errorText } from "../api/client";
import { actions, askAgain, keys } from "../api/queries";
import type { InputRequest, Session } from "../api/types";
import { type Edited, jsonProblem } from "../form/edited";
import { FormOrJson } from "../form/FormOrJson";
import { asSchema, isForObject } from "../form/schema";
import { clean, parseAnything, startValue } from "../form/value";
import { writeJson } from "../json/json";
import { modKey, useKeys } from "../shell/keys";
import type { AskCard } from "../stream/fold";
import { Tree } from "../value/Tree";
import {
  type AskAnswer,
  answerProblem,
  askedCall,
  askedPayload,
  askHint,
  askTitle,
  askWords,
  credentialKind,
  inputSchema,
  signInLink,
  startAnswer,
  toResponse,
} from "./ask";
import { focusFirstError } from "./focus";

export function AskPanel({ session, asks }: { session: Session; asks: AskCard[] }) {
  const client = useQueryClient();
  const [answers, setAnswers] = useState<Record<string, AskAnswer>>({});
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const answerOf = (ask: InputRequest) => answers[ask.call_id] ?? startAnswer(ask);
  const problems = asks.flatMap(({ ask }) => answerProblem(ask, answerOf(ask)) ?? []);
  const send = async () => {
    setTried(true);
    if (busy) return;
    if (problems.length > 0) {
      setTimeout(focusFirstError, 0);
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await actions.answer(
        session.id,
        asks.map(({ ask }) => toResponse(ask, answerOf(ask))),
      );
      await askAgain(client, keys.session(session.id));
    } catch (failed) {
      setError(errorText(failed));
    } finally {
      setBusy(false);
    }
  };
  useKeys({ "mod+enter": () => void send() });
  return (
    <div className="seat-quiet" data-testid="ask-panel">
      <header className="seat-head seat-hot">
        <div className="seat-line">
          <span className="pulse" aria-hidden="true" />
          <h2>{asks.length === 1 && asks[0] ? askTitle(asks[0].ask) : `${asks.length} questions`}</h2>
        </div>
        <p className="quiet">
          Asked of the user, not of the model. <b>{session.agent ?? session.app_name}</b> waits for it.
        </p>
      </header>
      <div className="seat-body">
        {asks.map(({ ask, tool }) => (
          <Ask
            key={ask.call_id}
            ask={ask}
            tool={tool}
            answer={answerOf(ask)}
            tried={tried}
            onChange={(change) =>
              setAnswers((before) => ({
                ...before,
                [ask.call_id]: { ...(before[ask.call_id] ?? startAnswer(ask)), ...change },
              }))
            }
          />
        ))}
        {error && (
          <div className="note note-bad" role="alert">
            {error}
          </div>
        )}
      </div>
      <footer className="seat-foot">
        {tried && problems.length > 0 && (
          <span className="seat-problem" role="status">
            {problems.length === 1 ? problems[0] : `${problems.length} answers need another look.`}
          </span>
        )}
        <span className="spring" />
        <button
          type="button"
          className="btn btn-hot"
          data-testid="ask-send"
          disabled={busy}
          onClick={() => void send()}
        >
          {busy ? "Sending…" : effect(asks, answerOf)} <span className="key">{modKey}⏎</span>
        </button>
      </footer>
    </div>
  );
}

function effect(asks: AskCard[], answerOf: (ask: InputRequest) => AskAnswer): string {
  const only = asks.length === 1 ? asks[0]?.ask : undefined;
  if (!only) return `Send ${asks.length} answers`;
  if (only.request !== "confirmation") return only.request === "credential" ? "Send credential" : "Send answer";
  const { confirmed } = answerOf(only);
  return confirmed === null ? "Send answer" : confirmed ? "Approve" : "Reject";
}

interface AskProps {
  ask: InputRequest;
  tool: string | null;
  answer: AskAnswer;
  tried: boolean;
  onChange: (change: Partial<AskAnswer>) => void;
}

function Ask(props: AskProps) {
  const { ask, tool, tried, answer } = props;
  const call = askedCall(ask);
  const hint = askHint(ask);
  const problem = tried ? answerProblem(ask, answer) : null;
  return (
    <section className="ask" data-testid={`question-${ask.request}`}>
      <p>{askWords(ask, tool, call === null)}</p>
      {hint && <p className="ask-hint">{hint}</p>}
      {call && (
        <div className="ask-call">
          <code>{call.name}</code>
          <Tree value={call.args} place={`~${ask.call_id}`} />
        </div>
      )}
      {ask.request === "confirmation" && <Confirmation {...props} />}
      {ask.request === "credential" && <Credential {...props} />}
      {ask.request === "input" && <Input {...props} />}
      {problem && ask.request !== "credential" && !inputSchema(ask) && <Problem text={problem} />}
    </section>
  );
}

function Problem({ text }: { text: string }) {
  return (
    <div className="field-error" role="alert">
      {text}
    </div>
  );
}

function Confirmation({ ask, answer, onChange }: AskProps) {
  const wished = askedPayload(ask);
  const [withPayload, setWithPayload] = useState(wished !== undefined);
  const [text, setText] = useState(() => (wished === undefined ? "" : writeJson(wished, 2)));
  const type = (next: string) => {
    setText(next);
    onChange({ payload: parseAnything(next) });
  };
  const choose = (confirmed: boolean) =>
    onChange({ confirmed, payload: withPayload ? parseAnything(text) : undefined });
  return (
    <>
      <div className="choice" role="radiogroup" aria-label="Your answer">
        <button
          type="button"
          role="radio"
          aria-checked={answer.confirmed === true}
          data-testid="ask-approve"
          onClick={() => choose(true)}
        >
          Approve
        </button>
        <button
          type="button"
          role="radio"
          aria-checked={answer.confirmed === false}
          data-testid="ask-reject"
          onClick={() => choose(false)}
        >
          Reject
        </button>
      </div>
      {withPayload ? (
        <div>
          <div className="field-head">
            <label htmlFor={`payload-${ask.call_id}`}>payload</label>
            <span className="field-meta">JSON or text</span>
          </div>
          <Textarea
            id={`payload-${ask.call_id}`}
            className="mono-input"
            data-testid="ask-payload"
            autosize
            minRows={2}
            maxRows={12}
            value={text}
            onChange={(event) => type(event.currentTarget.value)}
          />
        </div>
      ) : (
        <button type="button" className="not-set" onClick={() => setWithPayload(true)}>
          + payload <span className="chip">not set</span>
        </button>
      )}
    </>
  );
}

const SECRETS = {
  apiKey: "API key",
  bearer: "Token",
  basic: "user:password",
  oauth: "Address that the sign-in led to",
  other: "Token",
} as const;

function Credential({ ask, answer, tried, onChange }: AskProps) {
  const problem = tried ? answerProblem(ask, answer) : null;
  const kind = credentialKind(ask);
  const link = signInLink(ask);
  const set = (secret: string) => onChange({ secret });
  return (
    <div className="ask-credential">
      {kind === "oauth" && link && (
        <p>
          <a href={link} target="_blank" rel="noreferrer noopener">
            Sign in there
          </a>
          , then paste the whole address of the page that it ends on.
        </p>
      )}
      <label htmlFor={`secret-${ask.call_id}`}>{SECRETS[kind]}</label>
      {kind === "oauth" ? (
        <TextInput
          id={`secret-${ask.call_id}`}
          data-testid="ask-secret"
          value={answer.secret}
          onChange={(event) => set(event.currentTarget.value)}
        />
      ) : (
        <PasswordInput
          id={`secret-${ask.call_id}`}
          data-testid="ask-secret"
          autoComplete="off"
          value={answer.secret}
          onChange={(event) => set(event.currentTarget.value)}
        />
      )}
      {problem && <Problem text={problem} />}
      <details>
        <summary>What ADK asks for</summary>
        <Tree value={ask.arguments} place={`~${ask.call_id}.auth`} />
      </details>
    </div>
  );
}

function Input({ ask, answer, tried, onChange }: AskProps) {
  const schema = inputSchema(ask);
  const [edited, setEdited] = useState<Edited>(() => ({
    value: schema ? startValue(asSchema(schema), asSchema(schema)) : undefined,
    text: null,
  }));
  const [mode, setMode] = useState<"form" | "json">("form");
  if (!schema) {
    return (
      <Textarea
        aria-label="Your answer"
        data-testid="ask-input"
        autosize
        minRows={3}
        maxRows={16}
        value={typeof answer.payload === "string" ? answer.payload : ""}
        onChange={(event) => onChange({ payload: event.currentTarget.value || undefined })}
      />
    );
  }
  const change = (next: Edited) => {
    setEdited(next);
    const good = jsonProblem(next, isForObject(schema)) === null;
    onChange({ payload: good ? clean(next.value) : undefined });
  };
  return (
    <div className="seat-form">
      <FormOrJson
        schema={schema}
        edited={edited}
        mode={mode}
        showAll={tried}
        label="Your answer as JSON"
        onChange={change}
      />
      <button type="button" className="link" onClick={() => setMode(mode === "form" ? "json" : "form")}>
        {mode === "form" ? "JSON" : "Form"}
      </button>
    </div>
  );
}
