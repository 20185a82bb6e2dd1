"""ADK's session service on a server.

What ADK's own services do as well is tested with them beside ours: a test that they pass shows
that it is ADK's rule and not only ours.
"""

from __future__ import annotations

import asyncio
import copy
import datetime
import gc
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.genai import types
from hotseat.adk import HotseatSessionService, event_cache
from hotseat.adk.sessions_wire import SessionNotFoundError, StaleSessionError
from hotseat.adk.versions import ADK_MAJOR
from hotseat.connection import Connection
from hotseat.errors import HotseatError, ServerUnreachable
from support import Human, Server, free_port

pytestmark = pytest.mark.asyncio

# Older releases of ADK lack some of these rules; ours are those of the newest everywhere.
OF_ADK = ["memory", "sqlite"] if ADK_MAJOR >= 2 else []

Services = Callable[[str], BaseSessionService]


@pytest_asyncio.fixture
async def services(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Services]:
    """Makes services of a kind. Those of one kind share what they store."""
    made: list[HotseatSessionService] = []
    memory = InMemorySessionService()

    def make(kind: str) -> BaseSessionService:
        if kind == "memory":
            return memory
        if kind == "sqlite":
            return SqliteSessionService(str(tmp_path / "adk.db"))
        request.getfixturevalue("server")
        made.append(HotseatSessionService())
        return made[-1]

    yield make
    for service in made:
        await service.close()


@pytest.fixture(params=["hotseat", *OF_ADK])
def service(request: pytest.FixtureRequest, services: Services) -> BaseSessionService:
    """A service of each kind that follows the rule."""
    return services(request.param)


@pytest.fixture
def ours(services: Services) -> HotseatSessionService:
    """Our service."""
    return services("hotseat")


def like(*kinds: str) -> pytest.MarkDecorator:
    """Names the services of ADK that follow the rule, where not all of them do."""
    return pytest.mark.parametrize(
        "service", ["hotseat", *(kind for kind in kinds if kind in OF_ADK)], indirect=True
    )


async def create(service: BaseSessionService, **options: Any) -> Session:
    return await service.create_session(**{"app_name": "app", "user_id": "ada", **options})


async def read(service: BaseSessionService, session: Session, **config: Any) -> Session:
    found = await service.get_session(
        app_name=session.app_name,
        user_id=session.user_id,
        session_id=session.id,
        config=GetSessionConfig(**config) if config else None,
    )
    assert found is not None
    return found


def event(text: str = "hello", state: dict[str, Any] | None = None, **fields: Any) -> Event:
    actions = EventActions(state_delta=state) if state is not None else EventActions()
    return Event(
        **{
            "author": "user",
            "invocation_id": "e-1",
            "content": types.Content(role="user", parts=[types.Part(text=text)]),
            "actions": actions,
            **fields,
        }
    )


def texts(session: Session) -> list[str]:
    return [event.content.parts[0].text for event in session.events]


# ------------------------------------------------------------------ sessions


async def test_a_session_that_is_not_there_is_none(service: BaseSessionService) -> None:
    for session_id in ("x", "", " "):
        where = {"app_name": "app", "user_id": "ada", "session_id": session_id}
        assert await service.get_session(**where) is None
        await service.delete_session(**where)


async def test_a_created_session_reads_back_as_it_is(service: BaseSessionService) -> None:
    began = time.time()
    session = await create(service, session_id="s-1", state={"key": "value"})
    assert (session.app_name, session.user_id, session.id) == ("app", "ada", "s-1")
    assert session.state == {"key": "value"}
    assert session.events == []
    assert began - 1 < session.last_update_time < time.time() + 1
    assert await read(service, session) == session


@pytest.mark.parametrize("session_id", [None, "", "  "])
@like("memory")
async def test_without_an_id_a_session_gets_one(
    service: BaseSessionService, session_id: str | None
) -> None:
    first = await create(service, session_id=session_id)
    second = await create(service, session_id=session_id)
    assert first.id.strip() and first.id != second.id


async def test_sessions_are_listed_without_events(service: BaseSessionService) -> None:
    made = [await create(service, session_id=f"s-{n}", state={"n": n}) for n in range(5)]
    await service.append_event(made[0], event(state={"app:shared": 1, "user:mine": 2}))
    listed = (await service.list_sessions(app_name="app", user_id="ada")).sessions
    assert {session.id for session in listed} == {session.id for session in made}
    for session in listed:
        assert session.events == []
        assert session.state == {"n": int(session.id[2:]), "app:shared": 1, "user:mine": 2}
    assert (await service.list_sessions(app_name="other", user_id="ada")).sessions == []
    assert (await service.list_sessions(app_name="app", user_id="bob")).sessions == []


