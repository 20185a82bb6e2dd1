"""The plots of the page, as SVG of a few lines each, readable on light and on dark.

`growth.svg` has a line for every cost that might grow with the size; `ratios.svg` has a bar for
every ratio, measured by its goal: what reaches the line is met.
"""

from __future__ import annotations

import math
from html import escape
from typing import Any

from server import ROOT

PLOTS = {
    "ratios": "Every goal as a bar; those that reach the line are met, grey ones are out of reach",
    "growth": "Milliseconds by size, both in powers of ten",
}

# Seen on white and on black.
VERDICTS = {"met": "#3d9950", "out of reach": "#808080", "missed": "#d1762b"}
COLOURS = ("#2f81c7", "#d1762b", "#3d9950", "#b3508f", "#8a76d6", "#a38a1f", "#808080")

STYLE = """<style>
text { font: 12px system-ui, sans-serif; fill: #333 }
line, path { stroke: #999; fill: none }
@media (prefers-color-scheme: dark) { text { fill: #ddd } line { stroke: #777 } }
</style>"""


def write(result: dict[str, Any]) -> None:
    folder = ROOT / "docs" / "benchmarks"
    folder.mkdir(exist_ok=True)
    if result["growth"]:
        (folder / "growth.svg").write_text(growth(result["growth"]))
    (folder / "ratios.svg").write_text(ratios(result["rows"]))


def growth(curves: dict[str, Any]) -> str:
    """A line for each, by size in steps of ten times the one before."""
    left, top, width, height = 60, 20, 420, 300
    costs = [cost for curve in curves.values() for cost in curve["milliseconds"].values()]
    low, high = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)))
    parts = []
    y = lambda cost: top + height * (high - math.log10(cost)) / (high - low)  # noqa: E731
    x = lambda step: left + width * step / 3  # noqa: E731
    for power in range(low, high + 1):
        at = y(10**power)
        parts.append(line(left, at, left + width, at))
        parts.append(text(left - 8, at + 4, f"{10**power:g} ms", "end"))
    for step, name in enumerate(("1×", "10×", "100×", "1,000×")):
        parts.append(text(x(step), top + height + 20, name, "middle"))
    for n, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[n % len(COLOURS)]
        points = [
            f"{x(step):.1f},{y(cost):.1f}"
            for step, cost in enumerate(curve["milliseconds"].values())
        ]
        parts.append(f'<path d="M{" L".join(points)}" style="stroke:{colour};stroke-width:2.5"/>')
        at = top + 14 + n * 20
        parts.append(bar(left + width + 24, at - 10, 12, colour))
        parts.append(text(left + width + 42, at, f"{name}: size^{curve['exponent']:.2f}"))
    return picture(left + width + 260, top + height + 36, parts)


def ratios(rows: list[dict[str, Any]]) -> str:
    """How far each is from its goal, in powers of ten; to the right is better."""
    goals = [row for row in rows if row["goal"] and bound(row) and row["value"]["median"] > 0]
    left, width, step = 540, 360, 18
    height = len(goals) * step
    middle = left + width / 2
    parts = [line(middle, 8, middle, height + 14), text(middle, height + 30, "goal", "middle")]
    for n, row in enumerate(goals):
        share = row["value"]["median"] / bound(row)
        share = 1 / share if row["goal"].startswith("≤") else share
        reach = max(-1.0, min(1.0, math.log10(share))) * width / 2
        colour = VERDICTS[row["verdict"]]
        y = 12 + n * step
        begin = min(middle, middle + reach)
        parts.append(bar(begin, y, max(abs(reach), 1), colour))
        against = f" : {row['against']}" if row["against"] else ""
        parts.append(text(left - 8, y + 10, f"{row['what']}{against}".replace("`", ""), "end"))
    parts.append(text(left, height + 30, "10 times worse", "start"))
    parts.append(text(left + width, height + 30, "10 times better", "end"))
    return picture(left + width + 10, height + 40, parts)


def bound(row: dict[str, Any]) -> float:
    return float(row["goal"].split()[1].replace(",", ""))


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def bar(x: float, y: float, width: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="12" fill="{colour}"/>'


def text(x: float, y: float, content: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def picture(width: int, height: int, parts: list[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
    return "\n".join([head, STYLE, *parts, "</svg>"]) + "\n"
