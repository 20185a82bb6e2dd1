// The whole story: a person answers a real ADK agent, and `adk eval` accepts the recording.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { adkEval } from "../support/adk-eval.ts";
import { expect, picture, test } from "../support/hotseat.ts";

test("a person answers the math agent twice, and adk eval accepts the golden trace", async ({
  page,
  hotseat,
}) => {
  const complaints: string[] = [];
  page.on("console", (line) => line.type() === "error" && complaints.push(line.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));

  await page.goto(hotseat.link);
  expect(page.url()).not.toContain("token");
  await page.goto(`${hotseat.url}/agents`);
  const card = page.getByTestId("agent-card-math_agent");
  await expect(card).toContainText("4 tools");
  await picture(page, "agents");

  await card.getByTestId("query-input").fill("Calculate 5 * 5 + 10");
  await card.getByTestId("query-send").click();
  await expect(page.getByTestId("entry-user_query")).toContainText("Calculate 5 * 5 + 10");
  await expect(page.getByTestId("instruction")).toContainText("You calculate");
  await picture(page, "first-request");
  // The instruction can be put away and is remembered that way (FR-008).
  await page.getByTestId("instruction").getByRole("button").first().click();
  await expect(page.getByTestId("instruction")).not.toContainText("Never do arithmetic");
  await page.getByTestId("instruction").getByRole("button").first().click();
  await expect(page.getByTestId("instruction")).toContainText("Never do arithmetic");

  await page.getByTestId("tool-chip-multiply").click();
  await page.getByLabel("a", { exact: true }).fill("5");
  await page.getByLabel("b", { exact: true }).fill("5");
  await picture(page, "tool-form");
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("entry-tool_call")).toContainText("multiply");
  await expect(page.getByTestId("entry-tool_call")).toContainText("25");

  await page.getByTestId("tool-chip-add").click();
  await page.getByLabel("a", { exact: true }).fill("25");
  await page.getByLabel("b", { exact: true }).fill("10");
  await picture(page, "session");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByTestId("entry-tool_call").nth(1)).toContainText("35");

  await page.getByTestId("choice-final").click();
  await page.getByTestId("final-text").fill("The answer is 35.");
  await page.getByLabel(/keep the conversation open/i).check();
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("entry-final_response")).toContainText("The answer is 35.");

  await page.getByTestId("query-input").fill("And twice that?");
  await page.getByTestId("query-send").click();
  await page.getByTestId("tool-chip-multiply").click();
  await page.getByLabel("a", { exact: true }).fill("35");
  await page.getByLabel("b", { exact: true }).fill("2");
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("entry-tool_call").nth(2)).toContainText("70");
  await page.getByTestId("choice-final").click();
  await page.getByTestId("final-text").fill("Twice that is 70.");
  await page.getByTestId("submit-decision").click();

  await expect(page.getByTestId("export-button")).toBeVisible();
  await picture(page, "completed");
  await page.getByTestId("export-button").click();
  await expect(page.getByTestId("export-result")).toContainText("math_agent_");
  await picture(page, "exported");

  const file = join(hotseat.agents, "math_agent/math_agent.evalset.json");
  const [golden] = JSON.parse(readFileSync(file, "utf8")).eval_cases;
  expect(golden.conversation).toHaveLength(2);
  expect(golden.conversation[0].intermediate_data.tool_uses.map((use: any) => use.args)).toEqual([
    { a: 5, b: 5 },
    { a: 25, b: 10 },
  ]);
  const run = adkEval(hotseat, "math_agent", file);
  expect(run.output).toContain("Tests passed: 1");
  expect(run.code).toBe(0);
  expect(complaints).toEqual([]);
});

test("optional parameters are left out and enums are chosen from a list", async ({
  page,
  hotseat,
}) => {
  await page.goto(hotseat.link);
  await page.goto(`${hotseat.url}/agents`);
  const card = page.getByTestId("agent-card-math_agent");
  await card.getByTestId("query-input").fill("How long is a light year?");
  await card.getByTestId("query-send").click();

  await page.getByTestId("tool-chip-search").click();
  await page.getByLabel("query", { exact: true }).fill("light");
  await page.getByTestId("submit-decision").click();
  const call = page.getByTestId("entry-tool_call").first();
  await expect(call).toContainText("light");
  await expect(call).not.toContainText("limit");

  await page.getByTestId("tool-chip-convert").click();
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("entry-tool_call")).toHaveCount(1);

  const session = page.url().split("/").at(-1);
  const events = await hotseat.api<{ items: any[] }>("GET", `/sessions/${session}/events?kind=response`);
  expect(events.items[0].event.candidates[0].parts[0].function_call.args).toEqual({
    query: "light",
  });
});