async def test_the_session_updated_last_is_listed_last(service: BaseSessionService) -> None:
    made = [await create(service, session_id=f"s-{n}") for n in range(3)]
    now = time.time()
    for place, number in enumerate([2, 0, 1]):
        await service.append_event(made[number], event(timestamp=now + place + 1))
    listed = (await service.list_sessions(app_name="app", user_id="ada")).sessions
    assert [session.id for session in listed] == ["s-2", "s-0", "s-1"]
    assert [session.last_update_time for session in listed] == [now + 1, now + 2, now + 3]


async def test_without_a_user_the_sessions_of_all_users_are_listed(
    service: BaseSessionService,
) -> None:
    for user in ("ada", "bob"):
        for number in range(2):
            await create(service, user_id=user, session_id=str(number), state={"user:is": user})
    await create(service, app_name="other", user_id="eve")
    listed = (await service.list_sessions(app_name="app")).sessions
    assert sorted((session.user_id, session.id) for session in listed) == [
        ("ada", "0"),
        ("ada", "1"),
        ("bob", "0"),
        ("bob", "1"),
    ]
    assert all(session.state == {"user:is": session.user_id} for session in listed)


async def test_the_same_id_is_another_session_for_another_user(
    service: BaseSessionService,
) -> None:
    of_ada = await create(service, session_id="same")
    of_bob = await create(service, user_id="bob", session_id="same")
    await service.append_event(of_ada, event("ada's"))
    assert texts(await read(service, of_ada)) == ["ada's"]
    assert texts(await read(service, of_bob)) == []


async def test_an_id_cannot_be_used_twice(service: BaseSessionService) -> None:
    session = await create(service, session_id="once", state={"a": 1})
    with pytest.raises(AlreadyExistsError, match="once"):
        await create(service, session_id="once", state={"a": 2, "app:b": 2})
    assert (await read(service, session)).state == {"a": 1}


async def test_spaces_around_an_id_do_not_matter(service: BaseSessionService) -> None:
    await create(service, session_id="  padded ")
    for form in ("padded", " padded", "padded  "):
        found = await service.get_session(app_name="app", user_id="ada", session_id=form)
        assert found is not None and found.id == "padded"
    await service.delete_session(app_name="app", user_id="ada", session_id=" padded ")
    assert (await service.list_sessions(app_name="app", user_id="ada")).sessions == []


async def test_a_deleted_session_is_gone(service: BaseSessionService) -> None:
    session = await create(service, state={"user:kept": 1, "gone": 2})
    await service.append_event(session, event())
    where = {"app_name": "app", "user_id": "ada", "session_id": session.id}
    await service.delete_session(**where)
    await service.delete_session(**where)
    assert await service.get_session(**where) is None
    again = await create(service, session_id=session.id)
    assert again.state == {"user:kept": 1}
    assert (await read(service, again)).events == []


async def test_a_deleted_session_takes_no_events(service: BaseSessionService) -> None:
    session = await create(service)
    await service.delete_session(app_name="app", user_id="ada", session_id=session.id)
    with pytest.raises(SessionNotFoundError, match=session.id):
        await service.append_event(session, event())
    assert session.events == []


# --------------------------------------------------------------------- state


async def test_app_state_is_shared_by_all_users_of_the_app(service: BaseSessionService) -> None:
    first = await create(service, state={"app:a": 1})
    await service.append_event(first, event(state={"app:b": [2], "own": 3}))
    assert (await create(service, user_id="bob")).state == {"app:a": 1, "app:b": [2]}
    assert (await create(service, app_name="other")).state == {}


async def test_user_state_is_shared_by_the_sessions_of_the_user(
    service: BaseSessionService,
) -> None:
    first = await create(service, state={"user:a": 1})
    second = await create(service)
    await service.append_event(first, event(state={"user:b": 2, "own": 3}))
    assert (await read(service, second)).state == {"user:a": 1, "user:b": 2}
    assert (await create(service, user_id="bob")).state == {}
    assert (await create(service, app_name="other")).state == {}


async def test_session_state_belongs_to_the_session(service: BaseSessionService) -> None:
    first = await create(service, state={"a": 1})
    second = await create(service)
    await service.append_event(first, event(state={"b": 2}))
    assert (await read(service, first)).state == {"a": 1, "b": 2}
    assert (await read(service, second)).state == {}


