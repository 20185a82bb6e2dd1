// What ADK asks the user, in words, and the answers in ADK's shape. ADK's own objects come in camelCase or snake_case.
import type { FunctionResponse, InputRequest, Json, JsonObject, JsonSchema } from "../api/types";
import { check } from "../form/check";
import { asSchema } from "../form/schema";
import { clean, startValue } from "../form/value";
import { isJsonObject } from "../json/json";
import { argumentsLine } from "../value/oneLine";

export interface AskAnswer {
  /** Yes or no, for a confirmation; null until chosen. */
  confirmed: boolean | null;
  /** What goes along with the confirmation, or the input itself. */
  payload: unknown;
  /** For a credential: the key, the token, or the address that the sign-in led to. */
  secret: string;
}

export const emptyAnswer: AskAnswer = { confirmed: null, payload: undefined, secret: "" };

/** What a question is answered with before anything is entered: a form may be complete as it is. */
export function startAnswer(ask: InputRequest): AskAnswer {
  const schema = ask.request === "input" ? inputSchema(ask) : null;
  if (!schema) return emptyAnswer;
  return { ...emptyAnswer, payload: clean(startValue(asSchema(schema), asSchema(schema))) };
}

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

/**
 * Who asks for what. `tool` is the tool whose call waits for the answer, where it is known. Its arguments are left out
 * where they are shown beside it.
 */
export function askWords(ask: InputRequest, tool: string | null, withArgs = true): string {
  switch (ask.request) {
    case "confirmation": {
      const call = askedCall(ask);
      return `${call?.name || tool || "A tool"} asks whether it may run${withArgs ? argumentWords(call?.args ?? {}) : ""}.`;
    }
    case "credential":
      return `${tool ?? "A tool"} needs a credential.`;
    case "input":
      return text(pick(ask.arguments, "message")) || `${tool ?? "The agent"} asks for input.`;
  }
}

/** What the tool itself says about it. ADK's own hint only tells programs how to answer. */
export function askHint(ask: InputRequest): string {
  if (ask.request === "input") return "";
  const { arguments: args } = ask;
  const hint = text(pick(pick(args, "tool_confirmation"), "hint")) || text(pick(args, "message"));
  return /ToolConfirmation payload\.?$/.test(hint) ? "" : hint;
}

function argumentWords(args: JsonObject): string {
  const line = argumentsLine(args).map(({ name, text: value }) => `${name}: ${value}`);
  return line.length === 0 ? "" : ` with ${line.join(", ")}`;
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

/** What keeps an answer from being sent; null if nothing does. */
export function answerProblem(ask: InputRequest, answer: AskAnswer): string | null {
  switch (ask.request) {
    case "confirmation":
      return answer.confirmed === null ? "Approve or reject it first." : null;
    case "credential":
      return answer.secret.trim() === "" ? "Enter it first." : null;
    case "input": {
      const schema = inputSchema(ask);
      if (!schema) return answer.payload === undefined ? "Write an answer first." : null;
      return check(asSchema(schema), answer.payload).length > 0 ? "Some fields need another look." : null;
    }
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
