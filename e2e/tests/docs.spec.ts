// The API, shown by the server itself: whoever is signed in to the page can read and try it.
import { expect, test } from "../support/hotseat.ts";

test("the API can be read and tried in a browser", async ({ page, hotseat }) => {
  const complaints: string[] = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  await page.goto(hotseat.link);
  await page.goto(`${hotseat.url}/docs`);
  await expect(page.getByRole("heading", { name: /Hotseat/ })).toBeVisible();
  const agents = page.locator(".opblock").filter({ hasText: "/api/v1/agents" }).first();
  await agents.getByRole("button").first().click();
  await agents.getByRole("button", { name: "Try it out" }).click();
  await agents.getByRole("button", { name: "Execute" }).click();
  await expect(agents.locator(".live-responses-table").getByText("math_agent").first()).toBeVisible();
  expect(complaints).toEqual([]);
});
