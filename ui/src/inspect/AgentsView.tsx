// The agents that took part, as a tree: who runs side by side, who was called as a tool, who was handed over to.
import { useMemo } from "react";
import type { Session } from "../api/types";
import type { StreamState } from "../stream/fold";
import { type AgentNode, agentTree } from "./agentTree";
import { SeqLink } from "./parts";

const HOW = { branch: "in a branch", tool: "called as a tool", transfer: "by transfer" };

export function AgentsView({ session, stream }: { session: Session; stream: StreamState }) {
  const tree = useMemo(() => agentTree([...stream.parts.values()], stream.cards), [stream.parts, stream.cards]);
  return (
    <div className="inspect" data-testid="agents-view">
      {tree.length === 0 ? (
        <p className="quiet">{stream.live ? "No agent has taken part yet." : "Loading…"}</p>
      ) : (
        <Nodes nodes={tree} id={session.id} />
      )}
    </div>
  );
}

function Nodes({ nodes, id }: { nodes: AgentNode[]; id: string }) {
  return (
    <ul className="agent-tree">
      {nodes.map((node) => (
        <li key={node.key} data-testid="agent-node">
          <div className="agent-node">
            <code>{node.name}</code>
            {node.how && <span className="chip">{HOW[node.how]}</span>}
            <span className="quiet">{words(node)}</span>
            {node.firstSeq > 0 && <SeqLink id={id} seq={node.firstSeq} />}
          </div>
          {node.children.length > 0 && <Nodes nodes={node.children} id={id} />}
        </li>
      ))}
    </ul>
  );
}

function words({ events, calls, errors }: AgentNode): string {
  const many = (count: number, word: string) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
  const said = events > 0 ? [many(events, "event")] : [];
  if (calls > 0) said.push(many(calls, "call"));
  if (errors > 0) said.push(many(errors, "error"));
  return said.join(", ");
}
