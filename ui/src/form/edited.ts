// A value that is edited as a form and as JSON text. The value is always the last good one; the text is what was
// typed, to the letter, until the form changes the value.

export interface Edited {
  value: unknown;
  text: string | null;
}

export function typeJson(before: Edited, text: string): Edited {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { value, text } : { ...before, text };
  } catch {
    return { ...before, text };
  }
}

/** Null when the text, if any, is a JSON object. */
export function jsonProblem({ text }: Edited): string | null {
  if (text === null) return null;
  try {
    return isObject(JSON.parse(text)) ? null : "Must be an object: { … }.";
  } catch (error) {
    return `Not JSON yet: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
