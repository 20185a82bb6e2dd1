// Forms for awkward schemas: what is typed is exactly what the Python function gets, types included.
import { type Page } from "@playwright/test";
import { expect, type Hotseat, picture, test } from "../support/hotseat.ts";

const text = (value: string) => ({ type: "str", repr: pythonText(value) });
const int = (value: string | number) => ({ type: "int", repr: String(value) });
const float = (value: string) => ({ type: "float", repr: value });
const bool = (value: boolean) => ({ type: "bool", repr: value ? "True" : "False" });
const none = { type: "NoneType", repr: "None" };
const list = (...items: unknown[]) => ({ type: "list", items });
const dict = (entries: Record<string, unknown>) => ({ type: "dict", entries });
const model = (type: string, value: unknown) => ({ type, value });

function pythonText(value: string): string {
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const inner = value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return quote + (quote === "'" ? inner.replaceAll("'", "\\'") : inner) + quote;
}

/** The seat of one session with the gallery agent. */
class Gallery {
  private calls = 0;

  constructor(
    private readonly page: Page,
    private readonly hotseat: Hotseat,
  ) {}

  async start() {
    await this.page.goto(this.hotseat.link);
    await this.page.goto(`${this.hotseat.url}/agents`);
    const card = this.page.getByTestId("agent-card-gallery");
    await card.getByTestId("query-input").fill("Try every field");
    await card.getByTestId("query-send").click();
    await expect(this.page.getByTestId("choice-tool")).toBeVisible();
  }

  field(path: string) {
    return this.page.getByTestId(`field-${path}`);
  }

  async choose(tool: string) {
    await this.page.getByTestId("tool-search").fill(tool);
    await this.page.getByTestId(`tool-chip-${tool}`).click();
    await expect(this.page.getByTestId("tool-form")).toBeVisible();
  }

  async fill(values: Record<string, string>) {
    for (const [path, value] of Object.entries(values)) await this.field(path).fill(value);
  }

  async submit() {
    await this.page.getByTestId("submit-decision").click();
  }

  /** Fills in a form, sends it, and gives back what the function says it got. */
  async call(tool: string, fill: () => Promise<void>): Promise<unknown> {
    await this.choose(tool);
    await fill();
    await this.submit();
    this.calls += 1;
    await expect(this.page.getByTestId("entry-tool_output").nth(0)).toBeVisible();
    await expect.poll(async () => (await this.outputs()).length).toBe(this.calls);
    // The page may still show the answered request: what is chosen there would be gone with it.
    await expect(this.page.getByTestId("turn-head")).toContainText(`request ${this.calls + 1} of this session`);
    return JSON.parse((await this.outputs()).at(-1) ?? "null");
  }

  private async outputs(): Promise<string[]> {
    const id = new URL(this.page.url()).pathname.split("/").at(-1);
    const session = await this.hotseat.api<{ history: any[] }>("GET", `/sessions/${id}?include=history`);
    return session.history.filter((entry) => entry.type === "tool_output").map((entry) => entry.result.result);
  }
}

