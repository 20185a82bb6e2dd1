// What happened, as a person reads it: cards, views, search, links, replay; and what a session can ask besides.
import { type Page } from "@playwright/test";
import { expect, picture, test } from "../support/hotseat.ts";
import { call, final, historyOf, sessionOf, start } from "../support/seat.ts";

const copied = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

test("a tool runs in ADK's own contexts, those of its call and of its run (FR-034, FR-035)", async ({
  page,
  hotseat,
}) => {
  await start(page, hotseat, "gallery", "Where am I?");
  await call(page, "contexts");
  await expect(page.getByTestId("entry-tool_output")).toContainText("Where am I?");
  const [, called, output] = await historyOf(page, hotseat);
  expect(output.result).toEqual({
    call: called.call_id,
    state: "State",
    invocation: called.invocation_id,
    session: sessionOf(page),
    agent: "gallery",
    said: "Where am I?",
  });
});

test("the result of a long-running tool is given later", async ({ page, hotseat }) => {
  await start(page, hotseat, "gallery", "Open a ticket");
  await call(page, "ticket", { title: "broken lid" });
  await expect(page.getByTestId("entry-tool_call")).toContainText("long running");
  await page.getByTestId("choice-final").click();
  await page.getByTestId("final-text").fill("A ticket is open.");
  await page.getByLabel(/keep the conversation open/i).check();
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("composer")).toBeVisible();
  await page.getByTestId("composer").getByTestId("later-result").click();
  await page.getByTestId("composer").getByTestId("later-input").fill('{"status": "closed"}');
  await page.getByTestId("composer").getByTestId("later-send").click();
  await expect(page.getByTestId("choice-final")).toBeVisible();
  await expect(page.getByTestId("entry-tool_call")).toContainText("closed");
  await expect(page.getByTestId("entry-tool_call")).toContainText("First answer");
});

test("artifacts are listed, shown and downloaded, and the state tells what changed (FR-034)", async ({
  page,
  hotseat,
}) => {
  await start(page, hotseat, "gallery", "Draw and remember");
  await call(page, "draw");
  await page.getByRole("tab", { name: /Artifacts/ }).click();
  await expect(page.getByTestId("artifact")).toHaveCount(2);
  await expect(page.getByRole("img", { name: "dot.png" })).toBeVisible();
  const shown = await page.getByRole("img", { name: "dot.png" }).evaluate((image: any) => image.naturalWidth);
  expect(shown).toBe(8);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "note.txt" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("note.txt");
  await picture(page, "artifacts");
  await page.getByRole("tab", { name: "Answer" }).click();
  await call(page, "remember", { key: "city", value: "Porto" });
  await expect(page.getByRole("tab", { name: /State/ })).toContainText("+1");
  await page.getByRole("tab", { name: /State/ }).click();
  await expect(page.getByTestId("state-delta")).toContainText("city");
  await expect(page.getByTestId("state-delta")).toContainText("Porto");
  await picture(page, "state");
});

test("going back to before an answer forks the session and runs no tool again", async ({ page, hotseat }) => {
  await start(page, hotseat, "gallery", "Remember twice");
  await call(page, "remember", { key: "a", value: "1" });
  await expect(page.getByTestId("entry-tool_output")).toContainText("run 1");
  await call(page, "remember", { key: "b", value: "2" });
  await expect(page.getByTestId("entry-tool_output").nth(1)).toContainText("run 2");
  const before = sessionOf(page);
  const second = page.getByTestId("entry-tool_call").nth(1);
  await second.hover();
  await second.getByTestId("go-back").click();
  await expect.poll(() => sessionOf(page)).not.toBe(before);
  await expect(page.getByTestId("choice-final")).toBeVisible();
  await expect(page.getByTestId("entry-tool_call")).toHaveCount(1);
  await expect(page.getByTestId("entry-tool_output")).toContainText("run 1");
  await call(page, "remember", { key: "c", value: "3" });
  await expect(page.getByTestId("entry-tool_output").nth(1)).toContainText("run 3");
  await page.getByTestId("fork-here").click();
  await expect(page.getByTestId("entry-tool_call")).toHaveCount(1);
});

