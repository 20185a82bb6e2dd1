// The whole story: a person answers a real ADK agent, and `adk eval` accepts the recording.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { adkEval } from "../support/adk-eval.ts";
import { expect, picture, test } from "../support/hotseat.ts";
import { call, cardOf, final, historyOf, start } from "../support/seat.ts";

test("one agent of several is chosen, once for the session (FR-007a)", async ({ page, hotseat }) => {
  for (const agent of ["math_agent", "order_desk", "fragile"]) {
    await expect(await cardOf(page, hotseat, agent)).toBeVisible();
  }
  await start(page, hotseat, "math_agent", "Calculate");
  await expect(page.locator("header .chip").filter({ hasText: "math_agent" })).toBeVisible();
  await expect(page.getByTestId("turn-head")).toContainText("Your turn as math_agent");
  // A session keeps its agent: another message goes to the same one, and there is nothing to choose.
  await page.getByTestId("choice-final").click();
  await page.getByTestId("keep-open").check();
  await final(page, "What?");
  await expect(page.getByTestId("composer")).toBeVisible();
  await expect(page.getByTestId("composer").getByRole("combobox")).toHaveCount(0);
  await page.getByTestId("query-input").fill("6 * 7");
  await page.getByTestId("query-send").click();
  await expect(page.getByTestId("turn-head")).toContainText("Your turn as math_agent");
});

test("a person answers the math agent twice, and adk eval accepts the golden trace (FR-008, FR-009, FR-011, FR-012, FR-013, FR-014, FR-018, FR-020, FR-021, FR-024)", async ({
  page,
  hotseat,
}) => {
  const complaints: string[] = [];
  page.on("console", (line) => line.type() === "error" && complaints.push(line.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));

  await page.goto(hotseat.link);
  expect(page.url()).not.toContain("token");
  const card = await cardOf(page, hotseat, "math_agent");
  await expect(card).toContainText("4 tools");
  await picture(page, "agents");

  await card.getByTestId("query-input").fill("Calculate 5 * 5 + 10");
  await card.getByTestId("query-send").click();
  await expect(page.getByTestId("entry-user_query")).toContainText("Calculate 5 * 5 + 10");
  // The instruction is there at first, and can be put away (FR-008).
  await expect(page.getByTestId("instruction")).toContainText("You calculate");
  await picture(page, "first-request");
  await page.getByTestId("instruction").getByRole("button").first().click();
  await expect(page.getByTestId("instruction")).not.toContainText("Never do arithmetic");
  await page.getByTestId("instruction").getByRole("button").first().click();
  await expect(page.getByTestId("instruction")).toContainText("Never do arithmetic");

  // The same two choices at every step (FR-012).
  const bothChoices = async () => {
    await expect(page.getByTestId("choice-tool")).toHaveText(/Call a tool/);
    await expect(page.getByTestId("choice-final")).toHaveText(/Send final response/);
  };
  await bothChoices();
  await page.getByTestId("tool-chip-multiply").click();
  await picture(page, "tool-form");
  await call(page, "multiply", { a: "5", b: "5" });
  await expect(page.getByTestId("entry-tool_call")).toContainText(/multiply.*a: 5.*b: 5.*Output.*25/s);
  await bothChoices();
  await page.getByTestId("tool-chip-add").click();
  await page.getByLabel("a", { exact: true }).fill("25");
  await page.getByLabel("b", { exact: true }).fill("10");
  await picture(page, "session");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByTestId("entry-tool_call").nth(1)).toContainText("35");
  await bothChoices();

  await page.getByTestId("choice-final").click();
  await page.getByLabel(/keep the conversation open/i).check();
  await expect(page.getByTestId("export-button")).toHaveCount(0);
  await final(page, "The answer is 35.");
  await expect(page.getByTestId("entry-final_response")).toContainText("The answer is 35.");

  await page.getByTestId("query-input").fill("And twice that?");
  await page.getByTestId("query-send").click();
  await call(page, "multiply", { a: "35", b: "2" });
  await expect(page.getByTestId("entry-tool_call").nth(2)).toContainText("70");
  // Everything before is still there, in order (FR-011, FR-018).
  await expect(page.locator("[data-testid=entry-user_query], [data-testid=entry-tool_call], [data-testid=entry-final_response]")).toContainText([
    "Calculate 5 * 5 + 10",
    /multiply.*25/s,
    /add.*35/s,
    "The answer is 35.",
    "And twice that?",
    /multiply.*70/s,
  ]);
  await final(page, "Twice that is 70.");

  await expect(page.getByTestId("export-button")).toHaveText(/Export/);
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

test("optional parameters are left out, enums are chosen from a list, and what is required is asked for (FR-006)", async ({
  page,
  hotseat,
}) => {
  await start(page, hotseat, "math_agent", "How long is a light year?");
  await page.getByTestId("tool-chip-search").click();
  await expect(page.getByTestId("field-limit")).toHaveAttribute("placeholder", "10 · default");
  await call(page, "search", { query: "light" });
  const card = page.getByTestId("entry-tool_call").first();
  await expect(card).toContainText("light");
  await expect(card).not.toContainText("limit");
  expect((await historyOf(page, hotseat))[1].arguments).toEqual({ query: "light" });

  await page.getByTestId("tool-chip-convert").click();
  await expect(page.getByTestId("field-format").locator("option")).toHaveText(["choose…", "json", "xml"]);
  await page.getByTestId("submit-decision").click();
  await expect(page.locator(".field-error").filter({ hasText: "required" })).toHaveCount(2);
  await expect(page.getByTestId("entry-tool_call")).toHaveCount(1);
});
