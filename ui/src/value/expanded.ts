// What the reader opened or closed, by place. Kept outside the components, because cards leave the page when they
// scroll out of sight and must come back as they were left.
import { useSyncExternalStore } from "react";

const choices = new Map<string, unknown>();
const listeners = new Set<() => void>();

export function useRemembered<T>(key: string, start: T): [T, (value: T) => void] {
  const value = useSyncExternalStore(subscribe, () => (choices.has(key) ? (choices.get(key) as T) : start));
  return [
    value,
    (next) => {
      choices.set(key, next);
      for (const listener of listeners) listener();
    },
  ];
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
