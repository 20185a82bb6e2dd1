"""A session of 1,000 events read: through Python as ADK does it, and over HTTP."""

from __future__ import annotations

import gc
import time
from typing import Any

import peers
from events import session_with
from google.adk.events import Event
from programs import Programs
from rounds import Figures, Measured, alternate
from server import ROOT, Server, running

EVENTS = 1000

# Questions over HTTP in a round.
TIMES = 100


async def measure(figures: Figures, programs: Programs, rounds: int) -> None:
    with running(programs.hotseat) as server, programs.least_server(ROOT / "target") as least:
        async with peers.sqlite() as theirs, peers.hotseat(server)() as ours:
            their_name, our_name = await filled(theirs), await filled(ours)
            session = session_with(server, EVENTS)

            async def sqlite() -> Measured:
                # It keeps nothing, so that warm is as cold.
                return {
                    "read.python.sqlite_ms": await peers.timed(lambda: read(theirs, their_name)),
                    "read.looked_at.sqlite_ms": await peers.timed(lambda: look(theirs, their_name)),
                }

            async def warm() -> Measured:
                return {
                    "read.python.warm_ms": await peers.timed(lambda: read(ours, our_name)),
                    "read.looked_at.hotseat_ms": await peers.timed(lambda: look(ours, our_name)),
                }

            def over_http() -> Measured:
                path = f"/api/v1/sessions/{session}/events?limit={EVENTS}&kind=event"
                return {"read.http_ms": programs.ask(server, TIMES, path)["p50_ms"]}

            def over_least() -> Measured:
                return {"read.least_ms": programs.ask(least, TIMES, "/events")["p50_ms"]}

            def raw() -> Measured:
                told = programs.limits("read", ROOT / "target", EVENTS, TIMES)
                return {"read.raw_ms": told["p50_ms"]}

            parts = {
                "cold": lambda: cold(server, our_name),
                "sqlite": sqlite,
                "warm": warm,
                "parsing": parsing,
                "http": over_http,
                "least": over_least,
                "raw": raw,
            }
            await alternate(figures, rounds, parts)


async def filled(service: Any) -> dict[str, str]:
    session = await peers.session_of(service)
    for n in range(EVENTS):
        await service.append_event(session, peers.event(n))
    return {"app_name": peers.APP, "user_id": peers.USER, "session_id": session.id}


async def read(service: Any, name: dict[str, str]) -> None:
    assert len((await service.get_session(**name)).events) == EVENTS


async def look(service: Any, name: dict[str, str]) -> None:
    for each in (await service.get_session(**name)).events:
        assert each.content.parts[0].text


async def cold(server: Server, name: dict[str, str]) -> Measured:
    async with peers.hotseat(server)() as fresh:
        # Connected, and without an event of the session.
        await fresh.get_user_state(app_name=peers.APP, user_id=peers.USER)
        return {"read.python.cold_ms": await peers.timed(lambda: read(fresh, name), times=1)}


def parsing() -> Measured:
    """What turning JSON into ADK's events costs by itself: nobody reads them faster."""
    raw = [peers.event(n).model_dump_json(by_alias=True, exclude_none=True) for n in range(EVENTS)]
    gc.collect()
    began = time.perf_counter()
    for text in raw:
        Event.model_validate_json(text)
    return {"read.parsing_ms": (time.perf_counter() - began) * 1000}
