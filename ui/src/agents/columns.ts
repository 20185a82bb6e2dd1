// Which card stands in which column. Heights are guessed from what a card holds: good enough to keep columns even, and
// known before anything is drawn, so nothing jumps.
import type { Agent } from "../api/types";

export function toColumns(agents: Agent[], count: number): Agent[][] {
  const columns = Array.from({ length: count }, () => ({ height: 0, agents: [] as Agent[] }));
  for (const agent of agents) {
    const shortest = columns.reduce((best, column) => (column.height < best.height ? column : best));
    shortest.agents.push(agent);
    shortest.height += heightOf(agent);
  }
  return columns.map((column) => column.agents).filter((column, index) => column.length > 0 || index === 0);
}

function heightOf(agent: Agent): number {
  const lines = Math.ceil((agent.description?.length ?? 10) / 50);
  const instruction = agent.instruction ? 45 + 19 * Math.min(3, Math.ceil(agent.instruction.length / 55)) : 0;
  const fields = Object.keys((agent.input_schema?.properties as object | undefined) ?? {}).length;
  return 130 + 20 * lines + instruction + 85 * fields;
}
