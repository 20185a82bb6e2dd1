import { describe, expect, it } from "vitest";
import { evalCommand } from "./evalCommand";

const own = "/home/me/agents/math/math.evalset.json";

describe("the adk eval command", () => {
  it("names the agent's folder, the file and the case", () => {
    const trace = { path: own, eval_id: "math_20260105T100000Z" };
    expect(evalCommand(trace, { app_name: "math" })).toBe(
      "adk eval /home/me/agents/math /home/me/agents/math/math.evalset.json:math_20260105T100000Z",
    );
  });

  it("names the agent's folder for a file that lies elsewhere", () => {
    expect(evalCommand({ path: "/home/me/all.json", eval_id: "m_1" }, { app_name: "math", eval_set_path: own })).toBe(
      "adk eval /home/me/agents/math /home/me/all.json:m_1",
    );
  });

  it("falls back to the app's name and quotes what a shell would split", () => {
    expect(evalCommand({ path: "/my files/it's.json", eval_id: "m_1" }, { app_name: "math" })).toBe(
      "adk eval math '/my files/it'\\''s.json:m_1'",
    );
  });
});
