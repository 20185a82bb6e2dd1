// Golden traces: looked at and edited before they are written, compared, judged by ADK, removed and put back, and run.
import { cpSync, existsSync, readFileSync } from "node:fs";
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

test("a trace is an EvalCase of a new EvalSet, and the next one is added to it (FR-022, FR-023, FR-025, FR-026, FR-027, FR-028, FR-029, FR-030)", async ({
  page,
  hotseat,
}) => {
  await page.goto(hotseat.link);
  const began = Date.now() / 1000;
  await record(page, hotseat, "6", "7", "It is 42.");
  await page.getByTestId("export-button").click();
  await expect(page.getByTestId("export-result")).toContainText("Created");
  const created = readFileSync(file(hotseat), "utf8");
  const { eval_cases, ...set } = JSON.parse(created);
  expect(set).toMatchObject({ eval_set_id: "math_agent_evals", name: expect.stringContaining("math_agent") });
  const now = (value: number) => expect(Math.abs(value - began)).toBeLessThan(120);
  now(set.creation_timestamp);

  const [golden] = eval_cases;
  expect(golden.eval_id).toMatch(/^math_agent_\d{8}T\d{6}Z/);
  now(golden.creation_timestamp);
  expect(golden.conversation).toHaveLength(1);
  const { user_content, final_response, intermediate_data } = golden.conversation[0];
  expect(user_content).toEqual({ role: "user", parts: [{ text: "Calculate 6 * 7" }] });
  expect(final_response).toMatchObject({ role: "model", parts: [{ text: "It is 42." }] });
  const id = expect.stringMatching(/^adk-/);
  expect(intermediate_data.tool_uses).toEqual([{ id, name: "multiply", args: { a: 6, b: 7 } }]);
  expect(intermediate_data.tool_responses).toEqual([{ id, name: "multiply", response: { result: 42 } }]);

  await record(page, hotseat, "6", "8", "It is 48.");
  await page.getByTestId("export-button").click();
  await expect(page.getByTestId("export-result")).toContainText("Added");
  expect(cases(hotseat)).toHaveLength(2);
  // What was there keeps its bytes.
  const kept = created.slice(0, created.lastIndexOf("}", created.lastIndexOf("]")) + 1);
  expect(readFileSync(file(hotseat), "utf8").startsWith(kept)).toBe(true);
});

test("a trace goes into the file that is chosen, and nowhere else", async ({ page, hotseat }) => {
  await page.goto(hotseat.link);
  await record(page, hotseat, "6", "7", "It is 42.");
  const path = page.getByTestId("eval-set-path");
  await expect(path).toHaveValue(file(hotseat));
  await expect(page.getByTestId("export-button")).toHaveText("Export: create the file");

  await path.fill("/somewhere/else.evalset.json");
  await page.getByTestId("export-button").click();
  await expect(page.getByRole("alert")).toBeVisible();
  await picture(page, "file-refused");
  await expect(path).toHaveValue("/somewhere/else.evalset.json");

  await path.fill("traces/smoke.evalset.json");
  await expect(page.getByTestId("export-button")).toHaveText("Export to this file");
  await page.getByTestId("export-button").click();
  await expect(page.getByTestId("export-result")).toContainText("Created");
  await picture(page, "file-chosen");
  expect(JSON.parse(readFileSync(join(hotseat.folder, "traces/smoke.evalset.json"), "utf8")).eval_cases).toHaveLength(1);
  expect(existsSync(file(hotseat))).toBe(false);

  await page.getByRole("button", { name: "change it" }).click();
  await expect(path).toHaveValue("traces/smoke.evalset.json");
});

test("a trace is previewed to the letter, edited, reset and written (FR-020, FR-024)", async ({ page, hotseat }) => {
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

  await page.getByTestId("session-menu").click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: /adk test/ }).click(),
  ]);
  expect(readFileSync(await download.path(), "utf8")).toContain("It is 48.");

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

test("adk eval runs from the screen, and every metric and earlier run is shown", async ({ page, hotseat }) => {
  await page.goto(hotseat.link);
  await record(page, hotseat, "2", "3", "It is six.");
  await page.getByTestId("export-button").click();
  await expect(page.getByTestId("export-result")).toBeVisible();

  // From here on the agent has a model that answers what the golden trace says, so that no network is needed.
  await hotseat.kill();
  const original = join(hotseat.folder, "original");
  cpSync(join(hotseat.agents, "math_agent"), original, { recursive: true });
  for (const name of ["agent.py", "__init__.py"]) {
    cpSync(join(import.meta.dirname, "../support/scripted_agent", name), join(hotseat.agents, "math_agent", name));
  }
  process.env.SCRIPT = file(hotseat);
  process.env.EXAMPLE = original;
  try {
    await hotseat.start();
  } finally {
    delete process.env.SCRIPT;
    delete process.env.EXAMPLE;
  }
  await page.goto(hotseat.link);
  await expect(page.getByTestId("agent-card-math_agent").or(page.getByTestId("session-item")).first()).toBeVisible();
  await page.goto(`${hotseat.url}/eval-sets?path=${encodeURIComponent(file(hotseat))}`);
  await page.getByRole("button", { name: "set criteria" }).click();
  await page.getByLabel("Criteria").fill('{"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}');
  await page.getByTestId("run-eval").click();
  const run = page.getByTestId("eval-run").first();
  await expect(run).toContainText("passed", { timeout: 100_000 });
  await expect(run.getByTestId("metric")).toHaveCount(2);
  await expect(run.getByTestId("metric").filter({ hasText: "tool_trajectory_avg_score" })).toContainText("✓ passed");
  await picture(page, "eval-run");

  // A case that asks for something else fails, and the earlier run stays.
  await page.getByTestId("eval-case").getByRole("button", { name: /math_agent_/ }).first().click();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByTestId("case-args-0-0").fill('{"a": 2, "b": 4}');
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => cases(hotseat)[0].conversation[0].intermediate_data.tool_uses[0].args.b).toBe(4);
  await page.reload();
  await expect(page.getByTestId("eval-run")).toHaveCount(1);
});
