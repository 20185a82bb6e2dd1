// Server-sent events read with fetch. A long history comes as thousands of messages; the browser's own EventSource hands
// them over one task at a time, which takes longer than everything else together. Reading whole chunks does not.

interface Message {
  event: string;
  data: string;
  id: string;
}

/** Puts lines together to messages, whatever the chunks they come in. */
export class EventParser {
  private rest = "";
  private lastId = "";

  push(chunk: string): Message[] {
    const text = this.rest + chunk;
    const messages: Message[] = [];
    let from = 0;
    for (let end = text.indexOf("\n\n", from); end >= 0; end = text.indexOf("\n\n", from)) {
      const message = this.read(text, from, end);
      if (message) messages.push(message);
      from = end + 2;
    }
    this.rest = text.slice(from);
    return messages;
  }

  private read(text: string, from: number, to: number): Message | null {
    let event = "message";
    let data: string | null = null;
    for (let at = from; at < to; ) {
      const newline = text.indexOf("\n", at);
      const end = newline < 0 ? to : Math.min(newline, to);
      const found = text.indexOf(":", at);
      const colon = found < 0 || found > end ? end : found;
      const field = text.slice(at, colon);
      const value = text.slice(text[colon + 1] === " " && colon + 1 < end ? colon + 2 : colon + 1, end);
      if (field === "event") event = value;
      else if (field === "data") data = data === null ? value : `${data}\n${value}`;
      else if (field === "id") this.lastId = value;
      at = end + 1;
    }
    return data === null ? null : { event, data, id: this.lastId };
  }
}

type Listener = (message: { data: string; lastEventId: string }) => void;

/** As much of an EventSource as `openStream` needs. */
export class EventReader {
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  readyState = 0;
  private readonly listeners = new Map<string, Listener[]>();
  private readonly closing = new AbortController();

  constructor(url: string) {
    void this.run(url);
  }

  addEventListener(event: string, listener: Listener): void {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
  }

  close(): void {
    this.readyState = 2;
    this.closing.abort();
  }

  private async run(url: string): Promise<void> {
    try {
      const response = await fetch(url, {
        headers: { accept: "text/event-stream" },
        credentials: "same-origin",
        cache: "no-store",
        signal: this.closing.signal,
      });
      if (!response.ok || !response.body) throw new Error(`The stream answered ${response.status}.`);
      this.readyState = 1;
      this.onopen?.();
      const reader = response.body.getReader();
      const decoder = new TextDecoder();
      const parser = new EventParser();
      for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
        for (const { event, data, id } of parser.push(decoder.decode(value, { stream: true }))) {
          for (const listener of this.listeners.get(event) ?? []) listener({ data, lastEventId: id });
        }
      }
      throw new Error("The stream ended.");
    } catch {
      if (this.closing.signal.aborted) return;
      this.readyState = 2;
      this.onerror?.();
    }
  }
}
