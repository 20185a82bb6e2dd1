// Golden traces: looked at and edited before they are written, compared, judged by ADK, removed and put back, and run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Page } from "@playwright/test";
import { expect, type Hotseat, picture, test } from "../support/hotseat.ts";

async function record(page: Page, hotseat: Hotseat, a: string, b: string, answer: string) {
  await page.goto(`${hotseat.url}/agents`);
  const card = page.getByTestId("agent-card-math_agent");
  await card.getByTestId("query-input").fill(`Calculate ${a} * ${b}`);
  await card.getByTestId("query-send").click();
  await page.getByTestId("tool-chip-multiply").click();
  await page.getByTestId("field-a").fill(a);
  await page.getByTestId("field-b").fill(b);
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("entry-tool_output")).toBeVisible();
  await page.getByTestId("choice-final").click();
  await page.getByTestId("final-text").fill(answer);
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("export-button")).toBeEnabled();
}

const file = (hotseat: Hotseat) => join(hotseat.agents, "math_agent/math_agent.evalset.json");
const cases = (hotseat: Hotseat) => JSON.parse(readFileSync(file(hotseat), "utf8")).eval_cases;

test("a trace is previewed to the letter, edited, reset and written (FR-020…031)", async ({ page, hotseat }) => {
  await page.goto(hotseat.link);
  await record(page, hotseat, "6", "7", "It is 42.");

  await page.getByTestId("trace-json").click();
  const previewed = JSON.parse(await page.getByTestId("case-json").innerText());
  await page.getByTestId("trace-edit").click();
  await page.getByTestId("case-response-0").fill("Forty-two.");
  await expect(page.getByText("edited", { exact: true })).toBeVisible();
  await page.getByTestId("case-args-0-0").fill('{"a": 7, "b": 6}');
  await picture(page, "case-editor");
  await page.getByTestId("case-reset").click();
  await expect(page.getByText("edited", { exact: true })).toHaveCount(0);
  await expect(page.getByTestId("case-response-0")).toHaveValue("It is 42.");
  await page.getByTestId("export-button").click();
  await expect(page.getByTestId("export-result")).toContainText("Created");
  expect(cases(hotseat)).toEqual([previewed]);

  await record(page, hotseat, "6", "8", "It is 48.");
  await page.getByTestId("trace-edit").click();
  await page.getByTestId("case-response-0").fill("Forty-eight.");
  await page.getByTestId("case-args-0-0").fill('{"a": 8, "b": 6}');
  await page.getByTestId("export-button").click();
  await expect(page.getByTestId("export-result")).toContainText("Added");
  const edited = cases(hotseat)[1];
  expect(edited.conversation[0].final_response.parts[0].text).toBe("Forty-eight.");
  expect(edited.conversation[0].intermediate_data.tool_uses[0].args).toEqual({ a: 8, b: 6 });
  // The log keeps what happened.
  await expect(page.getByTestId("entry-final_response")).toContainText("It is 48.");

  const session = new URL(page.url()).pathname.split("/").at(-1);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Session for adk test" }).or(page.getByTestId("session-menu")).first().click().then(async () => {
      const item = page.getByRole("menuitem", { name: /adk test/ });
      if (await item.isVisible().catch(() => false)) await item.click();
    }),
  ]);
  const raw = JSON.parse(readFileSync(await download.path(), "utf8"));
  expect(JSON.stringify(raw)).toContain("It is 48.");
  expect(session).toBeTruthy();

  // The screen of eval sets: compare, validate, delete and undo.
  await page.getByTestId("open-eval-set").click();
  await expect(page.getByTestId("eval-case")).toHaveCount(2);
  await page.getByTestId("validate").click();
  await expect(page.getByTestId("validation")).toContainText("Valid");
  for (const box of await page.getByRole("checkbox").all()) await box.check();
  await picture(page, "eval-set");
  await page.getByTestId("compare").click();
  await expect(page.getByTestId("comparison")).toContainText("3 differences");
  await expect(page.getByTestId("compared-differs")).toHaveCount(3);
  await picture(page, "eval-compare");
  await page.getByRole("button", { name: /Back to the file/ }).click();
  const first = cases(hotseat)[0].eval_id;
  await page.getByRole("button", { name: `Delete ${first}` }).click();
  await expect(page.getByTestId("eval-case")).toHaveCount(1);
  expect(cases(hotseat)).toHaveLength(1);
  await page.getByTestId("undo").click();
  await expect(page.getByTestId("eval-case")).toHaveCount(2);
  expect(cases(hotseat)[0].eval_id).toBe(first);
});

test("adk eval runs from the screen, and its results stay", async ({ page, hotseat }) => {
  await page.goto(hotseat.link);
  await record(page, hotseat, "2", "3", "Six.");
  await page.getByTestId("export-button").click();
  await page.getByTestId("open-eval-set").click();
  await page.getByTestId("run-eval").click();
  const run = page.getByTestId("eval-run").first();
  await expect(run).toBeVisible();
  // Without keys for a real model it ends without a score; what adk eval printed is there either way.
  await expect(run).not.toContainText("running", { timeout: 100_000 });
  await expect(run).toContainText(/passed|failed|could not run/);
  await picture(page, "eval-run");
  await page.reload();
  await expect(page.getByTestId("eval-run")).toHaveCount(1);
});
