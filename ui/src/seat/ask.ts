// What ADK asks the user, in words, and the answers in ADK's shape. ADK's own objects come in camelCase or snake_case.
import type { FunctionResponse, InputRequest, Json, JsonObject, JsonSchema } from "../api/types";
import { isJsonObject } from "../json/json";

export interface AskAnswer {
  /** Yes or no, for a confirmation; null until chosen. */
  confirmed: boolean | null;
  /** What goes along with the confirmation, or the input itself. */
  payload: unknown;
  /** For a credential: the key, the token, or the address that the sign-in led to. */
  secret: string;
}

export const emptyAnswer: AskAnswer = { confirmed: null, payload: undefined, secret: "" };

export function askTitle(ask: InputRequest): string {
  switch (ask.request) {
    case "confirmation":
      return "Confirmation";
    case "credential":
      return "Credential request";
    case "input":
      return "Input request";
  }
}

export function askHint(ask: InputRequest): string {
  const { arguments: args } = ask;
  if (ask.request === "confirmation") {
    const hint = text(pick(pick(args, "tool_confirmation"), "hint"));
    return hint || `${askedCall(ask)?.name ?? "A tool"} wants to run.`;
  }
  const message = text(pick(args, "message"));
  if (message) return message;
  return ask.request === "credential" ? "A tool needs a credential." : "The agent asks for input.";
}

/** The call that waits for a confirmation. */
export function askedCall(ask: InputRequest): { name: string; args: JsonObject } | null {
  const call = pick(ask.arguments, "original_function_call");
  if (!isJsonObject(call)) return null;
  return { name: text(call.name), args: isJsonObject(call.args) ? call.args : {} };
}

/** What the tool would like to get along with a yes. */
export function askedPayload(ask: InputRequest): Json | undefined {
  const payload = pick(pick(ask.arguments, "tool_confirmation"), "payload");
  return payload ?? undefined;
}

export function inputSchema(ask: InputRequest): JsonSchema | null {
  const schema = pick(ask.arguments, "response_schema");
  return isJsonObject(schema) ? schema : null;
}

export type CredentialKind = "apiKey" | "bearer" | "basic" | "oauth" | "other";

export function credentialKind(ask: InputRequest): CredentialKind {
  const scheme = pick(configOf(ask), "auth_scheme");
  switch (text(pick(scheme, "type"))) {
    case "apiKey":
      return "apiKey";
    case "http":
      return text(pick(scheme, "scheme")).toLowerCase() === "basic" ? "basic" : "bearer";
    case "oauth2":
    case "openIdConnect":
      return "oauth";
    default:
      return "other";
  }
}

/** Where the person signs in, if ADK made an address for it. */
export function signInLink(ask: InputRequest): string | null {
  const oauth = pick(pick(configOf(ask), "exchanged_auth_credential"), "oauth2");
  return text(pick(oauth, "auth_uri")) || null;
}

/** The auth config with what the person gave filled in, as ADK's clients send it back. */
export function credentialResponse(ask: InputRequest, secret: string): JsonObject {
  const config = configOf(ask);
  const camel = "authScheme" in config;
  const name = (snake: string) => (camel ? toCamel(snake) : snake);
  const known = pick(config, "exchanged_auth_credential");
  const before: JsonObject = isJsonObject(known) ? known : {};
  return { ...config, [name("exchanged_auth_credential")]: { ...before, ...credential(ask, secret, before, name) } };
}

function credential(ask: InputRequest, secret: string, before: JsonObject, name: (s: string) => string): JsonObject {
  switch (credentialKind(ask)) {
    case "bearer":
    case "other":
      return { [name("auth_type")]: "http", http: { scheme: "bearer", credentials: { token: secret } } };
    case "basic": {
      const [username = "", ...rest] = secret.split(":");
      const credentials = { username, password: rest.join(":") };
      return { [name("auth_type")]: "http", http: { scheme: "basic", credentials } };
    }
    case "oauth": {
      const oauth = isJsonObject(before.oauth2) ? before.oauth2 : {};
      const redirect = secret.split("?")[0] ?? "";
      return {
        [name("auth_type")]: before[name("auth_type")] ?? "oauth2",
        oauth2: { ...oauth, [name("auth_response_uri")]: secret, [name("redirect_uri")]: redirect },
      };
    }
    case "apiKey":
      return { [name("auth_type")]: "apiKey", [name("api_key")]: secret };
  }
}

export function toResponse(ask: InputRequest, answer: AskAnswer): FunctionResponse {
  return { id: ask.call_id, name: ask.name, response: responseFor(ask, answer) };
}

function responseFor(ask: InputRequest, answer: AskAnswer): Json {
  switch (ask.request) {
    case "confirmation": {
      const payload = answer.payload as Json | undefined;
      return { confirmed: answer.confirmed === true, ...(payload === undefined ? {} : { payload }) };
    }
    case "credential":
      return credentialResponse(ask, answer.secret);
    case "input": {
      const value = (answer.payload ?? null) as Json;
      return isJsonObject(value) ? value : { result: value };
    }
  }
}

export function isAnswered(ask: InputRequest, answer: AskAnswer): boolean {
  switch (ask.request) {
    case "confirmation":
      return answer.confirmed !== null;
    case "credential":
      return answer.secret.trim() !== "";
    case "input":
      return answer.payload !== undefined;
  }
}

export function responseWords(ask: InputRequest, response: Json): string {
  if (ask.request !== "confirmation") return ask.request === "credential" ? "Credential given" : "Answered";
  return pick(isJsonObject(response) ? response : {}, "confirmed") === true ? "Approved" : "Rejected";
}

function configOf(ask: InputRequest): JsonObject {
  const config = pick(ask.arguments, "auth_config");
  return isJsonObject(config) ? config : {};
}

function pick(value: Json | undefined | null, snake: string): Json | undefined | null {
  return isJsonObject(value ?? null)
    ? ((value as JsonObject)[snake] ?? (value as JsonObject)[toCamel(snake)])
    : undefined;
}

function toCamel(snake: string): string {
  return snake.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
