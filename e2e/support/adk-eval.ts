// `adk eval` on an exported file, with a scripted model and without a network.
import { spawnSync } from "node:child_process";
import { cpSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Hotseat } from "./hotseat.ts";

export interface EvalRun {
  code: number | null;
  output: string;
}

export function adkEval(hotseat: Hotseat, example: string, evalSet: string): EvalRun {
  const agent = join(hotseat.folder, "scripted_agent");
  cpSync(join(import.meta.dirname, "scripted_agent"), agent, { recursive: true });
  const config = join(hotseat.folder, "eval_config.json");
  const criteria = { tool_trajectory_avg_score: 1.0, response_match_score: 0.9 };
  writeFileSync(config, JSON.stringify({ criteria }));
  const adk = join(dirname(hotseat.python), "adk");
  // A network namespace of its own has no network at all.
  const run = spawnSync(
    "unshare",
    ["-rn", adk, "eval", agent, evalSet, `--config_file_path=${config}`, "--print_detailed_results"],
    {
      cwd: hotseat.folder,
      encoding: "utf8",
      timeout: 100_000,
      env: { ...process.env, SCRIPT: evalSet, EXAMPLE: join(hotseat.agents, example) },
    },
  );
  return { code: run.status, output: `${run.stdout}\n${run.stderr}` };
}
