// What a person sees when things go wrong around them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, picture, test } from "../support/hotseat.ts";
import { call, final, historyOf, start } from "../support/seat.ts";

test("a tool that raises shows its error, the session goes on, and the trace has it (FR-028′, FR-029′, FR-030′, FR-031)", async ({
  page,
  hotseat,
}) => {
  await start(page, hotseat, "fragile", "Fetch it");
  await call(page, "fetch", { url: "example" });
  const error = page.getByTestId("entry-tool_error");
  await expect(error).toContainText("Tool error");
  await expect(error).toContainText("ConnectionError: example answered 503");
  await picture(page, "tool-error");
  // Another tool, then the final response: both can follow an error.
  await call(page, "sleep", { seconds: "0" });
  await expect(page.getByTestId("entry-tool_output")).toContainText("slept");
  await final(page, "It is down.");
  await expect(page.getByTestId("entry-final_response")).toContainText("It is down.");
  await page.getByTestId("export-button").click();
  await expect(page.getByTestId("export-result")).toBeVisible();
  const [golden] = JSON.parse(readFileSync(join(hotseat.agents, "fragile/fragile.evalset.json"), "utf8")).eval_cases;
  const { tool_uses, tool_responses } = golden.conversation[0].intermediate_data;
  expect(tool_uses.map((use: any) => use.name)).toEqual(["fetch", "sleep"]);
  expect(tool_responses.map((response: any) => response.response)).toEqual([
    { error: { type: "ConnectionError", message: "example answered 503" } },
    { result: "slept" },
  ]);
});

test("every type of entry has a word and a colour of its own (FR-019)", async ({ page, hotseat }) => {
  await start(page, hotseat, "fragile", "Fetch it");
  await call(page, "sleep", { seconds: "0" });
  await call(page, "fetch", { url: "example" });
  await expect(page.getByTestId("entry-tool_error")).toBeVisible();
  await final(page, "It is down.");
  const look = async (type: string) => {
    const word = page.getByTestId(`entry-${type}`).first().locator(".entry-head > b").first();
    const colour = await word.evaluate((element) => getComputedStyle(element).color);
    return [await word.innerText(), colour] as const;
  };
  const looks = [];
  for (const type of ["user_query", "tool_call", "tool_output", "tool_error", "final_response"]) looks.push(await look(type));
  expect(looks.map(([word]) => word)).toEqual(["User query", "Tool call", "Output", "Tool error", "Final response"]);
  expect(new Set(looks.map(([, colour]) => colour)).size).toBe(5);
});

test("a tool that runs has a stopwatch and can be cancelled, even if it blocks (FR-032, FR-033)", async ({ page, hotseat }) => {
  await start(page, hotseat, "fragile", "Wait for it");
  await call(page, "sleep", { seconds: "600" });
  const card = page.getByTestId("entry-tool_call");
  await expect(card).toContainText(/Running 0:0[1-9]/);
  await card.getByTestId("cancel-tool").click();
  await expect(card).toContainText(/cancelled/i);
  await expect(page.getByTestId("choice-final")).toBeVisible();
});

test("a second tab that answers the same request is told so", async ({ page, context, hotseat }) => {
  await start(page, hotseat, "math_agent", "What is 2 + 2?");
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(other.getByTestId("choice-final")).toBeVisible();
  // The second tab's answer is held back until the first one's is in the log.
  await other.route("**/decision", async (route) => {
    await final(page, "4");
    await expect(page.getByTestId("entry-final_response")).toContainText("4");
    await route.continue();
  });
  await final(other, "5");
  await expect(other.getByText(/answered in another tab/i).first()).toBeVisible();
  await expect(other.getByTestId("entry-final_response")).toHaveText(/4/);
});

test("a page that is closed and opened again goes on where it was", async ({
  page,
  context,
  hotseat,
}) => {
  await start(page, hotseat, "math_agent", "What is 2 + 2?");
  const address = page.url();
  await page.close();
  const again = await context.newPage();
  await again.goto(address);
  await final(again, "4");
  await expect(again.getByTestId("entry-final_response")).toContainText("4");
});

test("a server that was killed comes back with the same log and the request still waiting (FR-017)", async ({
  page,
  hotseat,
}) => {
  await start(page, hotseat, "math_agent", "What is 6 * 7?");
  await call(page, "multiply", { a: "6", b: "7" });
  await expect(page.getByTestId("entry-tool_call")).toContainText("42");
  await expect(page.getByTestId("choice-final")).toBeVisible();
  const before = await historyOf(page, hotseat);
  expect(before.map((entry) => entry.type)).toEqual(["user_query", "tool_call", "tool_output"]);

  await hotseat.kill();
  await expect(page.getByTestId("connection-state")).toContainText("Offline");
  await hotseat.start();
  await expect(page.getByTestId("connection-state")).toContainText("Live");

  await final(page, "42");
  await expect(page.getByTestId("entry-final_response")).toContainText("42");
  await expect(page.getByTestId("entry-tool_call")).toHaveCount(1);
  const after = await historyOf(page, hotseat);
  expect(after.slice(0, -1)).toEqual(before);
  // One log, in the order of what happened.
  for (const order of [after.map((entry) => entry.seq), after.map((entry) => Date.parse(entry.timestamp))]) {
    expect(order).toEqual([...order].sort((a, b) => a - b));
  }
});

test("a worker that dies in a tool comes back, and the person decides what to do", async ({
  page,
  hotseat,
}) => {
  await start(page, hotseat, "fragile", "Crash");
  await page.getByTestId("tool-chip-crash").click();
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("entry-tool_call")).toContainText("Interrupted", { timeout: 60_000 });
  await final(page, "The tool took the worker down.");
  await expect(page.getByTestId("entry-final_response")).toBeVisible();
});

test("an address that names no session says so and leads back", async ({ page, hotseat }) => {
  await page.goto(hotseat.link);
  await page.goto(`${hotseat.url}/sessions/11111111-1111-4111-8111-111111111111`);
  await expect(page.getByText(/no session/i).first()).toBeVisible();
  await expect(page.getByRole("link", { name: /session/i }).first()).toBeVisible();
});

test("without the token the page says where to find the link", async ({ page, hotseat }) => {
  await page.goto(hotseat.url);
  await expect(page.getByText(/hotseat web/).first()).toBeVisible();
});
