// The agents that the server knows: read what each can do and give it something to do, in one step. Agents that did
// not load are shown too, with the reason.
import { useElementSize } from "@mantine/hooks";
import { useAgents } from "../api/queries";
import type { Agent, AgentProblem } from "../api/types";
import { Command } from "../shell/Command";
import { Failure } from "../shell/Failure";
import { AgentCard } from "./AgentCard";
import { toColumns } from "./columns";
import "./agents.css";

export function AgentsScreen() {
  const agents = useAgents();
  if (agents.isError) return <Failure error={agents.error} onRetry={() => void agents.refetch()} />;
  if (!agents.data) return <div className="agents" aria-busy="true" />;
  const { items, problems = [] } = agents.data;
  return (
    <div className="agents">
      <header>
        <h1>Agents</h1>
        {items.length > 0 && <p className="quiet">Ask one of them something. {whoAnswers(items)} Tools really run.</p>}
      </header>
      {items.length === 0 && <NoAgents />}
      <Cards agents={items} />
      {problems.length > 0 && <Problems problems={problems} />}
    </div>
  );
}

/** Who answers for the models, as far as one sentence can say it for all of them. */
function whoAnswers(agents: Agent[]): string {
  const seats = new Set(agents.map((agent) => agent.seat ?? "human"));
  const [seat] = seats;
  if (!seat || seats.size > 1) return "Each says who answers for its model.";
  return { human: "You answer for its model.", model: "Its own model answers.", replay: "A recording answers." }[seat];
}

/** In columns, each agent where there is most room, so that a tall card leaves no hole. */
function Cards({ agents }: { agents: Agent[] }) {
  const { ref, width } = useElementSize();
  const columns = toColumns(agents, Math.max(1, Math.floor((width + 14) / (340 + 14))));
  return (
    <div className="cards" ref={ref}>
      {width > 0 &&
        columns.map((column, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity but their place.
          <div className="column" key={index}>
            {column.map((agent) => (
              <AgentCard key={agent.name} agent={agent} />
            ))}
          </div>
        ))}
    </div>
  );
}

function NoAgents() {
  return (
    <section className="no-agents">
      <h2>No agents yet</h2>
      <p>
        Start Hotseat with a folder that holds ADK agents, the same folder that <code>adk web</code> takes:
      </p>
      <Command text="hotseat web path/to/agents" />
      <p>
        Or add the plugin to your own program; its sessions appear here once it makes its first model call:
        <code className="plugin-line">App(name="…", root_agent=root_agent, plugins=[HotseatPlugin()])</code>
      </p>
    </section>
  );
}

function Problems({ problems }: { problems: AgentProblem[] }) {
  return (
    <section className="problems">
      <h2>Could not be loaded</h2>
      {problems.map((problem) => (
        <div key={problem.source} className="note note-bad" data-testid={`agent-problem-${problem.source}`}>
          <b>{problem.source}</b> <span>{problem.message}</span>
          {problem.traceback && (
            <details>
              <summary>Traceback</summary>
              <pre className="traceback">{problem.traceback}</pre>
            </details>
          )}
        </div>
      ))}
      <p className="quiet">Fix the agent and start Hotseat again.</p>
    </section>
  );
}
