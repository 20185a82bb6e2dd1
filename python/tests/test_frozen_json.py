"""Events straight from their JSON: what pydantic would bring, or nothing."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.genai import types
from hotseat.adk import frozen_json
from hotseat.adk.event_cache import KeptEvent
from hotseat.adk.event_record import event_json
from hotseat.adk.frozen import NotFreezable
from hotseat.adk.frozen_json import frozen_event
from test_frozen import insides, some_event


def same(one: Event, other: Event) -> bool:
    """Whether two events are equal in everything, also in which fields are set."""
    return (
        one == other
        and one.model_dump() == other.model_dump()
        and one.model_dump_json(exclude_unset=True) == other.model_dump_json(exclude_unset=True)
        and list(one.__dict__) == list(other.__dict__)
        and one.__pydantic_private__ == other.__pydantic_private__
    )


@pytest.mark.parametrize("seed", range(40))
def test_events_are_what_pydantic_reads(seed: int) -> None:
    chance = random.Random(seed)
    read = 0
    for _ in range(20):
        raw = event_json(some_event(chance))
        parsed = Event.model_validate_json(raw)
        try:
            kept = frozen_event(raw)
        except NotFreezable:
            continue
        read += 1
        first, second = kept.thaw(), kept.thaw()
        assert same(first, parsed) and same(second, parsed)
        own = [{id(inside) for inside in insides(each)} for each in (first, second)]
        assert not own[0] & own[1]
        # Bytes are pydantic's business, and there are some in every third of these.
    assert read > 5


def raw_event(**more: Any) -> dict[str, Any]:
    """The JSON of a plain event."""
    return {"author": "a", "id": "1", "timestamp": 1.5, "actions": {}, **more}


@pytest.mark.parametrize(
    "more",
    [
        {"timestamp": 1},
        {"timestamp": "1.5"},
        {"id": ""},
        {"partial": "true"},
        {"partial": None},
        {"unknown": 1},
        {"invocation_id": "snake"},
        {"message": "hello"},
        {"state": {"a": 1}},
        {"actions": None},
        {"actions": {"artifactDelta": {"f": 1.0}}},
        {"actions": {"unknown": 1}},
        {"actions": {"requestedAuthConfigs": {"c": {}}}},
        {"content": []},
        {"content": {"parts": [{"inlineData": {"data": "AAAA"}}]}},
        {"finishReason": "NO_SUCH_REASON"},
        {"longRunningToolIds": [1]},
        {"customMetadata": []},
    ],
    ids=json.dumps,
)
def test_json_that_is_not_simple_is_left_to_pydantic(more: dict[str, Any]) -> None:
    raw = json.dumps(raw_event(**more)).encode()
    with pytest.raises(NotFreezable):
        frozen_event(raw)


@pytest.mark.parametrize("raw", [b"", b"[]", b"1", b"{", b'"text"', b"{}"])
def test_json_that_is_no_event_is_left_to_pydantic(raw: bytes) -> None:
    with pytest.raises(NotFreezable):
        frozen_event(raw)


def test_numbers_and_keys_stay_as_they_are() -> None:
    delta = {"big": 2**70, "neg": -0.0, "deep": [{"ü": [1, 2.5, None, True]}], "empty": {}}
    more = {"customMetadata": {"a": [2**65]}}
    raw = json.dumps(raw_event(actions={"stateDelta": delta}, **more)).encode()
    event = frozen_event(raw).thaw()
    assert json.dumps(event.actions.state_delta) == json.dumps(delta)
    assert same(event, Event.model_validate_json(raw))


def test_fields_that_are_missing_have_their_defaults() -> None:
    raw = json.dumps(raw_event(content={"role": "model", "parts": []})).encode()
    first, second = frozen_event(raw).thaw(), frozen_event(raw).thaw()
    assert same(first, Event.model_validate_json(raw))
    first.actions.state_delta["a"] = 1
    first.actions.artifact_delta["f"] = 1
    assert (second.actions.state_delta, second.actions.artifact_delta) == ({}, {})


def test_usage_of_tokens_is_read() -> None:
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=3,
        prompt_tokens_details=[
            types.ModalityTokenCount(modality="TEXT", token_count=1),
            types.ModalityTokenCount(modality="IMAGE", token_count=2),
        ],
    )
    event = Event(author="a", usage_metadata=usage, finish_reason=types.FinishReason.STOP)
    raw = event_json(event)
    assert same(frozen_event(raw).thaw(), Event.model_validate_json(raw))


def test_a_shape_that_pydantic_reads_differently_is_not_read_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = json.dumps(raw_event(branch="b", author="a")).encode()
    monkeypatch.setattr(frozen_json, "_trusted", {})
    monkeypatch.setattr(
        Event,
        "model_validate_json",
        classmethod(lambda cls, raw: Event(author="x", branch="b", id="1", timestamp=1.5)),
    )
    for _ in range(2):
        with pytest.raises(NotFreezable, match="differently"):
            frozen_event(raw)
    assert list(frozen_json._trusted.values()) == [False]


def test_there_are_not_more_plans_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frozen_json, "_plans", {})
    monkeypatch.setattr(frozen_json, "_count", 0)
    monkeypatch.setattr(frozen_json, "MAX_PLANS", 3)
    kept = raw_event()
    assert frozen_event(json.dumps(kept).encode())
    turned = dict(reversed(kept.items()))
    with pytest.raises(NotFreezable, match="too many"):
        for n in range(4):
            frozen_event(json.dumps({**turned, ("branch" if n else "errorCode"): "b"}).encode())
    assert frozen_event(json.dumps(kept).encode())


@pytest.mark.parametrize("simple", [True, False])
def test_a_kept_event_is_the_same_at_every_read(simple: bool) -> None:
    parts = [types.Part(text="x")] if simple else [types.Part(thought_signature=b"\x00\xff")]
    event = Event(
        author="a",
        content=types.Content(role="model", parts=parts),
        actions=EventActions(state_delta={"a": [1]}),
    )
    raw = event_json(event)
    kept = KeptEvent(1, event.timestamp, raw)
    for _ in range(5):
        copy = kept.copy()
        assert same(copy, Event.model_validate_json(raw))
        copy.actions.state_delta["a"].append(2)
        copy.content.parts.clear()
