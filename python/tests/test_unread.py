"""Events that are copied when they are looked at: nobody can tell them from others."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
from google.adk.events.event import Event
from google.adk.sessions.session import Session
from google.genai import types
from hotseat.adk.frozen_json import frozen_event
from hotseat.adk.unread import unread

RAW = (
    Event(
        author="agent",
        invocation_id="e-1",
        content=types.Content(
            role="model",
            parts=[
                types.Part(text="Hello"),
                types.Part(function_call=types.FunctionCall(id="c", name="f", args={"n": [1]})),
            ],
        ),
        long_running_tool_ids={"c"},
    )
    .model_dump_json(by_alias=True, exclude_none=True)
    .encode()
)

FROZEN = frozen_event(RAW)


def _in_session(event: Event) -> Session:
    return Session(id="s", app_name="a", user_id="u", events=[event])


# Each is the first thing that is asked of an event.
FIRST: dict[str, Callable[[Event], Any]] = {
    "a field": lambda event: event.content,
    "a field that is None": lambda event: event.branch,
    "a method": lambda event: event.get_function_calls(),
    "its class": lambda event: event.__class__,
    "whether it is an event": lambda event: isinstance(event, Event),
    "its dict": lambda event: event.__dict__,
    "its variables": vars,
    "the names that are set": lambda event: event.model_fields_set,
    "what is extra": lambda event: event.model_extra,
    "something it has not": lambda event: hasattr(event, "nothing"),
    "whether it is equal": lambda event: event == Event.model_validate_json(RAW),
    "whether another is equal": lambda event: Event.model_validate_json(RAW) == event,
    "its representation": repr,
    "its text": str,
    "its fields in turn": dict,
    "a dump": lambda event: event.model_dump(),
    "JSON": lambda event: event.model_dump_json(by_alias=True, exclude_unset=True),
    "a copy": copy.copy,
    "a deep copy": copy.deepcopy,
    "a copy of the model's": lambda event: event.model_copy(update={"author": "other"}),
    "a deep copy of the model's": lambda event: event.model_copy(deep=True),
    "to be pickled": lambda event: pickle.loads(pickle.dumps(event)),
    "to be checked": Event.model_validate,
    "a session with it": _in_session,
    "a session's JSON": lambda event: _in_session(event).model_dump_json(),
    "a session's copy": lambda event: _in_session(event).model_copy(deep=True),
}


# What pydantic says of a value that it did not expect. Not every warning: what another test left
# open is told of whenever it is collected, which may be here.
@pytest.mark.filterwarnings("error::UserWarning", "error::DeprecationWarning")
@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST.keys())
def test_whatever_is_asked_first_is_answered_as_by_any_event(
    first: Callable[[Event], Any],
) -> None:
    event = unread(FROZEN)
    assert first(event) == first(Event.model_validate_json(RAW))
    assert event == Event.model_validate_json(RAW)
    assert type(event) is Event


def test_a_change_is_kept_and_is_nobody_elses() -> None:
    event, other = unread(FROZEN), unread(FROZEN)
    event.author = "changed"
    event.content.parts[1].function_call.args["n"].append(2)
    assert event.author == "changed"
    assert event.content.parts[1].function_call.args == {"n": [1, 2]}
    assert other == Event.model_validate_json(RAW)
    assert unread(FROZEN) == Event.model_validate_json(RAW)


def test_a_field_can_be_removed_as_from_any_event() -> None:
    event, any_event = unread(FROZEN), Event.model_validate_json(RAW)
    del event.author
    del any_event.author
    assert event.__dict__ == any_event.__dict__


def test_an_event_has_no_hash_as_any_other() -> None:
    with pytest.raises(TypeError):
        hash(unread(FROZEN))


def test_threads_that_look_at_one_event_see_the_same() -> None:
    for _ in range(50):
        event, seen = unread(FROZEN), []
        begin = threading.Barrier(4)

        def look(event: Event = event, seen: list = seen, begin: Any = begin) -> None:
            begin.wait(timeout=10)
            seen.append((event.content, hasattr(event, "nothing")))

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=10)
        assert len(seen) == 4
        assert all(content is event.content and not has for content, has in seen)
