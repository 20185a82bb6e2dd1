// Reads what `cargo run -p hotseat-agui --example frames` wrote with the packages
// of the protocol's makers: every event in both encodings, and a whole run through
// their client.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";

import { HttpAgent } from "@ag-ui/client";
import { EventType } from "@ag-ui/core";
import { decode } from "@ag-ui/proto";

import { problems } from "../support/strict.mjs";

const folder = process.env.FRAMES ?? new URL("frames", import.meta.url).pathname;
const PROTOBUF = "application/vnd.ag-ui.event+proto";

const bytes = (name) => readFileSync(`${folder}/${name}`);

function sseEvents(name) {
  const blocks = bytes(name).toString("utf8").split("\n\n").filter(Boolean);
  return blocks.map((block) => {
    const data = block.split("\n").find((line) => line.startsWith("data: "));
    return JSON.parse(data.slice("data: ".length));
  });
}

function protoFrames(name) {
  const all = bytes(name);
  const frames = [];
  for (let at = 0; at < all.length; ) {
    const end = at + 4 + all.readUInt32BE(at);
    frames.push(all.subarray(at + 4, end));
    at = end;
  }
  return frames;
}

/** Runs the client against a server that answers with these bytes. */
async function runClient(body, contentType) {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": contentType });
      response.end(body);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const warnings = [];
  const warn = console.warn;
  console.warn = (...words) => warnings.push(words.join(" "));
  try {
    const url = `http://127.0.0.1:${server.address().port}/`;
    const agent = new HttpAgent({ url, threadId: "thread" });
    const result = await agent.runAgent({ runId: "run" });
    return { agent, result, warnings };
  } finally {
    console.warn = warn;
    server.close();
  }
}

test("every event is valid and means the same in both encodings", () => {
  const events = sseEvents("events.sse");
  const frames = protoFrames("events.proto");
  assert.equal(frames.length, events.length);
  events.forEach((event, index) => {
    assert.deepEqual(problems(event), [], JSON.stringify(event));
    // Plain objects, so that only what is on the wire is compared.
    assert.deepEqual(JSON.parse(JSON.stringify(decode(frames[index]))), event);
  });
  const types = new Set(events.map((event) => event.type));
  assert.deepEqual([...types].sort(), Object.values(EventType).sort());
});

test("a field that is in no schema is noticed, however deep", () => {
  const outcome = { type: "success", extra: 1 };
  const event = { type: "RUN_FINISHED", threadId: "t", runId: "r", outcome, odd: 1 };
  assert.deepEqual(problems(event).sort(), [
    "RUN_FINISHED.odd is in no schema",
    "RUN_FINISHED.outcome.extra is in no schema",
  ]);
  assert.equal(problems({ type: "RUN_FINISHED" }).length, 1);
});

test("every event of a run is known exactly so", () => {
  for (const event of sseEvents("run.sse")) assert.deepEqual(problems(event), []);
});

for (const [name, contentType] of [
  ["run.sse", "text/event-stream"],
  ["run.proto", PROTOBUF],
]) {
  test(`the client reads ${name} without a complaint`, async () => {
    const { agent, result, warnings } = await runClient(bytes(name), contentType);
    assert.deepEqual(warnings, []);
    assert.deepEqual(result.result, { n: 1 });
    assert.deepEqual(agent.state, { list: [1, 2], "a/b": { c: 2 } });
    const seen = agent.messages.map(({ id, role, content, toolCalls }) => ({
      id,
      role,
      content: role === "activity" ? "…" : content,
      calls: toolCalls?.map((call) => `${call.function.name}${call.function.arguments}`),
    }));
    assert.deepEqual(JSON.parse(JSON.stringify(seen)), [
      { id: "i:0:reasoning", role: "reasoning", content: "hm" },
      {
        id: "i:0",
        role: "assistant",
        content: "I look.",
        calls: ['helper{"q":1}', 'transfer_to_agent{"q":1}'],
      },
      // The client puts results behind the message that called.
      { id: "c1:result", role: "tool", content: '{"ok":true}' },
      { id: "c2:result", role: "tool", content: '{"ok":true}' },
      { id: "c1:progress", role: "activity", content: "…" },
      { id: "i:1", role: "assistant", content: "inside" },
      { id: "i:2", role: "assistant", content: "Done.", calls: ['ask_user{"q":1}'] },
      { id: "i:2:media1", role: "activity", content: "…" },
    ]);
  });
}
