"""Sessions that were kept elsewhere, in databases that ADK itself wrote."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pickle
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.sessions.session import Session
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types
from hotseat import _wire
from hotseat.importing import __main__ as command
from hotseat.importing.adk_tables import AdkTables
from hotseat.importing.databases import UrlDatabase
from hotseat.importing.progress import Progress
from hotseat.importing.stored import Key, SourceError, Unreadable, Wanted
from hotseat.importing.summary import Summary
from postgres import postgres
from support import PACKAGE, Server

NOTHING_WRONG = {"differences": [], "problems": []}


class Reader:
    """Reads sessions back, and appends to them, as another program would."""

    def __init__(self, server: Server) -> None:
        self._metadata = [("authorization", f"Bearer {server.token}")]
        channel = grpc.insecure_channel(f"127.0.0.1:{server.port}")
        self._sessions = _wire.Stub(channel, "Sessions")

    def get(self, app: str, user: str, session_id: str) -> tuple[Any, list[bytes]]:
        """A session and its raw events."""
        request = _wire.GetAdkSessionRequest(key=_key(app, user, session_id))
        raw: list[bytes] = []
        while True:
            answer = self._sessions.GetAdkSession(request, metadata=self._metadata)
            raw += [event.raw_json for event in answer.events]
            if not answer.more:
                return answer.session, raw
            request.after_seq = answer.events[-1].seq
            request.incarnation = answer.session.incarnation

    def append(self, app: str, user: str, session_id: str, event: dict[str, Any]) -> None:
        """Appends an event."""
        request = _wire.AppendAdkEventRequest(
            key=_key(app, user, session_id), raw_json=json.dumps(event).encode()
        )
        self._sessions.AppendAdkEvent(request, metadata=self._metadata)


def _key(app: str, user: str, session_id: str) -> Any:
    return _wire.AdkSessionKey(app_name=app, user_id=user, id=session_id)


@pytest.fixture
def reader(server: Server) -> Reader:
    """Somebody who looks at what arrived."""
    return Reader(server)


@pytest.fixture
def bring(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Imports; the exit code and the summary."""

    def bring(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
        code = command.main(["--json", *map(str, arguments)])
        return code, json.loads(capsys.readouterr().out)

    return bring


def counted(new: int, extended: int, unchanged: int, events: int, known: int) -> dict[str, Any]:
    """A summary of an import without trouble."""
    return {
        "sessions": {"new": new, "extended": extended, "unchanged": unchanged},
        "events": {"new": events, "there_already": known},
        **NOTHING_WRONG,
    }


def said(author: str, text: str, at: float, **delta: Any) -> Event:
    """Something said, and what it changes."""
    role = "user" if author == "user" else "model"
    return Event(
        author=author,
        invocation_id="e-1",
        timestamp=at,
        content=types.Content(role=role, parts=[types.Part(text=text)]),
        actions=EventActions(state_delta={name.replace("__", ":"): v for name, v in delta.items()}),
    )


def called(at: float) -> list[Event]:
    """A tool call with everything in it that a database could lose, and its result."""
    call = types.FunctionCall(id="adk-1", name="add", args={"a": 10**20, "ß": ["ü", None, 0.1]})
    result = types.FunctionResponse(id="adk-1", name="add", response={"result": '{"n": 1}'})
    picture = types.Blob(mime_type="image/png", data=b"\x89PNG\x00\xff")
    return [
        Event(
            author="root",
            invocation_id="e-1",
            branch="root.adder",
            timestamp=at,
            long_running_tool_ids={"adk-1"},
            custom_metadata={"k": "v"},
            usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=7),
            content=types.Content(
                role="model",
                parts=[types.Part(function_call=call), types.Part(inline_data=picture)],
            ),
        ),
        Event(
            author="root",
            invocation_id="e-1",
            timestamp=at + 0.25,
            content=types.Content(role="user", parts=[types.Part(function_response=result)]),
            actions=EventActions(state_delta={"sum": None}, artifact_delta={"a.txt": 1}),
        ),
    ]


