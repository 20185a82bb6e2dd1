"""Frozen events: copies that are equal to what JSON would bring back, and share nothing."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pytest
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.genai import types
from hotseat.adk import frozen
from hotseat.adk.event_record import event_json
from hotseat.adk.frozen import Frozen, NotFreezable
from pydantic import BaseModel


def through_json(event: Event) -> Event:
    return Event.model_validate_json(event_json(event))


def some_value(chance: random.Random, depth: int = 3) -> Any:
    simple = [None, True, 0, -1, 2**70, 0.1 + 0.2, 1e300, "", "Grüße 🌍", "x" * 50]
    kind = chance.random()
    if depth == 0 or kind < 0.5:
        return chance.choice(simple)
    if kind < 0.75:
        return [some_value(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {f"k{n}": some_value(chance, depth - 1) for n in range(chance.randrange(4))}


def some_dict(chance: random.Random) -> dict[str, Any]:
    return {f"{n}": some_value(chance) for n in range(chance.randrange(4))}


def some_part(chance: random.Random) -> types.Part:
    return chance.choice(
        [
            lambda: types.Part(text="text", thought=True),
            lambda: types.Part(text="", thought_signature=b"\x00\xff"),
            lambda: types.Part(function_call=types.FunctionCall(name="f", args=some_dict(chance))),
            lambda: types.Part(
                function_response=types.FunctionResponse(
                    name="f",
                    response=some_dict(chance),
                    scheduling=types.FunctionResponseScheduling.SILENT,
                )
            ),
            lambda: types.Part(inline_data=types.Blob(data=b"\x89\x00", mime_type="image/png")),
            lambda: types.Part(
                code_execution_result=types.CodeExecutionResult(outcome="OUTCOME_OK", output="1")
            ),
        ]
    )()


def some_event(chance: random.Random) -> Event:
    parts = [some_part(chance) for _ in range(chance.randrange(4))]
    fields: dict[str, Any] = {
        "content": types.Content(role="model", parts=parts),
        "custom_metadata": some_dict(chance),
        "long_running_tool_ids": {"a"},
        "branch": "a.b",
        "finish_reason": types.FinishReason.STOP,
        "usage_metadata": types.GenerateContentResponseUsageMetadata(
            prompt_token_count=1,
            prompt_tokens_details=[types.ModalityTokenCount(modality="TEXT", token_count=1)],
        ),
        "actions": EventActions(
            state_delta=some_dict(chance),
            artifact_delta={"f": 1},
            agent_state=some_dict(chance) or None,
        ),
        "turn_complete": True,
    }
    some = chance.sample(sorted(fields), chance.randrange(len(fields) + 1))
    return Event(author="agent", invocation_id="e", **{name: fields[name] for name in some})


def insides(value: Any) -> list[Any]:
    """Everything changeable in a value."""
    if isinstance(value, BaseModel):
        held = [value.__dict__, value.__pydantic_fields_set__]
        return [value, *held, *(x for v in value.__dict__.values() for x in insides(v))]
    if isinstance(value, dict):
        return [value, *(inside for item in value.values() for inside in insides(item))]
    if isinstance(value, list):
        return [value, *(inside for item in value for inside in insides(item))]
    return [value] if isinstance(value, set) else []


@pytest.mark.parametrize("seed", range(40))
def test_copies_are_what_json_would_bring_back(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(10):
        event = some_event(chance)
        before = event.model_dump()
        kept = Frozen(event)
        first, second, parsed = kept.thaw(), kept.thaw(), through_json(event)
        assert first == second == parsed == event
        assert event.model_dump() == before == first.model_dump()
        assert first.model_dump_json() == parsed.model_dump_json()
        own = [{id(inside) for inside in insides(each)} for each in (event, first, second)]
        assert not own[0] & own[1] and not own[1] & own[2] and not own[0] & own[2]
        assert Frozen(parsed).thaw() == parsed


@pytest.mark.parametrize(
    "value",
    [
        (1, 2),
        {1: "number"},
        {"deep": [{"tuple": ()}]},
        float("nan"),
        float("inf"),
        b"bytes",
        {"a", "set"},
        datetime.datetime.now(datetime.UTC),
        types.Part(text="a model"),
        [types.Part(text="a model")],
        object(),
        type("Name", (str,), {})("a kind of string"),
    ],
)
def test_what_json_would_change_is_refused(value: Any) -> None:
    event = Event(author="a", actions=EventActions(state_delta={"key": value}))
    with pytest.raises(NotFreezable):
        Frozen(event)


def test_models_of_other_classes_are_refused() -> None:
    class Special(Event):
        more: int = 1

    with pytest.raises(NotFreezable):
        Frozen(Event(author="a", content=types.UserContent(parts=[types.Part(text="x")])))
    assert type(Frozen(Special(author="a")).thaw()) is Special
    wish = EventActions(requested_tool_confirmations={"c": ToolConfirmation(hint="sure?")})
    with pytest.raises(NotFreezable):
        Frozen(Event(author="a", actions=wish))


def test_a_field_that_json_would_fill_is_refused() -> None:
    event = Event(author="a")
    event.actions = None
    with pytest.raises(NotFreezable):
        Frozen(event)


def test_there_are_not_more_shapes_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frozen, "_makers", {})
    monkeypatch.setattr(frozen, "MAX_SHAPES", 1)
    first = Frozen(Event(author="a"))
    with pytest.raises(NotFreezable):
        Frozen(Event(author="a", branch="b"))
    assert (first.thaw().author, Frozen(Event(author="b")).thaw().author) == ("a", "b")
