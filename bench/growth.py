"""How costs grow: the same question of a small log, and of ones 10, 100 and 1,000 times as large.

The questions come from a native client over one connection, so what every call costs anyhow is
small, and cannot hide growth. Logs of all sizes are asked in turns: a server that has just begun,
or a machine that is busy for a while, is slow for all of them.
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
        figures.curves |= of_events(programs, server)
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


def of_events(programs: Programs, server: Server) -> dict[str, dict[int, float]]:
    questions: dict[int, dict[str, tuple[str, str | None]]] = {}
    for count in EVENTS:
        tell(f"  a session of {count} events")
        questions[count] = questions_of(session_with(server, count, NEEDLES))
    server.settle()
    costs: dict[str, dict[int, list[float]]] = {}
    for turn in range(REPEATS + 1):
        for count, of_session in questions.items():
            for name, (path, body) in of_session.items():
                cost = programs.ask(server, TIMES, path, body)["p50_ms"]
                # The first turn warms up.
                if turn:
                    costs.setdefault(name, {}).setdefault(count, []).append(cost)
    return {
        name: {count: statistics.median(each) for count, each in by_count.items()}
        for name, by_count in costs.items()
    }


def questions_of(session: str) -> dict[str, tuple[str, str | None]]:
    here = f"/api/v1/sessions/{session}"
    event = json.dumps({**raw(9), "id": "{id}"})
    return {
        "append": (f"{here}/events", event),
        "read without events": (here, None),
        "last 50 events": (f"{here}/events?recent=50", None),
        "search": (f"/api/v1/search?q=needle&session_id={session}&limit=10", None),
    }


def asked(programs: Programs, server: Server, path: str, body: str | None = None) -> float:
    """The median of several, so that a moment in which the machine was busy leaves no bump."""
    costs = [programs.ask(server, TIMES, path, body)["p50_ms"] for _ in range(REPEATS)]
    return statistics.median(costs)
