// Reading and changing one place in a value without touching the rest.
import { isObject } from "../json/json";

export type Path = readonly (string | number)[];

export function getAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const step of path) {
    if (typeof step === "number") at = Array.isArray(at) ? at[step] : undefined;
    else at = isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined;
  }
  return at;
}

export function setAt(value: unknown, path: Path, next: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return next;
  if (typeof step === "number") {
    const list = Array.isArray(value) ? [...value] : [];
    list[step] = setAt(list[step], rest, next);
    return list;
  }
  const object = isObject(value) ? value : {};
  return { ...object, [step]: setAt(object[step], rest, next) };
}
