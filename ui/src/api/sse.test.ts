import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openStream, SeqFilter, waitBefore } from "./sse";

class FakeSource {
  static made: FakeSource[] = [];
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  readyState = 0;
  readonly url: string;
  private readonly handlers = new Map<string, (message: { data: string; lastEventId: string }) => void>();

  constructor(url: string) {
    this.url = url;
    FakeSource.made.push(this);
  }
  addEventListener(name: string, handler: (message: { data: string; lastEventId: string }) => void) {
    this.handlers.set(name, handler);
  }
  close() {
    this.readyState = 2;
  }
  send(name: string, id: string, data: unknown) {
    this.handlers.get(name)?.({ data: JSON.stringify(data), lastEventId: id });
  }
}

const source = (index: number) => {
  const made = FakeSource.made[index];
  if (!made) throw new Error(`connection ${index} was not opened`);
  return made;
};

describe("a stream", () => {
  beforeEach(() => {
    FakeSource.made = [];
    vi.useFakeTimers();
  });
  afterEach(() => vi.useRealTimers());

  it("resumes after the last seq and drops what arrives twice", () => {
    const seen: unknown[] = [];
    openStream({
      url: (seq) => `/stream?after_seq=${seq}`,
      events: { event: (data) => seen.push(data) },
      open: (url) => new FakeSource(url) as unknown as EventSource,
    });
    source(0).send("event", "1", "a");
    source(0).send("event", "2", "b");
    source(0).onerror?.();
    vi.advanceTimersByTime(waitBefore(0));
    expect(source(1).url).toBe("/stream?after_seq=2");
    source(1).send("event", "2", "b");
    source(1).send("event", "3", "c");
    expect(seen).toEqual(["a", "b", "c"]);
  });

  it("waits longer after each failure and starts over once connected", () => {
    openStream({ url: () => "/s", events: {}, open: (url) => new FakeSource(url) as unknown as EventSource });
    source(0).onerror?.();
    vi.advanceTimersByTime(waitBefore(0));
    source(1).onerror?.();
    vi.advanceTimersByTime(waitBefore(0));
    expect(FakeSource.made).toHaveLength(2);
    vi.advanceTimersByTime(waitBefore(1));
    expect(FakeSource.made).toHaveLength(3);
    source(2).onopen?.();
    source(2).onerror?.();
    vi.advanceTimersByTime(waitBefore(0));
    expect(FakeSource.made).toHaveLength(4);
  });

  it("opens nothing after it was closed", () => {
    const stream = openStream({
      url: () => "/s",
      events: {},
      open: (url) => new FakeSource(url) as unknown as EventSource,
    });
    source(0).onerror?.();
    stream.close();
    vi.advanceTimersByTime(60_000);
    expect(FakeSource.made).toHaveLength(1);
  });
});

describe("the seq filter", () => {
  it("lets messages without a number pass", () => {
    const filter = new SeqFilter();
    expect(filter.accept("event", "5")).toBe(true);
    expect(filter.accept("event", "5")).toBe(false);
    expect(filter.accept("history_complete", "5")).toBe(true);
    expect(filter.accept("event", "")).toBe(true);
  });
});
