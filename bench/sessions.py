"""Sessions: ADK's own services and ours, the same events on the same disk, in one run."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import statistics
import subprocess
import tempfile
import time
import urllib.request
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from google.adk.events import Event
from google.adk.sessions import DatabaseSessionService, InMemorySessionService
from google.adk.sessions.base_session_service import BaseSessionService, GetSessionConfig
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types
from hotseat.adk import HotseatSessionService
from server import ROOT, Server, running

APP, USER = "bench", "ada"
EVENT_BYTES = 600
EXAMPLES = ROOT / "target" / "release" / "examples"

# Streams that a native program shares among its sessions.
STREAMS = 4

Make = Callable[[], "contextlib.AbstractAsyncContextManager[BaseSessionService]"]


def event(n: int) -> Event:
    made = Event(
        author="agent",
        invocation_id=f"e-{n // 10}",
        timestamp=1_767_607_200 + n / 1000,
        content=types.Content(role="model", parts=[types.Part(text="")]),
    )
    padding = EVENT_BYTES - len(made.model_dump_json(by_alias=True, exclude_none=True))
    made.content.parts[0].text = "x" * max(padding, 1)
    return made


@contextlib.asynccontextmanager
async def in_memory() -> AsyncIterator[BaseSessionService]:
    yield InMemorySessionService()


@contextlib.asynccontextmanager
async def sqlite() -> AsyncIterator[BaseSessionService]:
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as folder:
        yield SqliteSessionService(str(Path(folder) / "adk.db"))


@contextlib.asynccontextmanager
async def database() -> AsyncIterator[BaseSessionService]:
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as folder:
        service = DatabaseSessionService(f"sqlite+aiosqlite:///{folder}/adk.db")
        yield service
        await service.close()


def hotseat(server: Server) -> Make:
    @contextlib.asynccontextmanager
    async def make() -> AsyncIterator[BaseSessionService]:
        service = HotseatSessionService(server.url, server.token)
        yield service
        if hasattr(service, "close"):
            await service.close()

    return make


async def session_of(service: BaseSessionService) -> Any:
    return await service.create_session(
        app_name=APP, user_id=USER, session_id=str(uuid.uuid4()), state={}
    )


async def one_by_one(service: BaseSessionService, count: int) -> float:
    """Events per second, each durable before the call returns, where the service is."""
    warm_up = await session_of(service)
    for n in range(50):
        await service.append_event(warm_up, event(n))
    session = await session_of(service)
    events = [event(n) for n in range(count)]
    began = time.perf_counter()
    for each in events:
        await service.append_event(session, each)
    return count / (time.perf_counter() - began)


async def in_parallel(service: BaseSessionService, tasks: int, seconds: float) -> dict[str, float]:
    sessions = [await session_of(service) for _ in range(tasks)]
    # Made before the clock runs: making an event costs more than appending it.
    events = [[event(n) for n in range(200)] for _ in range(tasks)]
    done = failed = 0
    end = time.perf_counter() + seconds

    async def work(session: Any, events: list[Event]) -> None:
        nonlocal done, failed
        for each in events:
            if time.perf_counter() > end:
                return
            try:
                await service.append_event(session, each)
                done += 1
            except Exception:
                failed += 1

    began = time.perf_counter()
    await asyncio.gather(*map(work, sessions, events))
    return {"per_second": done / (time.perf_counter() - began), "errors": failed}


async def timed(call: Callable[[], Awaitable[Any]], rounds: int = 7) -> float:
    """Milliseconds, the median of a few rounds."""
    times = []
    for _ in range(rounds):
        gc.collect()
        began = time.perf_counter()
        await call()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


async def reads(make: Make, count: int = 1000) -> dict[str, float]:
    async with make() as service:
        session = await session_of(service)
        for n in range(count):
            await service.append_event(session, event(n))
        name = {"app_name": APP, "user_id": USER, "session_id": session.id}
        warm = await timed(lambda: service.get_session(**name))

        async def look() -> None:
            for each in (await service.get_session(**name)).events:
                assert each.content.parts[0].text

        looked_at = await timed(look)
        if not isinstance(service, HotseatSessionService):
            # ADK's own keep nothing.
            return {"cold_ms": warm, "warm_ms": warm, "looked_at_ms": looked_at}
        times = []
        for _ in range(7):
            async with make() as other:
                # Connected, and without an event of the session.
                await other.get_user_state(app_name=APP, user_id=USER)
                times.append(await timed(lambda other=other: other.get_session(**name), rounds=1))
        return {"cold_ms": statistics.median(times), "warm_ms": warm, "looked_at_ms": looked_at}


def parsing_ms(count: int = 1000) -> float:
    """What turning JSON into ADK's events costs by itself: nobody reads them faster."""
    raw = [event(n).model_dump_json(by_alias=True, exclude_none=True) for n in range(count)]
    times = []
    for _ in range(7):
        gc.collect()
        began = time.perf_counter()
        for text in raw:
            Event.model_validate_json(text)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


