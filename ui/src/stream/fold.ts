// Folds the messages of a session's stream into what the page shows: cards, pending turns, running tools, the run.
// Pure and incremental: folding the same messages in any batches gives the same result, and a seq counts once. A call
// and its outcome are one card; everything inside an agent called as a tool belongs under that call's card.
import type {
  Content,
  Entry,
  Gap,
  InputRequest,
  InputResponse,
  Json,
  JsonObject,
  RunEvent,
  SeatOf,
  StreamMessage,
  ToolCall,
  ToolError,
  ToolOutput,
  ToolRunEvent,
} from "../api/types";
import { isJsonObject } from "../json/json";

type Alone = Exclude<Entry, ToolCall | ToolOutput | ToolError | InputRequest | InputResponse>;

export interface CallCard {
  type: "tool_call";
  key: string;
  seq: number;
  parent: string | null;
  call: ToolCall;
  outcome: ToolOutput | ToolError | null;
  running: RunningTool | null;
  cancelled: Cancelled | null;
  /** The user was asked and said no. */
  rejected: boolean;
  /** What a long-running tool said first; its result, given by the user, is the outcome. */
  interim: ToolOutput | ToolError | null;
  /** A long-running tool whose result is still to come. */
  open: boolean;
}

export interface Cancelled {
  afterMs: number | null;
}

/** Something ADK asks the user, and what the user answered. */
export interface AskCard {
  type: "input_request";
  key: string;
  seq: number;
  parent: string | null;
  ask: InputRequest;
  /** The tool whose call waits for the answer. */
  tool: string | null;
  response: InputResponse | null;
}

export interface EntryCard {
  type: Alone["type"];
  key: string;
  seq: number;
  parent: string | null;
  entry: Alone;
  /** A message that somebody wrote beside the events; with events, those tell what was said. */
  message?: boolean;
}

/** An outcome whose call is not in the log (removed by retention, or never recorded). */
export interface OrphanCard {
  type: "outcome";
  key: string;
  seq: number;
  parent: string | null;
  outcome: ToolOutput | ToolError;
}

export type Card = CallCard | EntryCard | AskCard | OrphanCard;

export interface RunningTool {
  callId: string;
  toolName: string;
  since: string;
  /** How far it is, in its own words. */
  said: string | null;
}

/** An agent in one place: its branch, or the call inside which it ran. */
export interface Part {
  agent: string;
  branch: string | null;
  parent: string | null;
  events: number;
  firstSeq: number;
}

export interface StreamState {
  lastSeq: number;
  /** How many entries of the log are no longer there. */
  removed: number;
  /** Cards in the order of their first event. */
  cards: Card[];
  /** Turn ids that were asked and not answered, oldest first. */
  pending: string[];
  /** Every turn asked so far, in order: "request 3 of this session". */
  requests: string[];
  /** Who asked in each turn. */
  askers: Record<string, string>;
  /** Turns that were answered, in order; one can go back to before each of them. */
  answered: string[];
  /** What changed in the session's state before each request, since the one before. */
  deltas: Record<string, JsonObject>;
  /** The changes since the last request. */
  delta: JsonObject;
  /** The agents that took part. */
  parts: ReadonlyMap<string, Part>;
  running: RunningTool[];
  run: (RunEvent & { since: string }) | null;
  /** Who answers for the model in the latest run. */
  seat: SeatOf;
  /** A message was sent to an agent that Hotseat runs. */
  hosted: boolean;
  /** By which protocol the latest message came, where it says so. */
  protocol: string | null;
  /** What the user said, from the moment it was sent until the agent's own record of it arrives. */
  unheard: { text: string; seq: number; timestamp: string } | null;
  completed: boolean;
  /** False until the server said that the history is over. */
  live: boolean;
  firstTime: string | null;
  lastTime: string | null;
}

export const emptyStream: StreamState = {
  lastSeq: 0,
  removed: 0,
  cards: [],
  pending: [],
  requests: [],
  askers: {},
  answered: [],
  deltas: {},
  delta: {},
  parts: new Map(),
  running: [],
  run: null,
  seat: "human",
  hosted: false,
  protocol: null,
  unheard: null,
  completed: false,
  live: false,
  firstTime: null,
  lastTime: null,
};

