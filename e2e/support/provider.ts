// A scripted model behind OpenAI's wire format, on a socket of its own. It streams what it was told to say, piece by
// piece, keeps what it was asked, and can be held in the middle of an answer, so that a test decides what happens
// while an answer is on its way.
import { createServer, type Server, type ServerResponse } from "node:http";

export type Answer = { text: string[] } | { calls: { name: string; args: object }[] };

/** The largest request it reads, in bytes; a test sends far less. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;

export class Provider {
  /** What it was asked, oldest first. */
  readonly requests: any[] = [];
  private readonly server: Server;
  private script: Answer[] = [];
  private gate: Promise<void> | null = null;
  private open: () => void = () => {};

  private constructor() {
    this.server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
        if (body.length > MAX_REQUEST_BYTES) request.destroy();
      });
      request.on("end", () => void this.answer(JSON.parse(body), response));
    });
  }

  static async start(): Promise<Provider> {
    const provider = new Provider();
    await new Promise<void>((done) => provider.server.listen(0, "127.0.0.1", done));
    return provider;
  }

  get url(): string {
    const address = this.server.address();
    return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/v1`;
  }

  /** What it says next, one answer for each request. */
  says(...answers: Answer[]) {
    this.script.push(...answers);
  }

  /** From now on, answers stop after their first piece, until `release`. */
  hold() {
    this.gate = new Promise((done) => {
      this.open = done;
    });
  }

  release() {
    this.open();
    this.gate = null;
  }

  stop() {
    this.release();
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(request: any, response: ServerResponse) {
    this.requests.push(request);
    const answer = this.script.shift();
    if (!answer) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "the script is over" } }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta: object, finish: string | null = null) => {
      const choices = [{ index: 0, delta, finish_reason: finish }];
      const chunk = { id: "chat-1", object: "chat.completion.chunk", created: 1, model: "scripted", choices };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    for (const [index, delta] of deltas(answer).entries()) {
      if (index > 0) await this.gate;
      send({ role: "assistant", ...delta });
    }
    send({}, "calls" in answer ? "tool_calls" : "stop");
    response.end("data: [DONE]\n\n");
  }
}

function deltas(answer: Answer): object[] {
  if ("text" in answer) return answer.text.map((content) => ({ content }));
  return answer.calls.map(({ name, args }, index) => {
    const id = `call_${crypto.randomUUID().slice(0, 8)}`;
    return { tool_calls: [{ index, id, type: "function", function: { name, arguments: JSON.stringify(args) } }] };
  });
}
