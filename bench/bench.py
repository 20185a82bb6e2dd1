"""`make bench`: what a user would feel, measured on this machine.

Where the disk decides (every acknowledged write is synced), the raw cost of a sync is measured in
the same run and the ratio is given, because disks differ more than programs do.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import statistics
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import sessions
from hotseat import _wire
from server import ROOT, Server, running

EVENT_BYTES = 600


def main() -> None:
    results: dict[str, Any] = {"machine": machine(), "sync_ms": sync_ms()}
    results |= start()
    results |= asyncio.run(with_server(hand_off))
    results |= asyncio.run(with_server(append_rates))
    results |= asyncio.run(with_server(memory_of_many_events))
    results["sessions"] = asyncio.run(sessions.measure())
    results["sync_ms_after"] = sync_ms()
    show(results)
    target = ROOT / "target" / "bench.json"
    target.write_text(json.dumps(results, indent=2) + "\n")
    print(f"\nAll figures: {target.relative_to(ROOT)}")


def machine() -> dict[str, Any]:
    return {"cores": os.cpu_count(), "system": platform.platform(), "load": os.getloadavg()[0]}


def sync_ms(rounds: int = 200) -> float:
    """What one durable write of an event costs without us: write, fdatasync."""
    with tempfile.TemporaryFile(dir=ROOT / "target") as file:
        times = []
        for _ in range(rounds):
            began = time.perf_counter()
            file.write(b"x" * EVENT_BYTES)
            file.flush()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def start(rounds: int = 7) -> dict[str, Any]:
    seconds, resident = [], []
    for _ in range(rounds):
        with running() as server:
            seconds.append(server.ready_seconds)
            resident.append(server.resident_bytes())
    return {
        "ready_seconds": statistics.median(seconds),
        "idle_mb": statistics.median(resident) / 1e6,
    }


async def with_server(measure: Callable[[Server, Any], Awaitable[dict]]) -> dict[str, Any]:
    with running() as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            return await measure(server, Client(channel, server.token))


class Client:
    """The calls that are measured, as a plugin would make them."""

    def __init__(self, channel: grpc.aio.Channel, token: str) -> None:
        self.seat = _wire.Stub(channel, "Seat")
        self.sessions = _wire.Stub(channel, "Sessions")
        self.metadata = (("authorization", f"Bearer {token}"),)

    async def create(self) -> str:
        wish = _wire.CreateSessionRequest(source="plugin", agent="bench")
        return (await self.seat.CreateSession(wish, metadata=self.metadata)).id

    async def append(self, session: str, count: int = 1) -> None:
        events = [_wire.NewEvent(kind="event", raw_json=adk_event()) for _ in range(count)]
        wish = _wire.AppendEventsRequest(session_id=session, events=events)
        await self.sessions.AppendEvents(wish, metadata=self.metadata)

    def subscribe(self, session: str, kind: str) -> Any:
        wish = _wire.SubscribeRequest(session_id=session, kinds=[kind])
        return self.seat.Subscribe(wish, metadata=self.metadata)

    async def submit(self, session: str) -> None:
        request = _wire.SimulatedLlmRequest(
            raw_json=b'{"contents":[{"role":"user","parts":[{"text":"What is 2 + 2?"}]}]}'
        )
        wish = _wire.SubmitRequestRequest(
            session_id=session, turn_id=str(uuid.uuid4()), agent_name="bench", request=request
        )
        await self.seat.SubmitRequest(wish, metadata=self.metadata)

    async def decide(self, session: str, turn: str) -> None:
        content = _wire.Content(role="model", parts=[_wire.Part(text="4")])
        wish = _wire.SubmitDecisionRequest(
            session_id=session, turn_id=turn, response=_wire.HumanResponse(candidates=[content])
        )
        await self.seat.SubmitDecision(wish, metadata=self.metadata)


def adk_event() -> bytes:
    event = {
        "id": str(uuid.uuid4()),
        "author": "bench",
        "invocationId": "e-bench",
        "timestamp": 1.5,
        "content": {"role": "model", "parts": [{"text": ""}]},
    }
    padding = EVENT_BYTES - len(json.dumps(event))
    event["content"]["parts"][0]["text"] = "x" * padding
    return json.dumps(event).encode()


async def hand_off(server: Server, client: Client, rounds: int = 300) -> dict[str, Any]:
    """Plugin submits, a subscriber sees it and decides, the plugin sees the decision."""
    session = await client.create()

    async def person() -> None:
        async for event in client.subscribe(session, "request"):
            if event.turn_id:
                await client.decide(session, event.turn_id)

    seat = asyncio.create_task(person())
    answers = client.subscribe(session, "response").__aiter__()
    await answers.__anext__()  # history_complete
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        await client.submit(session)
        await answers.__anext__()
        times.append(time.perf_counter() - began)
    seat.cancel()
    return {
        "hand_off_ms_p50": statistics.median(times) * 1000,
        "hand_off_ms_p99": statistics.quantiles(times, n=100)[98] * 1000,
    }


async def append_rates(server: Server, client: Client) -> dict[str, Any]:
    alone = await client.create()
    return {
        "appends_per_second_1": await rate(lambda: client.append(alone), tasks=1),
        "appends_per_second_64": await rate_of_sessions(client, tasks=64),
    }


async def rate(append: Callable[[], Awaitable[None]], tasks: int, seconds: float = 3) -> float:
    done, end = 0, time.perf_counter() + seconds

    async def work() -> None:
        nonlocal done
        while time.perf_counter() < end:
            await append()
            done += 1

    await asyncio.gather(*(work() for _ in range(tasks)))
    return done / seconds


async def rate_of_sessions(client: Client, tasks: int) -> float:
    sessions = [await client.create() for _ in range(tasks)]
    turn = iter(range(10**9))
    return await rate(lambda: client.append(sessions[next(turn) % tasks]), tasks)


async def memory_of_many_events(server: Server, client: Client) -> dict[str, Any]:
    """1,000 sessions of 200 events each: the log is on disk, not in memory."""
    limit = asyncio.Semaphore(16)

    async def fill() -> None:
        async with limit:
            await client.append(await client.create(), 200)

    began = time.perf_counter()
    await asyncio.gather(*(fill() for _ in range(1000)))
    return {
        "filled_mb": server.resident_bytes() / 1e6,
        "fill_events_per_second": 200_000 / (time.perf_counter() - began),
    }


def table(results: dict[str, Any]) -> list[tuple[str, str, str]]:
    sync = results["sync_ms"]
    beside = results["hand_off_ms_p50"] - 2 * sync
    rows = [
        ("start to ready, empty store", f"{results['ready_seconds'] * 1000:.0f} ms", "≤ 300 ms"),
        ("idle memory", f"{results['idle_mb']:.0f} MB", "≤ 40 MB"),
        ("one durable write here (fdatasync)", f"{sync:.2f} ms", ""),
        ("turn hand-off, p50", f"{results['hand_off_ms_p50']:.2f} ms", ""),
        ("  besides its two syncs", f"{beside:.2f} ms", "≤ 10 ms"),
        ("turn hand-off, p99", f"{results['hand_off_ms_p99']:.2f} ms", ""),
        ("appends/s, one client", f"{results['appends_per_second_1']:.0f}", ""),
        (
            "  against one fdatasync each",
            f"{results['appends_per_second_1'] * sync / 1000:.2f}",
            "",
        ),
        ("appends/s, 64 tasks, one Python process", f"{results['appends_per_second_64']:.0f}", ""),
        ("memory after 1,000 sessions of 200 events", f"{results['filled_mb']:.0f} MB", "≤ 100 MB"),
        ("  filled at, events/s", f"{results['fill_events_per_second']:.0f}", ""),
    ]
    return rows + sessions.rows(results["sessions"])


def show(results: dict[str, Any]) -> None:
    for name, figure, goal in table(results):
        print(f"{name:42}{figure:>14}  {goal}")


if __name__ == "__main__":
    main()
