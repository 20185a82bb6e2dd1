// Several agents in one session: side by side, one after the other, and one inside the other.
import { type Page } from "@playwright/test";
import { expect, picture, sharing as test } from "../support/hotseat.ts";
import { call, final, historyOf, sessionOf, start } from "../support/seat.ts";

const headOf = (page: Page) => page.getByTestId("turn-head");

test("three agents that ask at once wait in a queue, and each is answered under its own name", async ({
  page,
  hotseat,
}) => {
  await start(page, hotseat, "panel", "What of this tea?");
  await expect(page.getByTestId("queue-length")).toHaveText("1 of 3 in queue");
  await expect(headOf(page)).toContainText("next:");
  await picture(page, "queue");
  const turns = () =>
    hotseat.api<{ items: any[] }>("GET", `/sessions/${sessionOf(page)}/turns?state=pending`).then((list) => list.items);
  const queue = (await turns()).map((turn) => turn.agent_name);
  expect([...queue].sort()).toEqual(["critic", "grower", "merchant"]);

  // One that calls a tool goes to the end of the queue.
  await expect(headOf(page)).toContainText(`Your turn as ${queue[0]}`);
  await expect(page.getByTestId("session-state")).toHaveText("active · request 1");
  await expect(page.getByTestId("instruction")).toContainText(`You are the ${queue[0]}.`);
  await call(page, "taste", { tea: "assam" });
  await expect(headOf(page)).toContainText(`Your turn as ${queue[1]}`);
  await expect.poll(async () => (await turns()).map((turn) => turn.agent_name)).toEqual([queue[1], queue[2], queue[0]]);
  await expect(page.getByTestId("queue-length")).toHaveText("1 of 3 in queue");
  // Four requests were made; the second is in the seat, and both places say so.
  await expect(page.getByTestId("session-state")).toHaveText("active · request 2");
  await expect(headOf(page)).toContainText("request 2 of this session");
  await expect(page.getByTestId("entry-tool_call").getByTestId("entry-by")).toHaveText(`by ${queue[0]}`);
  await picture(page, "queue-tool");

  const [first, ...later] = await turns();
  const early = { candidates: [{ role: "model", parts: [{ text: "me first" }] }] };
  const refused = hotseat.api("POST", `/sessions/${sessionOf(page)}/turns/${later[0].turn_id}/decision`, early);
  await expect(refused).rejects.toThrow("turn_not_head");
  expect(first.position).toBe(1);

  for (const name of [queue[1], queue[2], queue[0]]) {
    await expect(headOf(page)).toContainText(`Your turn as ${name}`);
    await page.getByTestId("choice-final").click();
    await page.getByTestId("keep-open").check();
    await final(page, `The ${name} likes it.`);
  }
  await expect(page.getByTestId("composer")).toBeVisible();
  await expect(page.getByTestId("entry-final_response").getByTestId("entry-by")).toHaveText(
    [queue[1], queue[2], queue[0]].map((name) => `by ${name}`),
  );
  await picture(page, "queue-done");
  const finals = (await historyOf(page, hotseat)).filter((entry) => entry.type === "final_response");
  expect(finals.map((entry) => [entry.agent_name, entry.content])).toEqual(
    [queue[1], queue[2], queue[0]].map((name) => [name, `The ${name} likes it.`]),
  );
});

test("a transfer hands the conversation over, and the next request is the other agent's", async ({ page, hotseat }) => {
  await start(page, hotseat, "travel_agent", "A train to Porto, please");
  await expect(headOf(page)).toContainText("Your turn as travel_desk");
  await page.getByTestId("tool-chip-transfer_to_agent").click();
  await page.getByTestId("field-agent_name").selectOption({ label: "trains" });
  await expect(page.getByTestId("submit-decision")).toHaveText(/Transfer/);
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("entry-transfer")).toContainText("transferred to trains");
  await expect(headOf(page)).toContainText("Your turn as trains");
  await expect(page.getByTestId("instruction")).toContainText("You find and book trains");
  await expect(page.getByTestId("tool-chip-find_trains")).toBeVisible();
  await picture(page, "transfer");
  await final(page, "There is one at 08:09.");
  await expect(page.getByTestId("entry-final_response")).toContainText("08:09");
});

test("an agent that is called as a tool asks inside the call, and its answer is the call's output", async ({
  page,
  hotseat,
}) => {
  await start(page, hotseat, "travel_agent", "When should I go to Porto?");
  await page.getByTestId("tool-chip-weather").click();
  await expect(page.getByTestId("submit-decision")).toHaveText(/Run agent/);
  await call(page, "weather", { request: "Porto in May?" });
  await expect(headOf(page)).toContainText("Your turn as weather");
  await expect(headOf(page)).toContainText("inside weather");
  await picture(page, "agent-tool");
  await call(page, "climate", { city: "Porto", month: "5" });
  await page.getByTestId("choice-final").click();
  // The end of the inner agent does not end the session.
  await expect(page.getByTestId("keep-open")).toHaveCount(0);
  await final(page, "Mild, pack a coat.");
  await expect(headOf(page)).toContainText("Your turn as travel_desk");
  const outer = page.getByTestId("entry-tool_call").first();
  await expect(outer.getByTestId("entry-tool_output")).toContainText("Mild, pack a coat.");
  await expect(page.getByTestId("entry-user_query").nth(1)).toContainText("Agent input");
  await picture(page, "agent-tool-done");
  const history = await historyOf(page, hotseat);
  const weather = history.find((entry) => entry.tool_name === "weather");
  const inside = history.filter((entry) => entry.parent_call_id === weather.call_id).map((entry) => entry.type);
  expect(inside).toEqual(["user_query", "tool_call", "tool_output", "final_response"]);
  // What is inside stands further in than the call.
  const left = async (nth: number) => (await page.getByTestId("entry-tool_call").nth(nth).boundingBox())?.x ?? 0;
  expect(await left(1)).toBeGreaterThan(await left(0));
});
