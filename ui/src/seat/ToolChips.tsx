// The tools of the request, all at once. With many, a search narrows them; Enter takes the first.
import { TextInput } from "@mantine/core";
import { useRef, useState } from "react";
import type { Tool } from "../api/types";
import { useKeys } from "../shell/keys";

const SEARCH_FROM = 9;
const MARKS: Partial<Record<NonNullable<Tool["kind"]>, string>> = {
  agent: "agent",
  transfer: "transfer",
  mcp: "MCP",
  long_running: "long running",
};

interface ToolChipsProps {
  tools: Tool[];
  chosen: string | null;
  onChoose: (name: string) => void;
}

export function ToolChips({ tools, chosen, onChoose }: ToolChipsProps) {
  const [search, setSearch] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const many = tools.length >= SEARCH_FROM;
  useKeys(many ? { "/": () => field.current?.focus() } : {});
  // Once one of many is chosen, the others make room for its form.
  const [browsing, setBrowsing] = useState(chosen === null);
  const few = many && !browsing && chosen !== null && search === "";
  const shown = tools.filter((tool) => (few ? tool.name === chosen : matches(tool, search)));
  const choose = (name: string) => {
    setBrowsing(false);
    setSearch("");
    onChoose(name);
  };
  return (
    <div className="tools">
      {many && (
        <TextInput
          ref={field}
          placeholder={`Search ${tools.length} tools`}
          aria-label="Search tools"
          data-testid="tool-search"
          value={search}
          rightSection={<kbd>/</kbd>}
          onChange={(event) => setSearch(event.currentTarget.value)}
          onKeyDown={(event) => {
            const first = shown[0];
            if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && first) {
              event.preventDefault();
              choose(first.name);
            }
          }}
        />
      )}
      <div className="tool-chips" role="radiogroup" aria-label="Tools">
        {shown.map((tool) => (
          <button
            key={tool.name}
            type="button"
            role="radio"
            aria-checked={tool.name === chosen}
            data-testid={`tool-chip-${tool.name}`}
            title={tool.error ?? tool.description ?? undefined}
            onClick={() => choose(tool.name)}
          >
            <code>{tool.name}</code>
            {tool.kind && MARKS[tool.kind] && <span className="chip">{MARKS[tool.kind]}</span>}
            {tool.error && <span className="chip chip-bad">not declared</span>}
          </button>
        ))}
        {few && (
          <button type="button" className="more-tools" data-testid="more-tools" onClick={() => setBrowsing(true)}>
            all {tools.length} tools
          </button>
        )}
        {shown.length === 0 && <span className="quiet">No tool matches “{search}”.</span>}
      </div>
    </div>
  );
}

function matches(tool: Tool, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${tool.name} ${tool.description ?? ""}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
