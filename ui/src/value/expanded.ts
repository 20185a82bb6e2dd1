// What the reader opened, closed or chose, by place. Kept outside the components, because cards leave the page when they
// scroll out of sight and must come back as they were left; and kept in this browser per session, so they also do after
// a reload. A place is `<session>.<entry>.<what>`; one that begins with `~` is forgotten with the page.
import { useSyncExternalStore } from "react";
import { readJson, writeJson } from "../shell/storage";

type Choices = Record<string, unknown>;

const PREFIX = "hotseat.view.";
const RECENT = "hotseat.views";
const SESSIONS_KEPT = 40;
const PLACES_KEPT = 3000;
const WRITE_AFTER_MS = 300;

const bySession = new Map<string, Choices>();
const listeners = new Set<() => void>();
const unwritten = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

export function useRemembered<T>(place: string, start: T): [T, (value: T) => void] {
  const value = useSyncExternalStore(subscribe, () => {
    const choices = choicesOf(place);
    return place in choices ? (choices[place] as T) : start;
  });
  return [value, (next) => remember(place, next)];
}

export function remember(place: string, value: unknown): void {
  change(sessionOf(place), { ...choicesOf(place), [place]: value });
}

/** For the whole session at once: what was opened or closed for single entries is forgotten, the views stay. */
export function rememberForAll(session: string, places: Choices): void {
  const kept = Object.entries(choicesOf(session)).filter(([place]) => /\.(view|shown)$|\.look\[/.test(place));
  change(session, { ...Object.fromEntries(kept), ...places });
}

function change(session: string, choices: Choices): void {
  bySession.set(session, choices);
  unwritten.add(session);
  clearTimeout(timer);
  timer = setTimeout(write, WRITE_AFTER_MS);
  for (const listener of listeners) listener();
}

function choicesOf(place: string): Choices {
  const session = sessionOf(place);
  const known = bySession.get(session);
  if (known) return known;
  const stored = typeof localStorage === "undefined" ? undefined : readJson<Choices>(localStorage, PREFIX + session);
  const choices = stored ?? {};
  bySession.set(session, choices);
  return choices;
}

function write(): void {
  if (typeof localStorage === "undefined") return;
  for (const session of unwritten) {
    if (session.startsWith("~")) continue;
    const entries = Object.entries(bySession.get(session) ?? {});
    writeJson(localStorage, PREFIX + session, Object.fromEntries(entries.slice(-PLACES_KEPT)));
    const recent = readJson<string[]>(localStorage, RECENT) ?? [];
    const kept = [session, ...recent.filter((other) => other !== session)];
    for (const old of kept.slice(SESSIONS_KEPT)) writeJson(localStorage, PREFIX + old, undefined);
    writeJson(localStorage, RECENT, kept.slice(0, SESSIONS_KEPT));
  }
  unwritten.clear();
}

function sessionOf(place: string): string {
  const dot = place.indexOf(".");
  return dot < 0 ? place : place.slice(0, dot);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
