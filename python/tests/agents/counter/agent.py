"""An agent that leaves traces of what it did.

Each call of `count` adds a letter to the file that COUNT_FILE names, so a test can tell how often
it was really called.
"""

import asyncio
import os
import time
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.tool_context import ToolContext


def count(tool_context: ToolContext) -> str:
    """Counts."""
    with Path(os.environ["COUNT_FILE"]).open("a") as file:
        file.write("x")
    tool_context.state["count"] = tool_context.state.get("count", 0) + 1
    return "counted"


def block() -> str:
    """Never returns, and holds its thread."""
    while True:
        time.sleep(3600)


async def wait() -> str:
    """Never returns."""
    await asyncio.Event().wait()
    return "never"


expert = LlmAgent(name="expert", model="gemini-2.5-flash", description="An expert.", tools=[count])

clerk = LlmAgent(
    name="clerk",
    model="gemini-2.5-flash",
    description="A clerk.",
    tools=[count, block, wait, AgentTool(expert)],
)

root_agent = LlmAgent(
    name="desk",
    model="gemini-2.5-flash",
    description="The front desk.",
    instruction="You count.",
    tools=[count, block, wait, AgentTool(expert)],
    sub_agents=[clerk],
)
