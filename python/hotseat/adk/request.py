"""ADK's model request, put on the wire without loss."""

from __future__ import annotations

from typing import Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from pydantic import BaseModel
from pydantic_core import to_json

from hotseat import _wire
from hotseat.adk.declarations import declaration_problem
from hotseat.adk.plain_json import json_bytes
from hotseat.adk.schemas import json_schema
from hotseat.adk.tool_kinds import kind_of

# The response schema can be a class, which has no JSON; it is sent as JSON Schema beside the
# request. The HTTP options can hold credentials and are of no use to who answers.
_NOT_DUMPED = {"config": {"response_schema", "http_options"}}


def pack_request(llm_request: LlmRequest, context: CallbackContext) -> Any:
    """The request with what is known of its tools and the session state."""
    packed = _wire.SimulatedLlmRequest(
        raw_json=_dump(llm_request),
        tools_json=to_json(_tools(llm_request)),
        state_json=json_bytes(context.state.to_dict()),
    )
    schema = _output_schema(llm_request)
    if schema is not None:
        packed.output_schema = to_json(schema).decode()
    return packed


def _dump(llm_request: LlmRequest) -> bytes:
    try:
        return llm_request.model_dump_json(
            by_alias=True, exclude_none=True, exclude=_NOT_DUMPED
        ).encode()
    except Exception:
        # Something in the request has no JSON, such as a session object among the tools.
        dumped = llm_request.model_dump(by_alias=True, exclude_none=True, exclude=_NOT_DUMPED)
        return json_bytes(dumped)


def _tools(llm_request: LlmRequest) -> dict[str, dict[str, Any]]:
    declared = {
        getattr(declaration, "name", None)
        for tool in (llm_request.config and llm_request.config.tools) or []
        for declaration in getattr(tool, "function_declarations", None) or []
    }
    tools: dict[str, dict[str, Any]] = {}
    for name, tool in llm_request.tools_dict.items():
        tools[name] = {"kind": kind_of(tool)}
        if name == "set_model_response" and (exact := _exact_output(tool)):
            tools[name]["parameters"] = exact
        if name not in declared:
            problem = declaration_problem(tool)
            tools[name]["error"] = problem or "the tool has no declaration in this request"
    return tools


def _exact_output(tool: Any) -> dict[str, Any] | None:
    """The schema of a structured answer that is given by a tool.

    ADK declares the tool with the fields' types alone and refuses what breaks their limits only
    when it is called, so the limits have to come from the model itself.
    """
    model = getattr(tool, "output_schema", None)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return None
    try:
        # The parameters of the tool have the fields' own names.
        return model.model_json_schema(by_alias=False)
    except Exception:
        # A field without JSON Schema; the declaration has to do.
        return None


def _output_schema(llm_request: LlmRequest) -> dict[str, Any] | None:
    config = llm_request.config
    if config is None:
        return None
    return json_schema(getattr(config, "response_json_schema", None) or config.response_schema)
