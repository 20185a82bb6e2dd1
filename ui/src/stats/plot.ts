// The last hour as bars, one for each minute. Pure: what is drawn, and what is said of it.
import type { Stats } from "../api/types";

export interface Bar {
  /** Start of the minute, in milliseconds. */
  at: number;
  events: number;
  errors: number;
}

export const MINUTES = 60;
const MINUTE_MS = 60_000;

/** One bar for each of the 60 minutes that end with the newest one, or with `now`; minutes without events are zero. */
export function toBars(points: Stats["events_per_minute"], now: number): Bar[] {
  const known = new Map<number, Bar>();
  for (const point of points) {
    const at = startOf(Date.parse(point.minute));
    if (Number.isNaN(at)) continue;
    const before = known.get(at);
    known.set(at, {
      at,
      events: (before?.events ?? 0) + point.events,
      errors: (before?.errors ?? 0) + point.errors,
    });
  }
  const last = Math.max(startOf(now), ...known.keys());
  return Array.from({ length: MINUTES }, (_, index) => {
    const at = last - (MINUTES - 1 - index) * MINUTE_MS;
    return known.get(at) ?? { at, events: 0, errors: 0 };
  });
}

/** The next round number: the top of an axis. */
export function roundUp(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 5, 10]) if (value <= step * power) return step * power;
  return value;
}

/** What the plot shows, for those who do not see it. */
export function plotWords(bars: Bar[]): string {
  const events = bars.reduce((sum, bar) => sum + bar.events, 0);
  const errors = bars.reduce((sum, bar) => sum + bar.errors, 0);
  if (events === 0) return "No events in the last hour.";
  const most = bars.reduce((best, bar) => (bar.events > best.events ? bar : best));
  const failed = errors === 0 ? "no errors" : errors === 1 ? "1 error" : `${count(errors)} errors`;
  return `${plural(events, "event")} in the last hour, ${failed}; most at ${minuteOf(most.at)} with ${count(most.events)}.`;
}

export function minuteOf(at: number): string {
  const date = new Date(at);
  return `${String(date.getHours()).padStart(2, "0")}:${String(date.getMinutes()).padStart(2, "0")}`;
}

export function count(value: number | { toString(): string }): string {
  return Number(value).toLocaleString("en", { maximumFractionDigits: 1 });
}

export function plural(value: number, word: string): string {
  return `${count(value)} ${word}${value === 1 ? "" : "s"}`;
}

function startOf(time: number): number {
  return Math.floor(time / MINUTE_MS) * MINUTE_MS;
}
