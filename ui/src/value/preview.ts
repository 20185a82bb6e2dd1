// The beginning of a value as JSON, without writing the rest: outputs can have ten megabytes, a line has 160 characters.
import type { Json } from "../api/types";
import { Exact } from "../json/json";

export function preview(value: Json, limit: number): string {
  let text = "";
  const write = (more: string) => {
    text += more;
    return text.length <= limit;
  };
  const visit = (item: Json): boolean => {
    if (typeof item === "string") return write(JSON.stringify(item.length > limit ? item.slice(0, limit) : item));
    if (typeof item !== "object" || item === null || item instanceof Exact) return write(String(item));
    if (Array.isArray(item)) {
      if (!write("[")) return false;
      for (const [index, child] of item.entries()) {
        if (index > 0 && !write(",")) return false;
        if (!visit(child)) return false;
      }
      return write("]");
    }
    if (!write("{")) return false;
    let first = true;
    for (const key in item) {
      if (!write(`${first ? "" : ","}${JSON.stringify(key)}:`)) return false;
      first = false;
      if (!visit(item[key] ?? null)) return false;
    }
    return write("}");
  };
  visit(value);
  return text;
}

/** Whether a value, written as JSON, is at most that long. */
export function fits(value: Json, limit: number): boolean {
  return preview(value, limit).length <= limit;
}
