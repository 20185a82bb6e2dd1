// Makes a session and sends its first query in one step. If the query is refused, the session page opens all the same
// with the query still in the composer, so nothing typed is lost.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { errorText } from "../api/client";
import { actions } from "../api/queries";
import type { Agent } from "../api/types";
import { type Query, QueryForm, toBody } from "../query/QueryForm";
import { keepQuery } from "../query/kept";
import { putSession } from "../live/sessionLists";

export function StartSession({ agent }: { agent: Agent }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const start = async (query: Query) => {
    setBusy(true);
    setError(null);
    try {
      const session = await actions.createSession(agent.name);
      putSession(client, session);
      try {
        await actions.query(session.id, toBody(query));
      } catch (refused) {
        keepQuery(session.id, { query, error: errorText(refused) });
      }
      go(`/sessions/${session.id}`);
    } catch (failed) {
      setError(errorText(failed));
      setBusy(false);
    }
  };
  return (
    <QueryForm
      inputSchema={agent.input_schema ?? null}
      label={`Query for ${agent.name}`}
      placeholder={`Ask ${agent.name} something`}
      action="Start"
      busy={busy}
      error={error}
      onSend={(query) => void start(query)}
    />
  );
}
