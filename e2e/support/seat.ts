// What a person does in every session: begin it, call tools, give the final response.
import { type Page } from "@playwright/test";
import { expect, type Hotseat } from "./hotseat.ts";

/** The card of an agent, where sessions begin. */
export async function cardOf(page: Page, hotseat: Hotseat, agent: string) {
  await page.goto(hotseat.link);
  await page.goto(`${hotseat.url}/agents`);
  return page.getByTestId(`agent-card-${agent}`);
}

/** Begins a session and waits for its first request. */
export async function start(page: Page, hotseat: Hotseat, agent: string, text: string) {
  const card = await cardOf(page, hotseat, agent);
  await card.getByTestId("query-input").fill(text);
  await card.getByTestId("query-send").click();
  await expect(page.getByTestId("choice-final")).toBeVisible();
}

/** Fills in a form; lists are chosen from, texts are typed. */
export async function fill(page: Page, values: Record<string, string>) {
  for (const [path, value] of Object.entries(values)) {
    const field = page.getByTestId(`field-${path}`);
    if ((await field.evaluate((element) => element.tagName)) === "SELECT") await field.selectOption({ label: value });
    else await field.fill(value);
  }
}

/** Sends the answer, and returns when the server has said something to it: the page has then left that request. */
export async function send(page: Page) {
  const taken = page.waitForResponse((response) => response.url().endsWith("/decision"));
  await page.getByTestId("submit-decision").click();
  await taken;
}

/** Calls a tool, and returns when the call is in the stream. */
export async function call(page: Page, tool: string, values: Record<string, string> = {}) {
  const before = await page.getByTestId("entry-tool_call").count();
  await page.getByTestId(`tool-chip-${tool}`).click();
  await fill(page, values);
  await send(page);
  await expect(page.getByTestId("entry-tool_call")).toHaveCount(before + 1);
}

/** Answers with text. */
export async function final(page: Page, text: string) {
  await page.getByTestId("choice-final").click();
  await page.getByTestId("final-text").fill(text);
  await send(page);
}

export const sessionOf = (page: Page) => new URL(page.url()).pathname.split("/").at(-1) ?? "";

/** What happened in the session of a page, as the API tells it. */
export async function historyOf(page: Page, hotseat: Hotseat): Promise<any[]> {
  const session = await hotseat.api<{ history: any[] }>("GET", `/sessions/${sessionOf(page)}?include=history`);
  return session.history;
}