async def growth(make: Make, server: Server) -> dict[str, float]:
    """Whether an append and a read without events cost the same in a long session."""
    figures: dict[str, float] = {}
    async with make() as service:
        for count in (10, 100_000):
            session = await session_of(service)
            fill(server, session.id, count)
            name = {"app_name": APP, "user_id": USER, "session_id": session.id}
            nothing = GetSessionConfig(num_recent_events=0)
            session = await service.get_session(**name, config=nothing)

            async def read(name: dict = name, nothing: GetSessionConfig = nothing) -> None:
                for _ in range(50):
                    await service.get_session(**name, config=nothing)

            async def append(session: Any = session) -> None:
                for n in range(50):
                    await service.append_event(session, event(n))

            figures[f"read_0_of_{count}_ms"] = await timed(read) / 50
            figures[f"append_to_{count}_ms"] = await timed(append) / 50
    return figures


def fetch(server: Server, path: str) -> bytes:
    request = urllib.request.Request(server.url + path)
    request.add_header("authorization", f"Bearer {server.token}")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read()


def call(server: Server, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data)
    request.add_header("authorization", f"Bearer {server.token}")
    request.add_header("content-type", "application/json")
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.loads(answer.read() or b"null")


def fill(server: Server, adk_id: str, count: int) -> str:
    """Many events into a session, by way of the API."""
    sessions = call(server, f"/api/v1/sessions?limit=1000&user_id={USER}")["items"]
    found = next(session for session in sessions if session["adk_id"] == adk_id)["id"]
    for begin in range(0, count, 1000):
        batch = [
            json.loads(event(n).model_dump_json(by_alias=True, exclude_none=True))
            for n in range(begin, min(begin + 1000, count))
        ]
        call(server, f"/api/v1/sessions/{found}/events", batch)
    return found


async def over_http(server: Server) -> dict[str, float]:
    async with hotseat(server)() as service:
        session = await session_of(service)
        found = fill(server, session.id, 1000)

        async def read() -> None:
            fetch(server, f"/api/v1/sessions/{found}/events?limit=1000&kind=event")

        return {"http_1000_events_ms": await timed(read, rounds=15)}


async def lists(make: Make, count: int, at_once: int) -> float:
    """The list of one user's sessions, as ADK gives it: whole."""
    async with make() as service:
        limit = asyncio.Semaphore(at_once)

        async def one(n: int) -> None:
            async with limit:
                await service.create_session(
                    app_name="many", user_id=f"user-{n % 100}", state={"n": n}
                )

        await asyncio.gather(*(one(n) for n in range(count)))
        return await timed(lambda: service.list_sessions(app_name="many"), rounds=3)


def native(server: Server, sessions: int, streams: int = 0, seconds: int = 4) -> dict[str, float]:
    """Native clients with a connection for each session, or one that shares a few streams."""
    words = [server.url, server.token, str(sessions), str(seconds)]
    if streams:
        words = [str(EXAMPLES / "streams"), *words, str(streams)]
    else:
        words = [str(EXAMPLES / "load"), *words]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


