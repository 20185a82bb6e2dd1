// What can be done right now, for the command palette. Screens say what they offer while they are there.
import { useEffect, useRef } from "react";

export interface Command {
  label: string;
  keys?: string;
  run: () => void;
}

const offers: { current: Command[] }[] = [];

export function useCommands(commands: Command[]): void {
  const latest = useRef(commands);
  latest.current = commands;
  useEffect(() => {
    offers.push(latest);
    return () => {
      offers.splice(offers.indexOf(latest), 1);
    };
  }, []);
}

/** The newest offers first: those of the open session before those of the page. */
export function offeredCommands(): Command[] {
  return offers.toReversed().flatMap((offer) => offer.current);
}

/** Every word must be there, in any order; a match at the beginning of the label comes first. */
export function matching<T extends { label: string; hint?: string }>(items: T[], query: string): T[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = items.filter(({ label, hint }) => {
    const text = `${label} ${hint ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const first = words[0];
  if (!first) return found;
  const starts = (item: T) => (item.label.toLowerCase().startsWith(first) ? 0 : 1);
  return found.toSorted((a, b) => starts(a) - starts(b));
}
