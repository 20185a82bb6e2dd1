"""How costs grow: the same question of a small log, and of ones 10, 100 and 1,000 times as large.

The questions come from a native client over one connection, so what every call costs anyhow is
small, and cannot hide growth.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

from events import raw, session_with
from programs import Programs
from rounds import Figures, tell
from server import ROOT, Server, running

EVENTS = (100, 1_000, 10_000, 100_000)
SESSIONS = (1_000, 10_000, 100_000, 1_000_000)
TRACES = (10, 100, 1_000, 10_000)

# Questions of each sort, and for the slow ones.
TIMES, FEW = 200, 15

# How often each sort is asked so.
REPEATS = 5

# Events that a search finds, whatever the size.
NEEDLES = 10


async def measure(figures: Figures, programs: Programs, rounds: int) -> None:
    with running(programs.hotseat) as server:
        for count in EVENTS:
            tell(f"  a session of {count} events")
            for name, cost in of_events(programs, server, count).items():
                figures.curves.setdefault(name, {})[count] = cost
        for count in TRACES:
            tell(f"  the golden trace of {count} events")
            path = f"/api/v1/sessions/{session_with(server, count)}/export"
            cost = programs.ask(server, FEW, path)["p50_ms"]
            figures.curves.setdefault("golden trace", {})[count] = cost
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as folder:
        made = 0
        for count in SESSIONS:
            tell(f"  a list of {count} sessions")
            programs.run("seed", Path(folder) / "hotseat.db", made, count)
            made = count
            with running(programs.hotseat, folder=Path(folder)) as server:
                cost = asked(programs, server, "/api/v1/sessions?limit=50")
                figures.curves.setdefault("first page of the list", {})[count] = cost


def of_events(programs: Programs, server: Server, count: int) -> dict[str, float]:
    session = session_with(server, count, NEEDLES)
    server.settle()
    here = f"/api/v1/sessions/{session}"
    event = json.dumps({**raw(9), "id": "{id}"})
    questions = {
        "append": (f"{here}/events", event),
        "read without events": (here, None),
        "last 50 events": (f"{here}/events?recent=50", None),
        "search": (f"/api/v1/search?q=needle&session_id={session}&limit=10", None),
    }
    return {name: asked(programs, server, path, body) for name, (path, body) in questions.items()}


def asked(programs: Programs, server: Server, path: str, body: str | None = None) -> float:
    """The median of several, so that a moment in which the machine was busy leaves no bump."""
    costs = [programs.ask(server, TIMES, path, body)["p50_ms"] for _ in range(REPEATS)]
    return statistics.median(costs)
