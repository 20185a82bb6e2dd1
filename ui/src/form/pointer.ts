// JSON pointers, and where the server's complaints about a decision belong in the page.
import type { FieldError } from "../api/types";

export function pointer(path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export interface PartError extends FieldError {
  /** Index of the part in the decision, or null if the complaint is about the decision as a whole. */
  part: number | null;
}

const PLACE =
  /^\/candidates\/\d+\/parts\/(\d+)(?:\/(?:function_call|functionCall)(?:\/args|(?=$))|\/text|(?=$))(\/.*)?$/;

/** Splits `/candidates/0/parts/1/function_call/args/a` into part 1 and the field `/a`; for text alike. */
export function partError(error: FieldError): PartError {
  const match = PLACE.exec(error.path);
  if (!match) return { ...error, part: null };
  return { part: Number(match[1]), path: match[2] ?? "", message: error.message };
}
