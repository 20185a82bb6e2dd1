// What ADK asks the user instead of the model: to confirm a call, to give a credential, to say something.
import { type Page } from "@playwright/test";
import { expect, picture, sharing as test } from "../support/hotseat.ts";
import { call, final, historyOf, start } from "../support/seat.ts";

const panelOf = (page: Page) => page.getByTestId("ask-panel");
const asked = (page: Page, nth = 0) => page.getByTestId("entry-input_request").nth(nth);
const called = (page: Page, nth = 0) => page.getByTestId("entry-tool_call").nth(nth);

test("a tool that needs a yes runs after it, and not after a no", async ({ page, hotseat }) => {
  await start(page, hotseat, "clerk", "Pay the baker");
  await call(page, "pay", { amount: "12" });
  await expect(panelOf(page)).toContainText("Confirmation");
  await expect(panelOf(page)).toContainText("Asked of the user, not of the model");
  await expect(panelOf(page).locator(".ask-call")).toContainText(/pay.*amount.*12/s);
  await expect(panelOf(page)).toContainText("pay asks whether it may run");
  await expect(asked(page)).toContainText("pay asks whether it may run with amount: 12.");
  await expect(page.getByText("ToolConfirmation")).toHaveCount(0);
  await expect(asked(page)).toContainText("waits for you");
  await page.getByTestId("ask-send").click();
  await expect(page.getByTestId("question-confirmation")).toContainText("Approve or reject it first.");
  await picture(page, "confirmation");
  await page.getByTestId("ask-approve").click();
  await expect(page.getByTestId("ask-send")).toHaveText(/Approve/);
  await page.getByTestId("ask-send").click();
  await expect(asked(page)).toContainText("Approved");
  await expect(called(page)).toContainText("paid 12");

  await call(page, "pay", { amount: "900" });
  await page.getByTestId("ask-reject").click();
  await expect(page.getByTestId("ask-send")).toHaveText(/Reject/);
  await page.getByTestId("ask-send").click();
  await expect(asked(page, 1)).toContainText("Rejected");
  await expect(called(page, 1).getByTestId("not-confirmed")).toContainText("This tool call is rejected");
  await expect(page.getByTestId("entry-tool_error")).toHaveCount(0);
  await expect(page.getByTestId("choice-final")).toBeVisible();
  await picture(page, "confirmation-answered");
  await final(page, "Twelve, and no more.");
  await expect(page.getByTestId("entry-final_response")).toBeVisible();
  expect(JSON.stringify(await historyOf(page, hotseat))).not.toContain("paid 900");
});

test("a tool that asks in its own words gets what was changed in its proposal", async ({ page, hotseat }) => {
  await start(page, hotseat, "clerk", "Book seats");
  await call(page, "book", { seats: "4" });
  // ADK asks the model once more before it waits for the user. What it then says must not end the session.
  await page.getByTestId("choice-final").click();
  await expect(page.getByTestId("keep-open")).toBeChecked();
  await page.getByTestId("keep-open").uncheck();
  await expect(page.getByText("what the user is asked is never answered")).toBeVisible();
  await page.getByTestId("keep-open").check();
  await page.getByTestId("complete-button").click();
  await expect(page.getByRole("dialog")).toContainText("The user is still asked something");
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await final(page, "I have to ask.");
  await expect(panelOf(page)).toContainText("How many of the 4 seats?");
  await expect(page.getByTestId("ask-payload")).toHaveValue(/"seats": 4/);
  await page.getByTestId("ask-payload").fill('{"seats": 3}');
  await page.getByTestId("ask-approve").click();
  await picture(page, "confirmation-payload");
  await page.getByTestId("ask-send").click();
  await expect(called(page)).toContainText("booked 3");
});

test("a credential is asked for as what it is and reaches the tool, and the stream does not tell it", async ({ page, hotseat }) => {
  await start(page, hotseat, "clerk", "Open the vault");
  await call(page, "open_vault");
  await expect(panelOf(page)).toContainText("Credential request");
  await expect(panelOf(page)).toContainText("open_vault needs a credential.");
  await expect(page.getByLabel("API key")).toHaveAttribute("type", "password");
  await page.getByTestId("ask-send").click();
  await expect(page.getByTestId("question-credential")).toContainText("Enter it first.");
  await picture(page, "credential");
  await page.getByLabel("API key").fill("sesame");
  await page.getByTestId("ask-send").click();
  await expect(asked(page)).toContainText("Credential given");
  await expect(called(page)).toContainText("opened with a key of 6 letters");

  await call(page, "read_archive");
  await page.getByLabel("Token").fill("open-archive");
  await page.getByTestId("ask-send").click();
  await expect(called(page, 1)).toContainText("read with a token of 12 letters");
  await picture(page, "credential-given");
  await expect(page.getByText(/sesame|open-archive/)).toHaveCount(0);
});

test("an agent that asks for input gets text, or a value of the shape it asked for", async ({ page, hotseat }) => {
  await start(page, hotseat, "clerk", "Find out more");
  await page.getByTestId("tool-chip-adk_request_input").click();
  await page.getByTestId("field-message").fill("Which colour?");
  await page.getByTestId("submit-decision").click();
  await expect(panelOf(page)).toContainText("Input request");
  await expect(panelOf(page)).toContainText("Which colour?");
  await page.getByTestId("ask-send").click();
  await expect(page.getByTestId("question-input")).toContainText("Write an answer first.");
  await page.getByTestId("ask-input").fill("green");
  await picture(page, "input");
  await page.getByTestId("ask-send").click();
  await expect(asked(page)).toContainText("green");

  await page.getByTestId("tool-chip-adk_request_input").click();
  await page.getByTestId("mode-json").click();
  const response_schema = { type: "object", properties: { number: { type: "integer" } }, required: ["number"] };
  await page.getByTestId("json-input").fill(JSON.stringify({ message: "How many?", response_schema }));
  await page.getByTestId("submit-decision").click();
  await expect(panelOf(page)).toContainText("How many?");
  await page.getByTestId("field-number").fill("many");
  await page.getByTestId("ask-send").click();
  await expect(page.getByTestId("question-input").locator(".field-error")).toBeVisible();
  await picture(page, "input-schema");
  await page.getByTestId("field-number").fill("7");
  await page.getByTestId("ask-send").click();
  await expect(asked(page, 1)).toContainText("number: 7");
  const answers = (await historyOf(page, hotseat)).filter((entry) => entry.type === "input_response");
  expect(answers.map((entry) => entry.response)).toEqual([{ result: "green" }, { number: 7 }]);
});
