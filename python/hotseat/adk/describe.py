"""What the server is told about an agent when a worker registers it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.llm_agent import LlmAgent
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.tools.base_tool import BaseTool

from hotseat import _wire
from hotseat.adk.declarations import declaration_of
from hotseat.adk.hosted import HostedAgent
from hotseat.adk.plain_json import json_bytes
from hotseat.adk.schemas import json_schema
from hotseat.adk.tool_kinds import TRANSFER, kind_of
from hotseat.adk.unknown_models import accept_unknown_models

# Toolsets may start programs or ask other machines. A worker does not wait longer for one agent.
_TOOLS_SECONDS = 20.0


async def describe(hosted: HostedAgent) -> Any:
    """The agent's entry in `Register`. Nothing about an agent can make this fail."""
    # Listing an agent's tools resolves its model.
    accept_unknown_models()
    root = hosted.root
    packed = _wire.Agent(
        name=hosted.name,
        app_name=hosted.app.name,
        description=getattr(root, "description", "") or "",
        eval_set_path=str(hosted.eval_set_path or ""),
        sub_agents=[agent.name for agent in getattr(root, "sub_agents", None) or []],
        runtime="adk",
        model=_model_name(root),
        root_name=root.name,
    )
    if not isinstance(root, LlmAgent):
        packed.tools_json = b"[]"
        return packed
    context = await _context(root)
    packed.instruction = await _instruction(root, context)
    packed.tools_json = json_bytes(await _tools(root, context))
    if schema := json_schema(root.input_schema):
        packed.input_schema_json = json_bytes(schema)
    if schema := json_schema(root.output_schema):
        packed.output_schema_json = json_bytes(schema)
    return packed


async def _context(agent: LlmAgent) -> ReadonlyContext:
    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name=agent.name, user_id="hotseat")
    return ReadonlyContext(
        InvocationContext(
            session_service=sessions, invocation_id="describe", agent=agent, session=session
        )
    )


async def _instruction(agent: LlmAgent, context: ReadonlyContext) -> str:
    try:
        text, _ = await agent.canonical_instruction(context)
        return str(text)
    except Exception as error:
        return f"(made at run time; without a session: {type(error).__name__}: {error})"


async def _tools(agent: LlmAgent, context: ReadonlyContext) -> list[dict[str, Any]]:
    try:
        async with asyncio.timeout(_TOOLS_SECONDS):
            tools = await agent.canonical_tools(context)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return [{"name": "tools", "description": "", "kind": "function", "error": failure}]
    described = [_tool(tool) for tool in tools]
    if transfer := _transfer_tool(agent):
        described.append(transfer)
    return described


def _tool(tool: BaseTool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description or "",
        "kind": kind_of(tool),
    }
    try:
        declaration = declaration_of(tool)
    except Exception as error:
        return entry | {"error": f"{type(error).__name__}: {error}"}
    if declaration is None:
        return entry | {"error": "the model runs this tool itself; a person cannot call it"}
    entry["description"] = declaration.description or entry["description"]
    if (schema := getattr(declaration, "parameters_json_schema", None)) is not None:
        entry["parameters"] = schema
    elif declaration.parameters is not None:
        entry["parameters"] = declaration.parameters.model_dump(mode="json", exclude_none=True)
    else:
        entry["parameters"] = {"type": "object", "properties": {}}
    return entry


def _transfer_tool(agent: LlmAgent) -> dict[str, Any] | None:
    """ADK adds this one to each request by itself."""
    targets = [sub.name for sub in agent.sub_agents if getattr(sub, "mode", None) in (None, "chat")]
    if not targets:
        return None
    return {
        "name": "transfer_to_agent",
        "description": "Transfer the query to another agent.",
        "kind": TRANSFER,
        "parameters": {
            "type": "object",
            "properties": {"agent_name": {"type": "string", "enum": targets}},
            "required": ["agent_name"],
        },
    }


def _model_name(agent: Any) -> str:
    with contextlib.suppress(Exception):
        model = agent.model or agent.canonical_model
        return model if isinstance(model, str) else model.model
    return ""
