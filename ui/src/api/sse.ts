// Server-sent events that come back by themselves. Messages carry their seq as id; after a break the next connection
// asks for what follows the last one seen, and anything that arrives twice is dropped. The wait between attempts
// doubles from half a second to ten seconds, and ends early when the browser says that it is online again.
import { parseJson } from "../json/json";

export type StreamState = "connecting" | "live" | "waiting";

export interface StreamOptions {
  /** The address for a connection that wants everything after `seq`. */
  url: (seq: number) => string;
  events: Record<string, (data: unknown) => void>;
  onState?: (state: StreamState) => void;
  /** Called before each new attempt, so that the owner can look why the last one ended. */
  onRetry?: () => void;
  open?: (url: string) => Source;
}

/** What is used of an EventSource. */
export type Source = Pick<EventSource, "close" | "readyState"> & {
  onopen: ((event: Event) => void) | null;
  onerror: ((event: Event) => void) | null;
  addEventListener: (event: string, listener: (message: MessageEvent<string>) => void) => void;
};

export interface StreamHandle {
  close: () => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

export function openStream(options: StreamOptions): StreamHandle {
  const open = options.open ?? ((url: string) => new EventSource(url) as Source);
  let source: Source | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempts = 0;
  let closed = false;
  const seen = new SeqFilter();

  const connect = () => {
    clearTimeout(timer);
    if (closed) return;
    options.onState?.("connecting");
    const current = open(options.url(seen.last));
    source = current;
    current.onopen = () => {
      attempts = 0;
      options.onState?.("live");
    };
    current.onerror = () => {
      current.close();
      if (closed || source !== current) return;
      options.onState?.("waiting");
      timer = setTimeout(retry, waitBefore(attempts++));
    };
    for (const [name, handle] of Object.entries(options.events)) {
      current.addEventListener(name, (message) => {
        const { data, lastEventId } = message;
        if (seen.accept(name, lastEventId)) handle(parseJson(data));
      });
    }
  };
  const retry = () => {
    options.onRetry?.();
    connect();
  };
  const online = () => {
    if (source?.readyState === 2) retry();
  };
  globalThis.addEventListener?.("online", online);
  connect();
  return {
    close: () => {
      closed = true;
      clearTimeout(timer);
      source?.close();
      globalThis.removeEventListener?.("online", online);
    },
  };
}

export function waitBefore(attempt: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** attempt, LONGEST_WAIT_MS);
}

/** Lets each seq through once and in order. Messages that are not log entries have no number and always pass. */
export class SeqFilter {
  last = 0;

  accept(event: string, id: string): boolean {
    if (event !== "event" || id === "") return true;
    const seq = Number(id);
    if (!Number.isFinite(seq)) return true;
    if (seq <= this.last) return false;
    this.last = seq;
    return true;
  }
}
