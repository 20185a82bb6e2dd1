"""How costs grow: the same question of a small log, and of ones 10, 100 and 1,000 times as large.

The questions come from a native client over one connection, so what every call costs anyhow is
small, and cannot hide growth. Logs of all sizes are asked in turns: a server that has just begun,
or a machine that is busy for a while, is slow for all of them.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import statistics
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from events import raw, session_with
from programs import Programs
from rounds import Figures, tell
from server import ROOT, Server, running
from stolen import CALM

Curve = dict[int, float]

EVENTS = (100, 1_000, 10_000, 100_000)
SESSIONS = (1_000, 10_000, 100_000, 1_000_000)
TRACES = (10, 100, 1_000, 10_000)

PAGE = 50
FIRST_PAGE = f"/api/v1/sessions?limit={PAGE}"

# Questions of each sort, and for the slow ones.
TIMES, FEW = 200, 15

# How often each sort is asked so.
REPEATS = 5

# Events that a search finds, whatever the size.
NEEDLES = 10


async def measure(figures: Figures, programs: Programs, rounds: int) -> None:
    with running(programs.hotseat) as server:
        figures.curves |= await of_events(programs, server)
        figures.curves["golden trace"] = await of_traces(programs, server)
    figures.curves["first page of the list"] = await of_lists(programs)


async def of_events(programs: Programs, server: Server) -> dict[str, Curve]:
    questions = {}
    for count in EVENTS:
        tell(f"  a session of {count} events")
        questions[count] = questions_of(session_with(server, count, NEEDLES))
    server.settle()
    costs = {}
    for name in questions[EVENTS[0]]:
        asked = {}
        for count, of_session in questions.items():
            path, body = of_session[name]
            asked[count] = partial(programs.ask, server, TIMES, path, body)
        costs[name] = await in_turns(asked)
    return costs


async def of_traces(programs: Programs, server: Server) -> Curve:
    asked = {}
    for count in TRACES:
        tell(f"  the golden trace of {count} events")
        path = f"/api/v1/sessions/{session_with(server, count)}/export"
        asked[count] = partial(programs.ask, server, FEW, path)
    return await in_turns(asked)


async def of_lists(programs: Programs) -> Curve:
    """Each size has a server of its own."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=ROOT / "target")))
        asked, made = {}, 0
        for count in SESSIONS:
            tell(f"  a list of {count} sessions")
            log = folder / "made" / "hotseat.db"
            log.parent.mkdir(exist_ok=True)
            programs.run("seed", log, made, count)
            made = count
            # With what SQLite keeps beside the file.
            shutil.copytree(log.parent, folder / str(count))
            server = stack.enter_context(running(programs.hotseat, folder=folder / str(count)))
            if len(server.call(FIRST_PAGE)["items"]) != PAGE:
                raise SystemExit(f"the log of {count} sessions does not have them")
            asked[count] = partial(programs.ask, server, TIMES, FIRST_PAGE)
        return await in_turns(asked)


async def in_turns(asked: dict[int, Callable[[], Any]]) -> Curve:
    """The median for each size; the first turn warms up."""
    costs: dict[int, list[float]] = {size: [] for size in asked}
    for turn in range(REPEATS + 1):
        for size, ask in asked.items():
            cost = (await CALM.measured(ask))["p50_ms"]
            if turn:
                costs[size].append(cost)
    return {size: statistics.median(each) for size, each in costs.items()}


def questions_of(session: str) -> dict[str, tuple[str, str | None]]:
    here = f"/api/v1/sessions/{session}"
    event = json.dumps({**raw(9), "id": "{id}"})
    return {
        "read without events": (here, None),
        "last 50 events": (f"{here}/events?recent=50", None),
        "search": (f"/api/v1/search?q=needle&session_id={session}&limit=10", None),
        # The last one: it makes small sessions larger.
        "append": (f"{here}/events", event),
    }
