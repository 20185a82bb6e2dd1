// How much there is and how it goes: sessions, events, tools, tokens, sizes, limits. Asked again while it is looked at.
import type { ReactNode } from "react";
import { Link } from "wouter";
import { errorText } from "../api/client";
import { useStats } from "../api/queries";
import type { Latency, Stats } from "../api/types";
import { sizeWords } from "../seat/Artifacts";
import { titleOf } from "../sessions/title";
import { Failure } from "../shell/Failure";
import { ago, duration, fullTime } from "../time/format";
import { useHalfMinute } from "../time/useNow";
import { EventsPlot } from "./EventsPlot";
import { count, plural } from "./plot";
import "./stats.css";

export default function StatsScreen() {
  const stats = useStats();
  if (stats.isError && !stats.data) return <Failure error={stats.error} onRetry={() => void stats.refetch()} />;
  return (
    <div className="stats" aria-busy={!stats.data} data-testid="stats">
      <header>
        <h1>Stats</h1>
        {stats.isError && (
          <span className="chip chip-bad" role="status">
            {errorText(stats.error)}
          </span>
        )}
      </header>
      {stats.data && <Figures stats={stats.data} />}
    </div>
  );
}

export function Figures({ stats }: { stats: Stats }) {
  const { tokens } = stats;
  const failed = stats.tools.reduce((sum, tool) => sum + tool.errors, 0);
  return (
    <>
      <dl className="tiles">
        <Tile word="Sessions" value={count(stats.total_sessions)}>
          {count(stats.active_sessions)} active, {count(stats.completed_sessions)} completed
        </Tile>
        <Tile word="Messages" value={count(stats.total_messages)}>
          {count(stats.avg_messages_per_session)} in a session
        </Tile>
        <Tile word="Events" value={count(stats.total_events)}>
          {count(stats.avg_events_per_session)} in a session
        </Tile>
        <Tile word="Size" value={sizeWords(stats.total_bytes)}>
          {sizeWords(stats.store_bytes)} on disk
        </Tile>
        <Tile word="Tokens" value={count(tokens.total)}>
          {count(tokens.prompt)} in, {count(tokens.output)} out
        </Tile>
        <Tile word="Tool errors" value={count(failed)}>
          in{" "}
          {plural(
            stats.tools.reduce((sum, tool) => sum + tool.calls, 0),
            "call",
          )}
        </Tile>
        <Tile word="Flagged" value={count(stats.flagged_sessions)}>
          {count(stats.sessions_with_warnings)} with warnings
        </Tile>
      </dl>
      <Part title="Events per minute">
        <EventsPlot points={stats.events_per_minute} />
      </Part>
      <div className="stats-columns">
        <Part title="Tools">
          <Tools tools={stats.tools} />
        </Part>
        <Part title="Largest sessions">
          <Largest sessions={stats.largest_sessions} />
        </Part>
        <Part title="Time of the store">
          <Times latency={stats.latency} />
        </Part>
        <Part title="Clean-up">
          <CleanUp status={stats.cleanup_status} />
        </Part>
        <Part title="Limits">
          <Limits stats={stats} />
        </Part>
      </div>
    </>
  );
}

