// What the fields of one form share beside RJSF's own data: the tool's schema for words, and the errors to show.
import { createContext, useContext } from "react";
import type { Schema } from "../schema";

export interface FormShare {
  root: Schema;
  /** Messages by JSON pointer, already reduced to those worth showing now. */
  errors: ReadonlyMap<string, string[]>;
  touch: (pointer: string) => void;
  setAt: (path: readonly (string | number)[], value: unknown) => void;
}

const FormShareContext = createContext<FormShare>({
  root: {},
  errors: new Map(),
  touch: () => undefined,
  setAt: () => undefined,
});

export const FormShareProvider = FormShareContext.Provider;

export function useFormShare(): FormShare {
  return useContext(FormShareContext);
}
