// `hotseat serve` with one agent, for tests of front ends. A test fails if anything it uses complains on the console.
import { cpSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { test as base } from "@playwright/test";
import { ended, expect, Hotseat, PYTHON, ROOT } from "./hotseat.ts";
import { Provider } from "./provider.ts";

export interface Serving {
  /** A folder of the repository with an agent in it. */
  agent: string;
  /** Who answers for the model; a recording is a path from the repository's root. */
  seat: "human" | "model" | `replay:${string}`;
  env?: Record<string, string>;
  args?: string[];
}

interface Fixtures {
  /** Starts a server that ends with the test. */
  serve: (what: Serving) => Promise<Hotseat>;
  provider: Provider;
  /** What was written to the console as a warning or an error. */
  complaints: string[];
}

export const test = base.extend<Fixtures>({
  serve: async ({}, use, info) => {
    const servers: Hotseat[] = [];
    await use(async (what) => {
      const hotseat = await started(what);
      servers.push(hotseat);
      return hotseat;
    });
    for (const hotseat of servers) {
      if (info.status !== info.expectedStatus) console.log(hotseat.log);
      await ended(hotseat);
    }
  },
  provider: async ({}, use) => {
    const provider = await Provider.start();
    await use(provider);
    provider.stop();
  },
  complaints: [
    async ({}, use) => {
      const complaints: string[] = [];
      const { warn, error } = console;
      console.warn = (...words) => void complaints.push(words.join(" "));
      console.error = (...words) => void complaints.push(words.join(" "));
      await use(complaints);
      Object.assign(console, { warn, error });
      expect(complaints, "the client's complaints").toEqual([]);
    },
    { auto: true },
  ],
});

async function started({ agent, seat, env = {}, args = [] }: Serving): Promise<Hotseat> {
  const name = basename(agent);
  const who = seat.startsWith("replay:") ? `replay:${join(ROOT, seat.slice("replay:".length))}` : seat;
  const command = ["serve", join("agents", name), "--seat", who, ...args];
  const hotseat = new Hotseat(command, { HOTSEAT_PYTHON: PYTHON, ...env });
  mkdirSync(hotseat.agents);
  cpSync(join(ROOT, agent), join(hotseat.agents, name), { recursive: true });
  await hotseat.start();
  const connected = async () => {
    const { items } = await hotseat.api<{ items: { connected: boolean }[] }>("GET", "/agents");
    return items.filter((item) => item.connected).length;
  };
  await expect.poll(connected, { message: `the agent of ${agent} is connected` }).toBe(1);
  return hotseat;
}

export { expect } from "./hotseat.ts";
