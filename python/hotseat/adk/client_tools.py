"""Tools that run where the user is: in a browser, say, that talks to the agent.

They are offered for one run, beside the agent's own tools, and nothing here runs them. A call to
one is long running to ADK: the event that holds it names it, the run ends, and the next message
brings the result. Where a model calls them together with tools of the agent, those run first, and
the model is not asked again before the client has answered.

What a client says of its tools is passed on as it is: no schema is rewritten.
"""

from __future__ import annotations

import json
import logging
from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from hotseat.errors import HotseatError

_log = logging.getLogger(__name__)

# More than any model can tell apart.
MAX_CLIENT_TOOLS = 1_000

# The calls by which ADK itself asks the user.
_ADK_REQUESTS = "adk_request_"

# An agent and its branch: within these two, ADK does one thing after the other.
Where = tuple[str, str]


class ClientTool(BaseTool):
    """A tool of the client's, as ADK sees it."""

    def __init__(self, name: str, description: str, parameters: Any, calls: set[Where]) -> None:
        super().__init__(name=name, description=description, is_long_running=True)
        self._parameters = parameters
        self._calls = calls

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self._parameters
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> None:
        """Gives nothing, which tells ADK that the result comes later."""
        context = tool_context._invocation_context
        self._calls.add((tool_context.agent_name, context.branch or ""))


class ClientTools:
    """The client's tools of one run."""

    def __init__(self, described: bytes) -> None:
        """Reads a JSON array of `{name, description, parameters}`; empty means none."""
        self._calls: set[Where] = set()
        self._tools: dict[str, ClientTool] = {}
        self._refused: set[str] = set()
        tools = json.loads(described) if described else []
        if not isinstance(tools, list) or len(tools) > MAX_CLIENT_TOOLS:
            raise HotseatError(
                f"the tools of the client must be a list of at most {MAX_CLIENT_TOOLS} tools"
            )
        for tool in tools:
            made = _tool(tool, self._calls)
            if self._tools.setdefault(made.name, made) is not made:
                self._refuse(made.name, "the client offers two tools of this name")

    def offer(self, llm_request: LlmRequest) -> None:
        """Adds the tools to a request, except those whose names the agent uses itself."""
        offered = []
        for name, tool in self._tools.items():
            if name in llm_request.tools_dict:
                self._refuse(name, "the agent has a tool of this name")
            elif name.startswith(_ADK_REQUESTS):
                self._refuse(name, "ADK uses names that begin so")
            else:
                offered.append(tool)
        llm_request.append_tools(offered)

    def awaited(self, where: Where) -> bool:
        """Whether an agent has called one of them in this run and cannot go on without it."""
        return where in self._calls

    def _refuse(self, name: str, reason: str) -> None:
        if name not in self._refused:
            self._refused.add(name)
            _log.warning("the client's tool %r is left out of this run: %s", name, reason)


def _tool(described: Any, calls: set[Where]) -> ClientTool:
    name = described.get("name") if isinstance(described, dict) else None
    if not isinstance(name, str) or not name:
        raise HotseatError("a tool of the client has no name")
    parameters = described.get("parameters") or {"type": "object", "properties": {}}
    return ClientTool(name, str(described.get("description") or ""), parameters, calls)
