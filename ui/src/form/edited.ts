// A value that is edited as a form and as JSON text. The value is always the last good one; the text is what was
// typed, to the letter, until the form changes the value.
import { isObject, parseJson } from "../json/json";

export interface Edited {
  value: unknown;
  text: string | null;
}

/** Arguments are always objects; the output of an agent may be anything. */
export function typeJson(before: Edited, text: string, objectOnly = true): Edited {
  try {
    const value: unknown = parseJson(text);
    return objectOnly && !isObject(value) ? { ...before, text } : { value, text };
  } catch {
    return { ...before, text };
  }
}

/** Null when the text, if any, is JSON of the right kind. */
export function jsonProblem({ text }: Edited, objectOnly = true): string | null {
  if (text === null) return null;
  try {
    return !objectOnly || isObject(parseJson(text)) ? null : "Must be an object: { … }.";
  } catch (error) {
    return `Not JSON yet: ${error instanceof Error ? error.message : String(error)}.`;
  }
}
