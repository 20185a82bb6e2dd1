"""What may be sent back, as an MCP server over standard input and output.

Hotseat starts it for `agent.yaml`. It needs the `mcp` package: `pip install mcp`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

try:
    from mcp.server.mcpserver import MCPServer
except ImportError:  # mcp 1.x has it under this name.
    from mcp.server.fastmcp import FastMCP as MCPServer

DAYS = {"furniture": 30, "clothes": 60, "food": 0}

server = MCPServer("policy")


@server.tool()
def days_to_return(
    kind: Annotated[str, Field(description="What sort of goods: furniture, clothes or food.")],
) -> int:
    """Say for how many days after delivery goods can be sent back; 0 means never."""
    if kind not in DAYS:
        raise LookupError(f"there is no rule for {kind}; there are rules for {', '.join(DAYS)}")
    return DAYS[kind]


if __name__ == "__main__":
    server.run("stdio")
