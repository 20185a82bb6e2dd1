import { describe, expect, it } from "vitest";
import { toColumns } from "../agents/columns";
import type { Agent } from "../api/types";
import { matching } from "./commands";

describe("finding commands", () => {
  const items = [{ label: "Go to agents" }, { label: "Delete agent", hint: "for good" }, { label: "Agents" }];

  it("takes words in any order and puts what begins with them first", () => {
    expect(matching(items, "agents go").map((item) => item.label)).toEqual(["Go to agents"]);
    expect(matching(items, "agent")[0]?.label).toBe("Agents");
    expect(matching(items, "good")).toHaveLength(1);
    expect(matching(items, "")).toHaveLength(3);
  });
});

describe("columns of agents", () => {
  const agent = (name: string, fields = 0): Agent => ({
    name,
    app_name: name,
    runtime: "adk",
    description: "",
    instruction: "",
    model: "",
    sub_agents: [],
    tools: [],
    connected: true,
    input_schema: { properties: Object.fromEntries(Array.from({ length: fields }, (_, i) => [`f${i}`, {}])) },
  });

  it("stay even beside a tall card", () => {
    const columns = toColumns([agent("tall", 8), agent("a"), agent("b"), agent("c"), agent("d")], 2);
    expect(columns.map((column) => column.map((item) => item.name))).toEqual([["tall"], ["a", "b", "c", "d"]]);
    expect(toColumns([agent("a")], 3)).toHaveLength(1);
    expect(toColumns([], 2)).toEqual([[]]);
  });
});
