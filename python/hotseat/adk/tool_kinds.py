"""What kind of thing a tool is, for people who are about to call it."""

from __future__ import annotations

from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool

FUNCTION = "function"
AGENT = "agent"
TRANSFER = "transfer"
MCP = "mcp"
LONG_RUNNING = "long_running"


def kind_of(tool: BaseTool) -> str:
    """One of the kinds above."""
    if tool.name == "transfer_to_agent":
        return TRANSFER
    if isinstance(tool, AgentTool) or _has_base(tool, "NodeTool"):
        return AGENT
    if _has_base(tool, "McpTool"):
        return MCP
    if tool.is_long_running:
        return LONG_RUNNING
    return FUNCTION


def _has_base(tool: BaseTool, name: str) -> bool:
    # By name, because these classes need packages or releases of ADK that may not be there.
    return any(base.__name__ == name for base in type(tool).__mro__)