export function fold(state: StreamState, messages: StreamMessage[]): StreamState {
  const fresh = messages.filter((message, index) => isNew(state.lastSeq, messages, index, message.seq));
  if (fresh.length === 0) return state;
  const next: StreamState = {
    ...state,
    cards: [...state.cards],
    pending: [...state.pending],
    requests: [...state.requests],
    answered: [...state.answered],
    running: [...state.running],
    askers: { ...state.askers },
    deltas: { ...state.deltas },
  };
  const calls = new Map<string, number>();
  next.cards.forEach((card, index) => {
    if (card.type === "tool_call") calls.set(card.call.call_id, index);
    if (card.type === "input_request") calls.set(card.ask.call_id, index);
  });
  const parts = new Map(state.parts);
  next.parts = parts;
  for (const message of fresh) {
    addPart(parts, message);
    next.lastSeq = message.seq;
    next.firstTime ??= message.timestamp;
    next.lastTime = message.timestamp;
    applyKind(next, message, calls);
    message.entries?.forEach((entry, index) => {
      addEntry(next, entry, `${message.seq}.${index}`, calls, message.author === "user");
      if (entry.state_delta) next.delta = { ...next.delta, ...entry.state_delta };
    });
  }
  return next;
}

export function addGap(state: StreamState, { after, through }: Gap): StreamState {
  const from = Math.max(after, state.lastSeq);
  return through > from ? { ...state, removed: state.removed + through - from, lastSeq: through } : state;
}

function addPart(parts: Map<string, Part>, message: StreamMessage): void {
  const { kind, branch = null, parent_call_id: parent = null, seq } = message;
  if (kind !== "event" && kind !== "request") return;
  const agent = kind === "event" ? message.author : message.agent_name;
  if (!agent || agent === "user") return;
  const key = `${agent}\n${branch}\n${parent}`;
  const known = parts.get(key) ?? { agent, branch, parent, events: 0, firstSeq: seq };
  parts.set(key, { ...known, events: known.events + (kind === "event" ? 1 : 0) });
}

function isNew(last: number, messages: StreamMessage[], index: number, seq: number): boolean {
  const before = index === 0 ? last : Math.max(last, messages[index - 1]?.seq ?? 0);
  return seq > before;
}

function applyKind(state: StreamState, message: StreamMessage, calls: Map<string, number>): void {
  switch (message.kind) {
    case "request":
      if (!message.turn_id) return;
      state.pending.push(message.turn_id);
      state.requests.push(message.turn_id);
      if (message.agent_name) state.askers[message.turn_id] = message.agent_name;
      state.deltas[message.turn_id] = state.delta;
      state.delta = {};
      return;
    case "response":
      state.pending = state.pending.filter((turn) => turn !== message.turn_id);
      if (message.turn_id && !message.event?.error) state.answered.push(message.turn_id);
      return;
    case "tool_run": {
      applyToolRun(state, message.event, message.timestamp, calls);
      return;
    }
    case "run":
      if (message.event.status === "queued" || message.event.status === "started") {
        state.run = { ...message.event, since: message.timestamp };
        if (message.event.status === "queued") {
          state.seat = message.event.seat ?? "human";
          state.hosted = true;
          state.protocol = message.event.client?.protocol ?? state.protocol;
        }
        if (message.event.message) state.unheard = unheard(message.event.message, message);
        return;
      }
      state.run = null;
      state.unheard = null;
      stopTools(state, calls);
      return;
    case "session":
      // What the session began with is told in the same kind of entry.
      if (message.event.status !== "completed") return;
      state.completed = true;
      state.run = null;
      stopTools(state, calls);
      return;
    case "message":
      addMessage(state, message);
      return;
    case "event":
      return;
  }
}

function addMessage(state: StreamState, { seq, timestamp, event, author }: StreamMessage): void {
  if (state.cards.some((card) => !isMessage(card))) return;
  const { role, content } = (event ?? {}) as { role?: string; content?: string };
  const said = { seq, timestamp, content: content ?? "" };
  const entry: Alone =
    role === "user"
      ? { ...said, type: "user_query" }
      : { ...said, type: "agent_text", agent_name: role || author || null };
  state.cards.push({ type: entry.type, key: String(seq), seq, parent: null, entry, message: true });
}

function isMessage(card: Card): boolean {
  return "message" in card && card.message === true;
}

function applyToolRun(state: StreamState, event: ToolRunEvent, at: string, calls: Map<string, number>): void {
  const { call_id: callId, tool_name: toolName, status } = event;
  const place = calls.get(callId);
  const known = state.running.find((tool) => tool.callId === callId);
  const others = state.running.filter((tool) => tool.callId !== callId);
  switch (status) {
    case "cancel_requested":
      return;
    case "started":
    case "progress": {
      const running = {
        callId,
        toolName,
        since: known?.since ?? at,
        said: progressWords(event) ?? known?.said ?? null,
      };
      state.running = known
        ? state.running.map((tool) => (tool === known ? running : tool))
        : [...state.running, running];
      markCall(state, place, { running });
      return;
    }
    case "cancelled": {
      const measured = event.duration_ms ?? (known ? Date.parse(at) - Date.parse(known.since) : null);
      state.running = others;
      markCall(state, place, { running: null, cancelled: { afterMs: measured === null ? null : Number(measured) } });
      return;
    }
    default:
      state.running = others;
      markCall(state, place, { running: null });
  }
}

