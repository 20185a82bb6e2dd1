// What the fields of one form share: the value and how to change one place of it, the tool's schema, and the errors to
// show. Fields read the value here and not from RJSF, which would round numbers and fill in defaults on the way.
import { createContext, useContext } from "react";
import { getAt, type Path } from "../path";
import { pointer } from "../pointer";
import type { Schema } from "../schema";

export interface FormShare {
  root: Schema;
  prefix: string;
  value: unknown;
  /** Messages by JSON pointer, already reduced to those worth showing now. */
  errors: ReadonlyMap<string, string[]>;
  touch: (pointer: string) => void;
  setAt: (path: Path, value: unknown) => void;
  /** The schema with references, `allOf` and conditions worked out for a value. */
  retrieve: (schema: Schema, value: unknown) => Schema;
}

const FormShareContext = createContext<FormShare>({
  root: {},
  prefix: "",
  value: undefined,
  errors: new Map(),
  touch: () => undefined,
  setAt: () => undefined,
  retrieve: (schema) => schema,
});

export const FormShareProvider = FormShareContext.Provider;

export function useFormShare(): FormShare {
  return useContext(FormShareContext);
}

/** One place of the form. */
export interface FieldProps {
  schema: Schema;
  path: Path;
  required: boolean;
  /** Shown instead of the last step of the path; empty for list items and the options of a choice. */
  name?: string;
  /** The field belongs to a choice that already has the frame. */
  bare?: boolean;
}

export function usePlace(path: Path) {
  const share = useFormShare();
  return {
    ...share,
    at: pointer(path),
    id: `${share.prefix}${path.map((step) => `_${String(step).replaceAll(/[^\w-]/g, "-")}`).join("")}`,
    value: getAt(share.value, path),
    set: (next: unknown) => share.setAt(path, next),
  };
}

/** What is wrong at this place, and, for a field without fields of its own, anywhere inside it. */
export function messagesAt(errors: FormShare["errors"], at: string, inside: boolean): string[] {
  const own = errors.get(at) ?? [];
  if (!inside) return own;
  const deeper = [...errors].filter(([path]) => path.startsWith(`${at}/`));
  return [...own, ...deeper.flatMap(([path, messages]) => messages.map((m) => `${path.slice(at.length + 1)}: ${m}`))];
}
