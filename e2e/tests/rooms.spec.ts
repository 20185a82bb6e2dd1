// Two people at one session, each in a browser of their own.
import type { Browser, Page } from "@playwright/test";
import { expect, type Hotseat, picture, test } from "../support/hotseat.ts";
import { final, historyOf, sessionOf, start } from "../support/seat.ts";

/** A browser in which somebody is signed in by name. */
async function browserOf(browser: Browser, hotseat: Hotseat, name: string): Promise<Page> {
  await hotseat.api("POST", "/users", { name, role: "developer" });
  const made = await hotseat.api<{ token: string }>("POST", `/users/${name}/tokens`, {});
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${hotseat.url}/?token=${made.token}`);
  return page;
}

test("a turn is claimed, handed over and answered, and everybody sees by whom", async ({ page, browser, hotseat }) => {
  await start(page, hotseat, "math_agent", "What is 2 + 3?");
  const ada = await browserOf(browser, hotseat, "ada");
  const bob = await browserOf(browser, hotseat, "bob");
  for (const person of [ada, bob]) {
    await person.goto(`${hotseat.url}/sessions/${sessionOf(page)}`);
    await expect(person.getByTestId("room")).toContainText("anybody may answer");
  }

  await ada.getByTestId("claim").click();
  await expect(ada.getByTestId("room")).toContainText("claimed by you");
  await expect(bob.getByTestId("claimed-by")).toHaveText("claimed by ada");
  await expect(bob.getByTestId("claim")).toHaveCount(0);
  await picture(bob, "room-claimed");

  // Bob is refused by name, and what he wrote is still there.
  await final(bob, "It is 5.");
  await expect(bob.getByText("is claimed by ada")).toBeVisible();
  await expect(bob.getByTestId("final-text")).toHaveValue("It is 5.");

  await ada.getByTestId("choice-final").click();
  await ada.getByTestId("final-text").pressSequentially("Let me see");
  await expect(bob.getByTestId("typing")).toHaveText("ada is typing …");

  await ada.getByTestId("hand-over").click();
  await ada.getByLabel("Hand over to").fill("bob");
  await ada.getByTestId("give").click();
  await expect(bob.getByTestId("room")).toContainText("claimed by you");
  await expect(ada.getByTestId("claimed-by")).toHaveText("claimed by bob");
  await bob.getByTestId("submit-decision").click();
  await expect(ada.getByTestId("entry-final_response")).toContainText("answered by bob");
  const answered = (await historyOf(page, hotseat)).find((entry) => entry.type === "final_response");
  expect([answered.answered_by, answered.person, answered.content]).toEqual(["human", "bob", "It is 5."]);
});

test("whoever is alone sees nothing of rooms", async ({ page, hotseat }) => {
  await start(page, hotseat, "math_agent", "What is 2 + 3?");
  await expect(page.getByTestId("turn-head")).toBeVisible();
  await expect(page.getByTestId("room")).toHaveCount(0);
});
