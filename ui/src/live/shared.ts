// One global stream for all tabs of a browser. Browsers allow about six connections to a server, and a plugin prints a
// link per session, so tabs add up. The tab that holds the lock keeps the connection and passes messages on; when it
// closes, the next tab takes over, connects, and is told to load again by the server's `ready`.
import { openStream, type StreamHandle, type StreamOptions, type StreamState } from "../api/sse";

const NAME = "hotseat.stream";

type Shared = { event: string; data: unknown } | { state: StreamState } | { asks: true };

export function openShared(options: StreamOptions): StreamHandle {
  // Locks need a secure page; over plain HTTP from another machine each tab has its own connection.
  if (!navigator.locks || typeof BroadcastChannel === "undefined") return openStream(options);
  const channel = new BroadcastChannel(NAME);
  const closing = new AbortController();
  let stream: StreamHandle | null = null;
  let state: StreamState = "connecting";

  channel.onmessage = (message: MessageEvent<Shared>) => {
    const said = message.data;
    if ("asks" in said) {
      if (stream) channel.postMessage({ state });
    } else if ("state" in said) {
      options.onState?.(said.state);
    } else {
      options.events[said.event]?.(said.data);
    }
  };
  channel.postMessage({ asks: true });

  const lead = () =>
    new Promise<void>((release) => {
      stream = openStream({
        ...options,
        onState: (next) => {
          state = next;
          options.onState?.(next);
          channel.postMessage({ state: next });
        },
        events: passedOn(options.events, channel),
      });
      closing.signal.addEventListener("abort", () => release());
    });
  navigator.locks.request(NAME, { signal: closing.signal }, lead).catch(() => undefined);

  return {
    close: () => {
      stream?.close();
      closing.abort();
      channel.close();
    },
  };
}

function passedOn(events: StreamOptions["events"], channel: BroadcastChannel): StreamOptions["events"] {
  return Object.fromEntries(
    Object.entries(events).map(([event, handle]) => [
      event,
      (data: unknown) => {
        handle(data);
        channel.postMessage({ event, data });
      },
    ]),
  );
}
