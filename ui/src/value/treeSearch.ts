// Finding words in a value, and naming places in it.
import type { Json } from "../api/types";
import { Exact, isJsonObject } from "../json/json";
import { embeddedJson } from "./kind";

export type TreePath = (string | number)[];

export interface TreeHits {
  count: number;
  /** Paths, as JSON, of the branches to open; a hit itself has a `=` before it. */
  open: Set<string>;
}

const VISITED_AT_MOST = 200_000;

export function findInTree(value: Json, query: string): TreeHits {
  const words = query.toLowerCase();
  const hits: TreeHits = { count: 0, open: new Set() };
  let visited = 0;
  const visit = (item: Json, path: TreePath, key: string): boolean => {
    if (++visited > VISITED_AT_MOST) return false;
    let found = key.toLowerCase().includes(words);
    let inside = false;
    const inner = typeof item === "string" ? embeddedJson(item) : item;
    if (Array.isArray(inner)) {
      for (const [index, child] of inner.entries()) inside = visit(child, [...path, index], "") || inside;
    } else if (isJsonObject(inner)) {
      for (const [name, child] of Object.entries(inner)) inside = visit(child, [...path, name], name) || inside;
    } else if (typeof item !== "object" || item instanceof Exact || item === null) {
      found ||= String(item).toLowerCase().includes(words);
    }
    const own = JSON.stringify(path);
    if (inside) hits.open.add(own);
    if (found) {
      hits.count += 1;
      hits.open.add(`=${own}`);
    }
    return inside || found;
  };
  visit(value, [], "");
  hits.open.add("[]");
  return hits;
}

/** `items[0].name`, `["odd key"]`: as one would write it in Python or JavaScript. */
export function pathText(path: TreePath): string {
  const steps = path.map((step) => {
    if (typeof step === "number") return `[${step}]`;
    return /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
  });
  return steps.join("").replace(/^\./, "") || "$";
}

/** The value at a path, also inside text that holds JSON. */
export function valueAt(value: Json, path: TreePath): Json {
  let at: Json = value;
  for (const step of path) {
    const inner: Json | undefined = typeof at === "string" ? embeddedJson(at) : at;
    if (Array.isArray(inner) && typeof step === "number") at = inner[step] ?? null;
    else if (isJsonObject(inner)) at = inner[String(step)] ?? null;
    else return null;
  }
  return at;
}
