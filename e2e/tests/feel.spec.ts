// How it feels: keys, palette, notifications, accessibility, every screen in light and dark, and a session by the clock.
import { AxeBuilder } from "@axe-core/playwright";
import { type Page } from "@playwright/test";
import { expect, type Hotseat, picture, test } from "../support/hotseat.ts";
import { start } from "../support/seat.ts";

/** A completed and exported session, a waiting request, and a tool error: something on every screen. */
async function furnish(page: Page, hotseat: Hotseat): Promise<Record<string, string>> {
  await page.goto(hotseat.link);
  await start(page, hotseat, "math_agent", "Calculate 6 * 7");
  await page.getByTestId("tool-chip-multiply").click();
  await page.getByTestId("field-a").fill("6");
  await page.getByTestId("field-b").fill("7");
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("entry-tool_output")).toBeVisible();
  await page.getByTestId("choice-final").click();
  await page.getByTestId("final-text").fill("The answer is **42**.");
  await page.getByTestId("submit-decision").click();
  await page.getByTestId("export-button").click();
  await expect(page.getByTestId("export-result")).toBeVisible();
  const completed = new URL(page.url()).pathname;
  await page.getByTestId("open-eval-set").click();
  await expect(page.getByTestId("eval-case")).toBeVisible();
  const evalSet = page.url().slice(hotseat.url.length);
  await start(page, hotseat, "fragile", "Fetch it");
  await page.getByTestId("tool-chip-fetch").click();
  await page.getByTestId("field-url").fill("example");
  await page.getByTestId("submit-decision").click();
  await expect(page.getByTestId("entry-tool_error")).toBeVisible();
  await start(page, hotseat, "gallery", "Order a teapot");
  await page.getByTestId("tool-chip-order").click();
  await page.getByTestId("field-order.address.postcode").fill("12");
  await page.getByTestId("submit-decision").click();
  await expect(page.getByText("at least 4 characters").last()).toBeVisible();
  const waiting = new URL(page.url()).pathname;
  return {
    sessions: "/sessions",
    agents: "/agents",
    waiting,
    completed,
    "eval-sets": "/eval-sets",
    "eval-set": evalSet,
    settings: "/settings",
    unknown: "/nowhere",
  };
}

test("every screen is accessible, in light and dark, wide and narrow", async ({ page, hotseat }) => {
  test.setTimeout(300_000);
  const screens = await furnish(page, hotseat);
  const problems: string[] = [];
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    for (const [width, height] of [
      [1280, 720],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const [name, path] of Object.entries(screens)) {
        await page.goto(hotseat.url + path);
        await expect(page.getByTestId("connection-state")).toContainText("Live");
        await expect(page.locator("[aria-busy=true], .form-loading")).toHaveCount(0);
        await page.waitForTimeout(400);
        await picture(page, `screen-${name}-${scheme}-${width}`);
        const { violations } = await new AxeBuilder({ page }).analyze();
        for (const { id, nodes } of violations) {
          for (const node of nodes.slice(0, 3)) {
            problems.push(`${name} ${scheme} ${width}: ${id} at ${node.target.join(" ")}: ${node.failureSummary?.split("\n")[1]?.trim()}`);
          }
        }
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth + 1);
        if (wide) problems.push(`${name} ${scheme} ${width}: wider than the window`);
      }
    }
  }
  expect([...new Set(problems)]).toEqual([]);
});

test("dialogues and panels are accessible too", async ({ page, hotseat }) => {
  test.setTimeout(240_000);
  const screens = await furnish(page, hotseat);
  const problems: string[] = [];
  const look = async (name: string) => {
    await picture(page, `part-${name}`);
    const { violations } = await new AxeBuilder({ page }).analyze();
    for (const { id, nodes } of violations) {
      problems.push(`${name}: ${id} at ${nodes[0]?.target.join(" ")}: ${nodes[0]?.failureSummary?.split("\n")[1]?.trim()}`);
    }
  };
  await page.goto(hotseat.url + screens.waiting);
  await expect(page.getByTestId("submit-decision")).toBeVisible();
  for (const tab of ["Request", "State", "Artifacts", "Raw"]) {
    await page.getByRole("tab", { name: tab }).click();
    await look(`tab-${tab.toLowerCase()}`);
  }
  await page.getByRole("tab", { name: "Answer" }).click();
  await page.getByTestId("choice-final").click();
  await look("final");
  await page.locator("body").press("Escape");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toBeVisible();
  await look("help");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await expect(page.getByTestId("palette")).toBeVisible();
  await look("palette");
  await page.keyboard.press("Escape");
  await page.goto(hotseat.url + screens.completed);
  await page.getByTestId("trace-edit").click();
  await look("case-editor");
  await page.getByRole("button", { name: "Export…" }).click();
  await expect(page.getByRole("dialog")).toBeVisible();
  await look("export-dialogue");
  expect(problems).toEqual([]);
});

