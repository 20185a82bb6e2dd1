// A front end: the client of AG-UI's makers, told where the server is, with a memory of what it was sent.
import { HttpAgent, runHttpRequest, transformHttpEventStream } from "@ag-ui/client";
import type { BaseEvent, Message, RunAgentInput } from "@ag-ui/core";
import type { Hotseat } from "./hotseat.ts";

export const PROTOBUF = "application/vnd.ag-ui.event+proto";

/** Events that it keeps, far more than a test sees. */
const MAX_EVENTS = 10_000;

export class FrontEnd extends HttpAgent {
  /** Every event of every run, in order. */
  readonly events: any[] = [];
  /** How the last run ended: its `outcome`, or the error. */
  outcome: any = null;
  private readonly hotseat: Hotseat;
  private readonly name: string;
  private readonly accept: string | null;

  constructor(hotseat: Hotseat, name: string, threadId: string, accept: string | null = null) {
    const headers = { authorization: `Bearer ${hotseat.token}` };
    super({ url: `${hotseat.url}/ag-ui/${name}`, headers, threadId });
    this.hotseat = hotseat;
    this.name = name;
    this.accept = accept;
    this.subscribe({
      onEvent: ({ event }) => {
        if (this.events.length < MAX_EVENTS) this.events.push(event);
      },
      onRunFinishedEvent: ({ event }) => {
        this.outcome = event.outcome;
      },
      onRunErrorEvent: ({ event }) => {
        this.outcome = { type: "error", code: event.code, message: event.message };
      },
    });
  }

  /** Adds a message of the user's and runs the agent. */
  async say(text: string, more: Parameters<HttpAgent["runAgent"]>[0] = {}) {
    this.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
    return this.runAgent(more);
  }

  /** Adds the result of a tool that ran here. */
  result(toolCallId: string, content: string) {
    this.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId, content });
  }

  types(): string[] {
    return this.events.map((event) => event.type);
  }

  /** What was said, in short. */
  said(): string[] {
    return this.messages.map((message) => `${message.role}: ${words(message)}`);
  }

  /** The thread as the server knows it. */
  thread(): Promise<any> {
    return this.hotseat.call("GET", `/ag-ui/${this.name}/threads/${this.threadId}`);
  }

  cancel(): Promise<Response> {
    const { authorization = "" } = this.headers;
    const url = `${this.url}/threads/${this.threadId}/cancel`;
    return fetch(url, { method: "POST", headers: { authorization } });
  }

  protected override requestInit(input: RunAgentInput): RequestInit {
    const init = super.requestInit(input);
    if (!this.accept) return init;
    return { ...init, headers: { ...(init.headers as Record<string, string>), accept: this.accept } };
  }

  /** `connectAgent` takes up a run by its id. */
  protected override connect(input: RunAgentInput): ReturnType<HttpAgent["run"]> {
    const url = `${this.url}/threads/${input.threadId}/runs/${input.runId}`;
    return transformHttpEventStream(runHttpRequest(() => fetch(url, { headers: this.headers })));
  }
}

function words(message: Message): string {
  if (message.role === "assistant") {
    const calls = message.toolCalls?.map((call) => `${call.function.name}(${call.function.arguments})`) ?? [];
    return [message.content, ...calls].filter(Boolean).join(" ");
  }
  return typeof message.content === "string" ? message.content : JSON.stringify(message.content);
}

export type { BaseEvent };
