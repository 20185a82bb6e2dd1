import { useEffect, useState } from "react";

/** The text once the person stopped typing for a moment. */
export function useSettled(text: string, after = 200): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), after);
    return () => clearTimeout(timer);
  }, [text, after]);
  return settled;
}
