// Cards in reading order: what an agent did as a tool comes right after the call that ran it, one step further in.
// Cards whose call is unknown stay where they are.
import type { Card } from "./fold";

export interface Row {
  card: Card;
  depth: number;
}

export function toRows(cards: Card[]): Row[] {
  if (cards.every((card) => card.parent === null)) return cards.map((card) => ({ card, depth: 0 }));
  const calls = new Set<string>();
  for (const card of cards) if (card.type === "tool_call") calls.add(card.call.call_id);
  const children = new Map<string, Card[]>();
  const top: Card[] = [];
  for (const card of cards) {
    if (card.parent === null || !calls.has(card.parent) || isOwnParent(card)) top.push(card);
    else children.set(card.parent, [...(children.get(card.parent) ?? []), card]);
  }
  const rows: Row[] = [];
  const add = (card: Card, depth: number) => {
    rows.push({ card, depth });
    if (card.type !== "tool_call") return;
    for (const child of children.get(card.call.call_id) ?? []) add(child, depth + 1);
  };
  for (const card of top) add(card, 0);
  return rows;
}

function isOwnParent(card: Card): boolean {
  return card.type === "tool_call" && card.call.call_id === card.parent;
}