test("plain values arrive with their types (FR-004, FR-013, SC-003)", async ({ page, hotseat }) => {
  const gallery = new Gallery(page, hotseat);
  await gallery.start();

  const numbers = await gallery.call("numbers", async () => {
    await gallery.fill({ whole: "5", real: "2.5" });
    await expect(gallery.field("big")).toHaveAttribute("placeholder", "7 · default");
  });
  expect(numbers).toEqual({ whole: int(5), real: float("2.5"), big: int(7) });

  const exact = await gallery.call("numbers", () =>
    gallery.fill({ whole: "5.0", real: "5.0", big: "123456789012345678901234567890" }),
  );
  expect(exact).toEqual({ whole: int(5), real: float("5.0"), big: int("123456789012345678901234567890") });

  const lines = 'first\nsecond "quoted"\n\n\tübermäßig 茶 🫖';
  const texts = await gallery.call("texts", () => gallery.fill({ line: "5", lines }));
  expect(texts).toEqual({ line: text("5"), lines: { type: "str", repr: `'first\\nsecond "quoted"\\n\\n\\tübermäßig 茶 🫖'` } });

  const off = await gallery.call("switches", async () => {});
  expect(off).toEqual({ on: bool(false), maybe: none, preset: bool(true) });
  const on = await gallery.call("switches", async () => {
    await gallery.field("on").check();
    await gallery.field("maybe").selectOption("false");
    await gallery.field("preset").selectOption("false");
  });
  expect(on).toEqual({ on: bool(true), maybe: bool(false), preset: bool(false) });

  const nullable = await gallery.call("nullable", async () => {
    await page.getByRole("button", { name: "Send null for must" }).click();
  });
  expect(nullable).toEqual({ must: none, may: text("preset") });
  const set = await gallery.call("nullable", async () => {
    await gallery.fill({ must: "0" });
    await page.getByRole("button", { name: "Send null for may" }).click();
  });
  expect(set).toEqual({ must: int(0), may: none });

  const paint = await gallery.call("paint", async () => {
    await gallery.field("colour").selectOption({ label: "green" });
  });
  expect(paint).toMatchObject({ colour: { repr: expect.stringContaining("green") }, other: none });

  const level = await gallery.call("level", () => gallery.field("how").selectOption({ label: "high" }).then(() => {}));
  expect(level).toEqual({ how: text("high"), fixed: text("always") });

  const day = await gallery.call("when", () =>
    gallery.fill({ day: "2026-02-28", moment: "2026-02-28T23:59:59+02:00" }),
  );
  expect(day).toEqual({ day: text("2026-02-28"), moment: text("2026-02-28T23:59:59+02:00") });

  const upload = await gallery.call("upload", async () => {
    await page.getByTestId("file-data").setInputFiles({
      name: "note.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("tea\n"),
    });
    await expect(gallery.field("data")).toHaveValue("tea\n");
  });
  expect(upload).toEqual({ data: text("tea\n") });

  expect(await gallery.call("nothing", async () => {})).toEqual({});
});

test("structures arrive as they were built (FR-004, SC-003)", async ({ page, hotseat }) => {
  const gallery = new Gallery(page, hotseat);
  await gallery.start();

  const tree = await gallery.call("recursive", async () => {
    await gallery.fill({ "tree.name": "root" });
    await page.getByTestId("set-tree.children").click();
    for (const name of ["left", "right"]) {
      await page.getByTestId("add-tree.children").click();
      const index = name === "left" ? 0 : 1;
      await gallery.fill({ [`tree.children.${index}.name`]: name });
    }
    await page.getByTestId("set-tree.children.1.children").click();
    await page.getByTestId("add-tree.children.1.children").click();
    await gallery.fill({ "tree.children.1.children.0.name": "deep" });
    await page.getByRole("button", { name: "Move item 2 up" }).click();
    await expect(gallery.field("tree.children.0.name")).toHaveValue("right");
    await picture(page, "form-recursive");
  });
  expect(tree).toEqual({
    tree: model("Node", {
      name: "root",
      children: [
        { name: "right", children: [{ name: "deep", children: [] }] },
        { name: "left", children: [] },
      ],
    }),
  });

  const kinds: [string, () => Promise<void>, unknown][] = [
    ["integer", () => gallery.fill({ value: "12" }), int(12)],
    ["text", () => gallery.fill({ value: "12" }), text("12")],
    [
      "list of integer",
      async () => {
        await page.getByTestId("add-value").click();
        await page.getByTestId("add-value").click();
        await gallery.fill({ "value.0": "1", "value.1": "2" });
      },
      list(int(1), int(2)),
    ],
  ];
  for (const [kind, fill, expected] of kinds) {
    const got = await gallery.call("union", async () => {
      await page.getByTestId("kind-value").selectOption({ label: kind });
      await fill();
    });
    expect(got, kind).toEqual({ value: expected });
  }

  const dog = await gallery.call("pet", async () => {
    await page.getByTestId("kind-animal").selectOption({ label: "Dog" });
    await gallery.fill({ "animal.bark": "wow" });
  });
  expect(dog).toEqual({ animal: model("Dog", { kind: "dog", bark: "wow" }) });

  const pair = await gallery.call("pair", () => gallery.fill({ "point.0": "3", "point.1": "three" }));
  expect(pair).toEqual({ point: list(int(3), text("three")) });

  const counts = await gallery.call("counts", async () => {
    for (const [key, value] of [
      ["tea", "2"],
      ["milk/sugar", "0"],
    ] as const) {
      await page.getByTestId("add-per_word").click();
      await page.keyboard.type(key);
      await gallery.fill({ [`per_word.${key}`]: value });
    }
  });
  expect(counts).toEqual({ per_word: dict({ tea: int(2), "milk/sugar": int(0) }) });

  const options = await gallery.call("options", async () => {
    await page.getByTestId("add-anything").click();
    await page.keyboard.type("deep");
    await gallery.fill({ "anything.deep": '{"a": [1, 2.0, null, "x"]}' });
  });
  expect(options).toEqual({
    anything: dict({ deep: dict({ a: list(int(1), float("2.0"), none, text("x")) }) }),
  });

  for (const [typed, expected] of [
    ["[1, true]", list(int(1), bool(true))],
    ["plain words", text("plain words")],
    ['"42"', text("42")],
    ["9007199254740993", int("9007199254740993")],
  ] as const) {
    expect(await gallery.call("anything", () => gallery.fill({ value: typed }))).toEqual({ value: expected });
  }

  const tags = await gallery.call("tags", async () => {
    for (const [index, name] of ["b", "a"].entries()) {
      await page.getByTestId("add-names").click();
      await gallery.fill({ [`names.${index}`]: name });
    }
    await page.getByRole("button", { name: "Move item 2 up" }).click();
    await page.getByTestId("set-colours").click();
    await page.getByTestId("add-colours").click();
    await gallery.field("colours.0").selectOption({ label: "blue" });
  });
  expect(tags).toMatchObject({ names: list(text("a"), text("b")), colours: { type: "list" } });
});