test("the palette finds sessions, agents and actions, and keys move around", async ({ page, hotseat }) => {
  await page.goto(hotseat.link);
  await start(page, hotseat, "math_agent", "How long is a light year?");
  const waiting = page.url();
  await page.goto(`${hotseat.url}/agents`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("light year");
  await expect(page.getByTestId("palette-item").filter({ hasText: "How long is a light year?" })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(waiting);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("dark app");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-mantine-color-scheme", "dark");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("travel");
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("agent-card-travel_agent").getByTestId("query-input")).toBeFocused();
  await page.keyboard.press("Escape");
  await page.locator("h1").click();
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await expect(page).toHaveURL(/eval-sets/);
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await expect(page).toHaveURL(/sessions/);
  await expect(page).toHaveTitle("(1) Hotseat");
});

test("a hidden page tells of a new request", async ({ page, context, hotseat }) => {
  await context.grantPermissions(["notifications"], { origin: hotseat.url });
  // The browser's notifications cannot be seen from here; what the page asks of the browser can.
  await page.addInitScript(() => {
    const shown: string[] = [];
    Object.assign(window, { shown });
    class Told {
      static permission = "granted";
      static requestPermission = async () => "granted";
      onclick = null;
      constructor(title: string) {
        shown.push(title);
      }
      close() {}
    }
    Object.assign(window, { Notification: Told });
  });
  await page.goto(hotseat.link);
  await page.goto(`${hotseat.url}/settings`);
  await page.getByTestId("notify-switch").check();
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
  });
  await expect.poll(async () => (await hotseat.api<{ items: unknown[] }>("GET", "/agents")).items.length).toBeGreaterThan(0);
  const session = await hotseat.api<{ id: string }>("POST", "/sessions", { agent: "math_agent" });
  await hotseat.api("POST", `/sessions/${session.id}/query`, { text: "What is 2 + 2?" });
  await expect.poll(() => page.evaluate(() => (window as any).shown)).toEqual(["math_agent waits for you"]);
  await expect(page).toHaveTitle("(1) Hotseat");
});

test("a session of three tools takes a person less than five minutes (SC-001)", async ({ page, hotseat }) => {
  test.setTimeout(320_000);
  const person = new Person(page);
  await page.goto(hotseat.link);
  const began = Date.now();
  await person.read("agents");
  await person.type(page.getByTestId("agent-card-math_agent").getByTestId("query-input"), "Calculate 5 * 5 + 10, and look up light");
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("choice-final")).toBeVisible();
  await person.read("the request and the instruction");
  for (const [tool, fields] of [
    ["multiply", { a: "5", b: "5" }],
    ["add", { a: "25", b: "10" }],
    ["search", { query: "speed of light" }],
  ] as const) {
    await person.click(page.getByTestId(`tool-chip-${tool}`));
    for (const [name, value] of Object.entries(fields)) await person.type(page.getByTestId(`field-${name}`), value);
    await person.think();
    const before = await page.getByTestId("entry-tool_output").count();
    await page.keyboard.press("Control+Enter");
    await expect(page.getByTestId("entry-tool_output")).toHaveCount(before + 1);
    await person.read("the output");
  }
  await page.locator("body").press("Escape");
  await page.keyboard.press("2");
  await person.type(page.getByTestId("final-text"), "5 * 5 + 10 is 35, and light travels at about 300,000 km/s.");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByTestId("export-button")).toBeEnabled();
  await person.read("the golden trace");
  await person.click(page.getByTestId("export-button"));
  await expect(page.getByTestId("export-result")).toBeVisible();
  const seconds = (Date.now() - began) / 1000;
  console.log(`three tools, a final response and the export at human speed: ${Math.round(seconds)} s`);
  expect(seconds).toBeLessThan(300);
});

/** Someone who reads, thinks, and types forty words a minute. */
class Person {
  constructor(private readonly page: Page) {}

  async read(_what: string) {
    await this.page.waitForTimeout(6000);
  }

  async think() {
    await this.page.waitForTimeout(2000);
  }

  async click(target: import("@playwright/test").Locator) {
    await this.page.waitForTimeout(1200);
    await target.click();
  }

  async type(target: import("@playwright/test").Locator, text: string) {
    await this.page.waitForTimeout(1000);
    await target.pressSequentially(text, { delay: 280 });
  }
}
