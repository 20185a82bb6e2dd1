// Front ends that speak AG-UI: the client of the protocol's makers against `hotseat serve`, with a model, a person or a
// recording in the seat. The client checks every event against the protocol's rules, and a test fails if it complains.
import { FrontEnd, PROTOBUF } from "../support/front-end.ts";
import { call, final } from "../support/seat.ts";
import { expect, test } from "../support/serving.ts";

const TEA_SHOP = { agent: "examples/native", seat: "model" } as const;
const SHOP = { agent: "e2e/agents-served/shop", seat: "model" } as const;
const MATH = { agent: "examples/math_agent", seat: "replay:e2e/recordings/math_agent.evalset.json" } as const;
const DESK = { agent: "examples/order_desk", seat: "replay:e2e/recordings/order_desk.evalset.json" } as const;

const PAINT = {
  name: "paint",
  description: "Paints the page.",
  parameters: { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] },
};

/** What the native example needs to find the scripted model. */
const modelAt = (url: string) => ({ OPENAI_BASE_URL: url, OPENAI_API_KEY: "none", TEA_SHOP_SEAT: "model" });

for (const [encoding, accept] of [
  ["server-sent events", null],
  ["protobuf", PROTOBUF],
] as const) {
  test(`a native agent's model talks, calls a tool over MCP and goes on, as ${encoding}`, async ({ serve, provider }) => {
    const hotseat = await serve({ ...TEA_SHOP, env: modelAt(provider.url) });
    const front = new FrontEnd(hotseat, "tea_shop", "thread-1", accept);
    provider.says(
      { calls: [{ name: "find_teas", args: { kind: "green", max_price: 10 } }] },
      { text: ["Take ", "the ", "Sencha."] },
    );
    await front.say("A green tea?");
    expect(front.said()).toEqual([
      "user: A green tea?",
      'assistant: find_teas({"kind":"green","max_price":10})',
      expect.stringContaining("Sencha"),
      "assistant: Take the Sencha.",
    ]);
    expect(front.outcome).toEqual({ type: "success" });
    // The answer came in pieces, as the model gave them.
    const pieces = front.events.filter((event) => event.type === "TEXT_MESSAGE_CONTENT");
    expect(pieces.map((event) => event.delta)).toEqual(["Take ", "the ", "Sencha."]);

    // The next message brings everything that was said; only what is new is run.
    provider.says({ text: ["Two minutes."] });
    await front.say("How long?");
    expect(front.said().slice(-2)).toEqual(["user: How long?", "assistant: Two minutes."]);
    const asked = provider.requests.at(-1).messages;
    expect(asked.map((message: any) => message.role)).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
  });
}

/** Agents of both runtimes, whose models stream what the provider says. */
const STREAMING = [
  ["a native agent", TEA_SHOP, "tea_shop"],
  ["an ADK agent", SHOP, "shop"],
] as const;

for (const [kind, what, name] of STREAMING) test(`tools of the front end of ${kind}: two calls, results in any order, and the model goes on`, async ({ serve, provider }) => {
  const hotseat = await serve({ ...what, env: modelAt(provider.url) });
  const front = new FrontEnd(hotseat, name, "thread-1");
  const tools = [PAINT];
  const colours = ["red", "blue"].map((colour) => ({ name: "paint", args: { colour } }));
  provider.says({ calls: colours });
  await front.say("Paint it", { tools });
  const [red, blue] = front.outcome.pendingToolCallIds;
  expect(front.outcome.pendingToolCallIds).toHaveLength(2);
  const offered = provider.requests[0].tools.find((tool: any) => tool.function.name === "paint");
  expect(JSON.stringify(offered.function)).toContain('"colour"');

  // The second result alone: nothing runs, and the first is still waited for.
  front.result(blue, "blue it is");
  await front.runAgent({ tools });
  expect(front.outcome).toEqual({ type: "success", pendingToolCallIds: [red] });
  expect(provider.requests).toHaveLength(1);

  provider.says({ text: ["Both are painted."] });
  front.result(red, '{"done": true}');
  await front.runAgent({ tools });
  expect(front.outcome).toEqual({ type: "success" });
  expect(front.said().at(-1)).toBe("assistant: Both are painted.");
  const results = provider.requests[1].messages.filter((message: any) => message.role === "tool");
  // ADK gives them to its model in the order in which they came.
  expect(Object.fromEntries(results.map((message: any) => [message.tool_call_id, message.content]))).toEqual({
    [red]: expect.stringContaining("done"),
    [blue]: expect.stringContaining("blue it is"),
  });
});

