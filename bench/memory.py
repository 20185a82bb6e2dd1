"""What stays in memory: of events, idle sessions, those who watch, and turns that wait."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from events import raw
from hotseat import _wire
from programs import Programs
from rounds import Figures, Measured, alternate
from server import Server, running

SESSIONS, EVENTS = 1000, 200
LATER = 4
IDLE_SESSIONS = 5000
SUBSCRIBERS = 1000
TURNS = 1000

# Calls that are under way at a time.
AT_ONCE = 16

# As many of each kind before anything is counted, so that what is made once is there.
WARM_UP = 100


async def measure(figures: Figures, programs: Programs, rounds: int) -> None:
    async def ours() -> Measured:
        told: Measured = {}
        for kind in (idle_sessions, events, turns, subscribers):
            # A server for each: what one kind gives back would hide what the next one takes.
            with running(programs.hotseat) as server:
                async with grpc.aio.insecure_channel(server.address) as channel:
                    told |= await kind(server, Client(channel, server.token))
        return told

    async def limit() -> Measured:
        with programs.empty_server() as server:
            cost = await watchers(server, "/watched")
        return {"memory.least_subscriber_bytes": cost}

    await alternate(figures, rounds, {"memory": ours, "limit": limit}, warm_up=0)


async def idle_sessions(server: Server, client: Client) -> Measured:
    await times(WARM_UP, client.create)
    cost = await each(server, IDLE_SESSIONS, lambda: times(IDLE_SESSIONS, client.create))
    return {"memory.idle_session_bytes": cost}


async def events(server: Server, client: Client) -> Measured:
    """The first fill the caches, which have their sizes. What later ones leave is little beside
    what an allocator holds back for a while, so they are many."""

    async def fill(rounds: int) -> float:
        async def make() -> None:
            for _ in range(rounds):
                await times(SESSIONS, client.filled)

        return await each(server, rounds * SESSIONS * EVENTS, make)

    await times(WARM_UP, client.filled)
    filling, filled = await fill(1), server.resident_bytes()
    return {
        "memory.event_bytes": await fill(LATER),
        "memory.filling_mb": filling * SESSIONS * EVENTS / 1e6,
        "memory.filled_mb": filled / 1e6,
    }


async def turns(server: Server, client: Client) -> Measured:
    await times(WARM_UP, client.waiting)
    return {"memory.turn_bytes": await each(server, TURNS, lambda: times(TURNS, client.waiting))}


async def subscribers(server: Server, client: Client) -> Measured:
    session = await client.create()
    cost = await watchers(server, f"/api/v1/sessions/{session}/stream")
    return {"memory.subscriber_bytes": cost}


async def watchers(server: Server, path: str) -> float:
    """Resident bytes of each who watches a stream."""
    with contextlib.ExitStack() as stack:

        def watch(count: int) -> None:
            for _ in range(count):
                stack.enter_context(watching(server, path))

        await asyncio.to_thread(watch, WARM_UP)
        return await each(server, SUBSCRIBERS, lambda: asyncio.to_thread(watch, SUBSCRIBERS))


async def each(server: Server, count: int, make: Callable[[], Awaitable[Any]]) -> float:
    """Resident bytes that each of them costs."""
    before = server.resident_bytes()
    await make()
    return max(server.resident_bytes() - before, 0) / count


async def times(count: int, make: Callable[[], Awaitable[Any]]) -> None:
    limit = asyncio.Semaphore(AT_ONCE)

    async def one() -> None:
        async with limit:
            await make()

    await asyncio.gather(*(one() for _ in range(count)))


@contextlib.contextmanager
def watching(server: Server, path: str) -> Any:
    """A subscriber over SSE that has been told all there is."""
    host, port = server.address.split(":")
    with socket.create_connection((host, int(port))) as wire:
        wire.sendall(
            f"GET {path} HTTP/1.1\r\nhost: {server.address}\r\n"
            f"authorization: Bearer {server.token}\r\n\r\n".encode()
        )
        told = b""
        while b"history_complete" not in told:
            more = wire.recv(65536)
            if not more:
                raise SystemExit(f"a stream ended early: {told[:200]!r}")
            told += more
        yield


class Client:
    """The calls that are measured, as a plugin would make them."""

    def __init__(self, channel: grpc.aio.Channel, token: str) -> None:
        self.seat = _wire.Stub(channel, "Seat")
        self.sessions = _wire.Stub(channel, "Sessions")
        self.metadata = (("authorization", f"Bearer {token}"),)
        self.events = [json.dumps(raw(n)).encode() for n in range(EVENTS)]

    async def create(self) -> str:
        wish = _wire.CreateSessionRequest(source="plugin", agent="bench")
        return (await self.seat.CreateSession(wish, metadata=self.metadata)).id

    async def filled(self) -> None:
        """A session with events."""
        events = [_wire.NewEvent(kind="event", raw_json=event) for event in self.events]
        wish = _wire.AppendEventsRequest(session_id=await self.create(), events=events)
        await self.sessions.AppendEvents(wish, metadata=self.metadata)

    async def waiting(self, request: dict[str, Any] | None = None) -> str:
        """A session with a turn that nobody has answered."""
        session = await self.create()
        request = request or {"contents": [{"role": "user", "parts": [{"text": "What is 2 + 2?"}]}]}
        wish = _wire.SubmitRequestRequest(
            session_id=session,
            turn_id=str(uuid.uuid4()),
            agent_name="bench",
            request=_wire.SimulatedLlmRequest(raw_json=json.dumps(request).encode()),
        )
        await self.seat.SubmitRequest(wish, metadata=self.metadata)
        return session