@pytest.mark.parametrize("scope", ["", "app:", "user:"])
async def test_a_new_value_takes_the_place_of_the_old_one(
    service: BaseSessionService, scope: str
) -> None:
    session = await create(
        service, state={f"{scope}dict": {"a": 1, "b": {"c": 2}}, f"{scope}flag": True}
    )
    await service.append_event(session, event(state={f"{scope}dict": {"b": {"d": 3}}}))
    await service.append_event(session, event(state={f"{scope}none": 1, f"{scope}more": False}))
    await service.append_event(session, event(state={f"{scope}none": None}))
    expected = {
        f"{scope}dict": {"b": {"d": 3}},
        f"{scope}flag": True,
        f"{scope}more": False,
        f"{scope}none": None,
    }
    found = (await read(service, session)).state
    assert found == expected == session.state
    assert found[f"{scope}flag"] is True and found[f"{scope}more"] is False


async def test_temporary_state_is_for_the_object_and_never_stored(
    service: BaseSessionService,
) -> None:
    session = await create(service, state={"temp:at_birth": 1})
    first = event(state={"temp:scratch": "x", "kept": "y"})
    assert await service.append_event(session, first) is first
    assert first.actions.state_delta == {"kept": "y"}
    await service.append_event(session, event(state={"other": 1}))
    assert session.state["temp:scratch"] == "x"
    found = await read(service, session)
    assert found.state == {"kept": "y", "other": 1}
    assert found.events[0].actions.state_delta == {"kept": "y"}


async def test_numbers_and_text_in_state_come_back_exactly(service: BaseSessionService) -> None:
    state = {
        "large": 2**70,
        "negative": -(2**63) - 1,
        "float": 0.1 + 0.2,
        "tiny": 5e-324,
        "whole": 1.0,
        "unicode": "Grüße 🌍 \u2028 \x00 \"'\\",
        "nested": {"list": [1, [2.5, None, {"deep": 2**64}]], "": {}},
        "clé:with:colons": "x",
    }
    if isinstance(service, SqliteSessionService):
        state.pop("unicode")  # SQLite's JSON functions stop at the NUL.
    session = await create(service, state=state)
    await service.append_event(session, event(state={f"{key}2": v for key, v in state.items()}))
    found = await read(service, session)
    assert found.state == {**state, **{f"{key}2": value for key, value in state.items()}}
    assert type(found.state["whole"]) is type(found.state["whole2"]) is float
    assert found.events == session.events


@like("sqlite")
async def test_state_without_json_is_stored_as_well_as_it_can_be(
    service: BaseSessionService,
) -> None:
    class Thing:
        def __str__(self) -> str:
            return "a thing"

    odd = {
        "when": datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC),
        "pair": (1, 2),
        "bytes": b"abc",
        "model": types.Part(text="x"),
        "thing": Thing(),
    }
    session = await create(service, state=dict(odd))
    await service.append_event(session, event(state={f"{key}2": v for key, v in odd.items()}))
    assert session.state["pair2"] == (1, 2)
    found = await read(service, session)
    assert found.state["when"] == found.state["when2"] == "2026-01-02T00:00:00Z"
    assert found.state["pair"] == found.state["pair2"] == [1, 2]
    assert found.state["bytes"] == "abc"
    assert found.state["model"]["text"] == found.state["model2"]["text"] == "x"
    assert found.state["thing"] == found.state["thing2"] == "a thing"
    assert found.events[0].actions.state_delta["pair2"] == [1, 2]


async def test_user_state_can_be_read_without_a_session(service: BaseSessionService) -> None:
    async def state(user: str = "ada", app: str = "app") -> dict[str, Any]:
        return await service.get_user_state(app_name=app, user_id=user)

    assert await state() == {}
    session = await create(service, state={"user:a": {"b": 1}, "app:x": 1, "own": 1})
    assert await state() == {"a": {"b": 1}}
    await service.append_event(session, event(state={"user:c": None, "user:a": 2, "own": 2}))
    assert await state() == {"a": 2, "c": None}
    assert await state("bob") == {} and await state(app="other") == {}
    (await state())["a"] = "changed"
    assert await state() == {"a": 2, "c": None}
    await service.delete_session(app_name="app", user_id="ada", session_id=session.id)
    assert await state() == {"a": 2, "c": None}


# -------------------------------------------------------------------- events


