// A desktop notification for a request that comes in while the page is out of sight. Asked for in the settings, by a
// click; the browser has the last word.
import { useEffect, useRef } from "react";
import type { Turn } from "../api/types";
import { readJson, writeJson } from "../shell/storage";

const KEY = "hotseat.notify";

export type Permission = "granted" | "denied" | "default" | "unsupported";

export function permission(): Permission {
  return typeof Notification === "undefined" ? "unsupported" : Notification.permission;
}

export function wantsNotifications(): boolean {
  return readJson<boolean>(localStorage, KEY) === true && permission() === "granted";
}

/** Must be called from a click. */
export async function turnNotifications(on: boolean): Promise<Permission> {
  if (on && permission() === "default") await Notification.requestPermission();
  writeJson(localStorage, KEY, on && permission() === "granted");
  return permission();
}

export function notify(title: string, body: string, tag: string, onClick?: () => void): void {
  if (permission() !== "granted") return;
  const shown = new Notification(title, { body, tag, icon: "/favicon.svg" });
  shown.onclick = () => {
    window.focus();
    onClick?.();
    shown.close();
  };
}

/** Tells of turns that were not there before, while the page is hidden. */
export function useNotifications(turns: Turn[] | undefined, open: (sessionId: string) => void): void {
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (!turns) return;
    const before = known.current;
    known.current = new Set(turns.map((turn) => turn.turn_id));
    if (!before || !document.hidden || !wantsNotifications()) return;
    for (const turn of turns.filter((candidate) => !before.has(candidate.turn_id))) {
      notify(`${turn.agent_name} waits for you`, "A request came in.", turn.turn_id, () => open(turn.session_id));
    }
  }, [turns, open]);
}
