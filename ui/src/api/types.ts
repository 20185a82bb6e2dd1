// The shapes of the HTTP API. schema.ts is generated from the server's OpenAPI document; here its shapes get the names
// the page uses. Where the document says less than docs/API.md, a shape is told more exactly, never more loosely:
// `Exactly` refuses a field that the document does not have or that does not fit what it says.
//
// By hand, because OpenAPI cannot say it: `Json`, whose numbers keep their digits (`Exact`); what ADK defines and the
// server passes on as it came (contents, cases, schemas); which payload goes with which kind of event.
import type { Exact } from "../json/json";
import type { components } from "./schema";

type Schemas = components["schemas"];
type Exactly<T, O extends { [K in keyof O]: K extends keyof T ? T[K] : never }> = Omit<T, keyof O> & O;

export type Json = null | boolean | number | string | Exact | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };
/** JSON Schema is open by nature; the form folder is the only place that looks inside. */
export type JsonSchema = { [key: string]: unknown };
/** A number as it was written; the few that JavaScript would change come as `Exact`. */
type Numeric = number | Exact;
/** `T` whose fields `K` are no whole numbers, so that they may come as `Exact`. */
type Fractions<T, K extends keyof T> = Omit<T, K> & { [P in K]: Numeric | Exclude<T[P], number> };

/** Lists of all kinds: the document has one shape for each. */
export type Page<T> = { items: T[]; next_cursor?: string | null };

// ------------------------------------------------------------------------------------------------------------ agents

export type ToolKind = "function" | "agent" | "transfer" | "mcp" | "long_running";
export type Tool = {
  name: string;
  description?: string | null;
  kind?: ToolKind;
  parameters?: JsonSchema | null;
  error?: string | null;
};
/** Who answers for the model. */
export type SeatOf = "human" | "model" | "replay";
export type Agent = Exactly<Schemas["Agent"], { tools: Tool[]; seat?: SeatOf | null }>;
export type AgentProblem = Schemas["LoadProblem"];
export type AgentList = Exactly<Schemas["AgentList"], { items: Agent[] }>;

// ---------------------------------------------------------------------------------------------------------- sessions

export type RunStatus = "queued" | "started" | "finished" | "failed" | "cancelled";
export type Run = Exactly<Schemas["RunView"], { status: RunStatus }>;
export type Session = Exactly<
  Schemas["SessionView"],
  {
    agent: string | null;
    description: string | null;
    title: string | null;
    status: "active" | "completed";
    state: "awaiting_query" | "active" | "completed";
    /** Who drives it: this page, the user's program with the plugin, AG-UI or ADK's own ways, or REST. */
    source: "web" | "plugin" | "adk" | "rest" | "ag-ui";
    run: Run | null;
    /** With `include=state`: the state that ADK shows. */
    adk_state?: JsonObject | null;
  }
>;
export type Security = Schemas["SecurityView"];
export type Me = Schemas["MeView"];
export type Claim = Schemas["ClaimView"];
export type Room = Schemas["RoomView"];

// ----------------------------------------------------------------------------------------------- history and streams

type EntryBase = {
  seq: number;
  timestamp: string;
  invocation_id?: string | null;
  agent_name?: string | null;
  branch?: string | null;
  parent_call_id?: string | null;
  /** What the ADK event behind it changed in the session's state. */
  state_delta?: JsonObject | null;
};

type Answered = {
  turn_id?: string | null;
  answered_by?: string | null;
  /** Who sat there, where several people share the seat. */
  person?: string | null;
  answered_after_ms?: Numeric | null;
};

export type UserQuery = EntryBase & {
  type: "user_query";
  content: string;
};
export type ToolCall = EntryBase &
  Answered & {
    type: "tool_call";
    tool_name: string;
    arguments: JsonObject;
    call_id: string;
    /** Its result is given later, by the user. */
    long_running?: boolean;
  };
export type ToolOutput = EntryBase & {
  type: "tool_output";
  call_id: string;
  tool_name?: string;
  result: Json;
  duration_ms?: Numeric | null;
};
export type ToolError = EntryBase & {
  type: "tool_error";
  call_id: string;
  tool_name?: string;
  error_type: string;
  error_message: string;
  traceback?: string | null;
  duration_ms?: Numeric | null;
};
export type AgentText = EntryBase & {
  type: "agent_text";
  content: string;
};
export type Transfer = EntryBase & {
  type: "transfer";
  to_agent: string;
  call_id?: string | null;
};
export type FinalResponse = EntryBase &
  Answered & {
    type: "final_response";
    content: string;
  };
/** What ADK asks the user, not the model. */
export type InputRequest = EntryBase & {
  type: "input_request";
  request: "confirmation" | "credential" | "input";
  call_id: string;
  name: string;
  arguments: JsonObject;
  /** The tool call that waits for the answer. */
  for_call_id?: string | null;
};
export type InputResponse = EntryBase & {
  type: "input_response";
  call_id: string;
  name: string;
  response: Json;
};
export type RunError = EntryBase & {
  type: "run_error";
  error_type: string;
  error_message: string;
  traceback?: string | null;
};

export type Entry =
  | UserQuery
  | ToolCall
  | ToolOutput
  | ToolError
  | AgentText
  | Transfer
  | FinalResponse
  | InputRequest
  | InputResponse
  | RunError;

