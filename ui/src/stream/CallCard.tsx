// A tool call and what came of it, in one card: arguments in a line (a tree on demand), then output, error, or the
// stopwatch of a tool that still runs.
import { useState } from "react";
import { errorText } from "../api/client";
import { actions } from "../api/queries";
import type { ToolError, ToolOutput } from "../api/types";
import type { Exact } from "../json/json";
import { FINAL_TOOL } from "../seat/draft";
import { LaterResult } from "../seat/LaterResult";
import { clockTime, duration, stopwatch } from "../time/format";
import { useSecond } from "../time/useNow";
import { useRemembered } from "../value/expanded";
import { argumentsLine, oneLine, unwrapResult } from "../value/oneLine";
import { Output } from "../value/Output";
import { Tree } from "../value/Tree";
import { useStreamShare } from "./context";
import type { CallCard, Cancelled, RunningTool } from "./fold";
import { AnsweredBy, ErrorBody, Frame, Head, StateDelta, useFolded } from "./parts";

export function CallCardView({ card, place }: { card: CallCard; place: string }) {
  const { call, outcome, running, cancelled } = card;
  const { sessionId, open } = useStreamShare();
  const [folded] = useFolded(place);
  const failed = outcome?.type === "tool_error" && !cancelled && !card.rejected;
  // ADK's own tool for the final response: what it was called with is that response, which stands below.
  const isFinal = call.tool_name === FINAL_TOOL && outcome?.type === "tool_output";
  return (
    <Frame type="tool_call" colour={failed ? "red" : "amber"} seq={call.seq}>
      <Head
        word="Tool call"
        name={call.tool_name}
        by={call.agent_name}
        seq={call.seq}
        time={call.timestamp}
        place={place}
        turnId={call.turn_id}
      >
        {call.long_running && <span className="chip">long running</span>}
        <AnsweredBy by={call.answered_by} person={call.person} after={call.answered_after_ms} />
      </Head>
      {isFinal ? (
        <div className="entry-body quiet">gives the final response</div>
      ) : folded ? (
        <Summary card={card} />
      ) : (
        <>
          <Arguments card={card} place={place} />
          {card.interim && <OutcomeView outcome={card.interim} place={`${place}.interim`} word="First answer" />}
          {outcome && (
            <OutcomeView outcome={outcome} place={`${place}.out`} cancelled={cancelled} rejected={card.rejected} />
          )}
          {running && !outcome && (
            <div className="outcome">
              <Running tool={running} sessionId={sessionId} />
            </div>
          )}
          {cancelled && !outcome && (
            <div className="outcome quiet" data-testid="cancelled">
              {cancelledWords(cancelled)}
            </div>
          )}
          {card.open && !running && open && (
            <div className="outcome">
              <LaterResult card={card} sessionId={sessionId} />
            </div>
          )}
          <StateDelta delta={outcome?.state_delta ?? call.state_delta} />
        </>
      )}
    </Frame>
  );
}

interface OutcomeProps {
  outcome: ToolOutput | ToolError;
  place: string;
  word?: string;
  cancelled?: Cancelled | null;
  rejected?: boolean;
}

function OutcomeView({ outcome, place, word, cancelled, rejected }: OutcomeProps) {
  const took = <Took ms={outcome.duration_ms} at={outcome.timestamp} seq={outcome.seq} />;
  if (cancelled) {
    return (
      <div className="outcome" data-testid="cancelled" data-seq={outcome.seq}>
        <div className="entry-head">
          <b>{cancelledWords(cancelled)}</b>
        </div>
        {outcome.type === "tool_error" && <p className="quiet entry-body">{outcome.error_message}</p>}
      </div>
    );
  }
  if (outcome.type === "tool_error" && rejected) {
    return (
      <div className="outcome" data-testid="not-confirmed" data-seq={outcome.seq}>
        <div className="entry-head">
          <b>Not confirmed</b>
        </div>
        <div className="quiet entry-body">{outcome.error_message}</div>
      </div>
    );
  }
  if (outcome.type === "tool_error") {
    return (
      <div className="outcome entry-red" data-testid="entry-tool_error" data-seq={outcome.seq}>
        <div className="entry-head">
          <b>Tool error</b>
          {took}
        </div>
        <ErrorBody error={outcome} place={place} />
      </div>
    );
  }
  return (
    <div className="outcome entry-green" data-testid="entry-tool_output" data-seq={outcome.seq}>
      <Output
        result={outcome.result}
        place={place}
        head={
          <>
            <b>{word ?? "Output"}</b>
            {took}
          </>
        }
      />
    </div>
  );
}

function cancelledWords({ afterMs }: Cancelled): string {
  return afterMs === null ? "Cancelled" : `Cancelled after ${duration(afterMs)}`;
}

/** A call in one line, when its card is folded. */
function Summary({ card }: { card: CallCard }) {
  const { call, outcome, cancelled } = card;
  const args = argumentsLine(call.arguments ?? {});
  const ended = cancelled
    ? cancelledWords(cancelled)
    : outcome?.type === "tool_error" && card.rejected
      ? "not confirmed"
      : outcome?.type === "tool_error"
        ? `${outcome.error_type}: ${outcome.error_message}`
        : outcome
          ? oneLine(unwrapResult(outcome.result))
          : "";
  return (
    <div className="entry-summary mono">
      ({args.map(({ name, text }) => `${name}: ${text}`).join(", ")}){ended && ` → ${ended}`}
    </div>
  );
}

function Arguments({ card, place }: { card: CallCard; place: string }) {
  const { sessionId } = useStreamShare();
  const [all] = useRemembered<"folded" | "open" | null>(`${sessionId}.fold`, null);
  const [open, setOpen] = useRemembered(`${place}.args`, all === "open");
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
      {open && <Tree value={card.call.arguments} place={`${place}.args`} />}
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
      {tool.said && <span className="quiet">{tool.said}</span>}
      <span className="spring" />
      {error && <span className="field-error">{error}</span>}
      <button type="button" className="btn" disabled={asked} onClick={cancel} data-testid="cancel-tool">
        {asked ? "Cancelling…" : "Cancel"}
      </button>
    </div>
  );
}

function Took({ ms, at, seq }: { ms?: number | Exact | null; at: string; seq: number }) {
  const known = ms !== null && ms !== undefined;
  return <span title={`#${seq} · ${clockTime(at)}`}>{known ? duration(Number(ms)) : `#${seq}`}</span>;
}
