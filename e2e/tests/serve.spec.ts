// A product with a person behind it: a page of another origin talks to an ADK agent over AG-UI, a person answers for
// the model on Hotseat's own page, and the conversation becomes a golden trace that `adk eval` accepts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { adkEval } from "../support/adk-eval.ts";
import { picture } from "../support/hotseat.ts";
import { call, final } from "../support/seat.ts";
import { expect, test } from "../support/serving.ts";
import { startSite } from "../support/site.ts";

test("a page of another origin talks to an agent, a person answers, and adk eval accepts the trace", async ({
  serve,
  context,
  complaints,
}) => {
  const site = await startSite();
  try {
    const hotseat = await serve({
      agent: "examples/math_agent",
      seat: "human",
      args: ["--cors-origins", site.origin],
    });
    const [shop, seat] = [await context.newPage(), await context.newPage()];
    for (const page of [shop, seat]) listen(page, complaints);
    const url = encodeURIComponent(`${hotseat.url}/ag-ui/math_agent`);
    await shop.goto(`${site.origin}/?url=${url}&token=${hotseat.token}`);
    const say = async (text: string) => {
      await shop.getByLabel("Message").fill(text);
      await shop.getByRole("button").click();
    };
    const lines = shop.locator("li");

    await say("Calculate 5 * 5 + 10");
    await seat.goto(hotseat.link);
    await seat.getByTestId("session-item").click();
    await expect(seat.getByTestId("turn-head")).toContainText("Your turn as math_agent");
    await picture(seat, "front-end-turn");
    await call(seat, "multiply", { a: "5", b: "5" });
    // What happens is seen there while the run goes on.
    await expect(lines).toHaveText(["user: Calculate 5 * 5 + 10", /multiply is called/, /tool: .*25/]);
    await expect(shop.getByRole("status")).toHaveText("waiting");
    await call(seat, "add", { a: "25", b: "10" });
    await final(seat, "The answer is 35.");
    await expect(lines.last()).toHaveText("assistant: The answer is 35.");
    await expect(shop.getByRole("status")).toHaveText("ready");

    await expect(seat.getByTestId("others-drive")).toContainText("over AG-UI");
    await picture(seat, "front-end-drives");
    await say("And twice that?");
    await call(seat, "multiply", { a: "35", b: "2" });
    await final(seat, "Twice that is 70.");
    await expect(lines.last()).toHaveText("assistant: Twice that is 70.");

    await expect(seat.getByTestId("others-drive")).toBeVisible();
    await seat.getByTestId("complete-button").click();
    await seat.getByTestId("export-button").click();
    await expect(seat.getByTestId("export-result")).toContainText("math_agent_");
    const file = join(hotseat.agents, "math_agent/math_agent.evalset.json");
    const [golden] = JSON.parse(readFileSync(file, "utf8")).eval_cases;
    expect(golden.conversation).toHaveLength(2);
    const run = adkEval(hotseat, "math_agent", file);
    expect(run.output).toContain("Tests passed: 1");
    expect(run.code).toBe(0);
  } finally {
    site.stop();
  }
});

test("a page whose origin was not named gets nothing", async ({ serve, page }) => {
  const site = await startSite();
  try {
    const hotseat = await serve({ agent: "examples/native", seat: "human" });
    const url = encodeURIComponent(`${hotseat.url}/ag-ui/tea_shop`);
    await page.goto(`${site.origin}/?url=${url}&token=${hotseat.token}`);
    await page.getByLabel("Message").fill("Tea?");
    await page.getByRole("button").click();
    await expect(page.getByRole("status")).toContainText("failed");
    expect((await hotseat.api<{ items: object[] }>("GET", "/sessions")).items).toEqual([]);
  } finally {
    site.stop();
  }
});

function listen(page: Page, complaints: string[]) {
  page.on("console", (line) => {
    if (["error", "warning"].includes(line.type())) complaints.push(line.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
}
