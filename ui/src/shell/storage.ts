// Small settings that outlive a visit. A browser that forbids storage only forgets them.
import { useState } from "react";
import { parseJson, writeJson as write } from "../json/json";

export function useStored<T>(key: string, start: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => readJson(localStorage, key) ?? start);
  return [
    value,
    (next) => {
      setValue(next);
      writeJson(localStorage, key, next);
    },
  ];
}

export function readJson<T>(storage: Storage, key: string): T | undefined {
  try {
    const text = storage.getItem(key);
    return text === null ? undefined : (parseJson(text) as T);
  } catch {
    return undefined;
  }
}

export function writeJson(storage: Storage, key: string, value: unknown): void {
  try {
    if (value === undefined) storage.removeItem(key);
    else storage.setItem(key, write(value));
  } catch {
    // Full or forbidden: the setting lasts as long as the page.
  }
}
