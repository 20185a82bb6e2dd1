"""From the start of the program until it answers, and what it holds then."""

from __future__ import annotations

from programs import Programs
from rounds import Figures, Measured, alternate
from served import adk_server
from server import running


async def measure(figures: Figures, programs: Programs, rounds: int) -> None:
    def ours() -> Measured:
        with running(programs.hotseat) as server:
            return {
                "start.hotseat_ms": server.ready_seconds * 1000,
                "memory.idle_mb": server.resident_bytes() / 1e6,
            }

    def theirs() -> Measured:
        with adk_server() as server:
            return {"start.adk_ms": server.ready_seconds * 1000}

    await alternate(figures, rounds, {"hotseat": ours, "adk": theirs})
