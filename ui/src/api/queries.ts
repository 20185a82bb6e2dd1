// What the screens ask for, with the cache keys that the live stream updates. Lists are cursor pages; the key of a
// session list holds its filter, so that a changed session can be put into, or taken out of, the right ones.
import { QueryClient, type QueryKey, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { isJsonObject } from "../json/json";
import { type AllWaiting, allWaiting, waitingIn, waitingInAll } from "../live/waiting";
import { ApiError, get, post, put, remove } from "./client";
import type {
  AgentList,
  Artifact,
  CasePut,
  CaseRemoved,
  Claim,
  Decision,
  DecisionAccepted,
  EvalRun,
  EvalSetFile,
  EvalSetRow,
  ExportWish,
  Found,
  FunctionResponse,
  JsonObject,
  LogEvent,
  Page,
  Session,
  Stats,
  TracePreview,
  TraceWritten,
  Turn,
  Validation,
} from "./types";

export type SessionFilter = "waiting" | "active" | "done" | "all";

export const keys = {
  agents: ["agents"] as const,
  sessionLists: ["sessions"] as const,
  sessions: (filter: SessionFilter, q: string) => ["sessions", filter, q] as const,
  session: (id: string) => ["session", id] as const,
  turns: (id: string) => ["turns", id] as const,
  waiting: ["waiting"] as const,
  trace: (id: string) => ["trace", id] as const,
  artifacts: (id: string) => ["artifacts", id] as const,
  evalSets: ["eval-sets"] as const,
  evalSetFiles: ["eval-set"] as const,
  evalSet: (path: string) => ["eval-set", path] as const,
  stats: ["stats"] as const,
  found: (q: string) => ["found", q] as const,
  adkState: (id: string) => ["adk-state", id] as const,
  security: (id: string) => ["security", id] as const,
  events: (id: string, kind: string) => ["events", id, kind] as const,
  evalRuns: (path: string) => ["eval-runs", path] as const,
};

const SESSION_PAGE = 50;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        retry: (count, error) => error instanceof ApiError && error.code === "unreachable" && count < 3,
      },
    },
  });
}

/**
 * Asks again for what `queryKey` names, and uses nothing that was asked for before. A plain invalidation joins a first
 * load that is still under way, whose answer may be older than the news that made us ask.
 */
export async function askAgain(client: QueryClient, queryKey?: QueryKey): Promise<void> {
  await client.cancelQueries({ queryKey });
  await client.invalidateQueries({ queryKey });
}

/** Of two states of a session the one with the longer log: an answer may arrive after newer news from the stream. */
export function newer(known: Session | undefined, loaded: Session): Session {
  return known && known.last_seq > loaded.last_seq ? known : loaded;
}

export function useAgents() {
  return useQuery({ queryKey: keys.agents, queryFn: () => get<AgentList>("/agents") });
}

export function useSessions(filter: SessionFilter, q: string) {
  const client = useQueryClient();
  return useInfiniteQuery({
    queryKey: keys.sessions(filter, q),
    queryFn: async ({ pageParam }) => {
      const page = await get<Page<Session>>(`/sessions?${sessionParams(filter, q, pageParam)}`);
      return { ...page, items: page.items.map((item) => newer(client.getQueryData(keys.session(item.id)), item)) };
    },
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: (previous) => previous,
  });
}

export function useSession(id: string) {
  const client = useQueryClient();
  return useQuery({
    queryKey: keys.session(id),
    queryFn: async () => {
      const loaded = await get<Session>(`/sessions/${encodeURIComponent(id)}`);
      return newer(client.getQueryData(keys.session(id)), loaded);
    },
  });
}

/** Pending turns of one session with their requests, oldest first. */
export function useTurns(id: string) {
  return useQuery({
    queryKey: keys.turns(id),
    queryFn: () => get<Page<Turn>>(`/sessions/${encodeURIComponent(id)}/turns?state=pending`),
    staleTime: 0,
  });
}

function useAllWaiting<T>(select: (all: AllWaiting) => T) {
  return useQuery({
    queryKey: keys.waiting,
    queryFn: async () => {
      const [turns, sessions] = await Promise.all([
        get<Page<Turn>>("/turns?state=pending"),
        get<Page<Session>>(`/sessions?${sessionParams("waiting", "", "")}`),
      ]);
      return { turns: turns.items, sessions: sessions.items };
    },
    select,
  });
}

/** What waits in all sessions, oldest first: for notifications and "next in queue". */
export function useWaiting() {
  return useAllWaiting(allWaiting);
}