for (const [kind, what, name] of STREAMING) test(`a run of ${kind} goes on without its client, is taken up again, and ends where it is cancelled`, async ({ serve, provider }) => {
  const hotseat = await serve({ ...what, env: modelAt(provider.url) });
  const front = new FrontEnd(hotseat, name, "thread-1");
  const firstPiece = (agent: FrontEnd) =>
    expect.poll(() => agent.types()).toContain("TEXT_MESSAGE_CONTENT");

  // The client is gone in the middle of an answer.
  provider.hold();
  provider.says({ text: ["Take ", "the ", "Sencha."] });
  const left = front.say("Which tea?", { runId: "run-1" });
  await firstPiece(front);
  front.abortRun();
  await left;
  const messages = front.messages.filter((message) => message.role === "user");
  expect((await front.thread()).runId).toBe("run-1");

  // The same request again sees the rest, and so does whoever asks for the run by its id.
  const again = new FrontEnd(hotseat, name, "thread-1");
  again.setMessages(messages);
  const other = new FrontEnd(hotseat, name, "thread-1");
  const watching = [again.runAgent({ runId: "run-1" }), other.connectAgent({ runId: "run-1" })];
  // Both have missed the first piece, and get it all the same, before the rest is said.
  const heard = (agent: FrontEnd) =>
    agent.events.flatMap((event) => (event.type === "TEXT_MESSAGE_CONTENT" ? [event.delta] : [])).join("");
  await expect.poll(() => [heard(again), heard(other)]).toEqual(["Take ", "Take "]);
  provider.release();
  await Promise.all(watching);
  for (const client of [again, other]) {
    expect(client.said()).toEqual(["user: Which tea?", "assistant: Take the Sencha."]);
    expect(client.outcome).toEqual({ type: "success" });
  }
  expect(provider.requests).toHaveLength(1);
  // It is over, and can still be asked for.
  const late = new FrontEnd(hotseat, name, "thread-1");
  await late.connectAgent({ runId: "run-1" });
  expect(late.said()).toEqual(["user: Which tea?", "assistant: Take the Sencha."]);

  // Cancelling is another thing: the run ends for everybody.
  provider.hold();
  provider.says({ text: ["No, ", "wait."] });
  again.events.length = 0;
  const cancelled = again.say("Are you sure?");
  await firstPiece(again);
  expect((await again.cancel()).status).toBe(202);
  await cancelled;
  expect(again.outcome).toEqual({ type: "cancelled" });
  expect((await again.thread()).runId).toBeUndefined();
  expect((await again.cancel()).status).toBe(409);
});

test("a person answers an ADK agent that a front end talks to, and the session stays open", async ({ serve, page }) => {
  const hotseat = await serve({ agent: "examples/math_agent", seat: "human" });
  const front = new FrontEnd(hotseat, "math_agent", "thread-1");
  const asked = front.say("What is 6 * 7?");
  await page.goto(hotseat.link);
  await page.getByTestId("session-item").click();
  await expect(page.getByTestId("turn-head")).toContainText("Your turn as math_agent");
  await expect(page.getByTestId("session-origin")).toHaveText("AG-UI");
  await call(page, "multiply", { a: "6", b: "7" });
  await page.getByTestId("choice-final").click();
  await expect(page.getByTestId("keep-open")).toHaveCount(0);
  await final(page, "It is 42.");
  await asked;
  expect(front.said()).toEqual([
    "user: What is 6 * 7?",
    'assistant: multiply({"a":6,"b":7})',
    expect.stringContaining("42"),
    "assistant: It is 42.",
  ]);
  expect(front.outcome).toEqual({ type: "success" });
  await expect(page.getByTestId("others-drive")).toContainText("A front end talks to this agent over AG-UI");
  const again = front.say("And twice that?");
  await final(page, "84.");
  await again;
  expect(front.said().at(-1)).toBe("assistant: 84.");
});

