// The seat while nothing is asked: which tool runs and for how long, whether the agent works or cannot.
import { useState } from "react";
import { errorText } from "../api/client";
import { actions } from "../api/queries";
import type { Session } from "../api/types";
import { hasWish } from "../live/Live";
import { Running } from "../stream/CallCard";
import type { StreamState } from "../stream/fold";
import { stopwatch } from "../time/format";
import { useSecond } from "../time/useNow";
import { Artifacts } from "./Artifacts";

/** Who has the next word. */
const NEXT: Record<StreamState["seat"], string> = {
  human: "The next request comes here by itself.",
  model: "The agent's own model answers; what it says and does appears in the stream.",
  replay: "A recording answers; what it says and does appears in the stream.",
};

export function Working({ session, stream }: { session: Session; stream: StreamState }) {
  const run = session.run;
  const title = titleFor(session, stream);
  return (
    <div className="seat-quiet" data-testid="seat-working">
      <header className="seat-head">
        <div className="seat-line">
          <h2>{title}</h2>
          <span className="spring" />
          {run && <Since time={run.since} />}
        </div>
      </header>
      <div className="seat-body">
        {stream.running.map((tool) => (
          <div key={tool.callId} className="running-tool">
            <code>{tool.toolName}</code>
            <Running tool={tool} sessionId={session.id} />
          </div>
        ))}
        {run && !run.worker_connected && (
          <div className="note" data-testid="worker-gone">
            The worker that hosts <b>{session.agent}</b> is not connected. It takes the run up again when it comes back;
            if it does not, start Hotseat again or stop the run.
          </div>
        )}
        <p className="quiet">
          {stream.running.length > 0 && "The tool really runs. Its output appears in the stream. "}
          {NEXT[stream.seat]}
        </p>
        <Artifacts session={session} quiet />
        {run && <StopRun id={session.id} />}
      </div>
    </div>
  );
}

function titleFor(session: Session, stream: StreamState): string {
  if (stream.running.length > 0) return stream.running.length === 1 ? "A tool is running" : "Tools are running";
  if (session.run && !session.run.worker_connected) return "The agent is away";
  if (session.run?.status === "queued") return "Waiting for the agent to start";
  if (!session.run && hasWish(session.id)) return "Completing the session";
  return "The agent is working";
}

function Since({ time }: { time: string }) {
  const now = useSecond();
  return <span className="mono quiet">{stopwatch(now - Date.parse(time))}</span>;
}

function StopRun({ id }: { id: string }) {
  const [error, setError] = useState<string | null>(null);
  const stop = () => actions.stopRun(id).catch((failed: unknown) => setError(errorText(failed)));
  return (
    <div>
      <button type="button" className="btn" onClick={() => void stop()}>
        Stop run
      </button>
      {error && <div className="field-error">{error}</div>}
    </div>
  );
}
