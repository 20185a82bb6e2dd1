// Who took part in a session, and how each came to it: by a branch, called as a tool, or by a transfer.
import type { Card, Part } from "../stream/fold";

export interface AgentNode {
  key: string;
  name: string;
  how: "branch" | "tool" | "transfer" | null;
  events: number;
  calls: number;
  errors: number;
  /** Its first event; zero for one that only its branch tells of. */
  firstSeq: number;
  children: AgentNode[];
}

export function agentTree(parts: Part[], cards: Card[]): AgentNode[] {
  const roots: AgentNode[] = [];
  const byKey = new Map<string, AgentNode>();
  const byName = new Map<string, AgentNode>();
  const callers = new Map<string, string>();
  const givers = new Map<string, string>();
  for (const card of cards) {
    if (card.type === "tool_call" && card.call.agent_name) callers.set(card.call.call_id, card.call.agent_name);
    if (card.type !== "transfer" || card.entry.type !== "transfer" || !card.entry.agent_name) continue;
    const { to_agent: to, agent_name: from } = card.entry;
    if (!givers.has(to) && from !== to) givers.set(to, from);
  }
  const place = (parent: AgentNode | undefined, name: string, how: AgentNode["how"]): AgentNode => {
    const key = parent ? `${parent.key}/${name}` : name;
    const known = byKey.get(key);
    if (known) return known;
    const node = { key, name, how: parent ? how : null, events: 0, calls: 0, errors: 0, firstSeq: 0, children: [] };
    (parent ? parent.children : roots).push(node);
    byKey.set(key, node);
    if (!byName.has(name)) byName.set(name, node);
    return node;
  };
  const nodeOf = ({ agent, branch, parent }: Part): AgentNode => {
    const path = (branch ?? "").split(".").filter(Boolean);
    if (path.length > 0) {
      if (path[path.length - 1] !== agent) path.push(agent);
      const first = path.shift() ?? agent;
      return path.reduce(
        (above, name) => place(above, name, "branch"),
        byName.get(first) ?? place(undefined, first, null),
      );
    }
    const caller = parent === null ? undefined : byName.get(callers.get(parent) ?? "");
    if (caller && caller.name !== agent) return place(caller, agent, "tool");
    const known = byName.get(agent);
    if (known) return known;
    return place(byName.get(givers.get(agent) ?? ""), agent, "transfer");
  };
  const nodes = new Map<string, AgentNode>();
  for (const part of parts.toSorted((a, b) => a.firstSeq - b.firstSeq)) {
    const node = nodeOf(part);
    nodes.set(partKey(part.agent, part.branch, part.parent), node);
    node.events += part.events;
    if (node.firstSeq === 0) node.firstSeq = part.firstSeq;
  }
  for (const card of cards) {
    if (card.type !== "tool_call" || !card.call.agent_name) continue;
    const node = nodes.get(partKey(card.call.agent_name, card.call.branch ?? null, card.parent));
    if (!node) continue;
    node.calls += 1;
    if (card.outcome?.type === "tool_error" && !card.rejected) node.errors += 1;
  }
  return roots;
}

export function partKey(agent: string, branch: string | null, parent: string | null): string {
  return JSON.stringify([agent, branch, parent]);
}
