"""Appends: how many a second, durable each, beside ADK's services and what limits them.

The limits are SQLite alone, the least server that could do it, and the disk.
"""

from __future__ import annotations

import echo
import peers
from programs import Programs
from rounds import Figures, Measured, alternate
from server import ROOT, Server, running

SECONDS = 2
TARGET = ROOT / "target"


async def measure(figures: Figures, programs: Programs, rounds: int) -> None:
    with (
        running(programs.hotseat) as server,
        programs.empty_server() as empty,
        programs.least_server(TARGET) as least,
        echo.serving() as address,
    ):
        services = {**peers.ADK, "hotseat": peers.hotseat(server)}

        async def one(name: str) -> Measured:
            rate = await peers.one_by_one(services[name], SECONDS)
            return {f"append.python_1.{name}": rate}

        async def many(name: str) -> Measured:
            rate, failed = await peers.in_parallel(services[name], 64, SECONDS)
            return {f"append.python_64.{name}": rate, f"append.python_64_failed.{name}": failed}

        def native(name: str, at: Server, clients: int) -> Measured:
            told = programs.load(at, clients, SECONDS)
            name = f"append.{name}_{clients}"
            return {name: told["per_second"], f"{name}.p99_ms": told["p99_ms"]}

        def streams(name: str, at: Server, sessions: int) -> Measured:
            told = programs.streams(at, sessions, SECONDS)
            return {f"append.{name}_{sessions}": told["per_second"]}

        def raw(rows: int) -> Measured:
            all_tables = programs.limits("sqlite", TARGET, SECONDS, rows, rows)
            events = programs.limits("events", TARGET, SECONDS, rows)
            return {
                f"append.raw_{rows}": all_tables["per_second"],
                f"append.raw_events_{rows}": events["per_second"],
            }

        def alone() -> Measured:
            """A commit, and with it a call that does nothing; nobody does both in less."""
            told = {**native("wire", empty, 1), **raw(1)}
            told["append.limit_1"] = 1 / (1 / told["append.wire_1"] + 1 / told["append.raw_1"])
            return told

        def disk() -> Measured:
            told = programs.limits("disk", TARGET)
            return {"sync_ms": told["p50_ms"], "sync_p99_ms": told["p99_ms"]}

        def at_half() -> Measured:
            """The rate is half of what was reached in this round, for the limit, too."""
            fastest = programs.load(server, 64, SECONDS)["per_second"]
            rate = f"rate={fastest / 2:.0f}"
            told = programs.load(server, 64, SECONDS, rate)
            return {
                "append.half.rate": told["per_second"],
                "append.half.p50_ms": told["p50_ms"],
                "append.half.p99_ms": told["p99_ms"],
                "append.least_half.p99_ms": programs.load(least, 64, SECONDS, rate)["p99_ms"],
            }

        async def echoed() -> Measured:
            return {"append.python_64.echo": await echo.rate(address, 64, SECONDS)}

        parts = {f"one, {name}": lambda name=name: one(name) for name in services}
        parts |= {
            "native 1": lambda: native("native", server, 1),
            "least 1": lambda: native("least", least, 1),
            "raw 1": alone,
            "disk": disk,
        }
        parts |= {f"many, {name}": lambda name=name: many(name) for name in services}
        parts["many, echo"] = echoed
        for count in (64, 256):
            parts[f"native {count}"] = lambda count=count: native("native", server, count)
            parts[f"least {count}"] = lambda count=count: native("least", least, count)
            parts[f"streams {count}"] = lambda count=count: streams("streams", server, count)
            parts[f"least streams {count}"] = lambda count=count: streams(
                "least_streams", least, count
            )
            parts[f"raw {count}"] = lambda count=count: raw(count)
        parts["half"] = at_half
        await alternate(figures, rounds, parts)