/** How much that is: for the badge and the title. */
export function useWaitingCount(): number {
  return useAllWaiting(waitingInAll).data ?? 0;
}

export function useGoldenTrace(id: string) {
  return useQuery({
    queryKey: keys.trace(id),
    queryFn: () => get<TracePreview>(`/sessions/${encodeURIComponent(id)}/export`),
    staleTime: 0,
  });
}

/** Files that the tools of a session saved. Asked again when the log grows: nothing else tells of them. */
export function useArtifacts(id: string, lastSeq: number) {
  return useQuery({
    queryKey: [...keys.artifacts(id), lastSeq],
    queryFn: () => get<Page<Artifact>>(at(id, "/artifacts")),
    placeholderData: (previous) => previous,
    staleTime: 5_000,
  });
}

export function artifactUrl(id: string, name: string, version?: number): string {
  const query = version === undefined ? "" : `?version=${version}`;
  return `/api/v1${at(id, `/artifacts/${encodeURIComponent(name)}`)}${query}`;
}

export function useEvalSets() {
  return useQuery({ queryKey: keys.evalSets, queryFn: () => get<Page<EvalSetRow>>("/eval-sets"), staleTime: 0 });
}

export function useEvalSet(path: string | null) {
  return useQuery({
    queryKey: keys.evalSet(path ?? ""),
    queryFn: () => get<EvalSetFile>(`/eval-sets/file?path=${encodeURIComponent(path ?? "")}`),
    enabled: path !== null,
    staleTime: 0,
  });
}

/** Runs of `adk eval` on a file, newest first; looked at often while one is going on. */
export function useEvalRuns(path: string) {
  return useQuery({
    queryKey: keys.evalRuns(path),
    queryFn: () => get<Page<EvalRun>>(`/eval-runs?path=${encodeURIComponent(path)}`),
    refetchInterval: (query) => (query.state.data?.items.some((run) => run.status === "running") ? 1000 : false),
    staleTime: 0,
  });
}

const STATS_EVERY_MS = 5000;

/** Asked again while the page is in sight. */
export function useStats() {
  return useQuery({
    queryKey: keys.stats,
    queryFn: () => get<Stats>("/stats"),
    staleTime: 0,
    refetchInterval: STATS_EVERY_MS,
  });
}

const SEARCH_FROM = 2;
const FOUND_AT_ONCE = 20;

/** Entries of all sessions that hold what is typed. */
export function useFound(q: string) {
  return useQuery({
    queryKey: keys.found(q),
    queryFn: async () => (await get<Page<Found>>(`/search?q=${encodeURIComponent(q)}&limit=${FOUND_AT_ONCE}`)).items,
    enabled: q.length >= SEARCH_FROM,
    placeholderData: (previous) => (q.length >= SEARCH_FROM ? previous : undefined),
  });
}

const SECURITY_EVERY_MS = 30_000;

/** What is known of who tried to read a session. The log does not tell of it, so it is asked for now and then. */
export function useSecurity(session: Session) {
  return useQuery({
    queryKey: [...keys.security(session.id), session.flagged],
    queryFn: async () => (await get<Session>(at(session.id, "?include=security"))).security ?? null,
    refetchInterval: SECURITY_EVERY_MS,
  });
}

/** The state as ADK shows it now, and what the session was created with. Asked again when the log grows. */
export function useAdkState({ id, last_seq: lastSeq }: Session) {
  return useQuery({
    queryKey: [...keys.adkState(id), lastSeq],
    queryFn: async () => {
      const [session, log] = await Promise.all([
        get<Session>(at(id, "?include=state")),
        get<Page<LogEvent>>(at(id, "/events?kind=session")),
      ]);
      const created = log.items.map(({ event }) => event?.state).find(isJsonObject);
      return { now: session.adk_state ?? {}, created: created ?? {}, at: session.last_seq };
    },
    placeholderData: (previous) => previous,
  });
}

const LOG_PAGE = 500;

/**
 * The log as it is, oldest first, up to `enough` events and further on demand. What is loaded stays: the log only grows.
 * The kind `event` keeps to ADK's own events.
 */