export type ToolRunEvent = {
  call_id: string;
  tool_name: string;
  status: "started" | "progress" | "cancel_requested" | "succeeded" | "failed" | "cancelled";
  duration_ms?: Numeric | null;
  /** What a tool says about how far it is. */
  message?: string | null;
  fraction?: Numeric | null;
};

export type RunEvent = {
  run_id: string;
  status: RunStatus;
  message?: Content | null;
  /** With `queued`; a run that says nothing has a person in its seat. */
  seat?: SeatOf | null;
  /** With `queued`: what the front door that took the message knows it by. */
  client?: { protocol?: string } | null;
  error?: { type: string; message: string; traceback?: string } | null;
};

/** An event of the log. The payload of kind `event` is ADK's own object, as it came. */
export type LogEvent = Exactly<
  Schemas["EventView"],
  { kind: StreamMessage["kind"]; event?: JsonObject | null; entries?: Entry[] | null }
>;

type Message<K extends string, E extends Schemas["EventView"]["event"]> = Exactly<
  Schemas["EventView"],
  { kind: K; event: E; entries?: Entry[] }
>;

/** One message of `GET …/stream?view=history`: an event of the log and the history entries it adds. */
export type StreamMessage =
  | Message<"request" | "event", null>
  | Message<"message", JsonObject | null>
  | Message<"response", { candidates?: Content[]; error?: { code: string; message: string } } | null>
  | Message<"tool_run", ToolRunEvent>
  | Message<"run", RunEvent>
  | Message<"session", { status?: "completed"; state?: JsonObject | null }>;

/** Entries of the log that are no longer there: those after `after` up to `through`. */
export type Gap = { after: number; through: number };

// ------------------------------------------------------------------------------------------------------------- turns

export type FunctionCall = {
  id?: string;
  name: string;
  args?: JsonObject;
};
export type FunctionResponse = {
  id?: string;
  name: string;
  response?: Json;
};
export type Part = {
  text?: string;
  thought?: boolean;
  function_call?: FunctionCall;
  function_response?: FunctionResponse;
  inline_data?: { mime_type?: string; data?: string; display_name?: string };
  file_data?: { mime_type?: string; file_uri?: string };
  [key: string]: unknown;
};
export type Content = {
  role?: string | null;
  parts?: Part[] | null;
};

export type TurnRequest = {
  contents: Content[];
  system_instruction?: string | null;
  tools: Tool[];
  output_schema?: JsonSchema | null;
  state?: JsonObject | null;
  raw?: Json;
};

export type Turn = Exactly<Schemas["TurnJson"], { request?: TurnRequest | null }>;
export type Decision = { candidates: Content[] };
export type DecisionAccepted = Schemas["DecidedView"];

// ------------------------------------------------------------------------------------------- golden trace, eval sets

export type TracePreview = Exactly<Schemas["PreviewView"], { case: JsonObject }>;
export type TraceWritten = Exactly<
  Schemas["ExportView"],
  { case: JsonObject; action: "created" | "appended" | "updated" }
>;
export type ExportWish = Exactly<Schemas["ExportBody"], { case?: JsonObject | null }>;
export type CasePut = Exactly<Schemas["PutView"], { case: JsonObject }>;
export type CaseRemoved = Exactly<Schemas["RemovedView"], { case: JsonObject }>;

export type Artifact = Exactly<Schemas["Artifact"], { versions: number[] }>;
export type EvalSetRow = Schemas["EvalSetRow"];
export type EvalSetFile = Exactly<Schemas["EvalSetFile"], { cases: JsonObject[] }>;
export type EvalMetric = { name: string; score?: Numeric | null; threshold?: Numeric | null; passed?: boolean | null };
export type EvalRun = Exactly<
  Schemas["EvalRun"],
  { cases: { eval_id: string; passed: boolean; metrics: EvalMetric[] }[] }
>;
export type Validation = Exactly<Schemas["Validation"], { errors: FieldError[] }>;

// ------------------------------------------------------------------------------------------------------------ ledger

export type Latency = Fractions<Schemas["LatencyView"], "p50_ms" | "p95_ms" | "p99_ms">;
export type Stats = Fractions<
  Omit<Schemas["Stats"], "latency" | "config" | "tools">,
  "estimated_events_memory_kb" | "avg_messages_per_session" | "avg_events_per_session"
> & {
  latency: { [K in keyof Schemas["Latencies"]]: Latency };
  config: Fractions<Schemas["Limits"], "session_ttl_hours" | "cleanup_interval_minutes" | "empty_session_minutes">;
  tools: Fractions<Schemas["Tool"], "total_ms" | "max_ms">[];
};
export type Found = Schemas["HitView"];

// ------------------------------------------------------------------------------------------------------------ errors

export type FieldError = { path: string; message: string };

/** `application/problem+json`. The page makes some itself, for a server that does not answer, and those are shorter. */
export type Problem = Exactly<
  Omit<Schemas["Problem"], "type" | "detail" | "instance">,
  { errors?: FieldError[]; decision?: JsonObject | null }
> &
  Partial<Pick<Schemas["Problem"], "type" | "detail" | "instance">>;
