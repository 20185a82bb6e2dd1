// What a person sees when things go wrong around them.
import { type Page } from "@playwright/test";
import { expect, type Hotseat, picture, test } from "../support/hotseat.ts";

async function startSession(page: Page, hotseat: Hotseat, agent: string, text: string) {
  await page.goto(hotseat.link);
  await page.goto(`${hotseat.url}/agents`);
  const card = page.getByTestId(`agent-card-${agent}`);
  await card.getByTestId("query-input").fill(text);
  await card.getByTestId("query-send").click();
  await expect(page.getByTestId("choice-final")).toBeVisible();
}

async function answer(page: Page, text: string) {
  await page.getByTestId("choice-final").click();
  await page.getByTestId("final-text").fill(text);
  await page.getByTestId("submit-decision").click();
}

test("a tool that raises shows its error and the session goes on", async ({ page, hotseat }) => {
  await startSession(page, hotseat, "fragile", "Fetch it");
  await page.getByTestId("tool-chip-fetch").click();
  await page.getByLabel("url", { exact: true }).fill("example");
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("entry-tool_call")).toContainText("ConnectionError");
  await expect(page.getByTestId("entry-tool_call")).toContainText("example answered 503");
  await picture(page, "tool-error");
  await answer(page, "It is down.");
  await expect(page.getByTestId("entry-final_response")).toContainText("It is down.");
});

test("a blocking tool can be cancelled", async ({ page, hotseat }) => {
  await startSession(page, hotseat, "fragile", "Wait for it");
  await page.getByTestId("tool-chip-sleep").click();
  await page.getByLabel("seconds", { exact: true }).fill("600");
  await page.getByTestId("submit-decision").click();
  // The stopwatch runs (FR-032), and Cancel frees the session (FR-033).
  const call = page.getByTestId("entry-tool_call");
  await expect(call).toContainText(/Running 0:0[1-9]/);
  await page.getByRole("button", { name: /cancel/i }).first().click();
  await expect(call).toContainText(/cancelled/i);
  await expect(page.getByTestId("choice-final")).toBeVisible();
});

test("a second tab that answers the same request is told so", async ({ page, context, hotseat }) => {
  await startSession(page, hotseat, "math_agent", "What is 2 + 2?");
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(other.getByTestId("choice-final")).toBeVisible();
  // The second tab's answer is held back until the first one's is in the log.
  await other.route("**/decision", async (route) => {
    await answer(page, "4");
    await expect(page.getByTestId("entry-final_response")).toContainText("4");
    await route.continue();
  });
  await answer(other, "5");
  await expect(other.getByText(/answered in another tab/i).first()).toBeVisible();
  await expect(other.getByTestId("entry-final_response")).toHaveText(/4/);
});

test("a page that is closed and opened again goes on where it was", async ({
  page,
  context,
  hotseat,
}) => {
  await startSession(page, hotseat, "math_agent", "What is 2 + 2?");
  const address = page.url();
  await page.close();
  const again = await context.newPage();
  await again.goto(address);
  await answer(again, "4");
  await expect(again.getByTestId("entry-final_response")).toContainText("4");
});

test("a server that was killed comes back with the request still waiting", async ({
  page,
  hotseat,
}) => {
  await startSession(page, hotseat, "math_agent", "What is 6 * 7?");
  await page.getByTestId("tool-chip-multiply").click();
  await page.getByLabel("a", { exact: true }).fill("6");
  await page.getByLabel("b", { exact: true }).fill("7");
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("entry-tool_call")).toContainText("42");
  await expect(page.getByTestId("choice-final")).toBeVisible();

  await hotseat.kill();
  await expect(page.getByTestId("connection-state")).toContainText("Offline");
  await hotseat.start();
  await expect(page.getByTestId("connection-state")).toContainText("Live");

  await answer(page, "42");
  await expect(page.getByTestId("entry-final_response")).toContainText("42");
  await expect(page.getByTestId("entry-tool_call")).toHaveCount(1);
});

test("a worker that dies in a tool comes back, and the person decides what to do", async ({
  page,
  hotseat,
}) => {
  await startSession(page, hotseat, "fragile", "Crash");
  await page.getByTestId("tool-chip-crash").click();
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("entry-tool_call")).toContainText("Interrupted", { timeout: 60_000 });
  await answer(page, "The tool took the worker down.");
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
