"""An MCP server over stdio, and (when it is loaded by a worker) an agent that uses it.

The server notes in the file that DEEDS_FILE names what it did.
"""

import asyncio
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve()


def _did(deed: str) -> None:
    with Path(os.environ["DEEDS_FILE"]).open("a") as file:
        file.write(f"{deed}\n")


def serve() -> None:
    """Serves two tools, with whatever release of the SDK is there."""
    try:
        from mcp.server.mcpserver import Context, MCPServer
    except ImportError:
        from mcp.server.fastmcp import Context
        from mcp.server.fastmcp import FastMCP as MCPServer

    server = MCPServer("desk")

    @server.tool()
    def double(number: int) -> int:
        """Doubles a number."""
        _did("double")
        return 2 * number

    async def tidy(context, rounds: int) -> str:
        """Tidies up, which takes a while."""
        for done in range(rounds):
            await context.report_progress(done + 1, rounds, f"round {done + 1}")
            await asyncio.sleep(0.3)
        _did("tidy")
        return "tidy"

    tidy.__annotations__["context"] = Context
    server.tool()(tidy)
    server.run("stdio")


def agent():
    """An agent with the tools of the server."""
    from google.adk.agents import LlmAgent
    from google.adk.tools.mcp_tool.mcp_session_manager import StdioConnectionParams
    from google.adk.tools.mcp_tool.mcp_toolset import McpToolset
    from mcp import StdioServerParameters

    server = StdioServerParameters(command=sys.executable, args=[str(HERE)], env=dict(os.environ))
    toolset = McpToolset(connection_params=StdioConnectionParams(server_params=server, timeout=60))
    return LlmAgent(name="desk", model="gemini-2.5-flash", tools=[toolset])


if __name__ == "__main__":
    serve()
else:
    root_agent = agent()