async def converse(service: BaseSessionService) -> None:
    """Two apps, two users; sessions take turns to change what they share."""

    async def begin(app: str, user: str, session_id: str, state: dict[str, Any]) -> Session:
        return await service.create_session(
            app_name=app, user_id=user, session_id=session_id, state=state
        )

    shared = {"app:lang": "de", "user:name": "Ada", "city": "Bern", "n": 0, "temp:x": 1}
    first = await begin("math", "ada", "s 1/ä", shared)
    second = await begin("math", "ada", "s-2", {"only": {"deep": [1, 2.5, True]}})
    third = await begin("math", "bob", "s-3", {})
    await begin("chat", "bob", "empty", {"k": "v"})
    # Later than the creation, which ADK dates itself.
    at = first.last_update_time + 100
    await service.append_event(first, said("user", "Hallo\n„Welt“", at, n=1, app__count=1))
    for event in called(at + 1):
        await service.append_event(first, event)
    await service.append_event(second, said("user", "Hi", at + 3, app__count=2, user__name="A."))
    await service.append_event(first, said("root", "Ja 😀", at + 4, app__count=3, temp__y=1))
    await service.append_event(third, said("root", "x", at + 5, user__name="Bob"))
    await service.append_event(third, said("root", "y", at + 5, last="y"))


SESSIONS = [
    ("math", "ada", "s 1/ä"),
    ("math", "ada", "s-2"),
    ("math", "bob", "s-3"),
    ("chat", "bob", "empty"),
]


def comparable(event: Event) -> tuple[float, str, str]:
    """An event without the differences between ADK's own databases, which is also an order."""
    if not event.long_running_tool_ids:
        event.long_running_tool_ids = None
    return event.timestamp, event.id, event.model_dump_json()


async def check_same(service: BaseSessionService, reader: Reader) -> None:
    """Asserts that ADK and Hotseat tell the same of all sessions."""
    for app, user, session_id in SESSIONS:
        expected = await service.get_session(app_name=app, user_id=user, session_id=session_id)
        found, raw = reader.get(app, user, session_id)
        assert json.loads(found.state_json) == expected.state
        events = [Event.model_validate_json(text) for text in raw]
        assert sorted(map(comparable, events)) == sorted(map(comparable, expected.events))
        if expected.events:
            assert found.last_update_time == pytest.approx(expected.last_update_time, abs=1e-5)
        assert found.event_count == len(expected.events)


