// The state over time: a slider through the events that changed it, what each changed, and the state it left.
import { useMemo, useState } from "react";
import { useLog } from "../api/queries";
import type { Json, Session } from "../api/types";
import { StepBack, StepOn } from "../shell/icons";
import { clockTime, fullTime } from "../time/format";
import { Tree } from "../value/Tree";
import { LogState, SeqLink } from "./parts";
import { type Change, changesOf, stateAfter, stateSteps } from "./stateSteps";

const ENOUGH = 5000;

export function StateView({ session }: { session: Session }) {
  const log = useLog(session, "event", ENOUGH);
  const steps = useMemo(() => stateSteps(log.events), [log.events]);
  const [chosen, setChosen] = useState<number | null>(null);
  const last = steps.length - 1;
  // Whoever looks at the newest step goes on with it.
  const at = Math.min(chosen ?? last, last);
  const choose = (index: number) => setChosen(index >= last ? null : Math.max(0, index));
  const state = useMemo(() => stateAfter(steps, at + 1), [steps, at]);
  const changes = useMemo(() => changesOf(steps, at), [steps, at]);
  const step = steps[at];
  if (!step) {
    return (
      <div className="inspect" data-testid="state-view">
        <LogState log={log} />
        {log.isSuccess && !log.isFetching && (
          <p className="quiet">
            No event has changed the state yet. What a tool puts into <code>tool_context.state</code> appears here, step
            by step.
          </p>
        )}
      </div>
    );
  }
  return (
    <div className="inspect" data-testid="state-view">
      <div className="state-steps">
        <button type="button" className="icon-button" aria-label="One step back" onClick={() => choose(at - 1)}>
          <StepBack />
        </button>
        <input
          type="range"
          min={1}
          max={steps.length}
          value={at + 1}
          aria-label="Step"
          aria-valuetext={`step ${at + 1} of ${steps.length}, event ${step.seq} by ${step.author}`}
          data-testid="state-slider"
          onChange={(event) => choose(Number(event.currentTarget.value) - 1)}
        />
        <button type="button" className="icon-button" aria-label="One step on" onClick={() => choose(at + 1)}>
          <StepOn />
        </button>
      </div>
      <p className="state-step" data-testid="state-step">
        <b>
          Step {at + 1} of {steps.length}
        </b>{" "}
        <SeqLink id={session.id} seq={step.seq} /> by <code>{step.author}</code>{" "}
        <time dateTime={step.timestamp} title={fullTime(step.timestamp)}>
          {clockTime(step.timestamp)}
        </time>
      </p>
      <section>
        <h3>Changed</h3>
        {changes.length === 0 && <p className="quiet">Set to what it was.</p>}
        <ul className="state-changes">
          {changes.map((change) => (
            <ChangeView key={change.key} change={change} place={`~${session.id}.${step.seq}.${change.key}`} />
          ))}
        </ul>
      </section>
      <section>
        <h3>
          {at === last && !log.hasNextPage
            ? session.status === "completed"
              ? "Final state"
              : "State now"
            : "State after it"}
        </h3>
        {Object.keys(state).length === 0 ? (
          <p className="quiet">Empty.</p>
        ) : (
          <Tree key={step.seq} value={state} place={`~${session.id}.state`} />
        )}
      </section>
      <LogState log={log} />
    </div>
  );
}

function ChangeView({ change, place }: { change: Change; place: string }) {
  const { key, before, after } = change;
  const word = before === undefined ? "set" : after === undefined ? "removed" : "changed";
  return (
    <li className={`state-${word}`}>
      <div>
        <b>{word}</b> <code>{key}</code>
      </div>
      {before !== undefined && <Value word="was" value={before} place={`${place}.before`} />}
      {after !== undefined && (
        <Value word={before === undefined ? "to" : "is"} value={after} place={`${place}.after`} />
      )}
    </li>
  );
}

function Value({ word, value, place }: { word: string; value: Json; place: string }) {
  return (
    <div className="state-value">
      <span className="quiet">{word}</span>
      <Tree value={value} place={place} />
    </div>
  );
}
