// A session that a program keeps here over ADK's own REST routes: read, searched, counted, cleared.
import { expect, type Hotseat, picture, sharing as test } from "../support/hotseat.ts";

const begun = Date.now() / 1000 - 60;

function event(index: number, author: string, part: object, state_delta: object = {}) {
  const content = { role: author === "user" ? "user" : "model", parts: [part] };
  return { id: `e-${index}`, author, invocationId: "i-1", timestamp: begun + index, content, actions: { state_delta } };
}

const EVENTS = [
  event(1, "user", { text: "Where is quince marmalade sold?" }),
  event(2, "guide", { functionCall: { id: "c1", name: "find_shops", args: { what: "marmalade" } } }),
  event(3, "guide", { functionResponse: { id: "c1", name: "find_shops", response: { result: ["Bolhao"] } } }, { shops: 1 }),
  ...Array.from({ length: 30 }, (_, index) => event(4 + index, "guide", { text: `Thought ${index} about it` })),
  event(40, "guide", { text: "At the Bolhao market." }, { city: "Lisbon", answer: "Bolhao" }),
];

/** The id by which Hotseat knows the session. */
async function kept(hotseat: Hotseat): Promise<string> {
  const body = { state: { city: "Porto" }, events: EVENTS };
  const { id } = await hotseat.call<{ id: string }>("POST", "/apps/demo/users/ada/sessions", body);
  const { items } = await hotseat.api<{ items: any[] }>("GET", "/sessions");
  return items.find((session) => session.adk_id === id).id;
}

test("a session of an ADK program shows its history, its state over time and its raw events", async ({ page, hotseat }) => {
  const id = await kept(hotseat);
  await page.goto(hotseat.link);
  await page.goto(`${hotseat.url}/sessions/${id}`);
  await expect(page.getByTestId("entry-final_response").last()).toContainText("At the Bolhao market.");
  await expect(page.getByText("Your program drives this session")).toBeVisible();
  await picture(page, "ledger-stream");

  // The place in the stream stays while other views are looked at.
  const stream = page.locator(".stream");
  await stream.evaluate((frame) => frame.scrollTo(0, 400));
  await expect(page.getByTestId("entry-tool_call")).toContainText("find_shops");
  const place = await stream.evaluate((frame) => frame.scrollTop);

  await page.getByTestId("view-state").click();
  await expect(page.getByTestId("state-step")).toContainText("Step 2 of 2");
  await expect(page.getByTestId("state-view")).toContainText(/State now.*city: "Lisbon"/);
  await page.getByTestId("state-slider").fill("1");
  await expect(page.getByTestId("state-view")).toContainText(/set.*shops.*city: "Porto"/);
  await page.getByTestId("state-slider").fill("0");
  await expect(page.getByTestId("state-step")).toContainText("Beginning");
  await expect(page.getByTestId("state-view")).not.toContainText("shops");
  await picture(page, "ledger-state");

  await page.getByTestId("view-events").click();
  await expect(page.getByTestId("raw-event")).toHaveCount(EVENTS.length);
  await page.getByTestId("raw-event").nth(1).locator("summary").click();
  await expect(page.getByTestId("raw-event").nth(1)).toContainText('"functionCall"');
  await page.getByTestId("view-agents").click();
  await expect(page.getByTestId("agent-node")).toContainText("guide");

  await page.getByTestId("view-stream").click();
  await expect.poll(() => stream.evaluate((frame) => frame.scrollTop)).toBe(place);
});

test("a word is found from anywhere, the figures count the session, and a cleared log says so", async ({ page, hotseat }) => {
  const id = await kept(hotseat);
  await page.goto(hotseat.link);
  await page.goto(`${hotseat.url}/stats`);
  await expect(page.getByTestId("stats-tools")).toContainText("find_shops");
  await expect(page.getByTestId("stats-largest")).toContainText("Where is quince marmalade sold?");
  await picture(page, "ledger-stats");

  await page.keyboard.press("Control+k");
  await page.getByTestId("palette-input").fill("thought 17");
  const hit = page.getByTestId("palette-item").filter({ hasText: "Thought 17 about it" }).first();
  await expect(hit.locator("mark").first()).toHaveText("Thought");
  await picture(page, "ledger-search");
  await hit.click();
  await expect(page.locator(".stream-row.selected")).toContainText("Thought 17 about it");

  await page.getByTestId("session-search").fill("quince");
  await page.getByTestId("found-item").first().click();
  await expect(page.locator(".stream-row.selected")).toContainText("quince marmalade");

  await hotseat.api("DELETE", `/sessions/${id}/events`);
  await page.goto(`${hotseat.url}/sessions/${id}`);
  await page.reload();
  await expect(page.getByTestId("gap")).toHaveText(/^\d+ earlier entries were removed$/);
  await expect(page.locator(".entry")).toHaveCount(0);
  await hotseat.api("POST", `/sessions/${id}/events`, [{ ...event(50, "guide", { text: "Begun again." }), id: "e-50" }]);
  await expect(page.locator(".entry")).toContainText("Begun again.");
  await expect(page.getByTestId("gap")).toHaveCount(1);
  await picture(page, "ledger-gap");
});