async def test_an_event_comes_back_exactly(service: BaseSessionService) -> None:
    session = await create(service)
    whole = Event(
        author="agent",
        invocation_id="e-2",
        content=types.Content(
            role="model",
            parts=[
                types.Part(text="Grüße 🌍", thought=True, thought_signature=b"\x00\xff\xfe?>"),
                types.Part(
                    function_call=types.FunctionCall(
                        id="c", name="f", args={"n": 2**70, "x": 0.1 + 0.2, "l": [None, {}]}
                    )
                ),
                types.Part(
                    function_response=types.FunctionResponse(
                        id="c", name="f", response={"result": [1, "two", None, 3.0]}
                    )
                ),
                types.Part(inline_data=types.Blob(data=b"\x89PNG\x00", mime_type="image/png")),
            ],
        ),
        actions=EventActions(
            state_delta={"a": None, "b": {"c": [1]}},
            artifact_delta={"file": 3},
            transfer_to_agent="other",
            escalate=True,
        ),
        long_running_tool_ids={"c", "d", "e"},
        branch="root.agent",
        turn_complete=True,
        error_code="E",
        error_message="went wrong",
        finish_reason=types.FinishReason.STOP,
        usage_metadata=types.GenerateContentResponseUsageMetadata(
            prompt_token_count=3,
            prompt_tokens_details=[
                types.ModalityTokenCount(modality=types.MediaModality.TEXT, token_count=3)
            ],
        ),
        grounding_metadata=types.GroundingMetadata(
            grounding_chunks=[types.GroundingChunk(web=types.GroundingChunkWeb(uri="x"))]
        ),
        citation_metadata=types.CitationMetadata(citations=[types.Citation(title="t")]),
        custom_metadata={"k": {"n": 2**70}, "list": [1.5, True]},
        interrupted=False,
        timestamp=1_700_000_000.123456,
    )
    before = whole.model_copy(deep=True)
    returned = await service.append_event(session, whole)
    assert returned is whole and whole == before
    assert session.events[-1] is whole
    for _ in range(2):
        found = await read(service, session)
        assert found == session
        assert found.events == [before]
        assert found.events[0].model_dump() == before.model_dump()


async def test_requested_confirmations_come_back(service: BaseSessionService) -> None:
    session = await create(service)
    wish = EventActions(
        requested_tool_confirmations={"c": ToolConfirmation(hint="sure?", payload={"n": 1})}
    )
    await service.append_event(session, event(actions=wish))
    for _ in range(2):
        assert await read(service, session) == session


async def test_the_last_event_tells_when_a_session_was_updated(
    service: BaseSessionService,
) -> None:
    session = await create(service)
    stamp = session.last_update_time + 12.345678
    await service.append_event(session, event(timestamp=stamp))
    assert session.last_update_time == stamp
    assert (await read(service, session)).last_update_time == stamp


@pytest.mark.parametrize("cached", [False, True])
async def test_only_the_events_that_are_asked_for_come(
    service: BaseSessionService, services: Services, cached: bool
) -> None:
    session = await create(service)
    for number in range(1, 6):
        await service.append_event(session, event(str(number), timestamp=number))
    if isinstance(service, HotseatSessionService) and not cached:
        service = services("hotseat")

    async def some(**config: Any) -> list[str]:
        return texts(await read(service, session, **config))

    assert await some(num_recent_events=3) == ["3", "4", "5"]
    assert await some(num_recent_events=0) == []
    assert await some(num_recent_events=99) == ["1", "2", "3", "4", "5"]
    assert await some(after_timestamp=4) == ["4", "5"]
    assert await some(after_timestamp=3.5) == ["4", "5"]
    assert await some(after_timestamp=6) == []
    assert await some(num_recent_events=3, after_timestamp=4) == ["4", "5"]
    assert await some(num_recent_events=1, after_timestamp=2) == ["5"]
    assert await some(num_recent_events=0, after_timestamp=2) == []


async def test_partial_events_are_not_stored(service: BaseSessionService) -> None:
    session = await create(service)
    part = event(state={"a": 1, "temp:b": 2}, partial=True)
    assert await service.append_event(session, part) is part
    assert part.actions.state_delta == {"a": 1, "temp:b": 2}
    assert session.events == [] and session.state == {}
    found = await read(service, session)
    assert found.events == [] and found.state == {}