async def measure() -> dict[str, Any]:
    results: dict[str, Any] = {}
    adk: dict[str, Make] = {"in_memory": in_memory, "sqlite": sqlite, "database": database}
    # In turns, so that a machine that slows down slows all of them.
    rounds: dict[str, dict[str, list[float]]] = {}
    for _ in range(3):
        with running() as server:
            services = {**adk, "hotseat": hotseat(server)}
            for name, make in services.items():
                async with make() as service:
                    figures = rounds.setdefault(name, {"one": [], "many": [], "errors": []})
                    figures["one"].append(await one_by_one(service, 1000))
                async with make() as service:
                    many = await in_parallel(service, 64, 2)
                    figures["many"].append(many["per_second"])
                    figures["errors"].append(many["errors"])
    for name, figures in rounds.items():
        results[f"append_1_{name}"] = statistics.median(figures["one"])
        results[f"append_64_{name}"] = statistics.median(figures["many"])
        results[f"append_64_errors_{name}"] = sum(figures["errors"])
    with running() as server:
        for clients in (1, 64, 256):
            results[f"native_{clients}"] = native(server, clients)
        for sessions in (64, 256):
            results[f"streams_{sessions}"] = native(server, sessions, STREAMS)
    with running() as server:
        for name, make in {**adk, "hotseat": hotseat(server)}.items():
            results[f"get_1000_{name}"] = await reads(make)
        results |= await over_http(server)
        results |= await growth(hotseat(server), server)
    results["parsing_1000_ms"] = parsing_ms()
    with running() as server:
        results["list_10000_hotseat_ms"] = await lists(hotseat(server), 10_000, at_once=64)

        async def page() -> None:
            call(server, "/api/v1/sessions?limit=50")

        results["list_first_page_of_10000_ms"] = await timed(page, rounds=15)
    # One at a time: several at once end with "database is locked".
    results["list_2000_sqlite_ms"] = await lists(sqlite, 2_000, at_once=1)
    return results


def rows(results: dict[str, Any]) -> list[tuple[str, str, str]]:
    def times(ours: str, theirs: str) -> float:
        return results[ours] / results[theirs]

    got, their = results["get_1000_hotseat"], results["get_1000_sqlite"]
    table = [
        ("append one by one, Python", f"{results['append_1_hotseat']:.0f}/s", ""),
        ("  times ADK Sqlite", f"{times('append_1_hotseat', 'append_1_sqlite'):.1f}", "≥ 3"),
        (
            "  times ADK Database (SQLite)",
            f"{times('append_1_hotseat', 'append_1_database'):.1f}",
            "",
        ),
        ("append, 64 sessions, one process", f"{results['append_64_hotseat']:.0f}/s", ""),
        ("  times ADK Sqlite", f"{times('append_64_hotseat', 'append_64_sqlite'):.1f}", "≥ 15"),
        ("  errors, ours / ADK Sqlite", errors(results), ""),
        *appends("64 native clients, a connection each", results["native_64"], results, "≥ 80"),
        *appends("256 native clients, a connection each", results["native_256"], results, "≥ 100"),
        *appends("64 sessions, one native program", results["streams_64"], results, "≥ 80"),
        *appends("256 sessions, one native program", results["streams_256"], results, "≥ 100"),
        ("1,000 events from JSON, nothing else", f"{results['parsing_1000_ms']:.1f} ms", ""),
        ("get_session, 1,000 events, cold", f"{got['cold_ms']:.1f} ms", ""),
        ("  times ADK Sqlite", f"{their['cold_ms'] / got['cold_ms']:.1f}", "≥ 1.6"),
        ("get_session, 1,000 events, warm", f"{got['warm_ms']:.1f} ms", ""),
        ("  times ADK Sqlite", f"{their['warm_ms'] / got['warm_ms']:.1f}", "≥ 8"),
        (
            "  and every text looked at, times ADK Sqlite",
            f"{their['looked_at_ms'] / got['looked_at_ms']:.1f}",
            "",
        ),
        ("1,000 events over HTTP", f"{results['http_1000_events_ms']:.1f} ms", "≤ 5 ms"),
        (
            "append, 100,000 events : 10 events",
            f"{times('append_to_100000_ms', 'append_to_10_ms'):.2f}",
            "≤ 1.5",
        ),
        (
            "read without events, 100,000 : 10",
            f"{times('read_0_of_100000_ms', 'read_0_of_10_ms'):.2f}",
            "≤ 1.5",
        ),
        (
            "first page of 10,000 sessions",
            f"{results['list_first_page_of_10000_ms']:.1f} ms",
            "≤ 20 ms",
        ),
        ("all 10,000 sessions, Python", f"{results['list_10000_hotseat_ms']:.0f} ms", ""),
        ("  ADK Sqlite, 2,000 sessions", f"{results['list_2000_sqlite_ms']:.0f} ms", ""),
    ]
    return table


def errors(results: dict[str, Any]) -> str:
    return f"{results['append_64_errors_hotseat']} / {results['append_64_errors_sqlite']}"


def appends(
    who: str, measured: dict[str, float], results: dict[str, Any], goal: str
) -> list[tuple[str, str, str]]:
    rate = measured["appends_per_second"]
    return [
        (f"append, {who}", f"{rate:.0f}/s, p99 {measured['p99_ms']:.1f} ms", ""),
        ("  times ADK Sqlite", f"{rate / results['append_64_sqlite']:.0f}", goal),
    ]
