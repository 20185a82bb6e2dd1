// ADK's own clients: `/run_sse` as the ADK API server has it, read with ADK's own event model, for both runtimes.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { type Hotseat, PYTHON } from "../support/hotseat.ts";
import { expect, test } from "../support/serving.ts";

interface Seen {
  partial: boolean;
  author: string;
  text: string;
  calls: string[];
  results: string[];
  final: boolean;
}

function runSse(hotseat: Hotseat, app: string, session: string, text: string): Promise<Seen[]> {
  const script = join(import.meta.dirname, "../support/run_sse.py");
  const child = spawn(PYTHON, [script, hotseat.url, hotseat.token, app, session, text]);
  let [output, errors] = ["", ""];
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  return new Promise((done, failed) => {
    child.once("close", (code) => {
      if (code !== 0) failed(new Error(`the client ended with ${code}:\n${errors}`));
      else done(output.split("\n").filter(Boolean).map((line) => JSON.parse(line)));
    });
  });
}

test("an ADK client runs a native agent, piece by piece", async ({ serve, provider }) => {
  const env = { OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: "none", TEA_SHOP_SEAT: "model" };
  const hotseat = await serve({ agent: "examples/native", seat: "model", env });
  provider.says(
    { calls: [{ name: "how_to_make", args: { name: "Sencha" } }] },
    { text: ["Two grams, ", "two minutes."] },
  );
  const seen = await runSse(hotseat, "tea_shop", "s-1", "How do I make Sencha?");
  const whole = seen.filter((event) => !event.partial);
  expect(whole.map((event) => [event.author, event.text, event.calls, event.results])).toEqual([
    ["tea_shop", "", ["how_to_make"], []],
    ["tea_shop", "", [], ["how_to_make"]],
    ["tea_shop", "Two grams, two minutes.", [], []],
  ]);
  expect(whole.at(-1)?.final).toBe(true);
  const pieces = seen.filter((event) => event.partial && event.text);
  expect(pieces.map((event) => event.text)).toEqual(["Two grams, ", "two minutes."]);
});

test("an ADK client runs an ADK agent, and goes on in the same session", async ({ serve }) => {
  const seat = "replay:e2e/recordings/math_agent.evalset.json";
  const hotseat = await serve({ agent: "examples/math_agent", seat });
  const told = async (text: string) => {
    const seen = await runSse(hotseat, "math_agent", "s-1", text);
    return seen.filter((event) => !event.partial).flatMap((event) => [...event.calls, event.text].filter(Boolean));
  };
  expect(await told("Calculate 5 * 5 + 10")).toEqual(["multiply", "add", "The answer is 35."]);
  expect(await told("And twice that?")).toEqual(["multiply", "Twice that is 70."]);
  const { items } = await hotseat.api<{ items: { source: string; status: string }[] }>("GET", "/sessions");
  expect(items).toMatchObject([{ source: "adk", status: "active" }]);
});
