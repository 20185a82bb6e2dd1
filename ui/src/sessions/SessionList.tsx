// The list of sessions: live, filtered, searched. The badge in the hot colour counts what waits in each.
import { TextInput } from "@mantine/core";
import { useRef, useState } from "react";
import { Link } from "wouter";
import { type SessionFilter, useSessions, useWaitingCount } from "../api/queries";
import type { Session } from "../api/types";
import { waitingIn } from "../live/waiting";
import { FoundList } from "../search/FoundList";
import { Failure } from "../shell/Failure";
import { Fold, Plus, Unfold, Warning } from "../shell/icons";
import { useKeys } from "../shell/keys";
import { useStored } from "../shell/storage";
import { useSettled } from "../shell/useSettled";
import { sourceMark } from "./origin";
import { titleOf } from "./title";
import { ago, fullTime, stopwatch } from "../time/format";
import { useHalfMinute, useSecond } from "../time/useNow";

const FILTERS: [SessionFilter, string][] = [
  ["waiting", "Waiting"],
  ["active", "Active"],
  ["done", "Done"],
  ["all", "All"],
];

interface SessionListProps {
  current: string | null;
  open: boolean;
  onOpen: (open: boolean) => void;
  /** A session, or an entry of one, was chosen. */
  onPick: (what: "session" | "entry") => void;
}

export function SessionList({ current, open, onOpen, onPick }: SessionListProps) {
  const [filter, setFilter] = useStored<SessionFilter>("hotseat.list.filter", "all");
  const [search, setSearch] = useState("");
  const q = useSettled(search.trim());
  const field = useRef<HTMLInputElement>(null);
  const sessions = useSessions(filter, q);
  const waiting = useWaitingCount();
  useKeys({ "/": () => field.current?.focus() });
  if (!open) {
    return (
      <div className="list list-stub">
        <button type="button" className="rail-button" aria-label="Show the sessions" onClick={() => onOpen(true)}>
          <Unfold />
        </button>
      </div>
    );
  }
  const items = sessions.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <aside className="list" aria-label="Sessions">
      <header>
        <h2>Sessions</h2>
        {waiting > 0 && (
          <span className="chip" title={`${waiting} waiting for you in all sessions`}>
            {waiting} waiting
          </span>
        )}
        <span className="spring" />
        <Link className="btn new-session" href="/agents" title="New session" aria-label="New session">
          <Plus /> <span>New</span>
        </Link>
        <button type="button" className="list-fold" aria-label="Hide the sessions" onClick={() => onOpen(false)}>
          <Fold />
        </button>
      </header>
      <TextInput
        ref={field}
        className="list-search"
        placeholder="Search everything said"
        aria-label="Search everything said"
        data-testid="session-search"
        rightSection={<kbd>/</kbd>}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          setSearch("");
          event.currentTarget.blur();
        }}
      />
      <div className="segments" role="radiogroup" aria-label="Which sessions">
        {FILTERS.map(([name, label]) => (
          <button key={name} type="button" role="radio" aria-checked={filter === name} onClick={() => setFilter(name)}>
            {label}
          </button>
        ))}
      </div>
      <div className="list-items">
        {sessions.isError && <Failure error={sessions.error} onRetry={() => void sessions.refetch()} />}
        {q !== "" && <FoundList key={q} q={q} onPick={() => onPick("entry")} />}
        {items.map((session) => (
          <Item key={session.id} session={session} current={session.id === current} onPick={() => onPick("session")} />
        ))}
        {sessions.isSuccess && items.length === 0 && <p className="list-empty">{emptyWords(filter, q)}</p>}
        {sessions.hasNextPage && (
          <button type="button" className="link list-more" onClick={() => void sessions.fetchNextPage()}>
            {sessions.isFetchingNextPage ? "Loading…" : "Show older sessions"}
          </button>
        )}
      </div>
    </aside>
  );
}

function Item({ session, current, onPick }: { session: Session; current: boolean; onPick: () => void }) {
  const mark = sourceMark(session);
  return (
    <Link
      href={`/sessions/${session.id}`}
      className="item"
      data-testid="session-item"
      aria-current={current ? "page" : undefined}
      onClick={onPick}
    >
      <span className="item-top">
        <b>
          {session.agent ?? session.app_name}
          {session.flagged && (
            <span className="flag" title="Flagged: see the warnings in the session" data-testid="flag">
              <Warning />
              <span className="sr-only">, flagged</span>
            </span>
          )}
        </b>
        {mark && (
          <span className="item-origin" title={mark.title} data-testid="item-origin">
            {mark.text}
          </span>
        )}
        <Mark session={session} />
      </span>
      <span className="item-title">{titleOf(session, "No query yet")}</span>
    </Link>
  );
}

function Mark({ session }: { session: Session }) {
  const now = useHalfMinute();
  const waiting = waitingIn(session);
  if (waiting > 0) {
    return (
      <span className="badge" title={`${waiting} waiting for you in this session`}>
        {waiting}
      </span>
    );
  }
  if (session.run) return <Running since={session.run.since} />;
  return (
    <span className="item-time" title={fullTime(session.updated_at)}>
      {session.status === "completed" && <span className="chip">done</span>} {ago(session.updated_at, now)}
    </span>
  );
}

function Running({ since }: { since: string }) {
  const now = useSecond();
  return (
    <span className="chip" title="Running">
      {stopwatch(now - Date.parse(since))}
    </span>
  );
}

function emptyWords(filter: SessionFilter, q: string): string {
  if (q) return `No session ${filter === "all" ? "" : "of these "}matches “${q}”.`;
  switch (filter) {
    case "waiting":
      return "Nothing waits for you.";
    case "active":
      return "No session is open.";
    case "done":
      return "No session was completed yet.";
    case "all":
      return "No sessions yet. Start one with New.";
  }
}
