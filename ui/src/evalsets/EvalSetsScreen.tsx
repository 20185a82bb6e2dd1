// Eval sets: the files, their cases, two cases beside each other, and what `adk eval` says. The address holds which file
// and cases are open, so every view has a link.
import { useLocation, useSearch } from "wouter";
import { useEvalSet, useEvalSets } from "../api/queries";
import type { EvalSetRow } from "../api/types";
import { Failure } from "../shell/Failure";
import { ago } from "../time/format";
import { useHalfMinute } from "../time/useNow";
import { Compare } from "./Compare";
import { EvalSetFileView } from "./EvalSetFile";
import "./evalsets.css";

export default function EvalSetsScreen() {
  const sets = useEvalSets();
  const params = new URLSearchParams(useSearch());
  const [, go] = useLocation();
  const path = params.get("path");
  const [left, right] = [params.get("left"), params.get("right")];
  if (sets.isError) return <Failure error={sets.error} onRetry={() => void sets.refetch()} />;
  if (!sets.data) return <div className="evalsets" aria-busy="true" />;
  const items = sets.data.items;
  if (items.length === 0) return <NoSets />;
  const open = (change: Record<string, string | null>) => {
    const next = new URLSearchParams(path ? { path } : {});
    for (const [key, value] of Object.entries(change)) value === null ? next.delete(key) : next.set(key, value);
    go(`/eval-sets?${next}`);
  };
  return (
    <div className={`evalsets${path ? " has-file" : ""}`}>
      <aside className="files" aria-label="Files">
        <h1>Eval sets</h1>
        {items.map((file) => (
          <FileItem key={file.path} file={file} current={file.path === path} onOpen={() => open({ path: file.path })} />
        ))}
      </aside>
      {path ? (
        left && right ? (
          <CompareIn path={path} left={left} right={right} onClose={() => open({})} />
        ) : (
          <EvalSetFileView key={path} path={path} onCompare={(a, b) => open({ left: a, right: b })} />
        )
      ) : (
        <div className="message-page">
          <h2>Pick a file</h2>
          <p>See its cases, compare two of them, or run them with adk eval.</p>
        </div>
      )}
    </div>
  );
}

function FileItem({ file, current, onOpen }: { file: EvalSetRow; current: boolean; onOpen: () => void }) {
  const now = useHalfMinute();
  const name = file.path.split("/").pop() ?? file.path;
  return (
    <button
      type="button"
      className="file"
      aria-current={current ? "page" : undefined}
      data-testid="eval-set"
      title={file.path}
      onClick={onOpen}
    >
      <b>{file.name || name}</b>
      <span className="quiet">
        {file.agent && `${file.agent} · `}
        {file.error ? "cannot be read" : file.cases === 1 ? "1 case" : `${file.cases} cases`}
        {file.modified_at && ` · ${ago(file.modified_at, now)}`}
      </span>
      <span className="quiet file-path">
        <bdi dir="ltr">{file.path}</bdi>
      </span>
    </button>
  );
}

function CompareIn(props: { path: string; left: string; right: string; onClose: () => void }) {
  const file = useEvalSet(props.path);
  if (file.isError) return <Failure error={file.error} onRetry={() => void file.refetch()} />;
  if (!file.data) return <section className="file-view" aria-busy="true" />;
  return <Compare cases={file.data.cases} left={props.left} right={props.right} onClose={props.onClose} />;
}

function NoSets() {
  const [, go] = useLocation();
  return (
    <div className="message-page" data-testid="no-eval-sets">
      <h1>No eval sets yet</h1>
      <p>
        Complete a session and export it: its golden trace becomes the first case of an EvalSet file, which then appears
        here.
      </p>
      <button type="button" className="btn" onClick={() => go("/agents")}>
        Start a session
      </button>
    </div>
  );
}
