// The shell: rail, routes, global keys and the title. Every screen has a URL; what is not a screen says so. wouter
// routes, because four routes need two kilobytes, not twenty.
import { lazy, Suspense, useEffect, useState } from "react";
import { Link, Redirect, Route, Switch, useLocation } from "wouter";
import { AgentsScreen } from "../agents/AgentsScreen";
import { onUnauthorised } from "../api/client";
import { useSessions, useWaiting } from "../api/queries";
import { Live } from "../live/Live";
import { SessionsScreen } from "../sessions/SessionsScreen";
import { Failure } from "./Failure";
import { Help } from "./Help";
import { useKeys } from "./keys";
import { Locked } from "./Locked";
import { Rail } from "./Rail";
import "./shell.css";

const EvalSetsScreen = lazy(() => import("../evalsets/EvalSetsScreen"));

export function App() {
  const [locked, setLocked] = useState(false);
  useEffect(() => onUnauthorised(() => setLocked(true)), []);
  if (locked) return <Locked />;
  return (
    <Live>
      <Shell />
    </Live>
  );
}

function Shell() {
  const [help, setHelp] = useState(false);
  const [, go] = useLocation();
  const waiting = useWaiting().data?.items.length ?? 0;
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Hotseat` : "Hotseat";
  }, [waiting]);
  useKeys({
    "g s": () => go("/sessions"),
    "g a": () => go("/agents"),
    "g e": () => go("/eval-sets"),
    "?": () => setHelp(true),
  });
  return (
    <div className="shell">
      <Rail waiting={waiting} onHelp={() => setHelp(true)} />
      <div className="screen">
        <Switch>
          <Route path="/">
            <Home />
          </Route>
          <Route path="/agents">
            <AgentsScreen />
          </Route>
          <Route path="/eval-sets">
            <Suspense fallback={<div className="message-page" aria-busy="true" />}>
              <EvalSetsScreen />
            </Suspense>
          </Route>
          <Route path="/sessions">
            <SessionsScreen id={null} />
          </Route>
          <Route path="/sessions/:id">{({ id }) => <SessionsScreen id={decodeURIComponent(id)} />}</Route>
          <Route>
            <NoSuchPage />
          </Route>
        </Switch>
      </div>
      <Help opened={help} onClose={() => setHelp(false)} />
    </div>
  );
}

/** The sessions, or the agents as long as there is no session to see. */
function Home() {
  const sessions = useSessions("all", "");
  if (sessions.isError) return <Failure error={sessions.error} onRetry={() => void sessions.refetch()} />;
  if (!sessions.data) return <div className="message-page" aria-busy="true" />;
  const none = sessions.data.pages.every((page) => page.items.length === 0);
  return <Redirect to={none ? "/agents" : "/sessions"} replace />;
}

function NoSuchPage() {
  return (
    <main className="message-page">
      <h1>There is no such page</h1>
      <p>The address may be mistyped, or from another version of Hotseat.</p>
      <Link className="btn" href="/">
        Go to the start
      </Link>
    </main>
  );
}
