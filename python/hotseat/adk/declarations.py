"""Tools that cannot say what they are.

ADK asks each tool for its declaration while it puts a model request together, and one that fails
takes the whole run down. Where a person answers, such a tool is left out of the request instead and
shown with its error, so the others can still be tried. Where a real model answers, nothing changes.
"""

from __future__ import annotations

import functools
from typing import Any

from google.adk.models.llm_request import LlmRequest
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from hotseat.adk.tools import watcher_of

_MARK = "_hotseat_forgiving"


def declaration_of(tool: BaseTool) -> types.FunctionDeclaration | None:
    """The declaration of a tool, if it is one that can be shown; raises what is wrong with it."""
    declaration = tool._get_declaration()
    if declaration is None:
        return None
    if not isinstance(declaration, types.FunctionDeclaration):
        raise TypeError(f"the declaration is of type {type(declaration).__name__}")
    if not declaration.name:
        raise ValueError("the declaration has no name")
    schema = getattr(declaration, "parameters_json_schema", None)
    if schema is not None and not isinstance(schema, dict):
        raise TypeError(f"the schema of the parameters is of type {type(schema).__name__}")
    declaration.model_dump_json(exclude_none=True)
    return declaration


def declaration_problem(tool: BaseTool) -> str | None:
    """Why a tool has no declaration that can be shown; None if it has one, or needs none."""
    try:
        declaration_of(tool)
    except Exception as error:
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return None


def forgive_broken_declarations() -> None:
    """Has tools asked for their declaration in a way that a failure is that tool's alone."""
    original = BaseTool.process_llm_request
    if hasattr(original, _MARK):
        return

    @functools.wraps(original)
    async def process_llm_request(
        self: BaseTool, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> Any:
        watcher = watcher_of(tool_context)
        forgiven = watcher is not None and watcher.forgives(tool_context)
        if forgiven and declaration_problem(self) is not None:
            # Listed among the tools, it is told of with its error (:mod:`hotseat.adk.request`).
            llm_request.tools_dict.setdefault(self.name, self)
            return None
        return await original(self, tool_context=tool_context, llm_request=llm_request)

    setattr(process_llm_request, _MARK, True)
    BaseTool.process_llm_request = process_llm_request
