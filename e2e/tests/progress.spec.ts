// How far a tool is, as its MCP server tells it. The agent is hosted alone: its server is a process of its own.
import { expect, picture, test } from "../support/hotseat.ts";
import { call, start } from "../support/seat.ts";

test.use({ folders: ["e2e/agents-mcp"] });

test("a tool of an MCP server tells how far it is until its output is there", async ({ page, hotseat }) => {
  await start(page, hotseat, "librarian", "Tidy up");
  await expect(page.getByTestId("tool-chip-sort_shelves")).toContainText("MCP");
  await call(page, "sort_shelves", { shelves: "4" });
  const card = page.getByTestId("entry-tool_call");
  await expect(card).toContainText(/\d+ % · shelf \d/);
  await expect(page.getByTestId("seat-working")).toContainText(/\d+ % · shelf \d/);
  await picture(page, "progress");
  await expect(card).toContainText("4 shelves are in order");
  await expect(card).not.toContainText("%");
  await expect(page.getByTestId("choice-final")).toBeVisible();
});