def ran(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine."""
    return asyncio.run(coroutine)


@pytest.fixture
def sqlite_file(tmp_path: Path) -> Path:
    """What SqliteSessionService leaves in the folder of an agent."""
    file = tmp_path / "agent" / ".adk" / "session.db"
    file.parent.mkdir(parents=True)
    ran(converse(SqliteSessionService(str(file))))
    return file


def test_a_database_of_adk_arrives_as_it_is_and_only_once(
    sqlite_file: Path, reader: Reader, bring: Callable[..., Any]
) -> None:
    assert bring(sqlite_file) == (0, counted(4, 0, 0, 7, 0))
    ran(check_same(SqliteSessionService(str(sqlite_file)), reader))
    with sqlite3.connect(sqlite_file) as database:
        for key in SESSIONS:
            of_session = "app_name = ? AND user_id = ? AND {} = ?"
            session, raw = reader.get(*key)
            rows = database.execute(
                f"SELECT event_data FROM events WHERE {of_session.format('session_id')}"
                " ORDER BY rowid",
                key,
            )
            assert raw == [row[0].encode() for row in rows]
            created = database.execute(
                f"SELECT create_time FROM sessions WHERE {of_session.format('id')}", key
            )
            # Hotseat's sessions know milliseconds.
            assert session.create_time == pytest.approx(created.fetchone()[0], abs=1e-3)

    before = [reader.get(*key) for key in SESSIONS]
    assert bring(sqlite_file) == (0, counted(0, 0, 4, 0, 7))
    assert [reader.get(*key) for key in SESSIONS] == before


def test_a_session_begins_with_the_state_that_no_event_sets(
    sqlite_file: Path, reader: Reader, server: Server, bring: Callable[..., Any]
) -> None:
    bring(sqlite_file)
    reader.append("math", "ada", "s-2", {"id": "x", "author": "root", "timestamp": 1.0})
    session, _ = reader.get("math", "ada", "s 1/ä")
    assert json.loads(session.state_json) == {
        "city": "Bern",
        "n": 1,
        "sum": None,
        "app:lang": "de",
        "app:count": 3,
        "user:name": "A.",
    }


def test_what_is_new_in_a_source_is_added_and_what_is_newer_here_stays(
    sqlite_file: Path, reader: Reader, bring: Callable[..., Any]
) -> None:
    bring(sqlite_file)
    newer = {"actions": {"stateDelta": {"app:lang": "fr", "app:count": 9, "user:name": "Z"}}}
    reader.append("math", "ada", "s-2", {"id": "here", "author": "root", "timestamp": 9e9, **newer})

    async def go_on() -> None:
        service = SqliteSessionService(str(sqlite_file))
        session = await service.get_session(app_name="math", user_id="ada", session_id="s 1/ä")
        await service.append_event(session, said("user", "Noch da?", 5e9, n=2))
        await service.create_session(app_name="math", user_id="ada", session_id="s-4")

    ran(go_on())
    assert bring(sqlite_file) == (0, counted(1, 1, 3, 1, 7))
    session, raw = reader.get("math", "ada", "s 1/ä")
    state = json.loads(session.state_json)
    assert (state["n"], state["app:lang"], state["app:count"]) == (2, "fr", 9)
    assert state["user:name"] == "Z"
    assert len(raw) == 5
    assert len(reader.get("math", "ada", "s-2")[1]) == 2


def test_only_the_wanted_sessions_come_from_a_folder(
    sqlite_file: Path, reader: Reader, bring: Callable[..., Any]
) -> None:
    agent = sqlite_file.parents[1]
    assert bring(agent, "--app", "math", "--user", "bob") == (0, counted(1, 0, 0, 2, 0))
    assert bring(agent.parent, "--app", "chat") == (0, counted(1, 0, 0, 0, 0))
    assert bring(f"sqlite+aiosqlite:///{sqlite_file}") == (0, counted(2, 0, 2, 5, 2))


def test_a_state_that_its_events_do_not_explain_is_told(
    sqlite_file: Path, bring: Callable[..., Any]
) -> None:
    with sqlite3.connect(sqlite_file) as database:
        database.execute("UPDATE sessions SET state = '{\"last\": \"z\"}' WHERE id = 's-3'")
        database.execute("UPDATE app_states SET state = '{\"count\": 8}' WHERE app_name = 'math'")
    code, summary = bring(sqlite_file)
    assert code == 1
    named = {"app_name": "math", "in_source": 8, "in_hotseat": 3, "key": "app:count"}
    assert [found for found in summary["differences"] if found["key"] == "app:count"] == [
        {**named, "user_id": "ada", "session_id": "s 1/ä"}
    ]
    assert [found["key"] for found in summary["differences"]] == ["app:count", "last"]


def database_service(url: str) -> BaseSessionService:
    """ADK's service for all other databases."""
    from google.adk.sessions.database_session_service import DatabaseSessionService

    return DatabaseSessionService(url)


@pytest.fixture(params=["columns", "json"])
def sqlalchemy_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """What DatabaseSessionService writes, in the schema of its time."""
    sqlalchemy = pytest.importorskip("sqlalchemy")
    file = tmp_path / f"{request.param}.db"
    if request.param == "columns":
        from google.adk.sessions.schemas import v0

        v0.Base.metadata.create_all(sqlalchemy.create_engine(f"sqlite:///{file}"))
    ran(converse(database_service(f"sqlite+aiosqlite:///{file}")))
    return file


def test_databases_of_sqlalchemy_arrive_in_both_schemas(
    sqlalchemy_file: Path, reader: Reader, bring: Callable[..., Any]
) -> None:
    assert bring(sqlalchemy_file) == (0, counted(4, 0, 0, 7, 0))
    ran(check_same(database_service(f"sqlite+aiosqlite:///{sqlalchemy_file}"), reader))
    assert bring(sqlalchemy_file) == (0, counted(0, 0, 4, 0, 7))


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[str]:
    """A PostgreSQL for the tests of this file."""
    with postgres() as url:
        yield url


@pytest.mark.parametrize("driver", ["asyncpg", "psycopg"])
def test_a_postgresql_database_of_adk_arrives_as_it_is_and_only_once(
    driver: str, postgres_server: str, reader: Reader, bring: Callable[..., Any]
) -> None:
    url = f"postgresql+{driver}{postgres_server}"

    async def fill() -> None:
        service = database_service(f"postgresql+asyncpg{postgres_server}")
        if not (await service.list_sessions(app_name="math")).sessions:
            await converse(service)

    ran(fill())
    assert bring(url) == (0, counted(4, 0, 0, 7, 0))
    ran(check_same(database_service(f"postgresql+asyncpg{postgres_server}"), reader))
    before = [reader.get(*key) for key in SESSIONS]
    assert bring(url) == (0, counted(0, 0, 4, 0, 7))
    assert [reader.get(*key) for key in SESSIONS] == before
    assert bring(url, "--app", "math", "--user", "bob") == (0, counted(0, 0, 1, 0, 2))


def test_a_postgresql_that_cannot_be_reached_is_told_without_its_password(
    bring: Callable[..., Any], tmp_path: Path
) -> None:
    code, summary = bring(f"postgresql+asyncpg://ada:secret@/x?host={tmp_path}")
    assert code == 1
    [problem] = summary["problems"]
    assert "cannot be read" in str(problem) and "secret" not in str(problem)


def test_a_database_behind_a_url_gives_the_same_as_its_file(sqlalchemy_file: Path) -> None:
    wanted = Wanted("math", "ada")
    other = AdkTables(UrlDatabase(f"sqlite+aiosqlite:///{sqlalchemy_file}"), wanted)
    assert [session.key for session in other.sessions()] == [Key(*key) for key in SESSIONS[:2]]
    assert other.shared().apps == {"math": {"lang": "de", "count": 3}}
    assert other.shared().users == {("math", "ada"): {"name": "A."}}
    ids = [event.id for event in other.events()]
    assert len(ids) == 5
    with pytest.raises(SourceError) as error:
        AdkTables(UrlDatabase("postgresql://ada:secret@127.0.0.1:1/x"), wanted)
    assert "secret" not in str(error.value)


def test_a_url_needs_sqlalchemy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(SourceError, match=r"pip install 'sqlalchemy\[asyncio\]>=2'"):
        UrlDatabase("postgresql+asyncpg://localhost/adk")


OLD_TABLES = """
CREATE TABLE sessions (app_name, user_id, id, state, create_time, update_time);
CREATE TABLE events (id, app_name, user_id, session_id, invocation_id, author, actions, timestamp,
    content);
INSERT INTO sessions VALUES ('math', 'ada', 's-1', '{}', '2025-06-01 10:00:00', NULL);
"""


def old_database(file: Path, *rows: tuple[str, Any, str]) -> AdkTables:
    """A database of an old ADK with these events: id, actions, time."""
    with sqlite3.connect(file) as database:
        database.executescript(OLD_TABLES)
        for event_id, actions, time in rows:
            database.execute(
                "INSERT INTO events VALUES (?, 'math', 'ada', 's-1', 'e-1', 'root', ?, ?, ?)",
                (event_id, pickle.dumps(actions), time, '{"parts": [{"text": "x"}]}'),
            )
    from hotseat.importing.databases import SqliteFile

    return AdkTables(SqliteFile(file), Wanted())


class Bomb:
    """Something that runs a command when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch exploded",)


def test_a_pickle_that_is_more_than_data_is_not_opened(tmp_path: Path) -> None:
    kept = EventActions(state_delta={"a": 1, "app:b": 2}, transfer_to_agent="other")
    source = old_database(
        tmp_path / "old.db",
        ("e-1", Bomb(), "2025-06-01 10:00:01.5"),
        ("e-2", EventActions(state_delta={"a": Bomb()}), "2025-06-01 10:00:02"),
        ("e-3", kept, "2025-06-01 10:00:03"),
    )
    bad, worse, good = source.events()
    assert isinstance(bad, Unreadable) and isinstance(worse, Unreadable)
    assert "adk migrate session" in bad.why
    assert not (tmp_path / "exploded").exists()
    event = json.loads(good.raw)
    assert event["actions"]["transfer_to_agent"] == "other"
    assert good.delta == {"a": 1, "app:b": 2}
    assert event["timestamp"] == 1748772003.0


def test_times_of_old_databases_are_local_where_that_fits_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    monkeypatch.setenv("TZ", "Europe/Zurich")
    time.tzset()
    try:
        for name, stored in {"local": "2025-06-01 12:00:05", "utc": "2025-06-01 10:00:05"}.items():
            source = old_database(tmp_path / f"{name}.db", ("e-1", EventActions(), stored))
            (event,) = source.events()
            assert json.loads(event.raw)["timestamp"] == 1748772005.0
    finally:
        monkeypatch.undo()
        time.tzset()


def saved_session() -> dict[str, Any]:
    """A session with fields that no release of ADK knows."""
    return {
        "id": "saved",
        "appName": "math",
        "userId": "ada",
        "state": {"city": "Bern", "n": 2, "app:lang": "de", "user:name": "Ada"},
        "events": [
            {"id": "e-1", "author": "user", "timestamp": 10.5, "new": {"field": 10**30}},
            {"id": "e-2", "author": "root", "timestamp": 11, "actions": {"stateDelta": {"n": 2}}},
        ],
        "lastUpdateTime": 11,
    }


def test_a_saved_session_keeps_every_byte_of_its_events(
    tmp_path: Path, reader: Reader, bring: Callable[..., Any]
) -> None:
    file = tmp_path / "saved.session.json"
    file.write_text(json.dumps(saved_session(), indent=2))
    assert bring(file) == (0, counted(1, 0, 0, 2, 0))
    session, raw = reader.get("math", "ada", "saved")
    assert json.loads(session.state_json) == saved_session()["state"]
    assert session.create_time == 10.5
    assert session.last_update_time == 11
    text = file.read_text()
    assert all(event.decode() in text for event in raw)
    assert [json.loads(event) for event in raw] == saved_session()["events"]
    assert bring(tmp_path) == (0, counted(0, 0, 1, 0, 2))


def test_a_file_may_hold_many_sessions(tmp_path: Path, bring: Callable[..., Any]) -> None:
    several = [{**saved_session(), "id": f"s-{n}"} for n in range(3)]
    listed, lined = tmp_path / "list.json", tmp_path / "lines.jsonl"
    listed.write_text(json.dumps(several[:2]))
    lined.write_text("\n".join(map(json.dumps, several)))
    assert bring(listed, lined) == (0, counted(3, 0, 2, 6, 4))


def test_an_event_that_is_refused_does_not_keep_the_others_out(
    tmp_path: Path, reader: Reader, bring: Callable[..., Any]
) -> None:
    session = saved_session()
    session["events"][1:1] = [{"id": "bad", "timestamp": 10.7}, 7, None]
    file = tmp_path / "saved.json"
    file.write_text(json.dumps(session))
    code, summary = bring(file, tmp_path / "absent.json")
    assert code == 1
    first, second, third = (found["message"] for found in summary["problems"])
    assert first == "event 3 is no object"
    assert second.startswith("event bad: ") and "no author" in second
    assert third == f"{tmp_path / 'absent.json'} is not there"
    assert summary["problems"][1]["session_id"] == "saved"
    assert [json.loads(raw)["id"] for raw in reader.get("math", "ada", "saved")[1]] == [
        "e-1",
        "e-2",
    ]


def test_the_record_of_an_old_store_becomes_events(
    tmp_path: Path, reader: Reader, bring: Callable[..., Any]
) -> None:
    record = {
        "id": "session_0123456789abcdef",
        "created_at": "2025-10-18T10:00:00+00:00",
        "updated_at": "2025-10-18T10:05:00+00:00",
        "status": "completed",
        "user_id": 7,
        "messages": [
            {"id": "m1", "role": "user", "content": "Hi", "timestamp": "2025-10-18T10:00:01Z"},
            {"role": "assistant", "content": "Ja", "timestamp": "2025-10-18T10:00:02.5"},
        ],
    }
    file = tmp_path / "record.json"
    file.write_text(json.dumps(record))
    code, summary = bring(file)
    assert code == 1
    assert "--app" in summary["problems"][0]["message"]
    for _ in range(2):
        assert bring(file, "--app", "vault")[0] == 0
    session, raw = reader.get("vault", "7", record["id"])
    assert session.create_time == 1760781600.0
    assert [json.loads(event) for event in raw] == [
        {
            "id": "m1",
            "invocationId": f"backfill_{record['id']}",
            "author": "user",
            "timestamp": 1760781601.0,
            "content": {"role": "user", "parts": [{"text": "Hi"}]},
        },
        {
            "id": f"backfill_{record['id']}_1",
            "invocationId": f"backfill_{record['id']}",
            "author": "assistant",
            "timestamp": 1760781602.5,
            "content": {"role": "model", "parts": [{"text": "Ja"}]},
        },
    ]


def test_events_of_an_old_store_are_found_again_though_they_have_no_id(
    tmp_path: Path, reader: Reader, bring: Callable[..., Any]
) -> None:
    events = [
        {"type": "research_started", "data": {"status": "running"}},
        {
            "type": "research_complete",
            "timestamp": "2025-10-18T10:00:02Z",
            "data": {"content": "Done"},
        },
    ]
    file = tmp_path / "record.json"
    file.write_text(json.dumps({"id": "r", "messages": [], "events": events}))
    assert bring(file, "--app", "vault", "--user", "ada") == (0, counted(1, 0, 0, 2, 0))
    assert bring(file, "--app", "vault", "--user", "ada") == (0, counted(0, 0, 1, 0, 2))
    raw = [json.loads(event) for event in reader.get("vault", "ada", "r")[1]]
    assert [event | {"id": None} for event in raw] == [event | {"id": None} for event in events]


@pytest.mark.parametrize("content", ["", "no json", '{"eval_cases": []}', "[1]", '{"events": []}'])
def test_what_is_no_session_is_said_to_be_none(
    content: str, tmp_path: Path, bring: Callable[..., Any]
) -> None:
    file = tmp_path / "x.json"
    file.write_text(content)
    code, summary = bring(file)
    assert code == 1
    assert str(file) in summary["problems"][0]["message"]


def test_a_database_without_sessions_is_said_to_have_none(
    tmp_path: Path, bring: Callable[..., Any]
) -> None:
    with sqlite3.connect(tmp_path / "x.db") as database:
        database.execute("CREATE TABLE other (a)")
    code, summary = bring(tmp_path / "x.db", tmp_path)
    assert code == 1
    assert [" has no sessions" in found["message"] for found in summary["problems"]] == [True, True]


def test_the_command_tells_people_what_it_did(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "saved.json"
    file.write_text(json.dumps(saved_session()))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hotseat.importing", *arguments],
            env={**os.environ, "PYTHONPATH": str(PACKAGE)},
            capture_output=True,
            text=True,
            check=False,
        )

    done = run(str(file), "--url", server.url, "--token", server.token)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "Sessions: 1 new, 0 extended, 0 there already.",
        "Events: 2 new, 0 there already.",
    ]
    assert run().returncode == 2


def test_people_are_not_told_everything() -> None:
    summary = Summary()
    for n in range(25):
        summary.problem("x.db", f"p{n}", Key("a", "u", "s"))
    assert summary.lines()[2] == "Left out (x.db, session s): p0"
    assert summary.lines()[-1] == "… and 5 more; --json tells all"


def test_a_server_that_is_not_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "_FIRST_CONTACT_SECONDS", 0.2)
    assert command.main([str(tmp_path), "--url", "http://127.0.0.1:9", "--token", "t"]) == 1
    assert "hotseat web" in capsys.readouterr().out


def test_progress_is_shown_to_a_terminal_only() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        progress = Progress(stream)
        progress.begin("session.db", 2)
        progress.step()
        progress.end()
        assert ("0/2 events  session.db" in stream.getvalue()) is shown
        assert stream.getvalue().endswith("\r\x1b[K") is shown
