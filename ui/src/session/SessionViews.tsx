// What happened, in four views: the stream, the state over time, the log as it is, the agents. The view is in the address.
import { lazy, type ReactNode, Suspense } from "react";
import { Link, useLocation, useSearch } from "wouter";
import type { Session } from "../api/types";
import { useCommands } from "../shell/commands";
import type { StreamState } from "../stream/fold";

const Inspect = lazy(() => import("../inspect/Inspect"));

export type View = "stream" | "state" | "events" | "agents";
const VIEWS: [View, string][] = [
  ["stream", "Stream"],
  ["state", "State"],
  ["events", "Raw events"],
  ["agents", "Agents"],
];

interface SessionViewsProps {
  session: Session;
  stream: StreamState;
  /** The stream itself. */
  children: ReactNode;
}

export function SessionViews({ session, stream, children }: SessionViewsProps) {
  const [, go] = useLocation();
  const asked = new URLSearchParams(useSearch()).get("view");
  const view = VIEWS.find(([name]) => name === asked)?.[0] ?? "stream";
  useCommands(
    VIEWS.map(([name, label]) => ({ label: `Show ${label.toLowerCase()}`, run: () => go(pathOf(session, name)) })),
  );
  return (
    <>
      <nav className="view-tabs" aria-label="Views of the session">
        {VIEWS.map(([name, label]) => (
          <Link
            key={name}
            href={pathOf(session, name)}
            replace
            aria-current={view === name ? "page" : undefined}
            data-testid={`view-${name}`}
          >
            {label}
          </Link>
        ))}
      </nav>
      {view === "stream" ? (
        children
      ) : (
        <Suspense fallback={<div className="view" aria-busy="true" />}>
          <Inspect view={view} session={session} stream={stream} />
        </Suspense>
      )}
    </>
  );
}

function pathOf(session: Session, view: View): string {
  return `/sessions/${encodeURIComponent(session.id)}${view === "stream" ? "" : `?view=${view}`}`;
}
