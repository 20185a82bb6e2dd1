"""ADK's events as entries of the log, exactly as ADK itself stores them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.state import State

from hotseat import _wire
from hotseat.adk.plain_json import json_bytes


def event_json(event: Event) -> bytes:
    """The JSON of an event, with strings for what has none."""
    try:
        # What `model_dump_json` does, without a string in between.
        return event.__pydantic_serializer__.to_json(event, by_alias=True, exclude_none=True)
    except Exception:
        # State and outputs may hold objects without JSON as long as they stay in memory.
        return json_bytes(event.model_dump(by_alias=True, exclude_none=True))


def stored_form(event: Event) -> bytes:
    """The JSON that a session service of ADK would store for this event.

    The plugin sees an event just before ADK does two things to it: `temp:` state is dropped, and
    an output that repeats the message is, too.
    """
    update: dict[str, Any] = {}
    delta = event.actions.state_delta if event.actions else {}
    if any(key.startswith(State.TEMP_PREFIX) for key in delta):
        kept = {key: value for key, value in delta.items() if not key.startswith(State.TEMP_PREFIX)}
        update["actions"] = event.actions.model_copy(update={"state_delta": kept})
    node = getattr(event, "node_info", None)
    if node is not None and getattr(node, "message_as_output", None) and event.content is not None:
        update["output"] = None
    if update:
        event = event.model_copy(update=update)
    return event_json(event)


def event_entry(event: Event, parent_call_id: str) -> Any:
    """A raw ADK event for the log."""
    return _wire.NewEvent(
        kind="event",
        event_id=event.id,
        raw_json=stored_form(event),
        agent_name="" if event.author == "user" else event.author,
        invocation_id=event.invocation_id or "",
        author=event.author,
        branch=event.branch or "",
        parent_call_id=parent_call_id,
    )


def asks_the_user(actions: EventActions) -> bool:
    """Whether a tool wants something of the user before it can do its work."""
    return bool(actions.requested_auth_configs or actions.requested_tool_confirmations)


def outcome_record(result: Any, actions: EventActions) -> dict[str, Any]:
    """What a tool call gave and did, for the end of a `tool_run`."""
    record = {"result": result, "state_delta": dict(actions.state_delta)}
    more = actions.model_dump(
        mode="json",
        by_alias=True,
        exclude_defaults=True,
        exclude_none=True,
        exclude={"state_delta"},
    )
    return record | {"actions": more} if more else record


def entry(kind: str, payload: Mapping[str, Any], **fields: str) -> Any:
    """One of our own entries for the log. Its id makes sending it twice harmless."""
    fields.setdefault("event_id", str(uuid.uuid4()))
    return _wire.NewEvent(kind=kind, raw_json=json_bytes(payload), **fields)
