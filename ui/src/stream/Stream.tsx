// The stream of a session, read like a conversation. Only what is in sight is in the page. A reader at the end follows
// along; a reader further up is told how much is new and never moved.
import { useVirtualizer, type VirtualItem } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { StreamState as Connection } from "../api/sse";
import { useCommands } from "../shell/commands";
import { modKey, useKeys } from "../shell/keys";
import { rememberForAll } from "../value/expanded";
import { StreamShareProvider } from "./context";
import { EntryCard } from "./EntryCard";
import { agentsIn, type StreamState } from "./fold";
import { Frame, Head } from "./parts";
import { type Row, toRows } from "./rows";
import { findCards, placeOfSeq } from "./search";
import { StreamTools, useHighlights } from "./StreamTools";
import { type Replay, Timeline } from "./Timeline";
import "./stream.css";

const NEAR_END_PX = 40;
const GAP_PX = 10;
const GAP_LINE_PX = 44;

interface StreamProps {
  stream: StreamState;
  sessionId: string;
  open: boolean;
  connection: Connection;
  goBack?: (turnId: string) => void;
  /** Where the reader was, for when the stream is looked at again. */
  kept: RefObject<Kept | null>;
}

/** A place in the stream, with the heights of the rows it was found by. */
export interface Kept {
  following: boolean;
  offset: number;
  sizes: VirtualItem[];
}

export function Stream({ stream, sessionId, open, connection, goBack, kept }: StreamProps) {
  const all = useMemo(() => toRows(stream.cards), [stream.cards]);
  const [replay, setReplay] = useState<Replay | null>(null);
  const rows = useMemo(() => (replay ? all.slice(0, replay.shown) : all), [all, replay]);
  const frame = useRef<HTMLDivElement>(null);
  const { atEnd, unseen, toEnd, stay, onScroll, virtual } = useFollowing(rows, frame, stream, kept);
  const [selected, setSelected] = useState(-1);
  const select = useCallback(
    (index: number, align: "auto" | "center", focus = true) => {
      stay();
      setSelected(index);
      virtual.scrollToIndex(index, { align });
      // The row may only be drawn after the scroll, and its true height known after the drawing.
      setTimeout(() => {
        virtual.scrollToIndex(index, { align });
        if (focus) frame.current?.querySelector<HTMLElement>(`[data-index="${index}"] .entry`)?.focus();
      }, 30);
    },
    [virtual, stay],
  );
  const move = (step: number) => {
    if (rows.length === 0) return;
    const next = Math.min(Math.max(selected < 0 ? rows.length - 1 : selected + step, 0), rows.length - 1);
    select(next, "auto");
  };
  useEntryLink(rows, stream.live, select);
  const search = useSearch(rows, select);
  useHighlights(frame, search.finding.query);
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    p: () => {
      setReplay(null);
      toEnd();
    },
    "mod+f": () => {
      search.field.current?.focus();
      search.field.current?.select();
    },
  });
  useCommands([
    { label: "Search in this session", keys: `${modKey}F`, run: () => search.field.current?.focus() },
    { label: "Collapse all entries", run: () => rememberForAll(sessionId, { [`${sessionId}.fold`]: "folded" }) },
    { label: "Expand all entries", run: () => rememberForAll(sessionId, { [`${sessionId}.fold`]: "open" }) },
  ]);
  const several = useMemo(() => agentsIn(stream.parts).size > 1, [stream.parts]);
  const share = useMemo(() => ({ sessionId, open, several, goBack }), [sessionId, open, several, goBack]);
  const waiting = stream.pending[0];
  return (
    <StreamShareProvider value={share}>
      {connection === "waiting" && (
        <div className="stream-offline" role="status">
          The connection to the server was lost. Trying again; nothing is lost.
        </div>
      )}
      <StreamTools
        stream={stream}
        sessionId={sessionId}
        finding={search.finding}
        field={search.field}
        onQuery={search.type}
        onStep={search.step}
      />
      <div className="stream" ref={frame} onScroll={onScroll} tabIndex={0} role="region" aria-label="Entries">
        <div className="stream-inner" style={{ height: virtual.getTotalSize() }}>
          {stream.removed > 0 && (
            <p className="stream-gap" data-testid="gap">
              {stream.removed === 1
                ? "1 earlier entry was removed"
                : `${stream.removed.toLocaleString("en")} earlier entries were removed`}
            </p>
          )}
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className={`stream-row${item.index === selected ? " selected" : ""}`}
                style={{ transform: `translateY(${item.start}px)`, paddingLeft: Math.min(row.depth, 6) * 22 }}
              >
                <EntryCard card={row.card} />
              </div>
            );
          })}
        </div>
        {stream.unheard && !replay && (
          <Frame type="unheard" colour="blue">
            <Head word="User query" seq={stream.unheard.seq} time={stream.unheard.timestamp}>
              <span>on its way to the agent</span>
            </Head>
            <div className="entry-body long-text">{stream.unheard.text}</div>
          </Frame>
        )}
        {waiting && !replay && (
          <div className="pending-mark" data-testid="pending-mark">
            <span>
              waits for you as <b>{stream.askers[waiting] ?? "the model"}</b>
            </span>
          </div>
        )}
        {stream.live && rows.length === 0 && !stream.unheard && stream.removed === 0 && (
          <p className="stream-empty">Nothing has happened yet.</p>
        )}
      </div>
      {!atEnd && unseen > 0 && !replay && (
        <button type="button" className="new-pill" onClick={toEnd} data-testid="new-pill">
          {unseen} new ↓
        </button>
      )}
      <Timeline
        stream={stream}
        rows={all}
        selected={selected}
        replay={replay}
        onReplay={(next) => {
          setReplay(next);
          setSelected(next ? next.shown - 1 : -1);
          toEnd();
        }}
        onGo={(index) => select(index, "center")}
      />
    </StreamShareProvider>
  );
}

