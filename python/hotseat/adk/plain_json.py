"""JSON of whatever agents and tools hand around."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json


def json_bytes(value: Any) -> bytes:
    """JSON of a value that may hold things which have none."""
    return to_json(value, by_alias=True, fallback=str, inf_nan_mode="null")