test("nested models are checked at every depth, and nothing typed is lost (FR-006)", async ({
  page,
  hotseat,
}) => {
  const gallery = new Gallery(page, hotseat);
  await gallery.start();
  await gallery.choose("order");
  await gallery.fill({ "order.address.street": "9 Mill Lane", "order.address.postcode": "12" });
  await gallery.submit();
  const form = page.getByTestId("tool-form");
  await expect(form).toContainText("at least 4 characters");
  await expect(form).toContainText("at least 1 item");
  await expect(gallery.field("order.address.street")).toHaveValue("9 Mill Lane");
  await page.getByTestId("add-order.lines").click();
  await gallery.submit();
  await expect(form.locator(".field-error").filter({ hasText: "required" })).toHaveCount(2);
  await picture(page, "form-errors");

  const got = await gallery.call("order", async () => {
    await gallery.fill({
      "order.address.postcode": "1234",
      "order.lines.0.article": "teapot",
      "order.lines.0.count": "2",
    });
    await gallery.field("order.lines.0.colour").selectOption({ label: "red" });
    // The JSON beside the form holds the same, both ways.
    await page.getByTestId("mode-json").click();
    const json = page.getByTestId("json-input");
    const value = JSON.parse(await json.inputValue());
    expect(value.order.lines).toEqual([{ article: "teapot", count: 2, colour: "red" }]);
    await json.fill(JSON.stringify({ order: { ...value.order, note: "broken lid" } }));
    await page.getByTestId("mode-form").click();
    await expect(gallery.field("order.note")).toHaveValue("broken lid");
  });
  expect(got).toEqual({
    order: model("Order", {
      address: { street: "9 Mill Lane", postcode: "1234", country: "NL", care_of: null },
      lines: [{ article: "teapot", count: 2, colour: "red" }],
      note: "broken lid",
    }),
  });
});

