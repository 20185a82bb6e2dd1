// Title, agent, state, and what can be done with the session as a whole.
import { Menu } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { errorText } from "../api/client";
import { actions } from "../api/queries";
import type { Session } from "../api/types";
import { dropSession, putSession } from "../live/sessionLists";
import { waitingIn } from "../live/waiting";
import { ExportDialogue } from "../seat/Export";
import { type Origin, originMark } from "../sessions/origin";
import { titleOf } from "../sessions/title";
import { useCommands } from "../shell/commands";
import { Confirm } from "../shell/Confirm";
import { Dots } from "../shell/icons";
import type { StreamState } from "../stream/fold";

type Asking = "delete" | "complete" | "export" | null;

interface SessionHeaderProps {
  session: Session;
  stream: StreamState;
  origin: Origin;
  goBack?: (turnId: string) => void;
}

export function SessionHeader({ session, stream, origin, goBack }: SessionHeaderProps) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const [asking, setAsking] = useState<Asking>(null);
  const [error, setError] = useState<string | null>(null);
  const attempt = async (action: () => Promise<void>) => {
    setError(null);
    try {
      await action();
    } catch (failed) {
      setError(errorText(failed));
    }
  };
  const complete = () => {
    setAsking(null);
    void attempt(async () => putSession(client, await actions.complete(session.id)));
  };
  const open = session.status === "active";
  const state = stateWords(session, stream);
  const mark = originMark(origin);
  const lastAnswered = stream.answered[stream.answered.length - 1];
  const stop = async () => void (await actions.stopRun(session.id));
  const busy = session.run !== null || waitingIn(session) > 0;
  const rawSession = `/api/v1/sessions/${session.id}/export?format=session`;
  useCommands([
    ...(open ? [{ label: "Complete session", run: () => (busy ? setAsking("complete") : complete()) }] : []),
    ...(open ? [] : [{ label: "Export golden trace", run: () => setAsking("export") }]),
    ...(goBack && lastAnswered
      ? [{ label: "Fork here: go back to before the last answer", run: () => goBack(lastAnswered) }]
      : []),
    ...(session.run ? [{ label: "Stop run", run: () => void attempt(stop) }] : []),
    { label: "Delete session…", run: () => setAsking("delete") },
  ]);
  return (
    <>
      <header className="top">
        <h1 title={session.title ?? undefined}>{titleOf(session, "New session")}</h1>
        <span className={mark ? "chip" : "chip chip-agent"}>
          <span className="chip-agent">{session.agent ?? session.app_name}</span>
          {mark && (
            <span className="chip-origin" data-testid="session-origin" title={mark.title}>
              {mark.text}
            </span>
          )}
        </span>
        <span className="chip" data-testid="session-state" title={state.title}>
          {state.text}
        </span>
        <span className="spring" />
        {open && (
          <button
            type="button"
            className="btn"
            data-testid="complete-button"
            onClick={() => (busy ? setAsking("complete") : complete())}
          >
            Complete
          </button>
        )}
        {goBack && lastAnswered && (
          <button
            type="button"
            className="btn fork-button"
            data-testid="fork-here"
            title="A new session that stands before the last answer; tools that ran are not run again"
            onClick={() => goBack(lastAnswered)}
          >
            Fork here
          </button>
        )}
        <button
          type="button"
          className="btn"
          disabled={open}
          title={open ? "Complete the session first" : undefined}
          onClick={() => setAsking("export")}
        >
          Export…
        </button>
        <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
          <Menu.Target>
            <button type="button" className="btn" aria-label="More" data-testid="session-menu">
              <Dots />
            </button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item disabled={!session.run} onClick={() => void attempt(stop)}>
              Stop run
            </Menu.Item>
            <Menu.Item onClick={() => void navigator.clipboard?.writeText(session.id)}>Copy session id</Menu.Item>
            {session.adk_id !== session.id && (
              <Menu.Item onClick={() => void navigator.clipboard?.writeText(session.adk_id)}>
                Copy ADK session id
              </Menu.Item>
            )}
            <Menu.Item component="a" href={rawSession} download>
              Download the session for adk test
            </Menu.Item>
            <Menu.Divider />
            <Menu.Item className="danger" onClick={() => setAsking("delete")}>
              Delete…
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </header>
      {error && (
        <div className="note note-bad top-note" role="alert">
          {error}
        </div>
      )}
      <Confirm
        opened={asking === "delete"}
        title="Delete this session?"
        text="Its events are removed for good. Traces that were exported stay where they are."
        action="Delete session"
        onClose={() => setAsking(null)}
        onYes={() =>
          void attempt(async () => {
            await actions.deleteSession(session.id);
            dropSession(client, session.id);
            go("/sessions");
          })
        }
      />
      <Confirm
        opened={asking === "complete"}
        title="Complete this session now?"
        text={completeWords(session)}
        action="Complete session"
        onClose={() => setAsking(null)}
        onYes={complete}
      />
      <ExportDialogue session={session} opened={asking === "export"} onClose={() => setAsking(null)} />
    </>
  );
}

function completeWords(session: Session): string {
  const said = session.open_requests > 0 ? ["The user is still asked something; it will never be answered."] : [];
  if (session.run) said.push("The run that is going on is stopped.");
  if (session.pending_turns > 0) said.push("Requests that wait are dismissed.");
  return [...said, "A completed session stays completed."].join(" ");
}

/** The number is that of the request in the seat, as the seat says it too. */
function stateWords(session: Session, stream: StreamState): { text: string; title?: string } {
  if (session.status === "completed") return { text: "completed" };
  if (session.state === "awaiting_query") return { text: session.last_seq === 0 ? "new" : "open" };
  const number = stream.requests.indexOf(stream.pending[0] ?? "") + 1;
  if (number === 0) return { text: "active" };
  const made = stream.requests.length;
  return {
    text: `active · request ${number}`,
    title: `Request ${number} of this session waits for you; ${made === 1 ? "1 was" : `${made} were`} made so far`,
  };
}