test("what text holds is shown as such, and can be searched, folded, copied and linked", async ({
  page,
  context,
  hotseat,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await start(page, hotseat, "gallery", "Make reports");
  for (const kind of ["markdown", "json", "plain"]) {
    await call(page, "report", { kind });
    await expect(page.getByTestId("choice-final")).toBeVisible();
  }
  const cards = page.getByTestId("entry-tool_call");
  await expect(cards.nth(0).getByRole("heading", { name: "Report" })).toBeVisible();
  await cards.nth(0).getByRole("button", { name: "raw" }).click();
  await expect(cards.nth(0)).toContainText("# Report");

  // JSON inside of JSON inside of text, unfolded.
  await expect(cards.nth(1)).toContainText("deeper: [1, 2, 3]");
  await cards.nth(1).getByLabel("Search in this value").fill("needle");
  await expect(cards.nth(1)).toContainText("1 match");
  await cards.nth(1).getByLabel("Search in this value").fill("");
  await cards.nth(1).getByText("found me").hover();
  await cards.nth(1).getByRole("button", { name: "copy path" }).click();
  await expect.poll(() => copied(page)).toBe("inner.deep.needle");
  await cards.nth(1).getByText("found me").hover();
  await cards.nth(1).getByRole("button", { name: "copy value" }).click();
  await expect.poll(() => copied(page)).toBe("found me");
  await expect(cards.nth(2).getByRole("button", { name: "markdown" })).toHaveCount(0);

  // One entry, then all of them, folded; it stays so after a reload.
  await cards.nth(2).hover();
  await cards.nth(2).getByTestId("fold-entry").click();
  await expect(cards.nth(2).getByTestId("entry-tool_output")).toHaveCount(0);
  await page.getByTestId("collapse-all").click();
  await expect(page.getByTestId("entry-tool_output")).toHaveCount(0);
  await page.waitForTimeout(500);
  await page.reload();
  await expect(cards).toHaveCount(3);
  await expect(page.getByTestId("entry-tool_output")).toHaveCount(0);
  await picture(page, "folded");
  await page.getByTestId("expand-all").click();
  await expect(page.getByTestId("entry-tool_output")).toHaveCount(3);

  // Search in the session.
  await page.keyboard.press("Control+f");
  await page.keyboard.type("report");
  await expect(page.getByTestId("search-count")).toHaveText("0/4");
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("search-count")).toHaveText("1/4");
  await page.keyboard.press("Shift+Enter");
  await expect(page.getByTestId("search-count")).toHaveText("4/4");
  await picture(page, "search");

  // A link to an entry.
  await cards.nth(1).hover();
  await cards.nth(1).getByTestId("copy-link").click();
  await expect.poll(() => copied(page)).toContain("#");
  const link = await copied(page);
  expect(link).toMatch(/\/sessions\/[\w-]+#\d+$/);
  const other = await context.newPage();
  await other.goto(link);
  await expect(other.locator(".stream-row.selected")).toContainText("deeper");
  await other.close();

  // Replay of a session at rest.
  await final(page, "Three reports.");
  await expect(page.getByTestId("export-button")).toBeVisible();
  await page.getByTestId("replay-play").click();
  await expect(page.getByTestId("entry-user_query")).toBeVisible();
  await expect(page.getByTestId("entry-final_response")).toHaveCount(0);
  await page.getByTestId("replay-play").click();
  await page.getByTestId("replay-step").click();
  await expect(page.getByTestId("replay-end")).toContainText("of 5");
  await page.getByTestId("replay-end").click();
  await expect(page.getByTestId("entry-final_response")).toBeVisible();
});

test("ten megabytes of output are cut in the page and kept whole", async ({ page, hotseat }) => {
  await start(page, hotseat, "gallery", "Give me much");
  await call(page, "big", { megabytes: "10" });
  await expect(page.getByTestId("entry-tool_output")).toContainText("10,000", { timeout: 60_000 });
  await expect(page.getByTestId("choice-final")).toBeVisible();
  await page.getByTestId("choice-final").click();
  const typed = await page.evaluate(async () => {
    const field = document.querySelector<HTMLTextAreaElement>("[data-testid=final-text]");
    const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set;
    const began = performance.now();
    set?.call(field, "much");
    field?.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
    return performance.now() - began;
  });
  console.log(`typing beside ten megabytes: ${Math.round(typed)} ms to the next frame`);
  const output = page.getByTestId("entry-tool_output");
  await output.getByRole("button", { name: "raw" }).click();
  await expect(output).toContainText(/Show more \(1\d,\d{3},\d{3} characters\)/);
  await picture(page, "big-output");
});

test("ten thousand entries open and scroll with a few rows in the page", async ({ page, hotseat }) => {
  await page.goto(hotseat.link);
  await expect(page.getByTestId("agent-card-math_agent")).toBeVisible();
  const session = await hotseat.api<{ id: string }>("POST", "/sessions", { agent: "math_agent" });
  const stamp = Date.now() / 1000 - 20_000;
  const event = (index: number, parts: unknown[], author: string) => ({
    id: `event-${index}`,
    author,
    invocation_id: "e-1",
    timestamp: stamp + index,
    content: { role: author === "user" ? "user" : "model", parts },
    actions: {},
  });
  const events: unknown[] = [event(0, [{ text: "Count to ten thousand" }], "user")];
  for (let index = 1; index < 20_000; index += 2) {
    const id = `adk-${index}`;
    events.push(event(index, [{ function_call: { id, name: "add", args: { a: index, b: 1 } } }], "math_agent"));
    const response = { id, name: "add", response: { result: index + 1 } };
    events.push(event(index + 1, [{ function_response: response }], "math_agent"));
  }
  for (let from = 0; from < events.length; from += 500) {
    await hotseat.api("POST", `/sessions/${session.id}/events`, events.slice(from, from + 500));
  }
  await page.goto(`${hotseat.url}/agents`);
  const began = Date.now();
  await page.goto(`${hotseat.url}/sessions/${session.id}`, { waitUntil: "commit" });
  await expect(page.getByTestId("timeline")).toContainText("events");
  await expect(page.locator("[data-testid=entry-tool_call]").last()).toContainText("add");
  const took = Date.now() - began;
  console.log(`10,000 entries opened in ${took} ms`);
  expect(await page.locator(".stream-row").count()).toBeLessThan(60);
  // Figures are printed, not judged: they say as much about the machine as about the page.
  const median = await page.evaluate(async () => {
    const frame = document.querySelector<HTMLElement>(".stream");
    if (!frame) return Number.NaN;
    const frames: number[] = [];
    for (let step = 0; step <= 60; step++) {
      const start = performance.now();
      frame.scrollTop = (frame.scrollHeight * step) / 60;
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
      frames.push(performance.now() - start);
    }
    return frames.sort((a, b) => a - b)[30] ?? Number.NaN;
  });
  console.log(`median frame while jumping through it: ${Math.round(median)} ms`);
  await expect(page.locator("[data-testid=entry-tool_call]").last()).toContainText("add");
  await picture(page, "ten-thousand");
});
