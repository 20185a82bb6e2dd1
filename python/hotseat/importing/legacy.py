"""Events of databases that ADK wrote before 1.22: a column for each field, actions pickled.

A pickle can make Python call anything, and a database is something people pass around. So only
data is unpickled: ADK's and genai's own models of what an event can ask for, and plain values.
"""

from __future__ import annotations

import importlib
import io
import json
import pickle
from datetime import datetime
from enum import Enum
from typing import Any

from hotseat.importing.stored import Key, seconds

_TEXT_COLUMNS = ("invocation_id", "author", "branch", "error_code", "error_message")
_FLAG_COLUMNS = ("partial", "turn_complete", "interrupted")
_JSON_COLUMNS = (
    "content",
    "grounding_metadata",
    "custom_metadata",
    "usage_metadata",
    "citation_metadata",
    "input_transcription",
    "output_transcription",
)

# Modules whose models and enums are data and nothing else.
_MODEL_MODULES = (
    "google.adk.auth.",
    "google.adk.events.",
    "google.adk.tools.tool_confirmation",
    "google.genai.types",
    "fastapi.openapi.models",
)
_PLAIN = {
    "builtins": {"bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int"}
    | {"list", "set", "str", "tuple"},
    "collections": {"OrderedDict"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "uuid": {"UUID"},
}

# A clock may be a little behind the one that wrote the session.
_CLOCK_SLACK_SECONDS = 2.0


class LegacyEvents:
    """Makes events of rows."""

    def __init__(self, created: dict[Key, float]) -> None:
        self._created = created
        self._is_local: dict[Key, bool] = {}

    def read(self, key: Key, row: dict[str, Any]) -> dict[str, Any]:
        """The event of a row, as ADK would write it today; ValueError if that is not possible."""
        event: dict[str, Any] = {"id": row["id"], "timestamp": self._time(key, row["timestamp"])}
        for name in _TEXT_COLUMNS:
            event[name] = row.get(name)
        for name in _FLAG_COLUMNS:
            event[name] = None if row.get(name) is None else bool(row[name])
        for name in _JSON_COLUMNS:
            event[name] = _json(row.get(name), dict)
        event["long_running_tool_ids"] = _json(row.get("long_running_tool_ids_json"), list)
        event["actions"] = _actions(row.get("actions"))
        return {name: value for name, value in event.items() if value is not None}

    def _time(self, key: Key, stored: Any) -> float:
        """When it happened.

        The column has no zone: old releases wrote the local time, later ones UTC. A session is
        created, in UTC, shortly before its first event, which tells them apart.
        """
        as_utc = seconds(stored)
        if isinstance(stored, str):
            try:
                stored = datetime.fromisoformat(stored)
            except ValueError:
                return as_utc
        if not isinstance(stored, datetime) or stored.tzinfo:
            return as_utc
        as_local = stored.timestamp()
        if key not in self._is_local:
            created = self._created.get(key, 0.0)
            after = {time - created: time for time in (as_utc, as_local)}
            possible = [wait for wait in after if wait >= -_CLOCK_SLACK_SECONDS]
            nearest = after[min(possible)] if possible and created else as_utc
            self._is_local[key] = nearest != as_utc
        return as_local if self._is_local[key] else as_utc


def _json(value: Any, kind: type) -> Any:
    if isinstance(value, str):
        value = json.loads(value)
    return value if isinstance(value, kind) else None


def _actions(stored: Any) -> dict[str, Any] | None:
    if isinstance(stored, bytes | bytearray | memoryview):
        try:
            stored = _DataUnpickler(io.BytesIO(bytes(stored))).load()
        except ImportError:
            raise ValueError(
                "its actions are pickled objects of ADK, which is not installed here:"
                " pip install google-adk"
            ) from None
        except Exception as error:  # A pickle can fail in any way there is.
            raise ValueError(
                f"its actions cannot be read: {error}; if you trust the database, convert it with"
                " `adk migrate session --allow-unsafe-unpickling` and import the result"
            ) from None
    if stored is None or isinstance(stored, dict):
        return stored
    try:
        return stored.model_dump(mode="json", exclude_none=True, warnings=False)
    except Exception as error:
        raise ValueError(f"its actions are no JSON: {error}") from None


class _DataUnpickler(pickle.Unpickler):
    """Makes data and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        if name in _PLAIN.get(module, ()):
            return super().find_class(module, name)
        if module.startswith(_MODEL_MODULES) and "." not in name:
            found = getattr(importlib.import_module(module), name, None)
            if isinstance(found, type) and issubclass(found, _data_types()):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not data")


def _data_types() -> tuple[type, ...]:
    from pydantic import BaseModel

    return (BaseModel, Enum)
