// Keeps the page alive: one global stream feeds the caches, counts what waits, and carries out
// wishes to complete a session. Screens only read the caches and the connection state.
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { actions, askAgain, keys } from "../api/queries";
import type { StreamState } from "../api/sse";
import type { Session } from "../api/types";
import { dropWish, isOver, wishedSessions, wishFor } from "./completion";
import { dropSession, putSession } from "./sessionLists";
import { openShared } from "./shared";
import { type AllWaiting, withoutSession, withSession } from "./waiting";

const ConnectionContext = createContext<StreamState>("connecting");

export function useConnection(): StreamState {
  return useContext(ConnectionContext);
}

export function Live({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [state, setState] = useState<StreamState>("connecting");
  useEffect(() => {
    const countAgain = throttled(() => void askAgain(client, keys.waiting));
    const stream = openShared({
      url: () => "/api/v1/stream",
      onState: setState,
      onRetry: () => void askAgain(client, keys.waiting),
      events: {
        ready: () => void askAgain(client),
        session: (data) => {
          const session = data as Session;
          putSession(client, session);
          client.setQueryData<AllWaiting>(keys.waiting, (all) => all && withSession(all, session));
          countAgain();
          completeIfWished(client, session);
        },
        session_deleted: (data) => {
          const { id } = data as { id: string };
          dropSession(client, id);
          client.setQueryData<AllWaiting>(keys.waiting, (all) => all && withoutSession(all, id));
          countAgain();
        },
        agents: () => {
          void askAgain(client, keys.agents);
          // Agents name their files: with new agents there may be new eval sets.
          void askAgain(client, keys.evalSets);
          void askAgain(client, keys.evalSetFiles);
        },
      },
    });
    return () => {
      countAgain.cancel();
      stream.close();
    };
  }, [client]);
  return <ConnectionContext value={state}>{children}</ConnectionContext>;
}

/** Also called after a decision was accepted, in case the run ended before the answer to the decision arrived. */
export function completeIfWished(client: QueryClient, session: Session): void {
  const wish = wishFor(session.id);
  if (!wish) return;
  if (session.status === "completed") dropWish(session.id);
  if (!isOver(session, wish)) return;
  dropWish(session.id);
  actions.complete(session.id).then(
    (completed) => putSession(client, completed),
    // The session stays open and says so; the person can complete it by hand.
    () => void askAgain(client, keys.session(session.id)),
  );
}

export function hasWish(sessionId: string): boolean {
  return wishedSessions().includes(sessionId);
}

function throttled(run: () => void, wait = 250): { (): void; cancel: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const call = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      run();
    }, wait);
  };
  call.cancel = () => clearTimeout(timer);
  return call;
}
