// The session's state over time: each ADK event that changed it is a step.
import type { Json, JsonObject, LogEvent } from "../api/types";
import { isJsonObject, sameJson } from "../json/json";

export interface Step {
  seq: number;
  author: string;
  timestamp: string;
  delta: JsonObject;
}

export interface Change {
  key: string;
  /** Undefined: it was not there. */
  before: Json | undefined;
  after: Json;
}

export function stateSteps(events: LogEvent[]): Step[] {
  const steps: Step[] = [];
  for (const { kind, event, seq, author, timestamp } of events) {
    if (kind !== "event" || !isJsonObject(event) || !isJsonObject(event.actions)) continue;
    const delta = event.actions.state_delta ?? event.actions.stateDelta;
    if (isJsonObject(delta) && Object.keys(delta).length > 0) steps.push({ seq, author, timestamp, delta });
  }
  return steps;
}

/** What was there before the first step: what the session was created with, and what no step has set. */
export function startOf(steps: Step[], known: { now: JsonObject; created: JsonObject } | undefined): JsonObject {
  if (!known) return {};
  const set = new Set(steps.flatMap(({ delta }) => Object.keys(delta)));
  const untouched = Object.entries(known.now).filter(([key]) => !set.has(key));
  return { ...Object.fromEntries(untouched), ...known.created };
}

/** The state after the first `count` steps. A null is a value, as in ADK. */
export function stateAfter(start: JsonObject, steps: Step[], count: number): JsonObject {
  return Object.fromEntries(valuesAfter(start, steps, count));
}

function valuesAfter(start: JsonObject, steps: Step[], count: number): Map<string, Json> {
  const state = new Map(Object.entries(start));
  for (const { delta } of steps.slice(0, count)) {
    for (const [key, value] of Object.entries(delta)) state.set(key, value);
  }
  return state;
}

/** What step `index` changed. A key that was set to what it was is left out. */
export function changesOf(start: JsonObject, steps: Step[], index: number): Change[] {
  const step = steps[index];
  if (!step) return [];
  const before = valuesAfter(start, steps, index);
  return Object.entries(step.delta)
    .map(([key, after]) => ({ key, before: before.get(key), after }))
    .filter((change) => !same(change.before, change.after));
}

function same(a: Json | undefined, b: Json): boolean {
  return a !== undefined && sameJson(a, b);
}
