import { describe, expect, it } from "vitest";
import type { Session } from "../api/types";
import { answersAsksHere, endsWithAnswer, originMark, originOf, sourceMark } from "./origin";

const SOURCES: Session["source"][] = ["web", "plugin", "adk", "rest", "ag-ui"];
const unknown = { hosted: false, protocol: null };

describe("where a session comes from", () => {
  it("tells AG-UI, ADK's routes and a program's own sessions apart by their runs", () => {
    expect(originOf({ source: "adk" }, { hosted: true, protocol: "ag-ui" })).toEqual({
      by: "front end",
      protocol: "AG-UI",
    });
    expect(originOf({ source: "adk" }, { hosted: true, protocol: null })).toEqual({ by: "front end", protocol: "ADK" });
    expect(originOf({ source: "adk" }, unknown)).toEqual({ by: "program", with: "sessions" });
  });

  it("is known at once for the others", () => {
    expect(originOf({ source: "rest" }, unknown)).toEqual({ by: "front end", protocol: "REST" });
    expect(originOf({ source: "ag-ui" }, unknown)).toEqual({ by: "front end", protocol: "AG-UI" });
    expect(originOf({ source: "plugin" }, unknown)).toEqual({ by: "program", with: "plugin" });
    expect(originOf({ source: "web" }, { hosted: true, protocol: null })).toEqual({ by: "page" });
  });

  it("is marked unless it is this page", () => {
    expect(SOURCES.map((source) => sourceMark({ source })?.text)).toEqual([
      undefined,
      "plugin",
      "ADK",
      "REST",
      "AG-UI",
    ]);
    expect(originMark({ by: "front end", protocol: "AG-UI" })).toEqual({
      text: "AG-UI",
      title: "A front end talks to this agent over AG-UI",
    });
    expect(originMark({ by: "front end", protocol: "ADK" })?.title).toContain("over ADK's API");
  });
});

describe("what the page decides by it", () => {
  it("lets a final answer end only the page's own conversations, and those only at the top", () => {
    const ending = SOURCES.filter((source) => endsWithAnswer({ source }, { parent_call_id: null }));
    expect(ending).toEqual(["web"]);
    expect(endsWithAnswer({ source: "web" }, { parent_call_id: "call" })).toBe(false);
  });

  it("answers for the user where no front end can", () => {
    expect(SOURCES.filter((source) => answersAsksHere({ source }))).toEqual(["web", "rest"]);
  });
});
