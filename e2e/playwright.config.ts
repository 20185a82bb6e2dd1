// One browser, Debian's chromium, against the real binary with a real ADK worker.
import { execFileSync } from "node:child_process";
import { defineConfig } from "@playwright/test";

const chromium =
  process.env.CHROMIUM ?? execFileSync("sh", ["-c", "command -v chromium"]).toString().trim();

export default defineConfig({
  testDir: "tests",
  outputDir: "artefacts/results",
  timeout: 120_000,
  expect: { timeout: 20_000 },
  // Each test has a server of its own; two at once is what two cores take.
  workers: 2,
  forbidOnly: true,
  retries: 0,
  reporter: [["list"]],
  use: {
    viewport: { width: 1440, height: 810 },
    trace: "retain-on-failure",
    launchOptions: {
      executablePath: chromium,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
