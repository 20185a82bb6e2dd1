"""An agent with a tool of an MCP server, which tells how far it is.

Run as a program, this file is the server.
"""

import asyncio
import os
import sys

HERE = os.path.abspath(__file__)


def serve() -> None:
    from mcp.server.mcpserver import Context, MCPServer

    server = MCPServer("library")

    @server.tool()
    async def sort_shelves(context: Context, shelves: int) -> str:
        """Sort the shelves of the library, one after the other."""
        for shelf in range(1, shelves + 1):
            await context.report_progress(shelf, shelves, f"shelf {shelf}")
            await asyncio.sleep(0.5)
        return f"{shelves} shelves are in order"

    server.run("stdio")


def agent():
    from google.adk.agents import Agent
    from google.adk.tools.mcp_tool.mcp_session_manager import StdioConnectionParams
    from google.adk.tools.mcp_tool.mcp_toolset import McpToolset
    from mcp import StdioServerParameters

    server = StdioServerParameters(command=sys.executable, args=[HERE], env=dict(os.environ))
    library = McpToolset(connection_params=StdioConnectionParams(server_params=server, timeout=60))
    return Agent(
        name="librarian",
        model="gemini-2.5-flash",
        description="Keeps the books in order.",
        instruction="You keep the library in order.",
        tools=[library],
    )


if __name__ == "__main__":
    serve()
else:
    root_agent = agent()
