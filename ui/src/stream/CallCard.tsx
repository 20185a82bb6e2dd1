// A tool call and what came of it, in one card: arguments in a line (a tree on demand), then output, error, or the
// stopwatch of a tool that still runs.
import { useState } from "react";
import { errorText } from "../api/client";
import { actions } from "../api/queries";
import { clockTime, duration, stopwatch } from "../time/format";
import { useSecond } from "../time/useNow";
import { useRemembered } from "../value/expanded";
import { argumentsLine } from "../value/oneLine";
import { Output } from "../value/Output";
import { Tree } from "../value/Tree";
import type { CallCard, RunningTool } from "./fold";
import { AnsweredBy, ErrorBody, Frame, Head } from "./parts";

export function CallCardView({ card, sessionId, place }: { card: CallCard; sessionId: string; place: string }) {
  const { call, outcome, running } = card;
  const failed = outcome?.type === "tool_error";
  return (
    <Frame type="tool_call" colour={failed ? "red" : "amber"}>
      <Head word="Tool call" name={call.tool_name} seq={call.seq} time={call.timestamp}>
        <AnsweredBy by={call.answered_by} after={call.answered_after_ms} />
      </Head>
      <Arguments card={card} place={place} />
      {outcome?.type === "tool_output" && (
        <div className="outcome entry-green" data-testid="entry-tool_output">
          <Output
            result={outcome.result}
            place={`${place}.out`}
            head={
              <>
                <b>Output</b>
                <Took ms={outcome.duration_ms} at={outcome.timestamp} seq={outcome.seq} />
              </>
            }
          />
        </div>
      )}
      {outcome?.type === "tool_error" && (
        <div className="outcome entry-red" data-testid="entry-tool_error">
          <div className="entry-head">
            <b>Tool error</b>
            <Took ms={outcome.duration_ms} at={outcome.timestamp} seq={outcome.seq} />
          </div>
          <ErrorBody error={outcome} place={`${place}.error`} />
        </div>
      )}
      {running && !outcome && (
        <div className="outcome">
          <Running tool={running} sessionId={sessionId} />
        </div>
      )}
      {card.cancelled && !outcome && <div className="outcome quiet">Cancelled</div>}
    </Frame>
  );
}

function Arguments({ card, place }: { card: CallCard; place: string }) {
  const [open, setOpen] = useRemembered(`${place}.args`, false);
  const line = argumentsLine(card.call.arguments ?? {});
  if (line.length === 0) return <div className="entry-body quiet">no arguments</div>;
  return (
    <div className="entry-body">
      <button
        type="button"
        className="arguments mono"
        aria-expanded={open}
        title={open ? "Show in one line" : "Show as a tree"}
        onClick={() => setOpen(!open)}
      >
        {line.map((argument) => (
          <span key={argument.name} className="argument">
            {argument.name}: <span className={argument.plain ? undefined : "quiet"}>{argument.text}</span>
          </span>
        ))}
      </button>
      {open && <Tree value={card.call.arguments} />}
    </div>
  );
}

export function Running({ tool, sessionId }: { tool: RunningTool; sessionId: string }) {
  const now = useSecond();
  const [asked, setAsked] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const cancel = () => {
    setAsked(true);
    actions.cancelTool(sessionId, tool.callId).catch((failed: unknown) => {
      setAsked(false);
      setError(errorText(failed));
    });
  };
  return (
    <div className="running">
      <span className="spinner" aria-hidden="true" />
      Running <span className="mono">{stopwatch(now - Date.parse(tool.since))}</span>
      <span className="spring" />
      {error && <span className="field-error">{error}</span>}
      <button type="button" className="btn" disabled={asked} onClick={cancel} data-testid="cancel-tool">
        {asked ? "Cancelling…" : "Cancel"}
      </button>
    </div>
  );
}

function Took({ ms, at, seq }: { ms?: number | null; at: string; seq: number }) {
  return <span title={`#${seq} · ${clockTime(at)}`}>{typeof ms === "number" ? duration(ms) : `#${seq}`}</span>;
}
