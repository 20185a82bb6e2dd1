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
  /** Undefined: it was not there, or is not there any more. */
  before: Json | undefined;
  after: Json | undefined;
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

/** The state after the first `count` steps. A null takes a key away, as in ADK. */
export function stateAfter(steps: Step[], count: number): JsonObject {
  return Object.fromEntries(valuesAfter(steps, count));
}

function valuesAfter(steps: Step[], count: number): Map<string, Json> {
  const state = new Map<string, Json>();
  for (const { delta } of steps.slice(0, count)) {
    for (const [key, value] of Object.entries(delta)) {
      if (value === null) state.delete(key);
      else state.set(key, value);
    }
  }
  return state;
}

/** What step `index` changed. A key that was set to what it was is left out. */
export function changesOf(steps: Step[], index: number): Change[] {
  const step = steps[index];
  if (!step) return [];
  const before = valuesAfter(steps, index);
  return Object.entries(step.delta)
    .map(([key, value]) => ({ key, before: before.get(key), after: value === null ? undefined : value }))
    .filter((change) => !same(change.before, change.after));
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined ? a === b : sameJson(a, b);
}