async def test_events_of_the_same_time_stay_in_the_order_they_came(
    service: BaseSessionService, services: Services
) -> None:
    session = await create(service)
    for number in range(9, 0, -1):
        await service.append_event(session, event(str(number), id=str(number), timestamp=5.0))
    expected = [str(number) for number in range(9, 0, -1)]
    assert texts(await read(service, session)) == expected
    assert texts(await read(service, session, num_recent_events=2)) == expected[-2:]
    if isinstance(service, HotseatSessionService):
        assert texts(await read(services("hotseat"), session)) == expected


@like("sqlite")
async def test_events_are_read_in_the_order_of_their_times(
    service: BaseSessionService, services: Services
) -> None:
    session = await create(service)
    for stamp in (30.0, 10.0, 20.0, 10.0):
        await service.append_event(session, event(f"{stamp:g}", timestamp=stamp))
    for reader in (service, services("hotseat")):
        if type(reader) is type(service):
            assert texts(await read(reader, session)) == ["10", "10", "20", "30"]
            assert texts(await read(reader, session, num_recent_events=2)) == ["20", "30"]
    assert session.last_update_time == 10.0


async def test_times_in_the_hour_that_comes_twice_stay_apart(
    service: BaseSessionService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        session = await create(service)
        stamps = [1_793_511_000.25, 1_793_514_600.25]  # Both are half past one.
        for stamp in stamps:
            await service.append_event(session, event(timestamp=stamp))
        found = await read(service, session, after_timestamp=stamps[1])
        assert [event.timestamp for event in found.events] == stamps[1:]
        assert found.last_update_time == stamps[1]
        assert [event.timestamp for event in (await read(service, session)).events] == stamps
    finally:
        monkeypatch.undo()
        time.tzset()


@like("memory")
async def test_appending_an_event_again_changes_nothing(service: BaseSessionService) -> None:
    session = await create(service)
    first = event(state={"n": 1})
    await service.append_event(session, first)
    await service.append_event(session, event("second", state={"n": 2}))
    await service.append_event(session, first)
    await service.append_event(session, first.model_copy(deep=True))
    assert len(session.events) == 2
    found = await read(service, session)
    assert texts(found) == ["hello", "second"]
    assert found.state == {"n": 2}


@like("sqlite")
async def test_a_session_that_has_changed_since_it_was_read_takes_no_events(
    service: BaseSessionService,
) -> None:
    session = await create(service)
    stale = await read(service, session)
    now = time.time()
    await service.append_event(session, event("first", timestamp=now + 1))
    with pytest.raises(StaleSessionError):
        await service.append_event(stale, event("second", timestamp=now + 2))
    assert stale.events == []
    fresh = await read(service, stale)
    await service.append_event(fresh, event("third", timestamp=now + 3))
    assert texts(await read(service, session)) == ["first", "third"]


# ---------------------------------------------------------------------- ours


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        Session.model_copy,
        lambda session: session.model_copy(update={"events": list(session.events)}),
    ],
)
async def test_a_copy_of_a_session_knows_what_the_session_knew(
    ours: HotseatSessionService, copied: Callable[[Session], Session]
) -> None:
    session = await create(ours)
    await ours.append_event(session, event("1"))
    stale, good = copied(session), copied(session)
    await ours.append_event(good, event("2"))
    with pytest.raises(StaleSessionError):
        await ours.append_event(stale, event("3"))
    assert texts(await read(ours, session)) == ["1", "2"]


async def test_a_session_object_that_was_made_by_hand_will_do(
    ours: HotseatSessionService,
) -> None:
    session = await create(ours)
    await ours.append_event(session, event("1"))
    by_hand = Session(id=session.id, app_name="app", user_id="ada")
    await ours.append_event(by_hand, event("2"))
    await ours.append_event(by_hand, event("3"))
    assert texts(by_hand) == ["2", "3"]
    assert texts(await read(ours, session)) == ["1", "2", "3"]
    assert (await ours.known(by_hand))[:2] == (await ours.known(session))[:2]


async def test_what_is_known_of_a_session_is_not_part_of_it(ours: HotseatSessionService) -> None:
    session = await create(ours, session_id="x")
    plain = Session(
        id="x", app_name="app", user_id="ada", last_update_time=session.last_update_time
    )
    assert session == plain
    assert session.model_dump_json() == plain.model_dump_json()
    assert repr(session) == repr(plain)


