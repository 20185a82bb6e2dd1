import { describe, expect, it } from "vitest";
import { evalCommand } from "./evalCommand";

describe("the adk eval command", () => {
  it("names the agent's folder, the file and the case", () => {
    const trace = { path: "/home/me/agents/math/math.evalset.json", eval_id: "math_20260105T100000Z" };
    expect(evalCommand(trace, "math")).toBe(
      "adk eval /home/me/agents/math /home/me/agents/math/math.evalset.json:math_20260105T100000Z",
    );
  });

  it("falls back to the app's name and quotes what a shell would split", () => {
    expect(evalCommand({ path: "/my files/it's.json", eval_id: "m_1" }, "math")).toBe(
      "adk eval math '/my files/it'\\''s.json:m_1'",
    );
  });
});
