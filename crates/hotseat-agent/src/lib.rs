//! Native agents: agent.yaml, the loop, model providers, MCP tools.
