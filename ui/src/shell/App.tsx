// The shell: rail, routes, global keys and the title. Every screen has a URL; what is not a screen says so. wouter
// routes, because four routes need two kilobytes, not twenty.
import { useMantineColorScheme } from "@mantine/core";
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { Link, Redirect, Route, Switch, useLocation } from "wouter";
import { AgentsScreen } from "../agents/AgentsScreen";
import { onUnauthorised } from "../api/client";
import { useSessions, useWaiting, useWaitingCount } from "../api/queries";
import { Live } from "../live/Live";
import { useNotifications } from "../live/notify";
import { SessionsScreen } from "../sessions/SessionsScreen";
import { useCommands } from "./commands";
import { Failure } from "./Failure";
import { Help } from "./Help";
import { useKeys } from "./keys";
import { Locked } from "./Locked";
import { Rail } from "./Rail";
import "./shell.css";

const EvalSetsScreen = lazy(() => import("../evalsets/EvalSetsScreen"));
const SettingsScreen = lazy(() => import("../settings/SettingsScreen"));
const StatsScreen = lazy(() => import("../stats/StatsScreen"));
const Palette = lazy(() => import("./Palette"));

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
  const [palette, setPalette] = useState(false);
  const [, go] = useLocation();
  const waiting = useWaiting().data;
  const count = useWaitingCount();
  const { setColorScheme } = useMantineColorScheme();
  useNotifications(
    waiting,
    useCallback((id: string) => go(`/sessions/${id}`), [go]),
  );
  useEffect(() => {
    document.title = count > 0 ? `(${count}) Hotseat` : "Hotseat";
  }, [count]);
  useKeys({
    "g s": () => go("/sessions"),
    "g a": () => go("/agents"),
    "g e": () => go("/eval-sets"),
    "g t": () => go("/stats"),
    "?": () => setHelp(true),
    "mod+k": () => setPalette(true),
  });
  const first = waiting?.[0];
  useCommands([
    ...(first ? [{ label: "Answer the oldest request", run: () => go(`/sessions/${first.session_id}`) }] : []),
    { label: "New session", run: () => go("/agents") },
    { label: "Go to sessions", keys: "g s", run: () => go("/sessions") },
    { label: "Go to agents", keys: "g a", run: () => go("/agents") },
    { label: "Go to eval sets", keys: "g e", run: () => go("/eval-sets") },
    { label: "Go to stats", keys: "g t", run: () => go("/stats") },
    { label: "Go to settings", run: () => go("/settings") },
    { label: "Light appearance", run: () => setColorScheme("light") },
    { label: "Dark appearance", run: () => setColorScheme("dark") },
    { label: "Appearance as the system", run: () => setColorScheme("auto") },
    { label: "Show keys", keys: "?", run: () => setHelp(true) },
  ]);
  return (
    <div className="shell">
      <Rail waiting={count} onHelp={() => setHelp(true)} />
      <main className="screen">
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
          <Route path="/stats">
            <Suspense fallback={<div className="message-page" aria-busy="true" />}>
              <StatsScreen />
            </Suspense>
          </Route>
          <Route path="/settings">
            <Suspense fallback={<div className="message-page" aria-busy="true" />}>
              <SettingsScreen />
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
      </main>
      <Help opened={help} onClose={() => setHelp(false)} />
      {palette && (
        <Suspense>
          <Palette onClose={() => setPalette(false)} />
        </Suspense>
      )}
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
    <div className="message-page">
      <h1>There is no such page</h1>
      <p>The address may be mistyped, or from another version of Hotseat.</p>
      <Link className="btn" href="/">
        Go to the start
      </Link>
    </div>
  );
}