async def test_a_session_that_was_completed_says_so(
    ours: HotseatSessionService, server: Server
) -> None:
    session = await create(ours)
    await ours.append_event(session, event("1"))
    session_id = (await ours.known(session)).session_id
    human = Human(server, session_id)
    await human.complete()
    await human.leave()
    by_hand = Session(id=session.id, app_name="app", user_id="ada")
    for end in (session, by_hand):
        with pytest.raises(HotseatError, match="completed"):
            await ours.append_event(end, event("2"))
    assert texts(await read(ours, session)) == texts(session) == ["1"]


async def test_a_caller_cannot_change_what_is_kept(ours: HotseatSessionService) -> None:
    session = await create(ours, state={"list": [1]})
    told = Event(
        author="agent",
        content=types.Content(
            role="model",
            parts=[
                types.Part(function_call=types.FunctionCall(name="f", args={"a": {"b": [1]}})),
                types.Part(text="text"),
            ],
        ),
        actions=EventActions(state_delta={"d": {"e": [1]}}),
        long_running_tool_ids={"c"},
        custom_metadata={"m": [1]},
    )
    await ours.append_event(session, told)
    before = await read(ours, session)
    expected = before.model_dump_json()

    def spoil(event: Event) -> None:
        event.content.parts[0].function_call.args["a"]["b"].append(2)
        event.content.parts[0].function_call.name = "g"
        event.content.parts.pop()
        event.content.role = "user"
        event.actions.state_delta["d"]["e"].append(2)
        event.actions.artifact_delta["x"] = 1
        event.actions.escalate = True
        event.long_running_tool_ids.add("d")
        event.custom_metadata["m"].append(2)
        event.author = "somebody"
        event.branch = "set"

    spoil(told)
    spoil(before.events[0])
    before.events.clear()
    before.state["list"].append(2)
    after = await read(ours, session)
    assert after.model_dump_json() == expected
    assert "branch" not in after.events[0].model_fields_set
    spoil(after.events[0])
    assert (await read(ours, session)).model_dump_json() == expected


async def test_what_others_append_is_seen(ours: HotseatSessionService, services: Services) -> None:
    other = services("hotseat")
    session = await create(ours)
    for number in range(3):
        await ours.append_event(session, event(str(number)))
    assert texts(await read(ours, session)) == ["0", "1", "2"]
    elsewhere = await read(other, session)
    await other.append_event(elsewhere, event("3", state={"by": "other"}))
    found = await read(ours, session)
    assert texts(found) == ["0", "1", "2", "3"] and found.state == {"by": "other"}
    await ours.append_event(found, event("4"))
    assert texts(await read(other, session)) == ["0", "1", "2", "3", "4"]


async def test_a_session_made_anew_has_nothing_of_the_old_one(
    ours: HotseatSessionService, services: Services
) -> None:
    other = services("hotseat")
    session = await create(ours, session_id="again")
    for number in range(3):
        await ours.append_event(session, event(f"old {number}"))
    assert len((await read(ours, session)).events) == 3
    await other.delete_session(app_name="app", user_id="ada", session_id="again")
    anew = await create(other, session_id="again")
    for number in range(5):
        await other.append_event(anew, event(f"new {number}"))
    expected = [f"new {number}" for number in range(5)]
    assert texts(await read(ours, session)) == expected
    assert texts(await read(ours, session)) == expected


async def test_a_session_made_anew_takes_nothing_from_who_holds_the_old_one(
    ours: HotseatSessionService, services: Services
) -> None:
    other = services("hotseat")
    held = await create(ours, session_id="again")
    await other.delete_session(app_name="app", user_id="ada", session_id="again")
    anew = await create(other, session_id="again")
    # Neither has an event, so nothing but the session itself tells them apart.
    with pytest.raises(ValueError, match="reload"):
        await ours.append_event(held, event("for the old one"))
    assert texts(await read(ours, anew)) == []
    found = await read(ours, anew)
    await ours.append_event(found, event("for the new one"))
    assert texts(await read(other, anew)) == ["for the new one"]


async def test_a_long_session_comes_in_several_answers(
    ours: HotseatSessionService, services: Services
) -> None:
    session = await create(ours)
    large = "x" * 900_000
    for number in range(12):
        await ours.append_event(session, event(f"{number} {large}", timestamp=float(number)))
    found = await read(services("hotseat"), session)
    assert [text.split()[0] for text in texts(found)] == [str(number) for number in range(12)]
    assert found == session


