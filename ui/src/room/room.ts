// Who is at a session, who holds a turn and who is typing. Claims are kept by asking for them again, so that one whose
// page is gone ends by itself.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { get } from "../api/client";
import { actions } from "../api/queries";
import type { Claim, Me, Room, Turn } from "../api/types";

/** A claim lasts a minute; asking three times as often survives a lost request. */
export const KEEP_CLAIM_MS = 20_000;
/** Others forget after five seconds that somebody was typing. */
export const TELL_TYPING_MS = 3000;

export const NOBODY: Room = { claims: [], typing: [], present: [] };

export function useMe(): Me | undefined {
  return useQuery({ queryKey: ["me"], queryFn: () => get<Me>("/me"), staleTime: Number.POSITIVE_INFINITY }).data;
}

/** Who holds a turn: what the stream told last, or what came with the turn before it told anything. */
export function claimOn(turn: Turn, room: Room | null): Claim | null {
  if (!room) return turn.claim ?? null;
  return room.claims.find((claim) => claim.turn_id === turn.turn_id) ?? null;
}

/** Everybody in a room but oneself. */
export function others(room: Room | null, me: Me | undefined): string[] {
  return (room?.present ?? []).filter((name) => name !== me?.name);
}

/** "ada is typing", "ada and bob are typing", "3 people are typing"; nothing if nobody is. */
export function typingWords(room: Room | null, me: Me | undefined): string {
  const names = (room?.typing ?? []).filter((name) => name !== me?.name);
  if (names.length === 0) return "";
  if (names.length === 1) return `${names[0]} is typing …`;
  if (names.length === 2) return `${names[0]} and ${names[1]} are typing …`;
  return `${names.length} people are typing …`;
}

/** Keeps a claim for as long as the page is open. */
export function useKeptClaim(turn: Turn, mine: boolean, onLost: (error: unknown) => void): void {
  const lost = useRef(onLost);
  lost.current = onLost;
  useEffect(() => {
    if (!mine) return;
    const timer = setInterval(() => actions.claim(turn).catch((error: unknown) => lost.current(error)), KEEP_CLAIM_MS);
    return () => clearInterval(timer);
  }, [turn, mine]);
}

/** Tells the others that somebody types here, now and then, and only if there are others. */
export function useTyping(sessionId: string, room: Room | null): () => void {
  const me = useMe();
  const last = useRef(0);
  return () => {
    const now = Date.now();
    if (now - last.current < TELL_TYPING_MS || others(room, me).length === 0) return;
    last.current = now;
    // It is only told; whoever does not hear it misses nothing.
    actions.typing(sessionId).catch(() => undefined);
  };
}
