// The whole session as a bar: each entry as wide as the time until the next one. Very long waits are shortened, so that a
// night between two messages does not hide the rest; very many entries share their places.
import type { Card } from "./fold";
import type { Row } from "./rows";

export interface Segment {
  /** Rows that it stands for: from the first up to, not including, the last. */
  from: number;
  to: number;
  weight: number;
  colour: string;
  /** From 0 to 1. */
  height: number;
}

const MOST_SEGMENTS = 160;
const LONGEST_IN_MEDIANS = 12;

export function toSegments(rows: Row[], endTime: string | null): Segment[] {
  if (rows.length === 0) return [];
  const times = rows.map(({ card }) => Date.parse(timeOf(card)));
  const end = Math.max(endTime ? Date.parse(endTime) : 0, times[times.length - 1] ?? 0);
  const gaps = times.map((time, index) => Math.max(0, (times[index + 1] ?? end) - time));
  const sorted = gaps.filter((gap) => gap > 0).sort((a, b) => a - b);
  const longest = (sorted[Math.floor(sorted.length / 2)] ?? 1) * LONGEST_IN_MEDIANS;
  const least = Math.max(1, longest / 60);
  const weights = gaps.map((gap) => Math.min(Math.max(gap, least), longest));
  return rows.length <= MOST_SEGMENTS
    ? rows.map((row, index) => segment(row.card, index, weights[index] ?? 1))
    : merged(rows, weights);
}

function segment(card: Card, index: number, weight: number): Segment {
  return { from: index, to: index + 1, weight, colour: colourOf(card), height: heightOf(card) };
}

/** Neighbours share a place; the most telling of them gives it its colour. */
function merged(rows: Row[], weights: number[]): Segment[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const share = total / MOST_SEGMENTS;
  const segments: Segment[] = [];
  let current: Segment | null = null;
  rows.forEach(({ card }, index) => {
    const own = segment(card, index, weights[index] ?? 1);
    if (!current) current = own;
    else {
      current.to = index + 1;
      current.weight += own.weight;
      if (RANK.indexOf(own.colour) > RANK.indexOf(current.colour)) {
        current.colour = own.colour;
        current.height = own.height;
      }
    }
    if (current.weight >= share) {
      segments.push(current);
      current = null;
    }
  });
  if (current) segments.push(current);
  return segments;
}

const RANK = ["mute", "amber", "blue", "violet", "red"];

export function colourOf(card: Card): string {
  switch (card.type) {
    case "tool_call":
      return card.outcome?.type === "tool_error" && !card.rejected ? "red" : "amber";
    case "user_query":
      return "blue";
    case "final_response":
      return "violet";
    case "run_error":
      return "red";
    default:
      return "mute";
  }
}

/** Types are told apart by height too. */
function heightOf(card: Card): number {
  switch (card.type) {
    case "tool_call":
      return colourOf(card) === "red" ? 0.35 : 0.85;
    case "user_query":
      return 0.6;
    case "final_response":
      return 1;
    default:
      return 0.4;
  }
}

export function timeOf(card: Card): string {
  switch (card.type) {
    case "tool_call":
      return card.call.timestamp;
    case "input_request":
      return card.ask.timestamp;
    case "outcome":
      return card.outcome.timestamp;
    default:
      return card.entry.timestamp;
  }
}

/** How long to rest on an entry when a session is replayed: in proportion, but neither a blink nor a yawn. */
export function restAfter(rows: Row[], index: number): number {
  const here = rows[index];
  const next = rows[index + 1];
  if (!here || !next) return 600;
  return Math.min(1500, Math.max(350, (Date.parse(timeOf(next.card)) - Date.parse(timeOf(here.card))) / 10));
}
