// Changing one place in a value without touching the rest.

export function setAt(value: unknown, path: readonly (string | number)[], next: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return next;
  if (typeof step === "number") {
    const list = Array.isArray(value) ? [...value] : [];
    list[step] = setAt(list[step], rest, next);
    return list;
  }
  const object = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  return { ...object, [step]: setAt((object as Record<string, unknown>)[step], rest, next) };
}
