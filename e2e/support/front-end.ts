// A front end: the client of AG-UI's makers, told where the server is, with a memory of what it was sent.
import { HttpAgent, runHttpRequest, transformHttpEventStream } from "@ag-ui/client";
import type { BaseEvent, Message, RunAgentInput } from "@ag-ui/core";
import { decode } from "@ag-ui/proto";
import type { Hotseat } from "./hotseat.ts";
import { problems } from "./strict.mjs";

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
    super({ url: `${hotseat.url}/ag-ui/${name}`, headers, threadId, fetch: checked });
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
    return transformHttpEventStream(runHttpRequest(() => checked(url, { headers: this.headers })));
  }
}

/** Fetches a stream, and complains about every event in it that AG-UI's schemas do not know exactly so. */
async function checked(url: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(url, init);
  if (!answer.ok || !answer.body) return answer;
  const [own, theirs] = answer.body.tee();
  void check(own, answer.headers.get("content-type") ?? "").catch(() => {
    // The client left, or the server did: no more to check.
  });
  return new Response(theirs, answer);
}

async function check(stream: ReadableStream<Uint8Array>, type: string) {
  let rest = Buffer.alloc(0);
  for await (const bytes of stream as unknown as AsyncIterable<Uint8Array>) {
    rest = Buffer.concat([rest, bytes]);
    const [events, taken] = type === PROTOBUF ? frames(rest) : blocks(rest);
    rest = rest.subarray(taken);
    for (const event of events) for (const problem of problems(event)) console.error(`AG-UI: ${problem}`);
  }
}

/** The whole SSE messages in some bytes, and how many bytes they take. */
function blocks(bytes: Buffer): [unknown[], number] {
  const end = bytes.lastIndexOf("\n\n");
  if (end < 0) return [[], 0];
  const lines = bytes.subarray(0, end).toString("utf8").split("\n");
  const data = lines.filter((line) => line.startsWith("data: "));
  return [data.map((line) => JSON.parse(line.slice("data: ".length))), end + 2];
}

/** The same with frames of protobuf. */
function frames(bytes: Buffer): [unknown[], number] {
  const events = [];
  let at = 0;
  while (at + 4 <= bytes.length) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    events.push(JSON.parse(JSON.stringify(decode(bytes.subarray(at + 4, end)))));
    at = end;
  }
  return [events, at];
}

function words(message: Message): string {
  if (message.role === "assistant") {
    const calls = message.toolCalls?.map((call) => `${call.function.name}(${call.function.arguments})`) ?? [];
    return [message.content, ...calls].filter(Boolean).join(" ");
  }
  return typeof message.content === "string" ? message.content : JSON.stringify(message.content);
}

export type { BaseEvent };
