"""A turn handed over: from the plugin to a person who watches, and back."""

from __future__ import annotations

from programs import Programs
from rounds import Figures, Measured, alternate
from server import ROOT, Server, running

TURNS = 300
CALLS = 3000


async def measure(figures: Figures, programs: Programs, rounds: int) -> None:
    with (
        running(programs.hotseat) as server,
        programs.empty_server() as empty,
        programs.least_server(ROOT / "target") as least,
    ):

        def handed(name: str, at: Server) -> Measured:
            # The syncs before and after: a disk that was slow for a moment must not flatter us.
            before = sync_ms(programs)
            told = programs.run("hand_off", at.url, at.token, TURNS)
            sync = min(before, sync_ms(programs))
            return {
                f"turn.{name}_ms": told["p50_ms"],
                f"turn.{name}_p99_ms": told["p99_ms"],
                f"turn.{name}_besides_ms": told["p50_ms"] - sync,
            }

        def echo() -> Measured:
            told = programs.run("hand_off", empty.url, empty.token, CALLS, "echo")
            return {"turn.echo_ms": told["p50_ms"]}

        await alternate(
            figures,
            rounds,
            {
                "hand-off": lambda: handed("hand_off", server),
                "echo": echo,
                "least": lambda: handed("least", least),
            },
        )


def sync_ms(programs: Programs) -> float:
    return programs.limits("disk", ROOT / "target")["p50_ms"]
