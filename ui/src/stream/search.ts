// Finding words in the cards of a session. What a card says is put together once, and only the beginning of what is long.
import type { Json } from "../api/types";
import { preview } from "../value/preview";
import type { Card } from "./fold";

const LOOKED_AT = 200_000;
const texts = new WeakMap<Card, string>();

/** The places in `cards` that hold all the words, in order. */
export function findCards(cards: Card[], query: string): number[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const found: number[] = [];
  cards.forEach((card, index) => {
    const text = textOf(card);
    if (words.every((word) => text.includes(word))) found.push(index);
  });
  return found;
}

/** Where the entry with this number stands: its own card, the card of its outcome, else the last one before it. */
export function placeOfSeq(cards: Card[], seq: number): number {
  let before = -1;
  for (const [index, card] of cards.entries()) {
    if (card.seq === seq) return index;
    if (card.type === "tool_call" && (card.outcome?.seq === seq || card.interim?.seq === seq)) return index;
    if (card.type === "input_request" && card.response?.seq === seq) return index;
    if (card.seq < seq) before = index;
  }
  return before;
}

function textOf(card: Card): string {
  const known = texts.get(card);
  if (known !== undefined) return known;
  const text = parts(card).join("\n").toLowerCase();
  texts.set(card, text);
  return text;
}

function parts(card: Card): string[] {
  switch (card.type) {
    case "tool_call":
      return [
        card.call.tool_name,
        json(card.call.arguments),
        ...(card.outcome ? outcome(card.outcome) : []),
        ...(card.interim ? outcome(card.interim) : []),
      ];
    case "input_request":
      return [card.ask.name, json(card.ask.arguments), card.response ? json(card.response.response) : ""];
    case "outcome":
      return outcome(card.outcome);
    default: {
      const { entry } = card;
      if (entry.type === "transfer") return [entry.to_agent];
      if (entry.type === "run_error") return [entry.error_type, entry.error_message];
      return [entry.content.slice(0, LOOKED_AT), entry.agent_name ?? ""];
    }
  }
}

function outcome(ended: { type: string; result?: Json; error_type?: string; error_message?: string }): string[] {
  if (ended.type === "tool_error") return [ended.error_type ?? "", ended.error_message ?? ""];
  return [json(ended.result ?? null)];
}

/** Quotes and escapes of JSON would hide words from the search. */
function json(value: Json): string {
  return typeof value === "string" ? value.slice(0, LOOKED_AT) : preview(value, LOOKED_AT).replaceAll('\\"', '"');
}
