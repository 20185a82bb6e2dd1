// The live state of one session. Messages are gathered and folded once per frame, so that a long history costs a few
// renders and not thousands. While the tab is hidden the connection is given back (browsers allow few per server) and
// taken up again after the last seq.
import { useEffect, useState } from "react";
import { EventReader } from "../api/eventReader";
import { openStream, type Source, type StreamHandle, type StreamState as Connection } from "../api/sse";
import type { Gap, Room, StreamMessage } from "../api/types";
import { addGap, emptyStream, fold, type StreamState } from "./fold";

const HIDDEN_FOR_MS = 20_000;
/** A history that takes longer is shown in pieces. */
const PATIENCE_MS = 1500;

interface LiveSession {
  stream: StreamState;
  connection: Connection;
  /** Who is here; nothing until the server tells of somebody. */
  room: Room | null;
}

/** `known`: not for a session that is not there; it would only be tried again and again. */
export function useSessionStream(id: string, known: boolean, onRetry: () => void): LiveSession {
  const [stream, setStream] = useState<StreamState>(emptyStream);
  const [connection, setConnection] = useState<Connection>("connecting");
  const [room, setRoom] = useState<Room | null>(null);
  useEffect(() => {
    if (!known) return;
    const feed = new Feed(setStream);
    let handle: StreamHandle | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const open = () => {
      clearTimeout(timer);
      handle ??= openStream({
        url: (seq) =>
          `/api/v1/sessions/${encodeURIComponent(id)}/stream?view=history&after_seq=${Math.max(seq, feed.last)}`,
        open: (url) => new EventReader(url) as unknown as Source,
        onState: setConnection,
        onRetry,
        events: {
          event: (data) => feed.add(data as StreamMessage),
          gap: (data) => feed.gap(data as Gap),
          room: (data) => setRoom(data as Room),
          history_complete: () => feed.complete(),
        },
      });
    };
    const visibility = () => {
      clearTimeout(timer);
      if (!document.hidden) return open();
      timer = setTimeout(() => {
        handle?.close();
        handle = null;
      }, HIDDEN_FOR_MS);
    };
    open();
    document.addEventListener("visibilitychange", visibility);
    return () => {
      document.removeEventListener("visibilitychange", visibility);
      clearTimeout(timer);
      handle?.close();
      feed.stop();
    };
  }, [id, known, onRetry]);
  return { stream, connection, room };
}

class Feed {
  last = 0;
  private batch: StreamMessage[] = [];
  private live = false;
  private since = performance.now();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly set: (change: (before: StreamState) => StreamState) => void;

  constructor(set: (change: (before: StreamState) => StreamState) => void) {
    this.set = set;
  }

  add(message: StreamMessage): void {
    this.last = Math.max(this.last, message.seq);
    this.batch.push(message);
    // Timers run in hidden tabs, animation frames do not; the history is folded in one go at its end, unless that is far.
    if (this.live) this.timer ??= setTimeout(this.flush, 16);
    else if (this.batch.length % 1000 === 0 && performance.now() - this.since > PATIENCE_MS) this.flush();
  }

  /** What was removed lies between what came before and what comes after it. */
  gap(gap: Gap): void {
    this.last = Math.max(this.last, gap.through);
    this.flush();
    this.set((before) => addGap(before, gap));
  }

  complete(): void {
    this.live = true;
    this.flush();
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private flush = () => {
    clearTimeout(this.timer);
    this.timer = undefined;
    const batch = this.batch;
    const live = this.live;
    this.batch = [];
    this.since = performance.now();
    this.set((before) => {
      const next = fold(before, batch);
      return next.live === live ? next : { ...next, live };
    });
  };
}
