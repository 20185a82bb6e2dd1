"""JSON Schema of whatever ADK and genai accept as a schema."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import BaseModel, TypeAdapter


def json_schema(schema: Any) -> dict[str, Any] | None:
    """The JSON Schema of a pydantic class, a type, a genai Schema or a dict; None if it has none.

    A schema that cannot be expressed is left out rather than refused: it is an aid for the person
    who answers, and ADK checks the answer in any case.
    """
    if schema is None:
        return None
    if isinstance(schema, types.Schema):
        return schema.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(schema, dict):
        return schema
    try:
        if isinstance(schema, type) and issubclass(schema, BaseModel):
            return schema.model_json_schema()
        return TypeAdapter(schema).json_schema()
    except Exception:
        return None
