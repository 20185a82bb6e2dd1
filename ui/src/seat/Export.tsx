// The golden trace of a completed session: what would be written and where, to be looked at and changed first; then what
// was written and how to run it.
import { Modal, TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { ApiError, errorText } from "../api/client";
import { actions, useAgents, useEvalSets, useGoldenTrace } from "../api/queries";
import type { Json, Session, TracePreview, TraceWritten } from "../api/types";
import { CaseEditor } from "../golden/CaseEditor";
import { CaseJson, CaseView } from "../golden/CaseView";
import { isJsonObject, sameJson } from "../json/json";
import { Command } from "../shell/Command";
import { Artifacts } from "./Artifacts";
import { evalCommand } from "./evalCommand";

export function GoldenTracePanel({ session }: { session: Session }) {
  return (
    <div className="seat-quiet">
      <header className="seat-head">
        <h2>Golden trace</h2>
        <p className="quiet">
          The session is completed. Export it into an EvalSet file that <code>adk eval</code> runs.
        </p>
      </header>
      <div className="seat-body">
        <Trace session={session} />
        <Artifacts session={session} quiet />
        <Link className="link" href="/agents">
          Start another session
        </Link>
      </div>
    </div>
  );
}

export function ExportDialogue(props: { session: Session; opened: boolean; onClose: () => void }) {
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      title="Export the golden trace"
      size="lg"
      transitionProps={{ duration: 0 }}
    >
      {props.opened && <Trace session={props.session} />}
    </Modal>
  );
}

type View = "steps" | "json" | "edit";
const VIEWS: [View, string][] = [
  ["steps", "Steps"],
  ["json", "JSON"],
  ["edit", "Edit"],
];

function Trace({ session }: { session: Session }) {
  const preview = useGoldenTrace(session.id);
  const [path, setPath] = useState<string | null>(null);
  const [edited, setEdited] = useState<Json | null>(null);
  // What is half typed in the editor goes with a reset, and only then.
  const [resets, setResets] = useState(0);
  const [view, setView] = useState<View>("steps");
  const [result, setResult] = useState<TraceWritten | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const original = preview.data?.case ?? null;
  const changed = edited !== null && !sameJson(edited, original);
  const target = path?.trim() || undefined;
  const write = async () => {
    setBusy(true);
    setError(null);
    try {
      setResult(await actions.exportTrace(session.id, target, changed && isJsonObject(edited) ? edited : undefined));
      void preview.refetch();
    } catch (failed) {
      setError(pathProblem(failed) ?? errorText(failed));
    } finally {
      setBusy(false);
    }
  };
  const reset = () => {
    setEdited(null);
    setResets(resets + 1);
  };
  const trace = result ?? preview.data;
  const shown = result?.case ?? edited ?? original;
  return (
    <div className="trace">
      {preview.isError && !trace && <div className="note note-bad">{errorText(preview.error)}</div>}
      {trace && !result && <FileChoice path={path ?? trace.path} onChange={setPath} />}
      {trace && (
        <dl className="facts">
          {result && (
            <>
              <dt>File</dt>
              <dd className="mono">{trace.path}</dd>
            </>
          )}
          <dt>Case</dt>
          <dd className="mono">
            {trace.eval_id} {changed && <span className="chip">edited</span>}
          </dd>
        </dl>
      )}
      {result ? (
        <Written trace={result} session={session} onAgain={() => setResult(null)} />
      ) : (
        <div className="trace-views">
          <button
            type="button"
            className="btn btn-strong"
            data-testid="export-button"
            disabled={busy || !trace}
            onClick={() => void write()}
          >
            {busy ? "Exporting…" : exportWords(preview.data, target)}
          </button>
          <span className="spring" />
          <a className="link" href={`/api/v1/sessions/${session.id}/export?format=session`} download>
            Session for adk test
          </a>
        </div>
      )}
      {error && (
        <div className="note note-bad" role="alert">
          {error}
        </div>
      )}
      {shown !== null && (
        <>
          <div className="trace-views" role="group" aria-label="The case as">
            {VIEWS.filter(([name]) => name !== "edit" || !result).map(([name, label]) => (
              <button
                key={name}
                type="button"
                className="btn"
                aria-pressed={view === name}
                data-testid={`trace-${name}`}
                onClick={() => setView(name)}
              >
                {label}
              </button>
            ))}
            <span className="spring" />
            {changed && !result && (
              <button type="button" className="link" data-testid="case-reset" onClick={reset}>
                reset to what happened
              </button>
            )}
          </div>
          {view === "json" && <CaseJson value={shown} />}
          {view === "edit" && !result && <CaseEditor key={resets} value={shown} onChange={setEdited} />}
          {(view === "steps" || (view === "edit" && result)) && <CaseView value={shown} />}
        </>
      )}
    </div>
  );
}

/** The agent's own file unless another is chosen; those that are known are offered. */
function FileChoice({ path, onChange }: { path: string; onChange: (path: string) => void }) {
  const known = useEvalSets().data?.items ?? [];
  const field = useRef<HTMLInputElement>(null);
  // Of a path that is too long, its end is what tells: it holds the file's name.
  const showEnd = () => {
    const input = field.current;
    if (input && document.activeElement !== input) input.scrollLeft = input.scrollWidth;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: another path has another end.
  useEffect(showEnd, [path]);
  return (
    <div className="trace-file">
      <label htmlFor="eval-set-path">File</label>
      <TextInput
        ref={field}
        id="eval-set-path"
        title={path}
        onBlur={() => setTimeout(showEnd, 0)}
        className="mono-input"
        data-testid="eval-set-path"
        list="eval-set-files"
        spellCheck={false}
        value={path}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <datalist id="eval-set-files">
        {known.map((file) => (
          <option key={file.path} value={file.path} />
        ))}
      </datalist>
    </div>
  );
}

function exportWords(preview: TracePreview | undefined, path: string | undefined): string {
  if (path && path !== preview?.path) return "Export to this file";
  return preview?.exists ? "Export: add to the file" : "Export: create the file";
}

function pathProblem(failed: unknown): string | null {
  if (!(failed instanceof ApiError) || failed.code !== "invalid_eval_set_path") return null;
  const details = failed.problem.errors?.map((error) => error.message).join("; ");
  return details ? `${failed.message}: ${details}` : failed.message;
}

const DONE = {
  created: "Created the file with this case.",
  appended: "Added to the file.",
  updated: "Updated the case in the file.",
};

function Written({ trace, session, onAgain }: { trace: TraceWritten; session: Session; onAgain: () => void }) {
  const agent = useAgents().data?.items.find((candidate) => candidate.name === session.agent);
  return (
    <div className="note" data-testid="export-result" role="status">
      <p>{DONE[trace.action]} Run it with:</p>
      <Command text={evalCommand(trace, agent ?? session)} />
      <p className="trace-next">
        <Link className="link" href={`/eval-sets?path=${encodeURIComponent(trace.path)}`} data-testid="open-eval-set">
          Open the eval set
        </Link>{" "}
        ·{" "}
        <button type="button" className="link" onClick={onAgain}>
          change it
        </button>
      </p>
    </div>
  );
}
