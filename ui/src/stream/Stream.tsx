// The stream of a session, read like a conversation. Only what is in sight is in the page. A reader at the end follows
// along; a reader further up is told how much is new and never moved.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { StreamState as Connection } from "../api/sse";
import { useKeys } from "../shell/keys";
import { EntryCard } from "./EntryCard";
import type { StreamState } from "./fold";
import { Frame, Head } from "./parts";
import { type Row, toRows } from "./rows";
import "./stream.css";

const NEAR_END_PX = 40;
const GAP_PX = 10;

export function Stream(props: { stream: StreamState; sessionId: string; connection: Connection }) {
  const { stream, sessionId, connection } = props;
  const rows = useMemo(() => toRows(stream.cards), [stream.cards]);
  const frame = useRef<HTMLDivElement>(null);
  const { atEnd, unseen, toEnd, onScroll, virtual } = useFollowing(rows, frame, stream.live);
  const [selected, setSelected] = useState(-1);
  const move = (step: number) => {
    const next = Math.min(Math.max(selected < 0 ? rows.length - 1 : selected + step, 0), rows.length - 1);
    setSelected(next);
    virtual.scrollToIndex(next, { align: "auto" });
    // The row may only be drawn after the scroll.
    setTimeout(() => frame.current?.querySelector<HTMLElement>(`[data-index="${next}"] .entry`)?.focus(), 30);
  };
  useKeys({ j: () => move(1), k: () => move(-1) });
  return (
    <>
      {connection === "waiting" && (
        <div className="stream-offline" role="status">
          The connection to the server was lost. Trying again; nothing is lost.
        </div>
      )}
      <div className="stream" ref={frame} onScroll={onScroll}>
        <div className="stream-inner" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className="stream-row"
                style={{ transform: `translateY(${item.start}px)`, paddingLeft: Math.min(row.depth, 6) * 22 }}
              >
                <EntryCard card={row.card} sessionId={sessionId} depth={row.depth} />
              </div>
            );
          })}
        </div>
        {stream.unheard && (
          <Frame type="unheard" colour="blue">
            <Head word="User query" seq={stream.unheard.seq} time={stream.unheard.timestamp}>
              <span>on its way to the agent</span>
            </Head>
            <div className="entry-body long-text">{stream.unheard.text}</div>
          </Frame>
        )}
        {stream.live && rows.length === 0 && !stream.unheard && (
          <p className="stream-empty">Nothing has happened yet.</p>
        )}
      </div>
      {!atEnd && unseen > 0 && (
        <button type="button" className="new-pill" onClick={toEnd} data-testid="new-pill">
          {unseen} new ↓
        </button>
      )}
      <Foot stream={stream} />
    </>
  );
}

function useFollowing(rows: Row[], frame: React.RefObject<HTMLDivElement | null>, live: boolean) {
  const [atEnd, setAtEnd] = useState(true);
  const [seen, setSeen] = useState(0);
  const following = useRef(true);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => estimate(rows[index]),
    getItemKey: (index) => rows[index]?.card.key ?? index,
    gap: GAP_PX,
    paddingStart: 16,
    paddingEnd: 16,
    overscan: 6,
  });
  const total = virtual.getTotalSize();
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
  return { atEnd, unseen: Math.max(0, rows.length - seen), toEnd, onScroll, virtual };
}

function Foot({ stream }: { stream: StreamState }) {
  const { firstTime, lastTime, lastSeq } = stream;
  if (!firstTime || !lastTime) return null;
  const turns = stream.requests.length;
  return (
    <footer className="stream-foot">
      <span>{lastSeq === 1 ? "1 event" : `${lastSeq.toLocaleString("en")} events`}</span>
      <span>{turns === 1 ? "1 request" : `${turns} requests`}</span>
      <span className="spring" />
      <span>started {new Date(firstTime).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}</span>
    </footer>
  );
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