test("a schema of google.genai becomes a form with a widget for every type (FR-003, FR-004, FR-005, FR-006)", async ({
  page,
  hotseat,
}) => {
  const gallery = new Gallery(page, hotseat);
  await gallery.start();
  await gallery.choose("classic");
  const form = page.getByTestId("tool-form");
  await expect(gallery.field("title")).toHaveRole("textbox");
  await expect(gallery.field("count")).toHaveAttribute("inputmode", "numeric");
  await expect(gallery.field("weight")).toHaveAttribute("inputmode", "decimal");
  await expect(gallery.field("fragile")).toHaveRole("checkbox");
  await expect(gallery.field("colour")).toHaveRole("combobox");
  await expect(gallery.field("colour").locator("option")).toHaveText(["choose…", "red", "green"]);
  await expect(form.getByRole("group", { name: "maker" }).getByTestId("field-maker.name")).toBeVisible();
  for (const description of [
    "What it is called.",
    "How many there are.",
    "In kilograms.",
    "Whether it breaks.",
    "What it looks like.",
    "Who made it.",
    "The maker's name.",
    "The year they began.",
    "What is written on it.",
  ]) {
    await expect(form).toContainText(description);
  }

  // Nothing is executed before what is required is there, at every depth.
  await gallery.submit();
  await expect(form.locator(".field-error").filter({ hasText: "required" })).toHaveCount(4);
  await picture(page, "form-classic");
  await expect(page.getByTestId("entry-tool_call")).toHaveCount(0);

  const got = await gallery.call("classic", async () => {
    await gallery.fill({ title: "Teapot", count: "2", "maker.name": "Ada" });
    await gallery.field("fragile").check();
    await gallery.field("colour").selectOption({ label: "red" });
    for (const [index, mark] of ["one", "two", "three"].entries()) {
      await page.getByTestId("add-marks").click();
      await gallery.fill({ [`marks.${index}`]: mark });
    }
    await page.getByRole("button", { name: "Remove item 2" }).click();
  });
  expect(got).toEqual({
    title: text("Teapot"),
    count: int(2),
    fragile: bool(true),
    colour: text("red"),
    maker: dict({ name: text("Ada") }),
    marks: list(text("one"), text("three")),
  });
});

test("every tool of the agent is offered, and whatever its declaration says can be filled in (FR-001, FR-002)", async ({
  page,
  hotseat,
}) => {
  const gallery = new Gallery(page, hotseat);
  await gallery.start();
  const agents = await hotseat.api<{ items: any[] }>("GET", "/agents");
  const tools: string[] = agents.items.find((agent) => agent.name === "gallery").tools.map((tool: any) => tool.name);
  expect(tools).toEqual(expect.arrayContaining(["numbers", "forty", "schema_tree", "classic", "raising", "ticket"]));
  const chips = page.getByRole("radiogroup", { name: "Tools" }).getByRole("radio");
  await expect(chips).toHaveCount(tools.length);
  for (const tool of tools) await expect(page.getByTestId(`tool-chip-${tool}`)).toBeVisible();

  const forty = await gallery.call("forty", async () => {
    await expect(page.getByTestId("tool-form").locator(".field")).toHaveCount(40);
    await gallery.fill({ field_00: "first", field_21: "21" });
    await gallery.field("field_39").check();
  });
  expect(forty).toEqual({ field_00: text("first"), field_21: int(21), field_39: bool(true) });

  const declared = await gallery.call("schema_tree", async () => {
    await gallery.fill({ "rule.field": "name" });
    await page.getByTestId("set-rule.all").click();
    await page.getByTestId("add-rule.all").click();
    await gallery.fill({ "rule.all.0.field": "inner" });
    await gallery.field("rule.all.0.mode").selectOption({ label: "contains" });
    await gallery.fill({ at: "12:30", day: "2026-01-31", moment: "2026-01-31T12:00:00Z" });
    await page.getByTestId("file-file").setInputFiles({
      name: "logo.bin",
      mimeType: "application/octet-stream",
      buffer: Buffer.from([0, 255, 7]),
    });
    await page.getByTestId("set-point").click();
    await gallery.fill({ "point.0": "1.5", "point.1": "-2", "point.2": "there" });
    await page.getByTestId("kind-either").selectOption({ label: "integer" });
    await gallery.fill({ either: "12x" });
    await gallery.submit();
    await expect(page.getByTestId("tool-form")).toContainText("must be a whole number");
    await gallery.fill({ either: "12" });
    await picture(page, "form-declared");
  });
  expect(declared).toEqual({
    rule: dict({ field: text("name"), all: list(dict({ field: text("inner"), mode: text("contains") })) }),
    at: text("12:30"),
    day: text("2026-01-31"),
    moment: text("2026-01-31T12:00:00Z"),
    file: text("AP8H"),
    point: list(float("1.5"), int(-2), text("there")),
    either: int(12),
  });

  await gallery.choose("raising");
  await expect(page.getByTestId("tool-error")).toContainText("this tool cannot be declared");
  const raised = await gallery.call("raising", async () => {
    await page.getByTestId("mode-json").click();
    await page.getByTestId("json-input").fill('{"x": 1.0, "y": [2]}');
  });
  expect(raised).toEqual({ x: float("1.0"), y: list(int(2)) });
});