export function useLog(session: Session, kind: "event" | "", enough: number) {
  const { id, last_seq: lastSeq } = session;
  const query = useInfiniteQuery({
    queryKey: keys.events(id, kind),
    queryFn: async ({ pageParam: after }) => {
      const params = new URLSearchParams({ limit: String(LOG_PAGE), after_seq: String(after) });
      if (kind) params.set("kind", kind);
      const page = await get<Page<LogEvent>>(at(id, `/events?${params}`));
      const last = page.items[page.items.length - 1]?.seq ?? 0;
      const more = page.next_cursor !== null && page.next_cursor !== undefined;
      // Up to where this page knows the log, events of other kinds included.
      return { items: page.items, more, upTo: more ? last : Math.max(last, lastSeq) };
    },
    initialPageParam: 0,
    getNextPageParam: (page) => (page.more || page.upTo < lastSeq ? page.upTo : undefined),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const events = useMemo(() => query.data?.pages.flatMap((page) => page.items) ?? [], [query.data]);
  const { hasNextPage, isFetching, isError, fetchNextPage } = query;
  const goOn = hasNextPage && !isFetching && !isError && events.length < enough;
  useEffect(() => {
    if (goOn) void fetchNextPage();
  }, [goOn, fetchNextPage]);
  return { ...query, events };
}

function claimOf(turn: Turn): string {
  return at(turn.session_id, `/turns/${encodeURIComponent(turn.turn_id)}/claim`);
}

export const actions = {
  createSession: (agent: string) => post<Session>("/sessions", { agent }),
  query: (id: string, body: { text: string } | { structured: JsonObject }) => post<unknown>(at(id, "/query"), body),
  complete: (id: string) => post<Session>(at(id, "/complete")),
  stopRun: (id: string) => post<unknown>(at(id, "/cancel")),
  deleteSession: (id: string) => remove(at(id, "")),
  decide: (turn: Turn, decision: Decision) =>
    post<DecisionAccepted>(at(turn.session_id, `/turns/${encodeURIComponent(turn.turn_id)}/decision`), decision),
  dismiss: (turn: Turn, reason?: string) =>
    post<unknown>(at(turn.session_id, `/turns/${encodeURIComponent(turn.turn_id)}/dismiss`), { reason }),
  claim: (turn: Turn) => put<Claim>(claimOf(turn), {}),
  release: (turn: Turn) => remove(claimOf(turn)),
  handOver: (turn: Turn, to: string) =>
    post<Claim>(at(turn.session_id, `/turns/${encodeURIComponent(turn.turn_id)}/hand-over`), { to }),
  typing: (id: string) => post<void>(at(id, "/typing")),
  cancelTool: (id: string, callId: string) => post<unknown>(at(id, `/tools/${encodeURIComponent(callId)}/cancel`)),
  /** One write: the case as it happened, or `edited` in its place. */
  exportTrace: (id: string, path?: string, edited?: JsonObject) =>
    post<TraceWritten>(at(id, "/export"), { eval_set_path: path, case: edited } satisfies ExportWish),
  answer: (id: string, responses: FunctionResponse[]) =>
    post<unknown>(at(id, "/query"), { function_responses: responses }),
  fork: (id: string, turnId: string) => post<Session>(at(id, "/fork"), { turn_id: turnId }),
  putCase: (path: string, golden: JsonObject, index?: number) =>
    put<CasePut>("/eval-sets/case", { path, case: golden, index }),
  deleteCase: (path: string, evalId: string) =>
    remove<CaseRemoved>(`/eval-sets/case?path=${encodeURIComponent(path)}&eval_id=${encodeURIComponent(evalId)}`),
  validateSet: (path: string) => post<Validation>("/eval-sets/validate", { path }),
  runEval: (path: string, agent: string, evalIds?: string[], criteria?: JsonObject) =>
    post<{ eval_run_id: string }>("/eval-sets/run", { path, agent, eval_ids: evalIds, criteria }),
};

export function matchesFilter(session: Session, filter: SessionFilter): boolean {
  switch (filter) {
    case "waiting":
      return waitingIn(session) > 0;
    case "active":
      return session.status === "active";
    case "done":
      return session.status === "completed";
    case "all":
      return true;
  }
}

function sessionParams(filter: SessionFilter, q: string, cursor: string): string {
  const params = new URLSearchParams({ limit: String(SESSION_PAGE) });
  if (filter === "waiting") params.set("state", "waiting");
  if (filter === "active") params.set("status", "active");
  if (filter === "done") params.set("status", "completed");
  if (q) params.set("q", q);
  if (cursor) params.set("cursor", cursor);
  return params.toString();
}

function at(id: string, rest: string): string {
  return `/sessions/${encodeURIComponent(id)}${rest}`;
}
