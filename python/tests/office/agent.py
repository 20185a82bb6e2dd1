"""An agent whose tools need more than a call: a yes, a key, some patience, a shelf.

Each tool that acts adds its name to the file that DEEDS_FILE names.
"""

import os
from pathlib import Path
from typing import Any

from fastapi.openapi.models import APIKey, APIKeyIn
from google.adk.agents import LlmAgent, ParallelAgent
from google.adk.apps.app import App, ResumabilityConfig
from google.adk.auth.auth_credential import AuthCredential, AuthCredentialTypes
from google.adk.auth.auth_tool import AuthConfig
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.long_running_tool import LongRunningFunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

LOCK = AuthConfig(
    auth_scheme=APIKey(**{"in": APIKeyIn.header, "name": "X-Key"}),
    raw_auth_credential=AuthCredential(auth_type=AuthCredentialTypes.API_KEY),
    credential_key="vault",
)


def _did(deed: str) -> None:
    with Path(os.environ["DEEDS_FILE"]).open("a") as file:
        file.write(f"{deed}\n")


def pay(amount: int, tool_context: ToolContext) -> str:
    """Pays."""
    _did("pay")
    tool_context.state["paid"] = amount
    return f"paid {amount}"


def order(thing: str) -> dict[str, str]:
    """Orders something, which takes days."""
    _did("order")
    return {"status": "ordered", "ticket": "T1"}


def wonder() -> None:
    """Says nothing for now."""
    _did("wonder")


def open_vault(tool_context: ToolContext) -> str:
    """Opens the vault."""
    key = tool_context.get_auth_response(LOCK)
    if key is None:
        tool_context.request_credential(LOCK)
        return "the vault needs a key"
    _did("open_vault")
    return f"opened with {key.api_key}"


async def note(name: str, text: str, tool_context: ToolContext) -> int:
    """Keeps a text."""
    _did("note")
    part = types.Part.from_bytes(data=text.encode(), mime_type="text/markdown")
    return await tool_context.save_artifact(name, part)


async def recall(name: str, tool_context: ToolContext) -> str:
    """Reads a text."""
    part = await tool_context.load_artifact(name)
    return "nothing" if part is None else part.inline_data.data.decode()


def flood(letter: str, size: int) -> str:
    """Says one letter again and again."""
    _did("flood")
    return letter * size


class Broken(BaseTool):
    """A tool that cannot say what it is."""

    def __init__(self, name: str, declaration: Any) -> None:
        super().__init__(name=name, description="A tool that is broken.")
        self._declaration = declaration

    def _get_declaration(self) -> Any:
        if isinstance(self._declaration, Exception):
            raise self._declaration
        return self._declaration


assistant = LlmAgent(
    name="assistant",
    model="gemini-2.5-flash",
    description="An assistant.",
    tools=[FunctionTool(pay, require_confirmation=True), note],
)

helper = LlmAgent(
    name="helper", model="gemini-2.5-flash", description="A helper.", tools=[note, flood]
)

root_agent = LlmAgent(
    name="office",
    model="gemini-2.5-flash",
    description="An office.",
    tools=[
        FunctionTool(pay, require_confirmation=True),
        LongRunningFunctionTool(order),
        LongRunningFunctionTool(wonder),
        open_vault,
        note,
        recall,
        flood,
        AgentTool(helper),
        Broken("raises", ZeroDivisionError("no schema today")),
        Broken("malformed", {"name": "malformed"}),
    ],
    sub_agents=[assistant],
)

pair = ParallelAgent(
    name="pair",
    sub_agents=[
        LlmAgent(
            name=name,
            model="gemini-2.5-flash",
            tools=[FunctionTool(pay, require_confirmation=True), LongRunningFunctionTool(wonder)],
        )
        for name in ("left", "right")
    ],
)

resumable = App(
    name="resumable",
    root_agent=root_agent,
    resumability_config=ResumabilityConfig(is_resumable=True),
)
