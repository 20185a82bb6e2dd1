// The next message of the user, when no run is going on. What was typed is kept until it is sent.
import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { errorText } from "../api/client";
import { actions, askAgain, keys, useAgents } from "../api/queries";
import type { Session } from "../api/types";
import { putSession } from "../live/sessionLists";
import { keepQuery, keptQuery } from "../query/kept";
import { type Query, QueryForm, toBody } from "../query/QueryForm";
import { openResults, type StreamState } from "../stream/fold";
import { Artifacts } from "./Artifacts";
import { LaterResult } from "./LaterResult";

export function Composer({ session, stream }: { session: Session; stream: StreamState }) {
  const client = useQueryClient();
  const agents = useAgents();
  const agent = agents.data?.items.find((candidate) => candidate.name === session.agent);
  const [kept] = useState(() => keptQuery(session.id));
  const [error, setError] = useState<string | null>(kept?.error ?? null);
  const [busy, setBusy] = useState(false);
  const first = session.title === null;
  const send = async (query: Query) => {
    setBusy(true);
    setError(null);
    try {
      await actions.query(session.id, toBody(query));
      keepQuery(session.id, undefined);
      await askAgain(client, keys.session(session.id));
    } catch (failed) {
      setError(errorText(failed));
    } finally {
      setBusy(false);
    }
  };
  const complete = async () => {
    setError(null);
    try {
      putSession(client, await actions.complete(session.id));
    } catch (failed) {
      setError(errorText(failed));
    }
  };
  return (
    <div className="seat-quiet" data-testid="composer">
      <header className="seat-head">
        <h2>{first ? "Send the first message" : "Send another message"}</h2>
        <p className="quiet">
          {first
            ? `As the user of ${session.agent ?? "the agent"}.`
            : "The conversation is open. Go on as the user, or complete the session."}
        </p>
      </header>
      <div className="seat-body">
        {agent && !agent.connected && (
          <div className="note">
            No worker hosts <b>{agent.name}</b> at the moment, so it cannot run. Start Hotseat with its folder.
          </div>
        )}
        <QueryForm
          inputSchema={agent?.input_schema ?? null}
          label="Message"
          placeholder="What the user says next"
          action="Send"
          busy={busy}
          error={error}
          start={kept?.query}
          onSend={(query) => void send(query)}
          onEdit={(query) => keepQuery(session.id, { query, error: null })}
        />
        <LaterResults session={session} stream={stream} />
        <Artifacts session={session} quiet />
        {!first && (
          <div className="composer-complete">
            <button type="button" className="btn" onClick={() => void complete()}>
              Complete session
            </button>
            <span className="quiet">to export it as a golden trace</span>
          </div>
        )}
      </div>
    </div>
  );
}

/** Tools that went on by themselves: their results can be given when they are there. */
function LaterResults({ session, stream }: { session: Session; stream: StreamState }) {
  const cards = useMemo(() => openResults(stream.cards), [stream.cards]);
  if (cards.length === 0) return null;
  return (
    <section className="later-results">
      <h3>Results still to come</h3>
      {cards.map((card) => (
        <LaterResult key={card.call.call_id} card={card} sessionId={session.id} />
      ))}
    </section>
  );
}
