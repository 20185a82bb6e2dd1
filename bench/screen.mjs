// What a person waits for at the page, for `bench/screen.py`.
//
// node screen.mjs CHROMIUM LINK SESSION ENTRIES FORM: opens the long SESSION until its last entry is painted, then types
// into the form of the session FORM. Prints one JSON object. The browser is the one of the end-to-end tests.
import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../e2e/package.json", import.meta.url))("@playwright/test");
const [executablePath, link, session, entries, form] = process.argv.slice(2);
const { origin } = new URL(link);

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1440, height: 810 } });
await page.goto(link);
await page.waitForLoadState("networkidle");

const began = performance.now();
await page.goto(`${origin}/sessions/${session}`, { waitUntil: "commit" });
await page.waitForSelector(`[data-seq="${entries}"]`);
await page.evaluate(painted());
const open = performance.now() - began;

await page.goto(`${origin}/sessions/${form}`);
await page.getByTestId("tool-chip-fill").click();
const field = page.getByTestId("field-field_20");
await field.click();
await page.evaluate(() => {
  window.took = [];
  const told = new MessageChannel();
  const since = [];
  told.port1.onmessage = () => window.took.push(performance.now() - since.shift());
  // A frame is painted when its callbacks have run, and only then are messages read.
  const key = (event) => {
    since.push(event.timeStamp);
    requestAnimationFrame(() => told.port2.postMessage(null));
  };
  document.addEventListener("keydown", key, { capture: true });
});
await field.pressSequentially("the quick brown fox jumps over the lazy dog", { delay: 30 });
await page.waitForFunction((count) => window.took.length === count, "the quick brown fox jumps over the lazy dog".length);
const took = (await page.evaluate(() => window.took)).sort((a, b) => a - b);
await browser.close();

const at = (percent) => took[Math.floor((took.length * percent) / 100)];
console.log(JSON.stringify({ "screen.open_ms": open, "screen.key_ms": at(50), "screen.key_p95_ms": at(95) }));

function painted() {
  return () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}