test("a recording answers an ADK agent whose tools really run", async ({ serve }) => {
  const hotseat = await serve(MATH);
  for (const accept of [null, PROTOBUF]) {
    const front = new FrontEnd(hotseat, "math_agent", `thread-${accept}`.replaceAll("/", "-"), accept);
    await front.say("Calculate 5 * 5 + 10");
    await front.say("And twice that?");
    expect(front.said()).toEqual([
      "user: Calculate 5 * 5 + 10",
      'assistant: multiply({"a":5,"b":5})',
      expect.stringContaining("25"),
      'assistant: add({"a":25,"b":10})',
      expect.stringContaining("35"),
      "assistant: The answer is 35.",
      "user: And twice that?",
      'assistant: multiply({"a":35,"b":2})',
      expect.stringContaining("70"),
      "assistant: Twice that is 70.",
    ]);
    expect(front.outcome).toEqual({ type: "success" });
  }
});

test("a confirmation interrupts, resume goes on, and state goes both ways", async ({ serve }) => {
  const hotseat = await serve(DESK);
  const forwardedProps = { interrupts: true };
  const front = new FrontEnd(hotseat, "order_desk", "thread-1");
  front.setState({ language: "en" });
  await front.say("Pay back 200 for A-101", { forwardedProps });
  expect(front.outcome.type).toBe("interrupt");
  const [asked] = front.pendingInterrupts;
  expect(front.state).toEqual({ language: "en" });
  expect((await front.thread()).state).toEqual({ language: "en" });

  await front.runAgent({
    forwardedProps,
    resume: [{ interruptId: asked!.id, status: "resolved", payload: { confirmed: true } }],
  });
  expect(front.outcome).toEqual({ type: "success" });
  expect(front.said().at(-1)).toBe("assistant: 200 euros are on their way.");
  // What the tool wrote is there, beside what the front end had.
  expect(front.state).toEqual({ language: "en", refunds: { "A-101": 200 } });

  front.setState({ ...front.state, language: "nl" });
  await front.say("And 10 more", { forwardedProps });
  expect(front.said().at(-1)).toBe("assistant: Now it is 210 euros.");
  expect(front.state).toEqual({ language: "nl", refunds: { "A-101": 210 } });
  expect((await front.thread()).state).toEqual(front.state);

  // A user who says no is heard, too.
  const other = new FrontEnd(hotseat, "order_desk", "thread-2", PROTOBUF);
  await other.say("Pay back 200 for A-101", { forwardedProps });
  const [again] = other.pendingInterrupts;
  await other.runAgent({ forwardedProps, resume: [{ interruptId: again!.id, status: "cancelled" }] });
  expect(other.outcome).toEqual({ type: "success" });
  expect(other.state.refunds).toBeUndefined();
});

test("a confirmation is answered by a plain tool message, in words or in JSON", async ({ serve }) => {
  const hotseat = await serve(DESK);
  const paid = { "A-101": 210 };
  const answers = [
    { content: "true", refunds: paid },
    { content: "yes", refunds: paid },
    { content: '{"confirmed": true}', refunds: paid },
    { content: "rather not", refunds: { "A-101": 10 } },
    { content: "true", error: "the page was closed", refunds: { "A-101": 10 } },
  ];
  for (const [n, { refunds, ...answer }] of answers.entries()) {
    const front = new FrontEnd(hotseat, "order_desk", `thread-${n}`);
    await front.say("Pay back 200 for A-101");
    const [asked] = front.outcome.pendingToolCallIds;
    expect(front.state.refunds).toBeUndefined();

    // What the user says in between waits for the answer, and is heard after it.
    await front.say("And 10 more");
    expect(front.outcome).toEqual({ type: "success", pendingToolCallIds: [asked] });
    front.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId: asked, ...answer });
    await front.runAgent();
    expect(front.outcome, answer.content).toEqual({ type: "success" });
    expect(front.state.refunds, answer.content).toEqual(refunds);
    expect((await front.thread()).pendingToolCallIds).toEqual([]);
    expect(front.said().at(-1)).toBe("assistant: Now it is 210 euros.");
  }
});
