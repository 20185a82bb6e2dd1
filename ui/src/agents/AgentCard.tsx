// One agent: what it is for, what it is told, what it can call, and a place to ask it something.
import { useEffect, useRef, useState } from "react";
import type { Agent, SeatOf } from "../api/types";
import { StartSession } from "./StartSession";

const RUNTIMES: Record<string, string> = {
  adk: "A Python agent of ADK, run by a worker",
  native: "Made by an agent.yaml, run by Hotseat itself",
};

const SEATS: Record<SeatOf, string> = {
  human: "A person answers for its model",
  model: "Its own model answers",
  replay: "A recording answers for its model",
};

export function AgentCard({ agent }: { agent: Agent }) {
  const [open, setOpen] = useState(false);
  const tools = agent.tools.length;
  const card = useRef<HTMLElement>(null);
  useEffect(() => {
    if (decodeURIComponent(location.hash.slice(1)) !== agent.name) return;
    card.current?.scrollIntoView({ block: "nearest" });
    card.current?.querySelector<HTMLElement>("textarea, input")?.focus();
  }, [agent.name]);
  return (
    <section ref={card} className="card" data-testid={`agent-card-${agent.name}`} aria-label={agent.name}>
      <header>
        <h2>{agent.name}</h2>
        <span className="chip" title={RUNTIMES[agent.runtime]} data-testid="agent-runtime">
          {agent.runtime === "adk" ? "ADK" : agent.runtime}
        </span>
        {agent.seat && (
          <span className="chip" title={SEATS[agent.seat]} data-testid="agent-seat">
            seat: {agent.seat}
          </span>
        )}
        {!agent.connected && <span className="chip">not connected</span>}
        <span className="spring" />
        {agent.model && <span className="quiet card-model">{agent.model}</span>}
      </header>
      <p className={agent.description ? undefined : "quiet"}>{agent.description || "No description"}</p>
      {agent.instruction && (
        <div className={`card-instruction${open ? " open" : ""}`}>
          <span className="quiet">Instruction</span>
          <div>{agent.instruction}</div>
        </div>
      )}
      {agent.sub_agents.length > 0 && (
        <div className="card-tools" data-testid="sub-agents">
          <span>{agent.sub_agents.length === 1 ? "1 sub-agent" : `${agent.sub_agents.length} sub-agents`}</span>
          <span className="quiet card-tool-names">{agent.sub_agents.join(", ")}</span>
        </div>
      )}
      <div className="card-tools">
        {tools === 0 ? (
          <span className="quiet">{agent.sub_agents.length > 0 ? "No tools of its own" : "No tools"}</span>
        ) : (
          <button type="button" className="link" aria-expanded={open} onClick={() => setOpen(!open)}>
            {tools === 1 ? "1 tool" : `${tools} tools`}
          </button>
        )}
        {!open && <span className="quiet card-tool-names">{agent.tools.map((tool) => tool.name).join(", ")}</span>}
      </div>
      {open && (
        <ul className="card-tool-list">
          {agent.tools.map((tool) => (
            <li key={tool.name}>
              <code>{tool.name}</code>
              {tool.kind && tool.kind !== "function" && <span className="chip">{tool.kind.replace("_", " ")}</span>}{" "}
              {tool.error ? (
                <span className="tool-problem">{tool.error}</span>
              ) : (
                <span className="quiet">{tool.description}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      <StartSession agent={agent} />
    </section>
  );
}
