// A desktop notification for a request that comes in while the page is out of sight. Asked for in the settings, by a
// click; the browser has the last word.
import { useEffect, useRef } from "react";
import { readJson, writeJson } from "../shell/storage";
import type { Waiting } from "./waiting";

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

/** Tells of what was not waiting before, while the page is hidden. */
export function useNotifications(waiting: Waiting[] | undefined, open: (sessionId: string) => void): void {
  const known = useRef<Set<string> | null>(null);
  useEffect(() => {
    if (!waiting) return;
    const before = known.current;
    known.current = new Set(waiting.map((item) => item.key));
    if (!before || !document.hidden || !wantsNotifications()) return;
    for (const item of waiting.filter((candidate) => !before.has(candidate.key))) {
      const said = item.what === "turn" ? "A request came in." : "It asks the user something.";
      notify(`${item.agent_name} waits for you`, said, item.key, () => open(item.session_id));
    }
  }, [waiting, open]);
}
