// The real binary with a real ADK worker, in a folder of its own, for one test, or for several that do not mind.
//
// Everything a test starts ends with it: the server is killed by its own process id, and the
// worker ends with the server.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { test as base, type Page } from "@playwright/test";

export const ROOT = resolve(import.meta.dirname, "../..");
const BINARY = process.env.HOTSEAT_BIN ?? join(ROOT, "target/debug/hotseat");
// A PostgreSQL to have a database in, `://USER@/postgres?host=FOLDER`; without it, a file of SQLite.
const POSTGRES = process.env.HOTSEAT_TEST_POSTGRES;
export const PYTHON = process.env.HOTSEAT_PYTHON ?? join(ROOT, ".venv/bin/python");

export class Hotseat {
  /** The folder it was started in; the agents are in `agents/`. */
  readonly folder = mkdtempSync(join(tmpdir(), "hotseat-e2e-"));
  link = "";
  log = "";
  private process?: ChildProcess;
  private port = 0;
  private readonly store: Record<string, string> = POSTGRES ? { HOTSEAT_STORE: newDatabase(POSTGRES) } : {};

  /** `command` is what to do and with which agents; `env` is added to the environment. */
  constructor(
    private readonly command: string[] = ["web", "--no-open", "agents"],
    private readonly env: Record<string, string> = {},
  ) {}

  get agents() {
    return join(this.folder, "agents");
  }

  get python() {
    return PYTHON;
  }

  get url() {
    return new URL(this.link).origin;
  }

  get token() {
    return new URL(this.link).searchParams.get("token") ?? "";
  }

  /** Starts the server, on the port it had before if it was started before. */
  async start() {
    this.port ||= await freePort();
    const args = [...this.command, "--port", String(this.port), "--python", PYTHON];
    const env = { ...process.env, ...this.store, ...this.env };
    const child = spawn(BINARY, args, { cwd: this.folder, env, stdio: ["ignore", "pipe", "pipe"] });
    this.process = child;
    child.stderr.on("data", (chunk) => {
      this.log += chunk;
    });
    this.link = await firstLine(child, () => this.log);
  }

  /** Ends the server as a crash would. */
  async kill() {
    const child = this.process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await gone;
  }

  /** Calls the API as a program would. */
  api<T>(method: string, path: string, body?: unknown): Promise<T> {
    return this.call(method, `/api/v1${path}`, body);
  }

  /** Calls any route; those of ADK have no prefix. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (answer.status === 204 ? undefined : await answer.json()) as T;
  }
}

/** Each has its own, or the servers of other tests would count as more of the same. */
function newDatabase(postgres: string): string {
  const name = `e2e_${randomUUID().replaceAll("-", "")}`;
  execFileSync("psql", ["--quiet", `--dbname=postgres${postgres}`, `--command=CREATE DATABASE ${name}`]);
  return `postgres${postgres.replace("/postgres?", `/${name}?`)}`;
}

function firstLine(child: ChildProcess, log: () => string): Promise<string> {
  return new Promise((done, failed) => {
    if (!child.stdout) return failed(new Error("no stdout"));
    createInterface(child.stdout).once("line", done);
    child.once("exit", (code) => failed(new Error(`hotseat ended with ${code}:\n${log()}`)));
  });
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => done(port));
    });
  });
}

/** Takes a picture for looking at; it is not compared. */
export async function picture(page: Page, name: string) {
  await page.screenshot({ path: resolve(import.meta.dirname, `../artefacts/${name}.png`) });
}

async function started(folders: string[]): Promise<Hotseat> {
  const hotseat = new Hotseat();
  for (const folder of folders) cpSync(join(ROOT, folder), hotseat.agents, { recursive: true });
  await hotseat.start();
  return hotseat;
}

export async function ended(hotseat: Hotseat) {
  await hotseat.kill();
  rmSync(hotseat.folder, { recursive: true, force: true });
}

const USUAL = ["examples", "e2e/agents"];

/** `test` with a running Hotseat that hosts the agents of `folders`: the examples and `agents/` if nothing is said. */
export const test = base.extend<{ folders: string[]; hotseat: Hotseat }, { house: Hotseat }>({
  folders: [USUAL, { option: true }],
  hotseat: async ({ folders }, use, info) => {
    const hotseat = await started(folders);
    await use(hotseat);
    if (info.status !== info.expectedStatus) console.log(hotseat.log);
    await ended(hotseat);
  },
  house: [
    async ({}, use) => {
      const hotseat = await started(USUAL);
      await use(hotseat);
      await ended(hotseat);
    },
    { scope: "worker" },
  ],
});

/** `test` with a Hotseat that others have used before: for tests that only need a session of their own. */
export const sharing = test.extend<{ hotseat: Hotseat }>({
  hotseat: async ({ house }, use, info) => {
    await use(house);
    if (info.status !== info.expectedStatus) console.log(house.log);
  },
});

export { expect } from "@playwright/test";
