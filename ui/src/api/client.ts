// The one way the page talks to the server. Every failure becomes an ApiError whose `code` is stable; a server that
// cannot be reached has the code `unreachable`. A 401 is also announced once to the shell, whatever asked.
import { parseJson, writeJson } from "../json/json";
import type { Problem } from "./types";

export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.name = "ApiError";
    this.problem = problem;
  }

  get code(): string {
    return this.problem.code;
  }

  get status(): number {
    return this.problem.status;
  }
}

type Listener = () => void;
const unauthorisedListeners = new Set<Listener>();

export function onUnauthorised(listener: Listener): () => void {
  unauthorisedListeners.add(listener);
  return () => unauthorisedListeners.delete(listener);
}

export function get<T>(path: string): Promise<T> {
  return call<T>("GET", path);
}

export function post<T>(path: string, body?: unknown): Promise<T> {
  return call<T>("POST", path, body ?? {});
}

export function put<T>(path: string, body: unknown): Promise<T> {
  return call<T>("PUT", path, body);
}

export function remove<T = void>(path: string): Promise<T> {
  return call<T>("DELETE", path);
}

/** The server speaks in fragments; people read sentences. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await send(method, path, body);
  if (response.ok) {
    return response.status === 204 ? (undefined as T) : (parseJson(await response.text()) as T);
  }
  if (response.status === 401) for (const listener of unauthorisedListeners) listener();
  throw new ApiError(await problemOf(response));
}

async function send(method: string, path: string, body: unknown): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    return await fetch(`/api/v1${path}`, {
      method,
      headers,
      credentials: "same-origin",
      body: body === undefined ? undefined : writeJson(body),
    });
  } catch {
    throw new ApiError({
      title: "The server did not answer",
      status: 0,
      code: "unreachable",
      detail: "The Hotseat server did not answer. Check that `hotseat web` is still running.",
    });
  }
}

async function problemOf(response: Response): Promise<Problem> {
  const fallback = { title: response.statusText || "Error", status: response.status, code: `http_${response.status}` };
  try {
    const body = (await response.json()) as Partial<Problem>;
    return { ...fallback, ...body };
  } catch {
    return { ...fallback, detail: `The server answered ${response.status}.` };
  }
}
