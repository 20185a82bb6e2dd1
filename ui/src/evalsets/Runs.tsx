// Running `adk eval` on a file, and what came of it, now and earlier: every metric of every case.
import { NativeSelect, Textarea } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { errorText } from "../api/client";
import { actions, askAgain, keys, useAgents, useEvalRuns } from "../api/queries";
import type { EvalMetric, EvalRun, JsonObject } from "../api/types";
import { isJsonObject, parseJson } from "../json/json";
import { duration, fullTime } from "../time/format";
import { useSecond } from "../time/useNow";

const CRITERIA = '{"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}';

export function Runs({ path, agent, chosen }: { path: string; agent: string | null; chosen: string[] }) {
  const client = useQueryClient();
  const runs = useEvalRuns(path);
  const agents = useAgents().data?.items.filter((item) => item.connected) ?? [];
  const [wanted, setWanted] = useState<string | null>(null);
  const [criteria, setCriteria] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const picked = wanted ?? agent ?? agents[0]?.name ?? "";
  const items = runs.data?.items ?? [];
  const going = items.some((run) => run.status === "running");
  const start = async () => {
    setError(null);
    const limits = criteria === null ? undefined : readCriteria(criteria);
    if (limits === null) return setError("The criteria are not a JSON object.");
    setBusy(true);
    try {
      await actions.runEval(path, picked, chosen.length > 0 ? chosen : undefined, limits);
      await askAgain(client, keys.evalRuns(path));
    } catch (failed) {
      setError(errorText(failed));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="runs" aria-label="Runs of adk eval">
      <h3>adk eval</h3>
      <div className="run-form">
        <NativeSelect
          aria-label="Agent"
          value={picked}
          data={agents.map((item) => item.name)}
          onChange={(event) => setWanted(event.currentTarget.value)}
        />
        <button
          type="button"
          className="btn btn-strong"
          data-testid="run-eval"
          disabled={busy || going || picked === ""}
          onClick={() => void start()}
        >
          {going ? "Running…" : chosen.length > 0 ? `Run ${chosen.length} chosen` : "Run all cases"}
        </button>
        {criteria === null && (
          <button type="button" className="link" onClick={() => setCriteria(CRITERIA)}>
            set criteria
          </button>
        )}
        <span className="quiet">Runs with the agent's real model; it needs its keys.</span>
      </div>
      {criteria !== null && (
        <div>
          <div className="field-head">
            <label htmlFor="criteria">Criteria</label>
            <button type="button" className="link" onClick={() => setCriteria(null)}>
              use ADK's own
            </button>
          </div>
          <Textarea
            id="criteria"
            className="mono-input"
            autosize
            minRows={1}
            value={criteria}
            onChange={(event) => setCriteria(event.currentTarget.value)}
          />
        </div>
      )}
      {error && (
        <div className="note note-bad" role="alert">
          {error}
        </div>
      )}
      {items.map((run, index) => (
        <RunView key={run.eval_run_id} run={run} first={index === 0} />
      ))}
      {runs.isSuccess && items.length === 0 && <p className="quiet">Not run from here yet.</p>}
    </section>
  );
}

function readCriteria(text: string): JsonObject | null {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

const STATUS = { running: "running", passed: "passed", failed: "failed", error: "could not run" } as const;

function RunView({ run, first }: { run: EvalRun; first: boolean }) {
  return (
    <details className="run" open={first || run.status === "running"} data-testid="eval-run">
      <summary>
        <span className={`chip run-${run.status}`}>
          {run.status === "passed" ? "✓ " : run.status === "running" ? "" : "✗ "}
          {STATUS[run.status]}
        </span>
        <span>{run.agent}</span>
        <span className="quiet" title={fullTime(run.started_at)}>
          {fullTime(run.started_at)} · <Took run={run} />
        </span>
      </summary>
      {run.cases.length > 0 && (
        <table className="metrics">
          <thead>
            <tr>
              <th scope="col">Case</th>
              <th scope="col">Metric</th>
              <th scope="col">Score</th>
              <th scope="col">Threshold</th>
              <th scope="col">Result</th>
            </tr>
          </thead>
          <tbody>
            {run.cases.flatMap((golden) =>
              metricsOf(golden).map((metric, index) => (
                <tr key={`${golden.eval_id} ${metric.name}`} data-testid="metric">
                  <td>{index === 0 && <code>{golden.eval_id}</code>}</td>
                  <td>{metric.name}</td>
                  <td className="mono">{number(metric.score)}</td>
                  <td className="mono">{number(metric.threshold)}</td>
                  <td>{resultWords(metric)}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      )}
      {run.output && (
        <details open={run.status === "error" || run.cases.every((golden) => golden.metrics.length === 0)}>
          <summary className="quiet">What adk eval printed</summary>
          <pre className="traceback">{run.output}</pre>
        </details>
      )}
    </details>
  );
}

/** A case that got no score still has a result. */
function metricsOf({ metrics, passed }: EvalRun["cases"][number]): EvalMetric[] {
  return metrics.length > 0 ? metrics : [{ name: "no score", passed }];
}

function Took({ run }: { run: EvalRun }) {
  const now = useSecond();
  const end = run.ended_at ? Date.parse(run.ended_at) : now;
  return <>{duration(Math.max(0, end - Date.parse(run.started_at)))}</>;
}

function resultWords({ passed }: EvalMetric): string {
  return passed === true ? "✓ passed" : passed === false ? "✗ failed" : "not judged";
}

function number(value: EvalMetric["score"]): string {
  return value === null || value === undefined ? "–" : String(Math.round(Number(value) * 1000) / 1000);
}
