// Puts one changed session into the cached lists. A session keeps its place in a list; it leaves a list whose filter
// it no longer meets and enters the others at the top. Searches are asked again, since only the server can match.
import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import { askAgain, keys, matchesFilter, type SessionFilter } from "../api/queries";
import type { Page, Session } from "../api/types";

export type SessionPages = InfiniteData<Page<Session>, string>;

export function putSession(client: QueryClient, session: Session): void {
  client.setQueryData(keys.session(session.id), session);
  for (const [key, pages] of client.getQueriesData<SessionPages>({ queryKey: keys.sessionLists })) {
    const [, filter, q] = key as [string, SessionFilter, string];
    if (!pages) continue;
    if (q) void askAgain(client, key);
    else client.setQueryData(key, placeSession(pages, session, filter));
  }
}

export function dropSession(client: QueryClient, id: string): void {
  client.removeQueries({ queryKey: keys.session(id) });
  client.setQueriesData<SessionPages>({ queryKey: keys.sessionLists }, (pages) => pages && withoutSession(pages, id));
}

export function placeSession(pages: SessionPages, session: Session, filter: SessionFilter): SessionPages {
  const known = pages.pages.some((page) => page.items.some((item) => item.id === session.id));
  if (!matchesFilter(session, filter)) return known ? withoutSession(pages, session.id) : pages;
  if (known) {
    return mapPages(pages, (items) => items.map((item) => (item.id === session.id ? session : item)));
  }
  return mapPages(pages, (items, index) => (index === 0 ? [session, ...items] : items));
}

export function withoutSession(pages: SessionPages, id: string): SessionPages {
  return mapPages(pages, (items) => items.filter((item) => item.id !== id));
}

function mapPages(pages: SessionPages, change: (items: Session[], index: number) => Session[]): SessionPages {
  return { ...pages, pages: pages.pages.map((page, index) => ({ ...page, items: change(page.items, index) })) };
}
