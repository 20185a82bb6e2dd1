"""A turn handed over: from the plugin to a person who watches, and back."""

from __future__ import annotations

from programs import Programs
from rounds import Figures, Measured, alternate
from server import ROOT, running

TURNS = 300
CALLS = 3000


async def measure(figures: Figures, programs: Programs, rounds: int) -> None:
    with running(programs.hotseat) as server, programs.empty_server() as empty:

        def ours() -> Measured:
            # The syncs before and after: a disk that was slow for a moment must not flatter us.
            before = sync_ms(programs)
            told = programs.run("hand_off", server.url, server.token, TURNS)
            sync = min(before, sync_ms(programs))
            return {
                "turn.hand_off_ms": told["p50_ms"],
                "turn.hand_off_p99_ms": told["p99_ms"],
                "turn.sync_ms": sync,
                "turn.besides_ms": told["p50_ms"] - sync,
            }

        def echo() -> Measured:
            told = programs.run("hand_off", empty.url, empty.token, CALLS, "echo")
            return {"turn.echo_ms": told["p50_ms"]}

        await alternate(figures, rounds, {"hand-off": ours, "echo": echo})


def sync_ms(programs: Programs) -> float:
    return programs.limits("disk", ROOT / "target")["p50_ms"]
