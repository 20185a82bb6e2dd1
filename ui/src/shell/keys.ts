// Keys. Single letters act only while nobody is typing and no dialogue is open; `g` waits a moment for its second
// letter. Screens bind what they need and the newest binding wins, so a dialogue can take Escape for itself.
import { useEffect, useRef } from "react";

type Binding = Record<string, (event: KeyboardEvent) => void>;

const bindings: { current: Binding }[] = [];
const CHORD_MS = 900;
let chord: { key: string; until: number } | null = null;

/** Names: "j", "/", "g s", "mod+enter" (with Ctrl or ⌘), "escape". */
export function useKeys(binding: Binding): void {
  const latest = useRef(binding);
  latest.current = binding;
  useEffect(() => {
    bindings.push(latest);
    if (bindings.length === 1) window.addEventListener("keydown", handle);
    return () => {
      bindings.splice(bindings.indexOf(latest), 1);
      if (bindings.length === 0) window.removeEventListener("keydown", handle);
    };
  }, []);
}

export function isTyping(): boolean {
  const at = document.activeElement;
  if (!(at instanceof HTMLElement)) return false;
  return at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName);
}

export const modKey = /Mac|iP(hone|ad)/.test(globalThis.navigator?.platform ?? "") ? "⌘" : "Ctrl ";

function handle(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const name = nameOf(event);
  const always = name.startsWith("mod+") || name === "escape";
  if (!always && (isTyping() || event.ctrlKey || event.metaKey || event.altKey)) return;
  if (name !== "mod+enter" && name !== "escape" && document.querySelector("[role=dialog]")) return;
  const pair = chord && chord.until > Date.now() ? `${chord.key} ${name}` : null;
  chord = name === "g" ? { key: "g", until: Date.now() + CHORD_MS } : null;
  for (const candidate of [pair, name]) {
    if (!candidate) continue;
    for (let index = bindings.length - 1; index >= 0; index--) {
      const action = bindings[index]?.current[candidate];
      if (!action) continue;
      event.preventDefault();
      action(event);
      return;
    }
  }
}

function nameOf(event: KeyboardEvent): string {
  const key = event.key.toLowerCase();
  return (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey ? `mod+${key}` : key;
}
