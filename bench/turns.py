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
            told = programs.run("hand_off", server.url, server.token, TURNS)
            # The sync of the same moment: what is left is ours.
            sync = programs.limits("disk", ROOT / "target")["p50_ms"]
            return {
                "turn.hand_off_ms": told["p50_ms"],
                "turn.hand_off_p99_ms": told["p99_ms"],
                "turn.sync_ms": sync,
                "turn.besides_ms": max(told["p50_ms"] - sync, 0.001),
            }

        def echo() -> Measured:
            told = programs.run("hand_off", empty.url, empty.token, CALLS, "echo")
            return {"turn.echo_ms": told["p50_ms"]}

        await alternate(figures, rounds, {"hand-off": ours, "echo": echo})
