// What goes in and what comes out where an agent declares it, and an agent that declares nothing at all.
import { type Page } from "@playwright/test";
import { expect, picture, sharing as test } from "../support/hotseat.ts";
import { call, cardOf, fill, final, historyOf, start } from "../support/seat.ts";

const errorsOf = (page: Page, path: string) =>
  page.locator(".field", { has: page.getByTestId(`field-${path}`) }).locator(".field-error");

test("a query with a schema is a form, and only what fits is sent (FR-010)", async ({ page, hotseat }) => {
  const card = await cardOf(page, hotseat, "ticket_triage");
  await expect(card.getByTestId("query-form")).toBeVisible();
  await expect(card.getByTestId("query-input")).toHaveCount(0);
  await expect(card.getByTestId("query-form")).toContainText("What the customer wrote");
  await fill(page, { subject: "No invoice", channel: "phone" });
  await card.getByTestId("query-send").click();
  await expect(card.locator(".field-error").filter({ hasText: "required" })).toHaveCount(2);
  await expect(page).toHaveURL(/agents/);
  await picture(page, "query-form");
  await fill(page, { body: "Where is it?", "customer.name": "Ada" });
  await card.getByTestId("query-send").click();
  await expect(page.getByTestId("entry-user_query")).toContainText("No invoice");
  const query = JSON.parse((await historyOf(page, hotseat))[0].content);
  expect(query).toEqual({ subject: "No invoice", body: "Where is it?", channel: "phone", customer: { name: "Ada" } });
});

test("a final response with a schema is a form, refused beside its fields until it fits (FR-015, FR-016)", async ({
  page,
  hotseat,
}) => {
  const card = await cardOf(page, hotseat, "ticket_triage");
  await fill(page, { subject: "Broken", body: "It is broken.", "customer.name": "Ada" });
  await card.getByTestId("query-send").click();
  await expect(page.getByTestId("final-text")).toHaveCount(0);
  await fill(page, { team: "data", summary: "x".repeat(201) });
  await page.getByTestId("submit-decision").click();
  await expect(errorsOf(page, "urgency")).toContainText("required");
  await expect(errorsOf(page, "summary")).toContainText("200");
  await picture(page, "output-schema");
  await fill(page, { urgency: "today", summary: "It is broken." });
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("export-button")).toBeEnabled();
  const [, answer] = await historyOf(page, hotseat);
  expect(JSON.parse(answer.content)).toEqual({ team: "data", urgency: "today", summary: "It is broken." });
  await picture(page, "output-schema-done");
});

test("an agent with tools and an output schema offers both, and ADK gets the form (FR-015, FR-016)", async ({
  page,
  hotseat,
}) => {
  await start(page, hotseat, "judge", "The teapot was cold");
  await expect(page.getByTestId("tool-chip-set_model_response")).toHaveCount(0);
  await call(page, "look_up", { paragraph: "7" });
  await expect(page.getByTestId("entry-tool_call")).toContainText("teapots are to be warmed");
  await page.getByTestId("choice-final").click();
  await expect(page.getByTestId("final-text")).toHaveCount(0);
  await fill(page, { confidence: "much" });
  await page.getByTestId("submit-decision").click();
  await expect(errorsOf(page, "outcome")).toContainText("required");
  await expect(errorsOf(page, "confidence")).toContainText("must be a number");
  await picture(page, "output-schema-tools");
  // Limits that ADK would only complain of once the tool is called.
  await fill(page, { outcome: "guilty", confidence: "2" });
  await page.getByTestId("submit-decision").click();
  await expect(errorsOf(page, "confidence")).toContainText("1");
  await page.getByTestId("add-reasons").click();
  await fill(page, { outcome: "guilty", confidence: "0.9", "reasons.0": "Paragraph 7" });
  await page.getByTestId("keep-open").check();
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("composer")).toBeVisible();
  await picture(page, "output-schema-tools-done");
  const verdict = { outcome: "guilty", confidence: 0.9, reasons: ["Paragraph 7"] };
  const history = await historyOf(page, hotseat);
  expect(JSON.parse(history.at(-1).content)).toEqual(verdict);
  // ADK has taken it for the agent's output: it is in the state under the agent's `output_key`.
  expect(history.map((entry) => entry.state_delta?.verdict).filter(Boolean)).toEqual([verdict]);
});

test("an agent without tools can only answer", async ({ page, hotseat }) => {
  await expect(await cardOf(page, hotseat, "plain")).toContainText("No tools");
  await start(page, hotseat, "plain", "Good morning");
  await expect(page.getByTestId("choice-tool")).toBeDisabled();
  await expect(page.getByTestId("final-text")).toBeVisible();
  await picture(page, "no-tools");
  await final(page, "Good morning to you.");
  await expect(page.getByTestId("entry-final_response")).toContainText("Good morning to you.");
  await expect(page.getByTestId("export-button")).toBeEnabled();
});
