"""`make bench-short`: what an operation costs us, against what it costs the machine alone.

    python short.py             compares with `stored.json`, and fails where a ratio fell by a third
    python short.py --store     writes `stored.json` anew

It runs with every `make test`, on whatever machine and beside whatever else, so it counts what
does not depend on that: bytes written, and CPU time of the process rather than time that passed.
Ours and the limit are built the same way, without optimisation, so that like is compared with
like. A ratio is the limit's cost over ours; 1 would be as cheap as the machine allows. The best
of a few rounds counts, and what looks bad is measured again before it is believed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from clients import TEXT
from events import BATCH, session_with
from programs import Programs, absolute
from rounds import tell
from served import hotseat_server
from server import ROOT, Server, running

STORED = Path(__file__).resolve().parent / "stored.json"
TARGET = ROOT / "target"

# A ratio may fall to this part of the stored one.
ENOUGH = 2 / 3

# Rounds whose best counts, and how often all is measured before it is believed to be bad.
ROUNDS, ATTEMPTS = 2, 3

EVENTS = 10 * BATCH
APPENDS, READS, TURNS, RUNS = 1000, 60, 150, 600

# No part may take longer than this, even on a disk that is very slow.
SECONDS = 20

Ratios = dict[str, float]


def main() -> None:
    options = arguments()
    programs = Programs(options.hotseat, options.examples)
    if options.store:
        store([measured(programs) for _ in range(ROUNDS)])
        return
    stored: Ratios = json.loads(STORED.read_text())
    best, worse = judged(stored, lambda: measured(programs))
    for name, ratio in best.items():
        print(f"{name:36} {ratio:8.4f}  stored {stored.get(name, 0.0):8.4f}")
    if worse:
        raise SystemExit(
            f"{' and '.join(worse)} cost over a third more than before, against the machine's own "
            "limit. Look for what was added to that path; if it has to be, store the new ratios "
            "with `make bench-short STORE=1` and say why in the commit."
        )


def store(rounds: list[Ratios]) -> None:
    """Keeps the lowest of each, while the best is compared: chance alone must not fail a test."""
    lowest = {name: round(min(each[name] for each in rounds), 4) for name in rounds[0]}
    STORED.write_text(json.dumps(lowest, indent=2) + "\n")


def judged(stored: Ratios, measure: Callable[[], Ratios]) -> tuple[Ratios, list[str]]:
    """The best ratios, and the names of those that are still too low after every attempt."""
    best: Ratios = {}
    worse: list[str] = []
    for attempt in range(ATTEMPTS):
        for _ in range(ROUNDS):
            for name, ratio in measure().items():
                best[name] = max(ratio, best.get(name, 0.0))
        worse = [name for name in stored if best.get(name, 0.0) < stored[name] * ENOUGH]
        if not worse:
            break
        tell(f"worse than it was, in attempt {attempt + 1}: {', '.join(worse)}")
    return best, worse


def measured(programs: Programs) -> Ratios:
    """One round: ours and the limit, one after the other."""
    ratios: Ratios = {}
    with running(programs.hotseat) as server:
        one = programs.limits("sqlite", TARGET, SECONDS, 1, 1, APPENDS)
        load = (1, SECONDS, f"count={APPENDS}")
        cpu, written = cost(server, lambda: programs.load(server, *load)["count"])
        ratios["bytes of an append"] = one["bytes_each"] / written
        ratios["CPU time of an append"] = one["cpu_ms_each"] / cpu

        many = programs.limits("sqlite", TARGET, SECONDS, BATCH, 1, EVENTS // BATCH)
        cpu, written = cost(server, lambda: session_with(server, EVENTS) and EVENTS)
        ratios["bytes of an event in a batch"] = many["bytes_each"] / written
        ratios["CPU time of an event in a batch"] = many["cpu_ms_each"] / cpu

        session = session_with(server, BATCH)
        path = f"/api/v1/sessions/{session}/events?limit={BATCH}&kind=event"
        rows = programs.limits("read", TARGET, BATCH, READS * 20)
        cpu, _ = cost(server, lambda: programs.ask(server, READS, path)["count"])
        ratios["CPU time of a read"] = rows["cpu_ms_each"] / cpu

        with programs.empty_server() as empty:
            echo = ("hand_off", empty.url, empty.token, TURNS * 20, "echo")
            floor, _ = cost(empty, lambda: programs.run(*echo)["count"])
            turns = ("hand_off", server.url, server.token, TURNS)
            cpu, _ = cost(server, lambda: programs.run(*turns)["count"])
            ratios["CPU time of a turn's way"] = floor / cpu
    with hotseat_server(programs.hotseat) as server, programs.empty_server() as empty:
        floor, _ = cost(empty, lambda: runs(programs, empty, "/ag-ui/empty"))
        cpu, _ = cost(server, lambda: runs(programs, server, "/ag-ui/native"))
        ratios["CPU time of an AG-UI run"] = floor / cpu
    return ratios


def runs(programs: Programs, server: Server, path: str) -> int:
    return programs.run("runs", server.url, server.token, path, 4, RUNS, TEXT)["count"]


def cost(server: Server, work: Callable[[], int]) -> tuple[float, float]:
    """CPU milliseconds and bytes that each of the pieces of work cost the server."""
    cpu, written = server.cpu_ms(), server.written_bytes()
    count = work()
    server.settle()
    return (server.cpu_ms() - cpu) / count, (server.written_bytes() - written) / count


def arguments() -> argparse.Namespace:
    debug = ROOT / "target" / "debug"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hotseat", type=absolute, default=debug / "hotseat")
    parser.add_argument("--examples", type=absolute, default=debug / "examples")
    parser.add_argument("--store", action="store_true", help="write the ratios to be kept")
    return parser.parse_args()


if __name__ == "__main__":
    main()
