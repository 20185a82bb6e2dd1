"""ADK's session services and ours: the same calls, the same events, the same disk."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import statistics
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from events import EVENT_BYTES
from google.adk.events import Event
from google.adk.sessions import DatabaseSessionService, InMemorySessionService
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types
from hotseat.adk import HotseatSessionService
from server import ROOT, Server

APP, USER = "bench", "ada"

# Appends before the clock runs.
WARM_UP = 50

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


ADK: dict[str, Make] = {"in_memory": in_memory, "sqlite": sqlite, "database": database}


def hotseat(server: Server) -> Make:
    @contextlib.asynccontextmanager
    async def make() -> AsyncIterator[BaseSessionService]:
        service = HotseatSessionService(server.url, server.token)
        yield service
        await service.close()

    return make


async def session_of(service: BaseSessionService) -> Any:
    return await service.create_session(
        app_name=APP, user_id=USER, session_id=str(uuid.uuid4()), state={}
    )


async def one_by_one(make: Make, seconds: float) -> float:
    """Events per second, each durable before the call returns, where the service is."""
    async with make() as service:
        session = await session_of(service)
        for n in range(WARM_UP):
            await service.append_event(session, event(n))
        # Made before the clock runs: making an event costs more than appending it.
        events = [event(n) for n in range(2000)]
        began = time.perf_counter()
        done = 0
        for each in events:
            await service.append_event(session, each)
            done += 1
            if time.perf_counter() - began > seconds:
                break
        return done / (time.perf_counter() - began)


async def in_parallel(make: Make, tasks: int, seconds: float) -> tuple[float, int]:
    """Events per second into as many sessions from this one process, and how many failed."""
    async with make() as service:
        sessions = [await session_of(service) for _ in range(tasks)]
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
        return done / (time.perf_counter() - began), failed


async def timed(call: Callable[[], Awaitable[Any]], times: int = 5) -> float:
    """Milliseconds, the median of a few."""
    took = []
    for _ in range(times):
        gc.collect()
        began = time.perf_counter()
        await call()
        took.append(time.perf_counter() - began)
    return statistics.median(took) * 1000
