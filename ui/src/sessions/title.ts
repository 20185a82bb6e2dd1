// What a session is called: its description, else the first message. A structured message is JSON; its values say more
// than its braces.
import type { Session } from "../api/types";
import { isJsonObject } from "../json/json";
import { embeddedJson } from "../value/kind";
import { argumentsLine } from "../value/oneLine";

export function titleOf(session: Pick<Session, "description" | "title">, fallback: string): string {
  const title = session.description || session.title;
  if (!title) return fallback;
  const json = embeddedJson(title);
  if (!isJsonObject(json)) return title;
  return argumentsLine(json)
    .map(({ name, text }) => `${name}: ${text}`)
    .join(", ");
}
