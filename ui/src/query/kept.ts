// A query that was typed but not sent, by session, in this tab's storage.
import { readJson, writeJson } from "../shell/storage";
import type { Query } from "./QueryForm";

export interface KeptQuery {
  query: Query;
  error: string | null;
}

export function keepQuery(sessionId: string, kept: KeptQuery | undefined): void {
  writeJson(sessionStorage, `hotseat.query.${sessionId}`, kept);
}

export function keptQuery(sessionId: string): KeptQuery | undefined {
  return readJson(sessionStorage, `hotseat.query.${sessionId}`);
}
