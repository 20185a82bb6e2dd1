"""The answer to a turn, as the model response that ADK expects."""

from __future__ import annotations

import json
from typing import Any

from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import ValidationError


def unpack_decision(event: Any) -> LlmResponse:
    """The response for a `response` event of the log.

    An answer that says `error` (a dismissed turn), or that ADK cannot read, becomes an error
    response: ADK stores it and ends the run in good order.
    """
    try:
        decision = json.loads(event.raw_json or event.llm_response.raw_json)
        return response_of(decision)
    except (ValueError, LookupError, TypeError) as error:
        return LlmResponse(error_code="INVALID_DECISION", error_message=str(error))


def response_of(decision: dict[str, Any]) -> LlmResponse:
    """The response for `{"candidates": […]}` or `{"error": {"code", "message"}}`."""
    if error := decision.get("error"):
        return LlmResponse(
            error_code=str(error.get("code") or "DISMISSED"),
            error_message=str(error.get("message") or "the turn was dismissed"),
        )
    try:
        content = types.Content.model_validate(decision["candidates"][0])
    except ValidationError as error:
        return LlmResponse(error_code="INVALID_DECISION", error_message=str(error))
    content.role = content.role or "model"
    return LlmResponse(content=content)


def call_ids(response: LlmResponse) -> list[str]:
    """The ids of the function calls in a response."""
    parts = (response.content and response.content.parts) or []
    return [part.function_call.id for part in parts if part.function_call and part.function_call.id]
