// What the views of a session share: the state of loading, and an entry's number as a link to it.
import { Link } from "wouter";
import { errorText } from "../api/client";
import type { useLog } from "../api/queries";
import type { Session } from "../api/types";

type Log = ReturnType<typeof useLog>;

export function LogState({ log }: { log: Log }) {
  if (log.isError) {
    return (
      <div className="note note-bad" role="alert">
        {errorText(log.error)}{" "}
        <button type="button" className="link" onClick={() => void log.fetchNextPage()}>
          Try again
        </button>
      </div>
    );
  }
  if (log.isFetching) return <p className="quiet">Loading…</p>;
  if (!log.hasNextPage) return null;
  return (
    <button type="button" className="btn" data-testid="log-more" onClick={() => void log.fetchNextPage()}>
      Load more: {log.events.length.toLocaleString("en")} events so far
    </button>
  );
}

/** Says that the log does not begin where the session did. */
export function Removed({ session }: { session: Session }) {
  if (session.removed_through === 0) return null;
  return <p className="quiet">Entries up to #{session.removed_through} were removed.</p>;
}

export function SeqLink({ id, seq }: { id: string; seq: number }) {
  return (
    <Link className="seq" href={`/sessions/${encodeURIComponent(id)}#${seq}`} title="Show it in the stream">
      #{seq}
    </Link>
  );
}