async def test_many_sessions_are_all_listed(ours: HotseatSessionService) -> None:
    await asyncio.gather(*(create(ours, session_id=f"{number}") for number in range(1_100)))
    listed = (await ours.list_sessions(app_name="app", user_id="ada")).sessions
    assert len(listed) == len({session.id for session in listed}) == 1_100
    assert listed == sorted(listed, key=lambda session: session.last_update_time)


async def test_tasks_that_share_a_session_object_do_not_disturb_each_other(
    ours: HotseatSessionService,
) -> None:
    session = await create(ours)

    async def write(task: int) -> None:
        for number in range(5):
            await ours.append_event(session, event(f"{task}-{number}", state={f"{task}": number}))

    await asyncio.gather(*(write(task) for task in range(64)))
    found = await read(ours, session)
    # The order in which they were stored, and the order by their times.
    assert len(session.events) == 320
    assert sorted(texts(found)) == sorted(texts(session))
    assert found.state == session.state == {str(task): 4 for task in range(64)}


async def test_tasks_with_sessions_of_their_own_run_side_by_side(
    ours: HotseatSessionService, services: Services
) -> None:
    async def converse(task: int) -> None:
        session = await create(ours, user_id=f"user {task}")
        for number in range(10):
            await ours.append_event(session, event(f"{task}-{number}", state={"n": number}))
        for reader in (ours, services("hotseat")):
            found = await read(reader, session)
            assert texts(found) == [f"{task}-{number}" for number in range(10)]
            assert found.state == {"n": 9}

    await asyncio.gather(*(converse(task) for task in range(64)))


async def test_a_cancelled_append_leaves_a_session_that_can_be_used(
    ours: HotseatSessionService,
) -> None:
    session = await create(ours)
    for number in range(20):
        append = asyncio.create_task(ours.append_event(session, event(f"cancelled {number}")))
        await asyncio.sleep(number / 10_000)
        append.cancel()
        await asyncio.gather(append, return_exceptions=True)
    await ours.append_event(session, event("last"))
    assert texts(await read(ours, session))[-1] == "last"


def in_threads(count: int, work: Callable[[int], Any]) -> None:
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            asyncio.run(work(number))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


async def test_one_service_works_on_several_loops(
    ours: HotseatSessionService, services: Services
) -> None:
    shared = await create(ours, session_id="shared")

    async def work(number: int) -> None:
        session = await create(ours, session_id=f"own {number}")
        for step in range(10):
            await ours.append_event(session, event(f"{step}"))
            await ours.append_event(shared, event(f"{number}-{step}"))
        assert len((await read(ours, session)).events) == 10

    for _ in range(2):
        await asyncio.to_thread(in_threads, 4, work)
        for number in range(4):
            await ours.delete_session(app_name="app", user_id="ada", session_id=f"own {number}")
    assert len(shared.events) == 80
    assert sorted(texts(await read(ours, shared))) == sorted(texts(shared))


async def test_what_is_kept_has_a_limit(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_cache, "MAX_SESSIONS", 3)
    async with HotseatSessionService(cache_bytes=20_000) as service:
        sessions = [await create(service) for _ in range(6)]
        for _ in range(4):
            for session in sessions:
                await service.append_event(session, event("x" * 3_000))
                assert await read(service, session) == session
                entries = service._cache._entries.values()
                assert len(entries) <= 3
                size = sum(event.size for entry in entries for event in entry.events)
                assert size == service._cache._size <= 20_000
        await service.append_event(sessions[0], event("x" * 30_000))
        assert await read(service, sessions[0]) == sessions[0]


async def test_nothing_is_kept_if_nothing_shall_be(server: Server) -> None:
    async with HotseatSessionService(cache_bytes=0) as service:
        session = await create(service)
        for number in range(3):
            await service.append_event(session, event(str(number)))
        assert await read(service, session) == session
        assert all(not entry.events for entry in service._cache._entries.values())


# ------------------------------------------------------------- the connection


async def test_a_restart_of_the_server_is_a_pause(
    ours: HotseatSessionService, server: Server
) -> None:
    session = await create(ours, state={"user:u": 1})
    for number in range(3):
        await ours.append_event(session, event(str(number), state={"n": number}))
    server.kill()
    waiting = [
        asyncio.create_task(ours.append_event(session, event("3", state={"n": 3}))),
        asyncio.create_task(create(ours, session_id="made while away")),
        asyncio.create_task(read(ours, session)),
    ]
    await asyncio.sleep(0.3)
    assert not any(task.done() for task in waiting)
    await asyncio.to_thread(server.start)
    await asyncio.gather(*waiting)
    found = await read(ours, session)
    assert found == session
    assert texts(found) == ["0", "1", "2", "3"]
    assert found.state == {"n": 3, "user:u": 1}


