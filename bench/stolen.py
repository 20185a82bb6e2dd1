"""Time that others took while something was measured.

The host of a virtual machine may run others on its processors, and Linux counts for how long. A
figure from such a moment says more about them than about what was measured, so it is taken again,
and the one that least was taken from counts. The choice looks at the time that was taken and never
at the figure. Where nothing counts that time, or none is taken, everything is measured once.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Part = Callable[[], Any | Awaitable[Any]]

COUNTS = Path("/proc/stat")

# What may be missing of the time that programs wanted to run.
BEARABLE = 0.05

# Seconds to go on trying for one figure, and for all of a part together.
FOR_ONE, FOR_PART = 30, 180


@dataclass(frozen=True)
class Spent:
    """What the processors did since the machine began, in ticks."""

    ran: int = 0
    taken: int = 0

    @classmethod
    def now(cls, counts: str) -> Spent:
        names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
        ticks = dict(zip(names, map(int, counts.split()[1:]), strict=False))
        taken = ticks.pop("steal", 0)
        return cls(sum(ticks.values()) - ticks["idle"] - ticks["iowait"], taken)

    def share_since(self, before: Spent) -> float:
        ran, taken = self.ran - before.ran, self.taken - before.taken
        return taken / (ran + taken) if taken else 0.0


@dataclass
class Calm:
    """Measures when nobody takes much, as far as patience goes, and tells how it went."""

    left: float = FOR_PART
    again: int = 0
    worst: float = 0.0
    read: Callable[[], str] = lambda: COUNTS.read_text() if COUNTS.exists() else "cpu 0 0 0 0 0"
    clock: Callable[[], float] = time.perf_counter

    async def measured(self, part: Part) -> Any:
        until, tries = self.clock() + FOR_ONE, []
        while True:
            began, before = self.clock(), Spent.now(self.read())
            told = await told_by(part)
            tries.append((Spent.now(self.read()).share_since(before), told))
            ended = self.clock()
            if len(tries) > 1:
                self.again += 1
                self.left -= ended - began
            if tries[-1][0] <= BEARABLE or ended >= until or self.left <= 0:
                break
        share, told = min(tries, key=lambda each: each[0])
        self.worst = max(self.worst, share)
        return told

    def of_part(self) -> dict[str, float]:
        """How it went since this was last asked; with the next part, patience is as at first."""
        told = {"again": self.again, "taken": round(self.worst, 3)}
        self.left, self.again, self.worst = FOR_PART, 0, 0.0
        return told


# The one of this run.
CALM = Calm()


async def told_by(part: Part) -> Any:
    told = part()
    return await told if inspect.isawaitable(told) else told
