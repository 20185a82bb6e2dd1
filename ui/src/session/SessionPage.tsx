// One session: what happened, and the seat. The header's actions are those that make sense in its state.
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { ApiError, errorText } from "../api/client";
import { actions, askAgain, keys, useSession } from "../api/queries";
import type { Session } from "../api/types";
import { useTyping } from "../room/room";
import { Seat } from "../seat/Seat";
import { originOf } from "../sessions/origin";
import { Failure } from "../shell/Failure";
import { type Kept, Stream } from "../stream/Stream";
import { useSessionStream } from "../stream/useSessionStream";
import { completeIfWished } from "../live/Live";
import { putSession } from "../live/sessionLists";
import { Security } from "./Security";
import { SessionHeader } from "./SessionHeader";
import { SessionViews } from "./SessionViews";
import "./session.css";

export function SessionPage({ id }: { id: string }) {
  const client = useQueryClient();
  const session = useSession(id);
  const lookAgain = useCallback(() => void askAgain(client, keys.session(id)), [client, id]);
  const unknown = session.error instanceof ApiError && session.error.status === 404;
  // Asked for together with the session: a long history is on its way while the page is drawn.
  const live = useSessionStream(id, !unknown, lookAgain);
  if (unknown) return <Unknown id={id} />;
  if (session.isError && !session.data) {
    return (
      <div className="nothing">
        <Failure error={session.error} onRetry={() => void session.refetch()} />
      </div>
    );
  }
  return session.data ? <Loaded session={session.data} live={live} onRetry={lookAgain} /> : <Loading />;
}

interface LoadedProps {
  session: Session;
  live: ReturnType<typeof useSessionStream>;
  onRetry: () => void;
}

function Loaded({ session, live: { stream, connection, room }, onRetry }: LoadedProps) {
  const { id } = session;
  const client = useQueryClient();
  const turnState = `${stream.requests.length}.${stream.pending.join()}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again whenever a turn came or went.
  useEffect(() => {
    if (stream.live) void askAgain(client, keys.turns(id));
  }, [client, id, stream.live, turnState]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end of a run changes the session.
  useEffect(() => {
    if (stream.live) onRetry();
  }, [stream.live, stream.run?.status, stream.completed]);
  useEffect(() => {
    completeIfWished(client, session);
  }, [client, session]);
  const typing = useTyping(id, room);
  const [, go] = useLocation();
  const kept = useRef<Kept | null>(null);
  const [error, setError] = useState<string | null>(null);
  const goBack = useCallback(
    async (turnId: string) => {
      setError(null);
      try {
        const forked = await actions.fork(id, turnId);
        putSession(client, forked);
        go(`/sessions/${forked.id}`);
      } catch (failed) {
        setError(errorText(failed));
      }
    },
    [client, id, go],
  );
  // The copy is driven from this page, so Hotseat must be able to run the agent; a program's own it cannot.
  const origin = originOf(session, stream);
  const back = origin.by === "program" ? undefined : goBack;
  return (
    <>
      <section className="stream-side" aria-label="Stream">
        <SessionHeader session={session} stream={stream} origin={origin} goBack={back} />
        {error && (
          <div className="note note-bad top-note" role="alert">
            {error}
          </div>
        )}
        <Security session={session} />
        <SessionViews session={session} stream={stream}>
          <Stream
            stream={stream}
            sessionId={id}
            open={session.status === "active"}
            connection={connection}
            goBack={back}
            kept={kept}
          />
        </SessionViews>
      </section>
      <aside className="seat" aria-label="Seat" onInput={typing}>
        <Seat session={session} stream={stream} room={room} />
      </aside>
    </>
  );
}

/** The frame of the page without its content, so that nothing jumps when it arrives. */
function Loading() {
  return (
    <>
      <section className="stream-side" aria-busy="true">
        <header className="top" />
        <div className="view-tabs" />
      </section>
      <aside className="seat" />
    </>
  );
}

function Unknown({ id }: { id: string }) {
  return (
    <div className="message-page nothing" data-testid="unknown-session">
      <h1>There is no session {id.length > 40 ? `${id.slice(0, 40)}…` : id}</h1>
      <p>It may have been deleted, or the link is from another Hotseat server.</p>
      <Link className="btn" href="/sessions">
        See all sessions
      </Link>
    </div>
  );
}
