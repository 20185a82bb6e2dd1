// The shapes of the HTTP API, as docs/API.md describes them. Written by hand until they are generated from
// openapi.json; nothing here is computed, and nothing outside this folder declares a wire shape.

import type { Exact } from "../json/json";

export type Json = null | boolean | number | string | Exact | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };
/** JSON Schema is open by nature; the form folder is the only place that looks inside. */
export type JsonSchema = { [key: string]: unknown };

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

export type ToolKind = "function" | "agent" | "transfer" | "mcp" | "long_running";

export interface Tool {
  name: string;
  description?: string | null;
  kind?: ToolKind;
  parameters?: JsonSchema | null;
  error?: string | null;
}

export interface Agent {
  name: string;
  app_name: string;
  runtime: "adk" | "native";
  description?: string | null;
  instruction?: string | null;
  model?: string | null;
  tools: Tool[];
  input_schema?: JsonSchema | null;
  output_schema?: JsonSchema | null;
  eval_set_path?: string | null;
  sub_agents?: unknown[];
  connected: boolean;
}

export interface AgentProblem {
  source: string;
  message: string;
  traceback?: string | null;
}

export interface AgentList extends Page<Agent> {
  problems?: AgentProblem[];
}

export type RunStatus = "queued" | "started" | "finished" | "failed" | "cancelled";

export interface Run {
  run_id: string;
  status: RunStatus;
  since: string;
  worker_connected: boolean;
}

export interface Session {
  id: string;
  agent: string | null;
  app_name: string;
  user_id: string;
  description: string | null;
  title: string | null;
  status: "active" | "completed";
  state: "awaiting_query" | "active" | "completed";
  source: "web" | "plugin";
  created_at: string;
  updated_at: string;
  last_seq: number;
  pending_turns: number;
  run: Run | null;
}

interface EntryBase {
  seq: number;
  timestamp: string;
  invocation_id?: string | null;
  agent_name?: string | null;
  branch?: string | null;
  parent_call_id?: string | null;
  /** What the ADK event behind it changed in the session's state. */
  state_delta?: JsonObject | null;
}

interface Answered {
  turn_id?: string | null;
  answered_by?: string | null;
  answered_after_ms?: number | Exact | null;
}

export interface UserQuery extends EntryBase {
  type: "user_query";
  content: string;
}
export interface ToolCall extends EntryBase, Answered {
  type: "tool_call";
  tool_name: string;
  arguments: JsonObject;
  call_id: string;
  /** Its result is given later, by the user. */
  long_running?: boolean;
}
export interface ToolOutput extends EntryBase {
  type: "tool_output";
  call_id: string;
  tool_name?: string;
  result: Json;
  duration_ms?: number | Exact | null;
}
export interface ToolError extends EntryBase {
  type: "tool_error";
  call_id: string;
  tool_name?: string;
  error_type: string;
  error_message: string;
  traceback?: string | null;
  duration_ms?: number | Exact | null;
}
export interface AgentText extends EntryBase {
  type: "agent_text";
  content: string;
}
export interface Transfer extends EntryBase {
  type: "transfer";
  to_agent: string;
  call_id?: string | null;
}
export interface FinalResponse extends EntryBase, Answered {
  type: "final_response";
  content: string;
}
/** What ADK asks the user, not the model. */
export interface InputRequest extends EntryBase {
  type: "input_request";
  request: "confirmation" | "credential" | "input";
  call_id: string;
  name: string;
  arguments: JsonObject;
  /** The tool call that waits for the answer. */
  for_call_id?: string | null;
}
export interface InputResponse extends EntryBase {
  type: "input_response";
  call_id: string;
  name: string;
  response: Json;
}
export interface RunError extends EntryBase {
  type: "run_error";
  error_type: string;
  error_message: string;
  traceback?: string | null;
}

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

export interface ToolRunEvent {
  call_id: string;
  tool_name: string;
  status: "started" | "progress" | "cancel_requested" | "succeeded" | "failed" | "cancelled";
  duration_ms?: number | Exact | null;
  /** What a tool says about how far it is. */
  message?: string | null;
  fraction?: number | Exact | null;
}

export interface RunEvent {
  run_id: string;
  status: RunStatus;
  message?: Content | null;
  error?: { type: string; message: string; traceback?: string } | null;
}

interface MessageBase {
  seq: number;
  event_id: string;
  session_id: string;
  timestamp: string;
  turn_id?: string | null;
  invocation_id?: string | null;
  author?: string | null;
  agent_name?: string | null;
  branch?: string | null;
  parent_call_id?: string | null;
  entries?: Entry[];
}

/** One message of `GET …/stream?view=history`: an event of the log and the history entries it adds. */
export type StreamMessage = MessageBase &
  (
    | { kind: "request"; event: null }
    | { kind: "event"; event: null }
    | { kind: "response"; event: { candidates?: Content[]; error?: { code: string; message: string } } | null }
    | { kind: "tool_run"; event: ToolRunEvent }
    | { kind: "run"; event: RunEvent }
    | { kind: "session"; event: { status: "completed" } }
  );

export interface FunctionCall {
  id?: string;
  name: string;
  args?: JsonObject;
}
export interface FunctionResponse {
  id?: string;
  name: string;
  response?: Json;
}
export interface Part {
  text?: string;
  thought?: boolean;
  function_call?: FunctionCall;
  function_response?: FunctionResponse;
  inline_data?: { mime_type?: string; data?: string; display_name?: string };
  file_data?: { mime_type?: string; file_uri?: string };
  [key: string]: unknown;
}
export interface Content {
  role?: string | null;
  parts?: Part[] | null;
}

export interface TurnRequest {
  contents: Content[];
  system_instruction?: string | null;
  tools: Tool[];
  output_schema?: JsonSchema | null;
  state?: JsonObject | null;
  raw?: Json;
}

export interface Turn {
  turn_id: string;
  session_id: string;
  agent_name: string;
  branch?: string | null;
  invocation_id?: string | null;
  parent_call_id?: string | null;
  created_at: string;
  seq: number;
  position: number;
  head: boolean;
  request?: TurnRequest;
}

export interface Decision {
  candidates: Content[];
}

export interface DecisionAccepted {
  seq: number;
  event_id: string;
  call_ids: string[];
}

export interface GoldenTrace {
  path: string;
  eval_id: string;
  case: Json;
  exists?: boolean;
  action?: "created" | "appended" | "updated";
}

export interface Artifact {
  name: string;
  versions: number[];
  mime_type?: string | null;
  size?: number | null;
}

export interface EvalSetRow {
  path: string;
  agent?: string | null;
  eval_set_id?: string | null;
  name?: string | null;
  cases: number;
  modified_at?: string | null;
  error?: string | null;
}

export interface EvalSetFile {
  path: string;
  agent?: string | null;
  eval_set_id: string;
  name?: string | null;
  description?: string | null;
  cases: JsonObject[];
}

export interface EvalMetric {
  name: string;
  score?: number | Exact | null;
  threshold?: number | Exact | null;
  passed?: boolean | null;
}

export interface EvalRun {
  eval_run_id: string;
  path: string;
  agent: string;
  status: "running" | "passed" | "failed" | "error";
  started_at: string;
  ended_at?: string | null;
  output: string;
  cases: { eval_id: string; passed: boolean; metrics: EvalMetric[] }[];
}

export interface Validation {
  valid: boolean;
  errors: FieldError[];
}

export interface FieldError {
  path: string;
  message: string;
}

/** `application/problem+json`. */
export interface Problem {
  type?: string;
  title: string;
  status: number;
  code: string;
  detail?: string;
  instance?: string;
  errors?: FieldError[];
}