function Tile({ word, value, children }: { word: string; value: string; children: ReactNode }) {
  return (
    <div className="tile">
      <dt>{word}</dt>
      <dd>
        <b>{value}</b>
        <span className="quiet">{children}</span>
      </dd>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="stats-part" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Tools({ tools }: { tools: Stats["tools"] }) {
  if (tools.length === 0) return <p className="quiet">No tool was called yet.</p>;
  const sorted = tools.toSorted((a, b) => b.calls - a.calls || a.name.localeCompare(b.name));
  const most = sorted[0]?.calls || 1;
  return (
    <table className="figures" data-testid="stats-tools">
      <thead>
        <tr>
          <th scope="col">Tool</th>
          <th scope="col">Calls</th>
          <th scope="col">Errors</th>
          <th scope="col">Mean</th>
          <th scope="col">Longest</th>
          <th scope="col">In all</th>
        </tr>
      </thead>
      <tbody>
        {sorted.map((tool) => {
          const took = (ms: number) => (tool.timed > 0 ? duration(ms) : "–");
          return (
            <tr key={tool.name}>
              <th scope="row">
                <Measure part={tool.calls / most}>
                  <code>{tool.name}</code>
                </Measure>
              </th>
              <td>{count(tool.calls)}</td>
              <td className={tool.errors > 0 ? "bad" : undefined}>{count(tool.errors)}</td>
              <td>{took(Number(tool.total_ms) / tool.timed)}</td>
              <td>{took(Number(tool.max_ms))}</td>
              <td>{took(Number(tool.total_ms))}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Largest({ sessions }: { sessions: Stats["largest_sessions"] }) {
  if (sessions.length === 0) return <p className="quiet">No sessions yet.</p>;
  const most = Math.max(1, ...sessions.map((session) => session.bytes));
  return (
    <table className="figures" data-testid="stats-largest">
      <thead>
        <tr>
          <th scope="col">Session</th>
          <th scope="col">Events</th>
          <th scope="col">Size</th>
        </tr>
      </thead>
      <tbody>
        {sessions.map((session) => (
          <tr key={session.id}>
            <th scope="row">
              <Measure part={session.bytes / most}>
                <Link href={`/sessions/${encodeURIComponent(session.id)}`}>
                  {titleOf({ title: session.title ?? null, description: null }, session.id)}
                </Link>
              </Measure>
            </th>
            <td>{count(session.events)}</td>
            <td>{sizeWords(session.bytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A bar under a name; the number stands beside it. */
function Measure({ part, children }: { part: number; children: ReactNode }) {
  return (
    <span className="measure">
      {children}
      <i style={{ width: `${Math.max(0, Math.min(1, part)) * 100}%` }} />
    </span>
  );
}

function Times({ latency }: { latency: Stats["latency"] }) {
  const rows: [string, Latency][] = [
    ["Append", latency.append],
    ["Read", latency.read],
  ];
  const ms = (measured: Latency, value: Latency["p50_ms"]) => (measured.count > 0 ? milliseconds(Number(value)) : "–");
  return (
    <table className="figures">
      <thead>
        <tr>
          <th scope="col">
            <span className="sr-only">What</span>
          </th>
          <th scope="col">Count</th>
          <th scope="col">p50</th>
          <th scope="col">p95</th>
          <th scope="col">p99</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([word, measured]) => (
          <tr key={word}>
            <th scope="row">{word}</th>
            <td>{count(measured.count)}</td>
            <td>{ms(measured, measured.p50_ms)}</td>
            <td>{ms(measured, measured.p95_ms)}</td>
            <td>{ms(measured, measured.p99_ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const CLEAN_UP = { idle: "Waits for its next time", running: "Runs now" };

function CleanUp({ status }: { status: Stats["cleanup_status"] }) {
  const now = useHalfMinute();
  const { removed } = status;
  return (
    <dl className="stats-facts" data-testid="stats-cleanup">
      <Fact word="State">{CLEAN_UP[status.state]}</Fact>
      <Fact word="Last">
        {status.last_run_at ? (
          <span title={fullTime(status.last_run_at)}>{since(status.last_run_at, now)}</span>
        ) : (
          "never"
        )}
      </Fact>
      {status.next_run_at && <Fact word="Next">{fullTime(status.next_run_at)}</Fact>}
      <Fact word="Removed">
        {plural(removed.expired, "expired session")}, {count(removed.empty)} empty, {count(removed.evicted)} to make
        room, {plural(removed.events, "event")}
      </Fact>
    </dl>
  );
}

const NO_LIMIT = "no limit";

function Limits({ stats }: { stats: Stats }) {
  const { config } = stats;
  const limit = (value: unknown, words: (value: number) => string) =>
    value === null || value === undefined || Number(value) === 0 ? NO_LIMIT : words(Number(value));
  const inSession = [
    limit(config.max_messages_per_session, (most) => plural(most, "message")),
    limit(config.max_events_per_session, (most) => plural(most, "event")),
  ].filter((words) => words !== NO_LIMIT);
  return (
    <dl className="stats-facts" data-testid="stats-limits">
      <Fact word="Sessions">
        {limit(config.max_sessions ?? stats.max_sessions, (most) => `${count(stats.total_sessions)} of ${count(most)}`)}
      </Fact>
      <Fact word="Kept for">{limit(config.session_ttl_hours, (hours) => plural(hours, "hour"))}</Fact>
      <Fact word="Empty ones">{limit(config.empty_session_minutes, (minutes) => plural(minutes, "minute"))}</Fact>
      <Fact word="Clean-up every">
        {limit(config.cleanup_interval_minutes, (minutes) => plural(minutes, "minute"))}
      </Fact>
      <Fact word="In a session">{inSession.length > 0 ? inSession.join(", ") : NO_LIMIT}</Fact>
      <Fact word="One event">{limit(config.max_event_bytes, sizeWords)}</Fact>
      <Fact word="All events">
        {limit(config.max_store_bytes, (most) => `${sizeWords(stats.total_bytes)} of ${sizeWords(most)}`)}
      </Fact>
    </dl>
  );
}

function Fact({ word, children }: { word: string; children: ReactNode }) {
  return (
    <div>
      <dt>{word}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function since(iso: string, now: number): string {
  const words = ago(iso, now);
  return words === "now" ? "just now" : /\d (min|h|d)$/.test(words) ? `${words} ago` : words;
}

function milliseconds(ms: number): string {
  return ms < 10 ? `${Number(ms.toFixed(2))} ms` : duration(ms);
}
