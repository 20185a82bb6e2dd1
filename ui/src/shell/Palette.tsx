// Everything by name: sessions, agents, screens, and what can be done here. Arrows move, Enter does it, Escape leaves.
import { Modal, TextInput } from "@mantine/core";
import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useAgents, useFound, useSessions } from "../api/queries";
import { Snippet } from "../search/Snippet";
import { entryPath } from "../search/snippet";
import { titleOf } from "../sessions/title";
import { matching, offeredCommands } from "./commands";
import { useSettled } from "./useSettled";

interface Item {
  id: string;
  group: string;
  label: string;
  /** In the place of the label: with what was found marked. */
  snippet?: string;
  hint?: string;
  keys?: string;
  run: () => void;
}

const MOST_SESSIONS = 8;
const RECENT = 4;
const MOST = 50;

export default function Palette({ onClose }: { onClose: () => void }) {
  const [, go] = useLocation();
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  // What is offered is what was offered when the palette opened: it takes the focus, nothing else changes.
  const [commands] = useState(offeredCommands);
  const asked = useDeferredValue(query.trim());
  const sessions = useSessions("all", asked);
  const settled = asked === query.trim() && !sessions.isPlaceholderData;
  const words = useSettled(query.trim(), 120);
  const said = useFound(words).data;
  const agents = useAgents().data?.items;
  const items = useMemo(() => {
    const actions: Item[] = commands.map((command) => ({ ...command, id: `do ${command.label}`, group: "Actions" }));
    const startable: Item[] = (agents ?? []).map((agent) => ({
      id: `agent ${agent.name}`,
      group: "Agents",
      label: agent.name,
      hint: agent.description ?? undefined,
      run: () => go(`/agents#${encodeURIComponent(agent.name)}`),
    }));
    const listed: Item[] = (sessions.data?.pages[0]?.items ?? []).slice(0, MOST_SESSIONS).map((session) => ({
      id: `session ${session.id}`,
      group: "Sessions",
      label: titleOf(session, "No query yet"),
      hint: session.agent ?? session.app_name,
      run: () => go(`/sessions/${session.id}`),
    }));
    // The server searched everything said in them, so they need not match by their titles; until it has answered, they
    // are those of an older search, and must.
    const found = settled ? listed : matching(listed, query);
    if (query.trim() === "") return [...found.slice(0, RECENT), ...actions, ...startable];
    const entries: Item[] = (words === query.trim() ? (said ?? []) : []).map((entry) => ({
      id: `entry ${entry.session_id} ${entry.seq}`,
      group: "In all sessions",
      label: entry.snippet,
      snippet: entry.snippet,
      hint: `#${entry.seq} · ${titleOf({ title: entry.title ?? null, description: null }, "No query yet")}`,
      run: () => go(entryPath(entry)),
    }));
    return [...matching(actions, query), ...matching(startable, query), ...found, ...entries].slice(0, MOST);
  }, [commands, agents, sessions.data, said, words, settled, query, go]);
  const chosen = Math.min(at, items.length - 1);
  useEffect(() => {
    list.current?.querySelector(`[data-place="${chosen}"]`)?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const run = (item: Item | undefined) => {
    if (!item) return;
    onClose();
    // The palette gives the focus back first; then the command may take it.
    setTimeout(item.run, 0);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      size="lg"
      padding={0}
      yOffset="12vh"
      transitionProps={{ duration: 0 }}
      attributes={{ content: { "aria-label": "Commands" } }}
    >
      <div className="palette" data-testid="palette">
        <TextInput
          data-autofocus
          size="md"
          aria-label="Find sessions, what was said, agents and actions"
          placeholder="Find sessions, what was said, agents and actions"
          data-testid="palette-input"
          role="combobox"
          aria-expanded
          aria-controls="palette-list"
          aria-activedescendant={chosen >= 0 ? `palette-${chosen}` : undefined}
          value={query}
          onChange={(event) => {
            setQuery(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown" || event.key === "ArrowUp") {
              event.preventDefault();
              const by = event.key === "ArrowDown" ? 1 : -1;
              setAt((chosen + by + items.length) % Math.max(items.length, 1));
            }
            if (event.key === "Enter") {
              event.preventDefault();
              run(items[chosen]);
            }
          }}
        />
        <div className="palette-list" id="palette-list" role="listbox" aria-label="Results" ref={list}>
          {items.map((item, index) => (
            <div key={item.id}>
              {item.group !== items[index - 1]?.group && <div className="palette-group">{item.group}</div>}
              <div
                role="option"
                id={`palette-${index}`}
                data-place={index}
                data-testid="palette-item"
                aria-selected={index === chosen}
                tabIndex={-1}
                className="palette-item"
                onMouseMove={() => setAt(index)}
                onClick={() => run(item)}
                onKeyDown={() => undefined}
              >
                <span className="palette-label">{item.snippet ? <Snippet text={item.snippet} /> : item.label}</span>
                {item.hint && <span className="quiet palette-hint">{item.hint}</span>}
                <span className="spring" />
                {item.keys && <kbd>{item.keys}</kbd>}
              </div>
            </div>
          ))}
          {items.length === 0 && <p className="quiet palette-none">Nothing matches “{query}”.</p>}
        </div>
      </div>
    </Modal>
  );
}
