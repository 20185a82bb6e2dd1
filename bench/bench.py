"""`make bench`: one run that measures us, others and what the machine can do at all.

    python bench.py --peers PYTHON                      everything
    python bench.py --peers PYTHON --only reads,turns   parts; the others stay as they were last

Everything is measured in rounds (`rounds.py`). All figures go to `target/bench.json`, and from
there to `docs/benchmarks.md`, which says when each part was measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time

import appends
import databases
import documents
import goals
import growth
import machine
import memory
import page
import reads
import screen
import served
import starts
import traces
import turns
from programs import Programs, absolute
from rounds import Figures, tell
from server import ROOT
from stolen import CALM

TARGET = ROOT / "target" / "bench.json"

# What is measured, and in how many rounds after the one that warms up.
PARTS = {
    "appends": (appends, 5),
    "reads": (reads, 5),
    "turns": (turns, 5),
    "served": (served, 5),
    "starts": (starts, 3),
    "memory": (memory, 2),
    "traces": (traces, 3),
    "screen": (screen, 3),
    "databases": (databases, 3),
    "growth": (growth, 1),
    # The best of several runs counts on our side, and a round of theirs takes long.
    "documents": (documents, 1),
}


def main() -> None:
    options = arguments()
    programs = Programs(options.hotseat, options.examples, options.peers)
    parts = options.only.split(",") if options.only else list(PARTS)
    last = json.loads(TARGET.read_text()) if options.only and TARGET.exists() else {}
    figures, measured = Figures.from_json(last), last.get("parts", {})
    facts = machine.facts(programs)
    failed: list[str] = []
    began = time.perf_counter()
    for name in parts:
        part, rounds = PARTS[name]
        tell(f"{name}, {time.perf_counter() - began:.0f} s so far")
        measured[name] = machine.moment()
        new = Figures()
        try:
            asyncio.run(part.measure(new, programs, min(rounds, options.rounds)))
        except (Exception, SystemExit) as failure:
            # The others are measured anyhow; what this one has so far is shown.
            tell(f"{name} could not be measured: {failure!r}")
            failed.append(name)
        figures.replace(new)
        measured[name] |= CALM.of_part()
        # After every part: a run that is stopped leaves what it has.
        result = {"machine": facts, "parts": measured, "rows": goals.evaluated(figures)}
        result |= figures.as_json()
        TARGET.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    page.show(result["rows"])
    print(f"\nAll figures: {TARGET.relative_to(ROOT)}")
    page.write()
    if failed:
        raise SystemExit(f"not everything could be measured: {', '.join(failed)}")


def arguments() -> argparse.Namespace:
    release = ROOT / "target" / "release"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hotseat", type=absolute, default=release / "hotseat")
    parser.add_argument("--examples", type=absolute, default=release / "examples")
    parser.add_argument("--peers", type=absolute, required=True, help="Python with the bench group")
    parser.add_argument("--only", help=f"parts, with commas: {', '.join(PARTS)}")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of a part at most (5)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
