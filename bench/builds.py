"""`make bench-builds`: two builds of Hotseat beside each other.

    python builds.py ONE OTHER

For whoever changes how the program is built: other settings, other counts, or none at all, which
is what `make` compares with unless it is told another program. Both do the same work in turns, and
what it costs the first over what it costs the second is told: below 1, the first is the cheaper
one. CPU time of the server is counted and not time that passes, which leaves out the disk and the
clients.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Callable

from events import session_with
from programs import Programs, absolute
from rounds import Figures, Measured, alternate
from served import hotseat_server
from server import ROOT, Server, running
from short import cost, runs

ROUNDS = 7
SECONDS = 2
EVENTS, READS, TURNS = 1000, 200, 300


async def measure(figures: Figures, builds: list[Programs]) -> None:
    def part(name: str, which: int) -> Measured:
        return {f"{name}.{which}": WORK[name](builds[which])}

    # Both do one sort of work right after each other.
    parts = {
        f"{name}, {which}": lambda name=name, which=which: part(name, which)
        for name in WORK
        for which in range(len(builds))
    }
    await alternate(figures, ROUNDS, parts)


def appends(programs: Programs) -> float:
    with running(programs.hotseat) as server:
        return cpu(server, lambda: programs.load(server, 64, SECONDS)["count"])


def reads(programs: Programs) -> float:
    with running(programs.hotseat) as server:
        path = f"/api/v1/sessions/{session_with(server, EVENTS)}/events?limit={EVENTS}&kind=event"
        server.settle()
        return cpu(server, lambda: programs.ask(server, READS, path)["count"])


def turns(programs: Programs) -> float:
    with running(programs.hotseat) as server:
        words = ("hand_off", server.url, server.token, TURNS)
        return cpu(server, lambda: programs.run(*words)["count"])


def served(programs: Programs) -> float:
    with hotseat_server(programs.hotseat) as server:
        return cpu(server, lambda: runs(programs, server, "/ag-ui/native"))


def cpu(server: Server, work: Callable[[], int]) -> float:
    return cost(server, work)[0]


WORK = {"append": appends, "read": reads, "turn": turns, "AG-UI run": served}


def main() -> None:
    options = arguments()
    figures = Figures()
    builds = [Programs(hotseat, options.examples) for hotseat in (options.one, options.other)]
    asyncio.run(measure(figures, builds))
    for name in WORK:
        ratios = figures.ratios(f"{name}.0", f"{name}.1")
        told = f"{statistics.median(ratios):.3f} ({min(ratios):.3f}–{max(ratios):.3f})"
        print(f"CPU time of a{'n' if name[0] in 'aA' else ''} {name:10} {told}")
    one, other = (each.stat().st_size / 1e6 for each in (options.one, options.other))
    print(f"size {one / other:20.3f} ({one:.1f} MB, {other:.1f} MB)")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("one", type=absolute)
    parser.add_argument("other", type=absolute)
    examples = ROOT / "target" / "release" / "examples"
    parser.add_argument("--examples", type=absolute, default=examples)
    return parser.parse_args()


if __name__ == "__main__":
    main()