async def test_a_server_that_stays_away_is_told_of() -> None:
    port = free_port()
    async with HotseatSessionService(f"127.0.0.1:{port}", patience=0.3) as service:
        with pytest.raises(ServerUnreachable, match=rf"127\.0\.0\.1:{port}.*hotseat web"):
            await create(service)


@pytest.fixture
def lose_answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Loses every other answer to a method, as a connection that breaks does."""
    unary = Connection._unary

    def lose(method: str) -> list[str]:
        calls: list[str] = []

        async def losing(connection: Connection, service: str, wanted: str, request: Any) -> Any:
            answer = await unary(connection, service, wanted, request)
            if wanted == method:
                calls.append(method)
                if len(calls) % 2:
                    nothing = grpc.aio.Metadata()
                    code = grpc.StatusCode.UNAVAILABLE
                    raise grpc.aio.AioRpcError(code, nothing, nothing, "lost")
            return answer

        monkeypatch.setattr(Connection, "_unary", losing)
        return calls

    return lose


async def test_a_creation_whose_answer_was_lost_is_not_refused(
    ours: HotseatSessionService, lose_answers: Callable[[str], list[str]]
) -> None:
    calls = lose_answers("CreateAdkSession")
    session = await create(ours, session_id="precious", state={"a": 1})
    assert len(calls) == 1  # The second was refused: it was there.
    assert session.state == {"a": 1}
    calls.clear()
    with pytest.raises(AlreadyExistsError):
        await create(ours, session_id="precious")
    await ours.append_event(session, event())
    assert await read(ours, session) == session


async def test_an_append_whose_answer_was_lost_is_stored_once(
    ours: HotseatSessionService, lose_answers: Callable[[str], list[str]]
) -> None:
    session = await create(ours)
    calls = lose_answers("AppendAdkEvent")
    for number in range(3):
        await ours.append_event(session, event(str(number), state={"n": number}))
    assert len(calls) == 6
    assert texts(session) == ["0", "1", "2"]
    assert await read(ours, session) == session


async def test_a_wrong_token_is_told_of(server: Server) -> None:
    async with HotseatSessionService(server.url, "wrong") as service:
        with pytest.raises(HotseatError, match="HOTSEAT_TOKEN"):
            await create(service)


async def test_the_uri_of_adk_names_the_server(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOTSEAT_URL")
    uri = server.url.replace("http://", "hotseat://")
    async with HotseatSessionService(uri=uri, agents_dir="agents", other="x") as service:
        assert service.url == server.url
        assert (await create(service)).events == []
    assert HotseatSessionService(uri="hotseat://").url == "http://127.0.0.1:4687"
    monkeypatch.setenv("HOTSEAT_URL", "http://environment:1")
    assert HotseatSessionService(uri="hotseat://").url == "http://environment:1"


async def test_a_closed_service_can_be_used_again(ours: HotseatSessionService) -> None:
    session = await create(ours)
    await ours.close()
    await ours.flush()
    await ours.append_event(session, event())
    assert await read(ours, session) == session


async def test_reading_does_not_change_how_garbage_is_collected(
    ours: HotseatSessionService,
) -> None:
    session = await with_many_events(ours)
    await read(ours, session)
    assert gc.isenabled()
    gc.disable()
    try:
        await read(ours, session)
        assert not gc.isenabled()
    finally:
        gc.enable()


async def test_garbage_of_the_program_does_not_grow_old_by_reading(
    ours: HotseatSessionService,
) -> None:
    class Ring:
        def __init__(self) -> None:
            self.itself = self

    session = await with_many_events(ours)
    garbage = weakref.ref(Ring())
    await read(ours, session)
    assert garbage() is None


async def test_what_the_program_has_frozen_stays_frozen(ours: HotseatSessionService) -> None:
    session = await with_many_events(ours)
    gc.freeze()
    frozen = gc.get_freeze_count()
    try:
        await read(ours, session)
        # Some of it may have been let go of meanwhile, but nothing was thawed or added.
        assert 0 < gc.get_freeze_count() <= frozen
    finally:
        gc.unfreeze()


async def with_many_events(service: HotseatSessionService) -> Session:
    """A session with so many events that reading them keeps the garbage collector away."""
    session = await create(service)
    for _ in range(150):
        await service.append_event(session, event())
    return session
