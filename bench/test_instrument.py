"""The instrument itself: rounds, ratios, growth, and the verdict of the short bench."""

from __future__ import annotations

import asyncio
import json

import pytest
from goals import evaluated, least, most, verdict
from rounds import Figures, alternate, exponent, summary
from short import ATTEMPTS, ROUNDS, judged
from stolen import FOR_ONE, FOR_PART, Calm, Spent


def test_everybody_takes_turns_and_the_first_round_is_not_counted():
    order: list[str] = []

    def part(name: str):
        def measure() -> dict[str, float]:
            order.append(name)
            return {name: float(len(order))}

        return measure

    figures, calm = Figures(), Calm(read=lambda: "cpu 0 0 0 0 0")
    parts = {"ours": part("ours"), "limit": part("limit")}
    asyncio.run(alternate(figures, 2, parts, calm=calm))
    assert order == ["ours", "limit"] * 3
    assert figures.rounds == {"ours": [3.0, 5.0], "limit": [4.0, 6.0]}


def test_a_ratio_is_made_within_each_round():
    figures = Figures({"ours": [10.0, 100.0, 30.0], "limit": [20.0, 200.0, 30.0]})
    # A machine that was ten times as fast in one round changes nothing.
    assert summary(figures.ratios("ours", "limit"))["median"] == 0.5


def test_a_round_that_broke_off_has_no_ratio():
    figures = Figures({"ours": [10.0, 30.0], "limit": [20.0]})
    assert figures.ratios("ours", "limit") == [0.5]


def test_a_part_that_is_measured_again_replaces_what_it_was():
    before = Figures({"read": [1.0], "turn": [2.0]}, {"search": {10: 1.0, 100: 2.0}})
    kept = Figures.from_json(json.loads(json.dumps(before.as_json())))
    kept.replace(Figures({"turn": [3.0, 4.0]}))
    assert kept.rounds == {"read": [1.0], "turn": [3.0, 4.0]}
    assert kept.curves == before.curves


@pytest.mark.parametrize(("power", "expected"), [(0, 0.0), (1, 1.0), (2, 2.0)])
def test_the_exponent_says_how_a_cost_grows(power: int, expected: float):
    curve = {size: 3.0 * size**power for size in (10, 100, 1000, 10_000)}
    assert exponent(curve) == pytest.approx(expected)


def test_a_goal_is_met_at_its_bound():
    assert least(3).met(3.0)
    assert not least(3).met(2.9)
    assert most(3).met(3.0)
    assert not most(3).met(3.1)


def test_a_goal_that_the_limit_itself_misses_is_out_of_reach():
    ours, near, far = summary([0.4]), summary([0.5]), summary([0.7])
    assert verdict(least(0.6), ours, near) == "out of reach"
    assert verdict(least(0.6), ours, far) == "missed"
    assert verdict(least(0.6), ours, None) == "missed"
    assert verdict(least(0.6), far, near) == "met"
    assert verdict(None, ours, near) == ""


def test_a_limit_stands_in_our_place_within_each_round():
    names = ("append.native_64", "append.raw_64", "append.least_64")
    ours, raw, limit = [30.0, 300.0], [150.0, 1000.0], [75.0, 400.0]
    rows = evaluated(Figures(dict(zip(names, (ours, raw, limit), strict=True))))
    row = next(row for row in rows if "64 events" in row["against"])
    assert row["value"]["rounds"] == [0.2, 0.3]
    assert row["limit"]["rounds"] == [0.5, 0.4]
    assert row["verdict"] == "out of reach"


def test_a_ratio_that_fell_by_more_than_a_third_is_worse():
    best, worse = judged({"read": 0.9, "append": 0.9}, lambda: {"read": 0.59, "append": 0.61})
    assert worse == ["read"]
    assert best == {"read": 0.59, "append": 0.61}


def test_what_looks_bad_is_measured_again_before_it_is_believed():
    told = iter([0.1] * ROUNDS * (ATTEMPTS - 1) + [0.8, 0.1])
    _, worse = judged({"read": 0.9}, lambda: {"read": next(told)})
    assert worse == []


def test_what_is_no_longer_measured_is_worse():
    assert judged({"read": 0.9}, dict)[1] == ["read"]


class Host:
    """A machine on which others take a share of the time, another one with every figure."""

    def __init__(self, *shares: float) -> None:
        self.shares, self.ran, self.taken, self.seconds = iter(shares), 0, 0, 0.0

    def counts(self) -> str:
        return f"cpu {self.ran} 0 0 7 7 0 0 {self.taken} 0 0\ncpu0 1 2 3"

    def figure(self) -> float:
        share = next(self.shares)
        self.ran, self.taken = self.ran + round(100 * (1 - share)), self.taken + round(100 * share)
        self.seconds += 2
        return share

    def told(self, **settings: float) -> tuple[float, Calm]:
        calm = Calm(read=self.counts, clock=lambda: self.seconds, **settings)
        return asyncio.run(calm.measured(self.figure)), calm


def test_a_figure_that_others_took_time_from_is_measured_again():
    told, calm = Host(0.3, 0.2, 0.04, 0.0).told()
    assert told == 0.04
    assert calm.of_part() == {"again": 2, "taken": 0.04}
    assert calm.of_part() == {"again": 0, "taken": 0.0}


def test_where_others_take_time_throughout_the_least_disturbed_figure_counts():
    told, calm = Host(*[0.5] * 7, 0.2, *[0.4] * 7).told()
    assert told == 0.2
    assert calm.again == FOR_ONE // 2 - 1


def test_patience_for_a_part_ends_and_the_next_part_has_its_own():
    told, calm = Host(0.5, 0.4, 0.3, 0.0).told(left=3)
    assert told == 0.3
    assert calm.left < 0
    calm.of_part()
    assert calm.left == FOR_PART


def test_where_nothing_counts_the_time_that_others_take_everything_is_measured_once():
    assert Spent.now("cpu 0 0 0 0 0").share_since(Spent()) == 0.0
