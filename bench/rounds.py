"""Rounds: everybody takes a turn, and then everybody again.

A machine that slows down slows all of them, so what is compared is compared within a round: ratios
are made per round, and the median of those is what is told. The first round warms up and is not
counted. Every figure keeps all its rounds, so its spread can be seen.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from stolen import CALM, Calm, told_by

Measured = dict[str, float]
Part = Callable[[], Measured | Awaitable[Measured]]


@dataclass
class Figures:
    """What was measured, by name, with a value for every round."""

    rounds: dict[str, list[float]] = field(default_factory=dict)
    curves: dict[str, dict[int, float]] = field(default_factory=dict)
    """Milliseconds by size."""

    @classmethod
    def from_json(cls, result: dict[str, Any]) -> Figures:
        """What a run before this one has left."""
        rounds = {name: kept["rounds"] for name, kept in result.get("figures", {}).items()}
        curves = {
            name: {int(size): cost for size, cost in kept["milliseconds"].items()}
            for name, kept in result.get("growth", {}).items()
        }
        return cls(rounds, curves)

    def replace(self, newer: Figures) -> None:
        """Forgets what was measured again."""
        self.rounds |= newer.rounds
        self.curves |= newer.curves

    def add(self, measured: Measured) -> None:
        for name, value in measured.items():
            self.rounds.setdefault(name, []).append(value)

    def ratios(self, above: str, below: str) -> list[float]:
        """One figure over another, round by round; a round that broke off has none."""
        return [a / b for a, b in zip(self.rounds[above], self.rounds[below], strict=False) if b]

    def as_json(self) -> dict[str, Any]:
        figures = {name: summary(values) for name, values in self.rounds.items()}
        curves = {
            name: {"milliseconds": curve, "exponent": exponent(curve)}
            for name, curve in self.curves.items()
        }
        return {"figures": figures, "growth": curves}


def summary(values: list[float]) -> dict[str, Any]:
    return {
        "median": statistics.median(values),
        "low": min(values),
        "high": max(values),
        "rounds": values,
    }


async def alternate(
    figures: Figures,
    rounds: int,
    parts: dict[str, Part],
    *,
    warm_up: int = 1,
    calm: Calm = CALM,
) -> None:
    """Lets the parts take turns, once to warm up and then `rounds` times.

    What starts afresh in every round has nothing to warm up.
    """
    for turn in range(1 - warm_up, rounds + 1):
        for name, part in parts.items():
            began = time.perf_counter()
            measured = await (calm.measured(part) if turn else told_by(part))
            if turn:
                figures.add(measured)
            tell(f"  {turn}/{rounds} {name}: {time.perf_counter() - began:.1f} s")


def exponent(curve: dict[int, float]) -> float:
    """How the cost grows with the size: 0 is not at all, 1 is as the size does (least squares)."""
    points = [(math.log(int(size)), math.log(cost)) for size, cost in curve.items()]
    return statistics.linear_regression(*zip(*points, strict=True)).slope


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