type Select = (index: number, align: "auto" | "center", focus?: boolean) => void;

/** `#12` in the address leads to the entry with that number, at first and whenever it changes. */
function useEntryLink(rows: Row[], live: boolean, select: Select): void {
  const latest = useRef({ rows, select });
  latest.current = { rows, select };
  useEffect(() => {
    if (!live) return;
    const go = () => {
      const seq = Number(location.hash.slice(1));
      if (!Number.isInteger(seq) || seq < 1) return;
      const index = placeOfSeq(
        latest.current.rows.map((row) => row.card),
        seq,
      );
      if (index >= 0) latest.current.select(index, "center");
    };
    go();
    window.addEventListener("hashchange", go);
    // A link inside the page to another entry of the session that is open. The router tells of it by this event.
    window.addEventListener("pushState", go);
    return () => {
      window.removeEventListener("hashchange", go);
      window.removeEventListener("pushState", go);
    };
  }, [live]);
}

function useSearch(rows: Row[], select: Select) {
  const field = useRef<HTMLInputElement>(null);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(-1);
  const found = useMemo(
    () =>
      findCards(
        rows.map((row) => row.card),
        query,
      ),
    [rows, query],
  );
  const step = (by: number) => {
    if (found.length === 0) return;
    const next = at < 0 ? (by > 0 ? 0 : found.length - 1) : (at + by + found.length) % found.length;
    setAt(next);
    select(found[next] ?? 0, "center", false);
  };
  const type = (text: string) => {
    setQuery(text);
    setAt(-1);
  };
  return { field, step, type, finding: { query, count: found.length, at: Math.min(at, found.length - 1) } };
}

function useFollowing(
  rows: Row[],
  frame: RefObject<HTMLDivElement | null>,
  { live, removed }: StreamState,
  kept: RefObject<Kept | null>,
) {
  const [before] = useState(kept.current);
  const [atEnd, setAtEnd] = useState(before?.following ?? true);
  const [seen, setSeen] = useState(before ? rows.length : 0);
  const following = useRef(before?.following ?? true);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => estimate(rows[index]),
    getItemKey: (index) => rows[index]?.card.key ?? index,
    gap: GAP_PX,
    paddingStart: removed > 0 ? GAP_LINE_PX : 16,
    initialOffset: before?.offset,
    initialMeasurementsCache: before?.sizes,
    paddingEnd: 16,
    overscan: 6,
  });
  const total = virtual.getTotalSize();
  useLayoutEffect(() => {
    const element = frame.current;
    if (element && before && !before.following) element.scrollTop = before.offset;
    return () => {
      const { scrollOffset, measurementsCache } = virtual;
      kept.current = { following: following.current, offset: scrollOffset ?? 0, sizes: measurementsCache };
    };
  }, [frame, before, kept, virtual]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves when rows or their sizes change.
  useLayoutEffect(() => {
    const element = frame.current;
    if (following.current && element) element.scrollTop = element.scrollHeight;
  }, [rows, total, frame, live]);
  useEffect(() => {
    if (atEnd) setSeen(rows.length);
  }, [atEnd, rows.length]);
  const onScroll = () => {
    const element = frame.current;
    if (!element) return;
    const end = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
    following.current = end;
    setAtEnd(end);
  };
  const toEnd = () => {
    following.current = true;
    setAtEnd(true);
    if (frame.current) frame.current.scrollTop = frame.current.scrollHeight;
  };
  const stay = useCallback(() => {
    following.current = false;
  }, []);
  return { atEnd, unseen: Math.max(0, rows.length - seen), toEnd, stay, onScroll, virtual };
}

function estimate(row: Row | undefined): number {
  switch (row?.card.type) {
    case "tool_call":
      return 112;
    case "transfer":
      return 20;
    default:
      return 62;
  }
}