function progressWords({ message, fraction }: ToolRunEvent): string | null {
  if (fraction === undefined || fraction === null) return message ?? null;
  const share = `${Math.round(100 * Number(fraction))} %`;
  return message ? `${share} · ${message}` : share;
}

/** A run that is over has no running tools, even if their end was never recorded. */
function stopTools(state: StreamState, calls: Map<string, number>): void {
  for (const tool of state.running) markCall(state, calls.get(tool.callId), { running: null });
  state.running = [];
}

function addEntry(state: StreamState, entry: Entry, key: string, calls: Map<string, number>, fromUser: boolean): void {
  const parent = entry.parent_call_id ?? null;
  if (state.cards[0] && isMessage(state.cards[0])) state.cards = [];
  switch (entry.type) {
    case "tool_call": {
      const running = state.running.find((tool) => tool.callId === entry.call_id) ?? null;
      calls.set(entry.call_id, state.cards.length);
      const card: CallCard = {
        type: "tool_call",
        key,
        seq: entry.seq,
        parent,
        call: entry,
        outcome: null,
        running,
        cancelled: null,
        rejected: false,
        interim: null,
        open: entry.long_running === true,
      };
      state.cards.push(card);
      return;
    }
    case "tool_output":
    case "tool_error": {
      const index = calls.get(entry.call_id);
      if (index !== undefined) {
        addOutcome(state, index, entry, fromUser);
      } else if (!isTransferAnswer(state, entry.call_id)) {
        state.cards.push({ type: "outcome", key, seq: entry.seq, parent, outcome: entry });
      }
      return;
    }
    case "input_request": {
      const waiting = state.cards[calls.get(entry.for_call_id ?? "") ?? -1];
      const tool = waiting?.type === "tool_call" ? waiting.call.tool_name : null;
      calls.set(entry.call_id, state.cards.length);
      state.cards.push({ type: entry.type, key, seq: entry.seq, parent, ask: entry, tool, response: null });
      return;
    }
    case "input_response": {
      const index = calls.get(entry.call_id) ?? -1;
      const card = state.cards[index];
      if (card?.type === "input_request") {
        state.cards[index] = { ...card, response: entry };
        if (card.ask.request === "confirmation") {
          markCall(state, calls.get(card.ask.for_call_id ?? ""), { rejected: !isYes(entry.response) });
        }
      }
      if (parent === null) state.unheard = null;
      return;
    }
    case "user_query":
      if (parent === null) state.unheard = null;
      state.cards.push({ type: entry.type, key, seq: entry.seq, parent, entry });
      return;
    case "agent_text":
    case "transfer":
    case "final_response":
    case "run_error":
      state.cards.push({ type: entry.type, key, seq: entry.seq, parent, entry });
      return;
  }
}

function addOutcome(state: StreamState, index: number, outcome: ToolOutput | ToolError, fromUser: boolean): void {
  const card = state.cards[index];
  if (card?.type !== "tool_call") return;
  const change: Partial<CallCard> = { outcome, running: null };
  if (card.call.long_running && fromUser) Object.assign(change, { interim: card.outcome, open: false });
  // A tool that failed has nothing more to say.
  if (outcome.type === "tool_error") change.open = false;
  state.cards[index] = { ...card, ...change };
}

function isYes(response: Json): boolean {
  return isJsonObject(response) && response.confirmed === true;
}

function unheard(content: Content, { seq, timestamp }: StreamMessage): StreamState["unheard"] {
  const text = (content.parts ?? []).map((part) => part.text ?? "").join("");
  return text === "" ? null : { text, seq, timestamp };
}

function markCall(state: StreamState, index: number | undefined, change: Partial<CallCard>): void {
  const card = index === undefined ? undefined : state.cards[index];
  if (index !== undefined && card?.type === "tool_call") state.cards[index] = { ...card, ...change };
}

function isTransferAnswer(state: StreamState, callId: string): boolean {
  return state.cards.some(
    (card) => card.type === "transfer" && "call_id" in card.entry && card.entry.call_id === callId,
  );
}

/** What ADK asked and nobody answered yet. A new message of the user leaves older questions behind. */
export function openAsks(cards: Card[]): AskCard[] {
  const asks: AskCard[] = [];
  for (const card of cards) {
    if (card.type === "user_query" && card.parent === null) asks.length = 0;
    if (card.type === "input_request" && !card.response) asks.push(card);
  }
  return asks;
}

/** The agents that took part, each once. */
export function agentsIn(parts: ReadonlyMap<string, Part>): Set<string> {
  return new Set([...parts.values()].map((part) => part.agent));
}

/** Long-running calls whose results can still be given. */
export function openResults(cards: Card[]): CallCard[] {
  return cards.filter((card): card is CallCard => card.type === "tool_call" && card.open && card.running === null);
}
