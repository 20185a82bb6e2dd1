// Entries of all sessions that hold what was typed: the first few, the rest on demand. Each leads to its place.
import { useState } from "react";
import { Link } from "wouter";
import { errorText } from "../api/client";
import { useFound } from "../api/queries";
import type { Found } from "../api/types";
import { titleOf } from "../sessions/title";
import { ago, fullTime } from "../time/format";
import { useHalfMinute } from "../time/useNow";
import { Snippet } from "./Snippet";
import { entryPath } from "./snippet";
import "./search.css";

const AT_FIRST = 4;

export function FoundList({ q, onPick }: { q: string; onPick: () => void }) {
  const found = useFound(q);
  const [all, setAll] = useState(false);
  if (found.isError) return <p className="list-empty">{errorText(found.error)}</p>;
  const items = found.data ?? [];
  if (items.length === 0) return null;
  return (
    <section className="found" aria-label="In all sessions" data-testid="found">
      <h3>In all sessions</h3>
      {(all ? items : items.slice(0, AT_FIRST)).map((item) => (
        <Item key={`${item.session_id} ${item.seq}`} item={item} onPick={onPick} />
      ))}
      {!all && items.length > AT_FIRST && (
        <button type="button" className="link found-more" onClick={() => setAll(true)}>
          Show {items.length - AT_FIRST} more
        </button>
      )}
      <h3>Sessions</h3>
    </section>
  );
}

function Item({ item, onPick }: { item: Found; onPick: () => void }) {
  const now = useHalfMinute();
  return (
    <Link href={entryPath(item)} className="item" data-testid="found-item" onClick={onPick}>
      <span className="item-top">
        <b>{titleOf({ title: item.title ?? null, description: null }, "No query yet")}</b>
        <span className="item-time" title={fullTime(item.timestamp)}>
          #{item.seq} · {ago(item.timestamp, now)}
        </span>
      </span>
      <span className="found-snippet">
        {item.author && <span className="found-author">{item.author}: </span>}
        <Snippet text={item.snippet} />
      </span>
    </Link>
  );
}
