// The state over time: a slider through the events that changed it, what each changed, and the state it left.
import { useMemo, useState } from "react";
import { useAdkState, useLog } from "../api/queries";
import type { Json, Session } from "../api/types";
import { StepBack, StepOn } from "../shell/icons";
import { clockTime, fullTime } from "../time/format";
import { Tree } from "../value/Tree";
import { LogState, Removed, SeqLink } from "./parts";
import { type Change, changesOf, startOf, stateAfter, stateSteps } from "./stateSteps";

const ENOUGH = 5000;

const START = -1;

export function StateView({ session }: { session: Session }) {
  const log = useLog(session, "event", ENOUGH);
  const adk = useAdkState(session);
  const steps = useMemo(() => stateSteps(log.events), [log.events]);
  const start = useMemo(() => startOf(steps, adk.data), [steps, adk.data]);
  const hasStart = Object.keys(start).length > 0;
  const first = hasStart ? START : 0;
  const last = steps.length - 1;
  const [chosen, setChosen] = useState<number | null>(null);
  // Whoever looks at the newest step goes on with it.
  const at = Math.min(chosen ?? last, last);
  const choose = (index: number) => setChosen(index >= last ? null : Math.max(first, index));
  const isNow = at === last && !log.hasNextPage;
  const state = useMemo(() => {
    const told = stateAfter(start, steps, at + 1);
    // At the end ADK has the last word: other sessions of the user may have changed what they share.
    return isNow && session.status === "active" ? { ...told, ...adk.data?.now } : told;
  }, [start, steps, at, isNow, session.status, adk.data]);
  const changes = useMemo(() => changesOf(start, steps, at), [start, steps, at]);
  const step = steps[at];
  if (!step && !hasStart) {
    return (
      <div className="inspect" data-testid="state-view">
        <Removed session={session} />
        <LogState log={log} />
        {log.isSuccess && !log.isFetching && !adk.isPending && (
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
      <Removed session={session} />
      {steps.length > 0 && (
        <div className="state-steps">
          <button
            type="button"
            className="icon-button"
            aria-label="One step back"
            disabled={at === first}
            onClick={() => choose(at - 1)}
          >
            <StepBack />
          </button>
          <input
            type="range"
            min={first + 1}
            max={steps.length}
            value={at + 1}
            aria-label="Step"
            aria-valuetext={
              step ? `step ${at + 1} of ${steps.length}, event ${step.seq} by ${step.author}` : "the beginning"
            }
            data-testid="state-slider"
            onChange={(event) => choose(Number(event.currentTarget.value) - 1)}
          />
          <button
            type="button"
            className="icon-button"
            aria-label="One step on"
            disabled={at === last}
            onClick={() => choose(at + 1)}
          >
            <StepOn />
          </button>
        </div>
      )}
      <p className="state-step" data-testid="state-step">
        {step ? (
          <>
            <b>
              Step {at + 1} of {steps.length}
            </b>{" "}
            <SeqLink id={session.id} seq={step.seq} /> by <code>{step.author}</code>{" "}
            <time dateTime={step.timestamp} title={fullTime(step.timestamp)}>
              {clockTime(step.timestamp)}
            </time>
          </>
        ) : (
          <>
            <b>Beginning</b> <span className="quiet">before any event changed it</span>
          </>
        )}
      </p>
      {step && (
        <section>
          <h2>Changed</h2>
          {changes.length === 0 && <p className="quiet">Set to what it was.</p>}
          <ul className="state-changes">
            {changes.map((change) => (
              <ChangeView key={change.key} change={change} place={`~${session.id}.${step.seq}.${change.key}`} />
            ))}
          </ul>
        </section>
      )}
      <section>
        <h2>{stateTitle(isNow, step !== undefined, session)}</h2>
        {Object.keys(state).length === 0 ? (
          <p className="quiet">Empty.</p>
        ) : (
          <Tree key={step?.seq ?? 0} value={state} place={`~${session.id}.state`} />
        )}
      </section>
      <LogState log={log} />
    </div>
  );
}

function stateTitle(isNow: boolean, stepped: boolean, session: Session): string {
  if (isNow) return session.status === "completed" ? "Final state" : "State now";
  return stepped ? "State after it" : "State then";
}

function ChangeView({ change, place }: { change: Change; place: string }) {
  const { key, before, after } = change;
  const word = before === undefined ? "set" : "changed";
  return (
    <li className={`state-${word}`}>
      <div>
        <b>{word}</b> <code>{key}</code>
      </div>
      {before !== undefined && <Value word="was" value={before} place={`${place}.before`} />}
      <Value word={before === undefined ? "to" : "is"} value={after} place={`${place}.after`} />
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
