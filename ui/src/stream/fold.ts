// Folds the messages of a session's stream into what the page shows: cards, pending turns, running tools, the run.
// Pure and incremental: folding the same messages in any batches gives the same result, and a seq counts once. A call
// and its outcome are one card; everything inside an agent called as a tool belongs under that call's card.
import type { Content, Entry, RunEvent, StreamMessage, ToolCall, ToolError, ToolOutput } from "../api/types";

type Alone = Exclude<Entry, ToolCall | ToolOutput | ToolError>;

export interface CallCard {
  type: "tool_call";
  key: string;
  seq: number;
  parent: string | null;
  call: ToolCall;
  outcome: ToolOutput | ToolError | null;
  running: RunningTool | null;
  cancelled: boolean;
}

export interface EntryCard {
  type: Alone["type"];
  key: string;
  seq: number;
  parent: string | null;
  entry: Alone;
}

/** An outcome whose call is not in the log (removed by retention, or never recorded). */
export interface OrphanCard {
  type: "outcome";
  key: string;
  seq: number;
  parent: string | null;
  outcome: ToolOutput | ToolError;
}

export type Card = CallCard | EntryCard | OrphanCard;

export interface RunningTool {
  callId: string;
  toolName: string;
  since: string;
}

export interface StreamState {
  lastSeq: number;
  /** Cards in the order of their first event. */
  cards: Card[];
  /** Turn ids that were asked and not answered, oldest first. */
  pending: string[];
  /** Every turn asked so far, in order: "request 3 of this session". */
  requests: string[];
  running: RunningTool[];
  run: (RunEvent & { since: string }) | null;
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
  cards: [],
  pending: [],
  requests: [],
  running: [],
  run: null,
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
    running: [...state.running],
  };
  const calls = new Map<string, number>();
  next.cards.forEach((card, index) => {
    if (card.type === "tool_call") calls.set(card.call.call_id, index);
  });
  for (const message of fresh) {
    next.lastSeq = message.seq;
    next.firstTime ??= message.timestamp;
    next.lastTime = message.timestamp;
    applyKind(next, message, calls);
    message.entries?.forEach((entry, index) => {
      addEntry(next, entry, `${message.seq}.${index}`, calls);
    });
  }
  return next;
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
      return;
    case "response":
      state.pending = state.pending.filter((turn) => turn !== message.turn_id);
      return;
    case "tool_run": {
      const { call_id: callId, tool_name: toolName, status } = message.event;
      if (status === "started") state.running.push({ callId, toolName, since: message.timestamp });
      else state.running = state.running.filter((tool) => tool.callId !== callId);
      markCall(state, calls.get(callId), {
        running: status === "started" ? { callId, toolName, since: message.timestamp } : null,
        cancelled: status === "cancelled",
      });
      return;
    }
    case "run":
      if (message.event.status === "queued" || message.event.status === "started") {
        state.run = { ...message.event, since: message.timestamp };
        if (message.event.message) state.unheard = unheard(message.event.message, message);
        return;
      }
      state.run = null;
      state.unheard = null;
      stopTools(state, calls);
      return;
    case "session":
      state.completed = message.event.status === "completed";
      state.run = null;
      stopTools(state, calls);
      return;
    case "event":
      return;
  }
}

/** A run that is over has no running tools, even if their end was never recorded. */
function stopTools(state: StreamState, calls: Map<string, number>): void {
  for (const tool of state.running) markCall(state, calls.get(tool.callId), { running: null });
  state.running = [];
}

function addEntry(state: StreamState, entry: Entry, key: string, calls: Map<string, number>): void {
  const parent = entry.parent_call_id ?? null;
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
        cancelled: false,
      };
      state.cards.push(card);
      return;
    }
    case "tool_output":
    case "tool_error": {
      const index = calls.get(entry.call_id);
      if (index !== undefined) {
        markCall(state, index, { outcome: entry, running: null });
      } else if (!isTransferAnswer(state, entry.call_id)) {
        state.cards.push({ type: "outcome", key, seq: entry.seq, parent, outcome: entry });
      }
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
