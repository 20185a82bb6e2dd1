// One EvalSet file: its cases, with what can be done to them, and the runs of `adk eval`.
import { Checkbox } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { errorText } from "../api/client";
import { actions, askAgain, keys, useEvalSet } from "../api/queries";
import type { JsonObject, Validation } from "../api/types";
import { readCase } from "../golden/evalCase";
import { CaseEditor } from "../golden/CaseEditor";
import { CaseJson, CaseView } from "../golden/CaseView";
import { sameJson } from "../json/json";
import { Failure } from "../shell/Failure";
import { oneLine } from "../value/oneLine";
import { Runs } from "./Runs";

const UNDO_MS = 10_000;

interface Removed {
  case: JsonObject;
  index: number;
}

export function EvalSetFileView({ path, onCompare }: { path: string; onCompare: (a: string, b: string) => void }) {
  const client = useQueryClient();
  const file = useEvalSet(path);
  const [chosen, setChosen] = useState<string[]>([]);
  const [validation, setValidation] = useState<Validation | null>(null);
  const [removed, setRemoved] = useState<Removed | null>(null);
  const [error, setError] = useState<string | null>(null);
  const attempt = async (action: () => Promise<void>) => {
    setError(null);
    try {
      await action();
    } catch (failed) {
      setError(errorText(failed));
    }
  };
  const reload = async () => {
    await askAgain(client, keys.evalSet(path));
    void askAgain(client, keys.evalSets);
  };
  const remove = (evalId: string) =>
    attempt(async () => {
      const gone = await actions.deleteCase(path, evalId);
      setRemoved(gone);
      setTimeout(() => setRemoved((now) => (now === gone ? null : now)), UNDO_MS);
      setChosen((before) => before.filter((id) => id !== evalId));
      await reload();
    });
  const undo = () =>
    attempt(async () => {
      if (removed) await actions.putCase(path, removed.case, removed.index);
      setRemoved(null);
      await reload();
    });
  const save = (golden: JsonObject) =>
    attempt(async () => {
      await actions.putCase(path, golden);
      await reload();
    });
  if (file.isError) return <Failure error={file.error} onRetry={() => void file.refetch()} />;
  if (!file.data) return <section className="file-view" aria-busy="true" />;
  const { cases, name, description, agent } = file.data;
  const toggle = (id: string) =>
    setChosen((before) => (before.includes(id) ? before.filter((other) => other !== id) : [...before, id]));
  const [first, second] = chosen;
  return (
    <section className="file-view" data-testid="eval-set-file">
      <header>
        <div>
          <h2>{name || file.data.eval_set_id}</h2>
          <p className="quiet mono file-path">{path}</p>
          {description && <p className="quiet">{description}</p>}
        </div>
        <span className="spring" />
        <button
          type="button"
          className="btn"
          disabled={chosen.length !== 2}
          title={chosen.length === 2 ? undefined : "Choose two cases"}
          data-testid="compare"
          onClick={() => first && second && onCompare(first, second)}
        >
          Compare
        </button>
        <button
          type="button"
          className="btn"
          data-testid="validate"
          onClick={() => void attempt(async () => setValidation(await actions.validateSet(path)))}
        >
          Validate
        </button>
      </header>
      {error && (
        <div className="note note-bad" role="alert">
          {error}
        </div>
      )}
      {validation && <ValidationNote validation={validation} />}
      {removed && (
        <div className="note undo" role="status" data-testid="undo-note">
          Removed <code>{String(removed.case.eval_id ?? removed.case.evalId)}</code>.
          <button type="button" className="btn" data-testid="undo" onClick={() => void undo()}>
            Undo
          </button>
        </div>
      )}
      <ul className="cases">
        {cases.map((golden) => {
          const { evalId } = readCase(golden);
          return (
            <CaseRow
              key={evalId}
              golden={golden}
              chosen={chosen.includes(evalId)}
              onChoose={() => toggle(evalId)}
              onRemove={() => void remove(evalId)}
              onSave={save}
            />
          );
        })}
      </ul>
      {cases.length === 0 && <p className="quiet">No cases. Export a completed session into this file.</p>}
      <Runs path={path} agent={agent ?? null} chosen={chosen} />
    </section>
  );
}

function ValidationNote({ validation }: { validation: Validation }) {
  if (validation.valid) {
    return (
      <div className="note" role="status" data-testid="validation">
        Valid: ADK's own models read it.
      </div>
    );
  }
  return (
    <div className="note note-bad" role="alert" data-testid="validation">
      ADK's models do not accept it:
      <ul>
        {validation.errors.map((error) => (
          <li key={error.path + error.message}>
            <code>{error.path || "/"}</code> {error.message}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface CaseRowProps {
  golden: JsonObject;
  chosen: boolean;
  onChoose: () => void;
  onRemove: () => void;
  onSave: (golden: JsonObject) => Promise<void>;
}

type Look = "steps" | "json" | "edit" | null;

function CaseRow({ golden, chosen, onChoose, onRemove, onSave }: CaseRowProps) {
  const [look, setLook] = useState<Look>(null);
  const [edited, setEdited] = useState<JsonObject | null>(null);
  const [resets, setResets] = useState(0);
  const reset = () => {
    setEdited(null);
    setResets(resets + 1);
  };
  const { evalId, invocations } = readCase(golden);
  const calls = invocations.reduce((sum, invocation) => sum + invocation.uses.length, 0);
  const changed = edited !== null && !sameJson(edited, golden);
  return (
    <li className="case-row" data-testid="eval-case">
      <div className="case-row-head">
        <Checkbox size="xs" aria-label={`Choose ${evalId}`} checked={chosen} onChange={onChoose} />
        <button
          type="button"
          className="case-row-title"
          aria-expanded={look !== null}
          onClick={() => setLook(look ? null : "steps")}
        >
          <code>{evalId}</code>
          <span className="quiet">{oneLine(invocations[0]?.query ?? "")}</span>
        </button>
        {changed && <span className="chip">edited</span>}
        <span className="quiet case-row-count">{calls === 1 ? "1 call" : `${calls} calls`}</span>
        <button type="button" className="link" onClick={onRemove} aria-label={`Delete ${evalId}`}>
          delete
        </button>
      </div>
      {look && (
        <div className="case-row-body">
          <div className="trace-views" role="group" aria-label="The case as">
            {(["steps", "json", "edit"] as const).map((name) => (
              <button
                key={name}
                type="button"
                className="btn"
                aria-pressed={look === name}
                onClick={() => setLook(name)}
              >
                {{ steps: "Steps", json: "JSON", edit: "Edit" }[name]}
              </button>
            ))}
            <span className="spring" />
            {changed && (
              <>
                <button type="button" className="link" onClick={reset}>
                  reset
                </button>
                <button
                  type="button"
                  className="btn btn-strong"
                  onClick={() => void onSave(edited).then(() => setEdited(null))}
                >
                  Save
                </button>
              </>
            )}
          </div>
          {look === "steps" && <CaseView value={edited ?? golden} />}
          {look === "json" && <CaseJson value={edited ?? golden} />}
          {look === "edit" && (
            <CaseEditor key={resets} value={edited ?? golden} onChange={(next) => setEdited(next as JsonObject)} />
          )}
        </div>
      )}
    </li>
  );
}
