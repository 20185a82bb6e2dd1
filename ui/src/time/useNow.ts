// The current time, ticking. One timer per period serves every component, and none runs while nobody looks.
import { useSyncExternalStore } from "react";

class Ticker {
  private now = Date.now();
  private timer: ReturnType<typeof setInterval> | undefined;
  private readonly listeners = new Set<() => void>();
  private readonly period: number;

  constructor(period: number) {
    this.period = period;
  }

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    this.timer ??= setInterval(this.tick, this.period);
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  };

  read = () => {
    if (this.timer === undefined) this.now = Math.max(this.now, Date.now() - (Date.now() % 1000));
    return this.now;
  };

  private tick = () => {
    this.now = Date.now();
    for (const listener of this.listeners) listener();
  };
}

const second = new Ticker(1000);
const halfMinute = new Ticker(30_000);

export function useSecond(): number {
  return useSyncExternalStore(second.subscribe, second.read, second.read);
}

export function useHalfMinute(): number {
  return useSyncExternalStore(halfMinute.subscribe, halfMinute.read, halfMinute.read);
}
