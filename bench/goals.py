"""The rows of the page: what is measured, against whom, and what it should be.

Goals were set before they were measured, and are shown whether they are met or not. Where a limit
was measured beside us, a goal that the limit itself misses is out of reach on this machine.
"""

# A table is read by its rows.
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rounds import Figures, summary

LEAST = "the least durable server"


@dataclass(frozen=True)
class Goal:
    sign: str
    bound: float

    def met(self, value: float) -> bool:
        return value >= self.bound if self.sign == "≥" else value <= self.bound


@dataclass(frozen=True)
class Row:
    section: str
    what: str
    unit: str
    """Of the measured figure; of a ratio it is empty."""
    against: str
    value: Callable[[Figures], list[float]]
    goal: Goal | None = None
    ours: str = ""
    theirs: str = ""
    """Names of the figures that a ratio is made of."""
    limit: Callable[[Figures], list[float]] | None = None
    """What the limit reaches in our place."""


def least(bound: float) -> Goal:
    return Goal("≥", bound)


def most(bound: float) -> Goal:
    return Goal("≤", bound)


def rate(
    what: str, ours: str, against: str, theirs: str, goal: Goal | None = None, limit: str = ""
) -> Row:
    """Ours over theirs; both are so many in a second."""
    return ratio(
        what, "/s", ours, against, theirs, goal, limit, lambda f, ours: f.ratios(ours, theirs)
    )


def quicker(
    what: str, ours: str, against: str, theirs: str, goal: Goal | None = None, limit: str = ""
) -> Row:
    """How many times as long they take."""
    return ratio(
        what, "ms", ours, against, theirs, goal, limit, lambda f, ours: f.ratios(theirs, ours)
    )


def costs(
    what: str, ours: str, against: str, theirs: str, goal: Goal | None = None, limit: str = ""
) -> Row:
    """How many times as long we take."""
    return ratio(
        what, "ms", ours, against, theirs, goal, limit, lambda f, ours: f.ratios(ours, theirs)
    )


def ratio(
    what: str,
    unit: str,
    ours: str,
    against: str,
    theirs: str,
    goal: Goal | None,
    limit: str,
    of: Callable[[Figures, str], list[float]],
) -> Row:
    reached = (lambda f: of(f, limit)) if limit else None
    return Row("", what, unit, against, lambda f: of(f, ours), goal, ours, theirs, reached)


def plain(what: str, name: str, unit: str, goal: Goal | None = None, limit: str = "") -> Row:
    reached = (lambda f: f.rounds[limit]) if limit else None
    return Row("", what, unit, "", lambda f: f.rounds[name], goal, limit=reached)


def flat(what: str, curve: str, sizes: tuple[int, ...], goal: Goal | None = None) -> Row:
    """The dearest of some sizes over the cheapest."""

    def value(figures: Figures) -> list[float]:
        costs = [figures.curves[curve][size] for size in sizes]
        return [max(costs) / min(costs)]

    return Row("", what, "", "", value, goal)


APPENDS = [
    rate("append, 1 client, Python", "append.python_1.hotseat", "ADK Sqlite", "append.python_1.sqlite", least(3)),
    rate("append, 1 client, Python", "append.python_1.hotseat", "ADK Database (SQLite)", "append.python_1.database"),
    rate("append, 1 client, Python", "append.python_1.hotseat", "ADK InMemory, not durable", "append.python_1.in_memory"),
    rate("append, 1 native client", "append.native_1", "SQLite alone, an event in a commit", "append.raw_1", least(0.7), limit="append.least_1"),
    rate("append, 1 native client", "append.native_1", "a call that does nothing, and a commit", "append.limit_1"),
    rate("append, 1 native client", "append.native_1", "SQLite alone, events only", "append.raw_events_1"),
    rate("append, 1 native client", "append.native_1", LEAST, "append.least_1"),
    rate("append, 64 native clients", "append.native_64", "ADK Sqlite", "append.python_64.sqlite", least(80), limit="append.least_64"),
    rate("append, 64 native clients", "append.native_64", "SQLite alone, 64 events in a commit", "append.raw_64", least(0.6), limit="append.least_64"),
    rate("append, 64 native clients", "append.native_64", "SQLite alone, events only", "append.raw_events_64"),
    rate("append, 64 native clients", "append.native_64", LEAST, "append.least_64"),
    rate("append, 256 native clients", "append.native_256", "ADK Sqlite", "append.python_64.sqlite", least(100), limit="append.least_256"),
    rate("append, 256 native clients", "append.native_256", "SQLite alone, 256 events in a commit", "append.raw_256", least(0.6), limit="append.least_256"),
    rate("append, 256 native clients", "append.native_256", "SQLite alone, events only", "append.raw_events_256"),
    rate("append, 256 native clients", "append.native_256", LEAST, "append.least_256"),
    rate("append, 64 sessions, one native program", "append.streams_64", "ADK Sqlite", "append.python_64.sqlite", least(80), limit="append.least_streams_64"),
    rate("append, 64 sessions, one native program", "append.streams_64", "SQLite alone, 64 events in a commit", "append.raw_64", least(0.6), limit="append.least_streams_64"),
    rate("append, 64 sessions, one native program", "append.streams_64", "SQLite alone, events only", "append.raw_events_64"),
    rate("append, 64 sessions, one native program", "append.streams_64", LEAST, "append.least_streams_64"),
    rate("append, 256 sessions, one native program", "append.streams_256", "ADK Sqlite", "append.python_64.sqlite", least(100), limit="append.least_streams_256"),
    rate("append, 256 sessions, one native program", "append.streams_256", "SQLite alone, 256 events in a commit", "append.raw_256", least(0.6), limit="append.least_streams_256"),
    rate("append, 256 sessions, one native program", "append.streams_256", "SQLite alone, events only", "append.raw_events_256"),
    rate("append, 256 sessions, one native program", "append.streams_256", LEAST, "append.least_streams_256"),
    rate("append, 64 sessions, one Python process", "append.python_64.hotseat", "ADK Sqlite", "append.python_64.sqlite", least(15)),
    rate("append, 64 sessions, one Python process", "append.python_64.hotseat", "an empty grpc.aio call", "append.python_64.echo", least(0.5)),
    costs("append, p99 at half of the highest rate", "append.half.p99_ms", "one fdatasync", "sync_ms", most(4), limit="append.least_half.p99_ms"),
    costs("append, p99 at half of the highest rate", "append.half.p99_ms", LEAST, "append.least_half.p99_ms"),
    plain("appends that failed, 64 sessions, ours", "append.python_64_failed.hotseat", "", most(0)),
    plain("appends that failed, 64 sessions, ADK Sqlite", "append.python_64_failed.sqlite", ""),
]  # fmt: skip

READS = [
    quicker("get_session, 1,000 events, cold", "read.python.cold_ms", "ADK Sqlite", "read.python.sqlite_ms", least(1.6)),
    costs("get_session, 1,000 events, cold", "read.python.cold_ms", "parsing them with pydantic", "read.parsing_ms", most(1.2)),
    quicker("get_session, 1,000 events, warm", "read.python.warm_ms", "ADK Sqlite", "read.python.sqlite_ms", least(8)),
    quicker("the same, and every text looked at", "read.looked_at.hotseat_ms", "ADK Sqlite", "read.looked_at.sqlite_ms"),
    plain("1,000 raw events over HTTP", "read.http_ms", "ms", most(5)),
    quicker("1,000 raw events over HTTP", "read.http_ms", "SQLite alone, the same rows", "read.raw_ms", least(0.5), limit="read.least_ms"),
    quicker("1,000 raw events over HTTP", "read.http_ms", LEAST, "read.least_ms"),
]  # fmt: skip

TURNS = [
    plain("a turn handed over, one way", "turn.hand_off_ms", "ms"),
    costs("the same without its disk sync", "turn.hand_off_besides_ms", "an empty tonic call", "turn.echo_ms", most(3), limit="turn.least_besides_ms"),
    costs("the same without its disk sync", "turn.hand_off_besides_ms", LEAST, "turn.least_besides_ms"),
]  # fmt: skip

SERVED = [
    rate("AG-UI runs", "served.ag_ui", "`adk api_server`", "served.adk", least(100), limit="served.least"),
    rate("AG-UI runs", "served.ag_ui", "`adk api_server`, `memory://`", "served.adk_in_memory", least(30), limit="served.least"),
    rate("AG-UI runs", "served.ag_ui", "`ag-ui-adk`", "served.ag_ui_adk", least(30), limit="served.least"),
    rate("AG-UI runs", "served.ag_ui", "an empty axum stream", "served.empty", least(0.3), limit="served.least"),
    rate("AG-UI runs", "served.ag_ui", LEAST, "served.least"),
    plain("AG-UI, first event, p50", "served.ag_ui.first_ms", "ms", most(5)),
    rate("`/chat/stream` runs", "served.chat", "`adk api_server`", "served.adk", least(100), limit="served.least"),
    rate("`/chat/stream` runs", "served.chat", "an empty axum stream", "served.empty", least(0.3), limit="served.least"),
    rate("`/chat/stream` runs", "served.chat", LEAST, "served.least"),
    plain("`/chat/stream`, first event, p50", "served.chat.first_ms", "ms", most(5)),
    quicker("start to ready", "start.hotseat_ms", "`adk api_server`", "start.adk_ms", least(20)),
]  # fmt: skip

MEMORY = [
    plain("idle", "memory.idle_mb", "MB", most(40)),
    plain("a stored event (ADK InMemory: 4.9 kB)", "memory.event_bytes", "B", most(20)),
    plain("an idle session", "memory.idle_session_bytes", "B", most(1000)),
    plain("a subscriber", "memory.subscriber_bytes", "B", most(10_000), limit="memory.least_subscriber_bytes"),
    plain("a pending turn", "memory.turn_bytes", "B", most(20_000)),
    plain("after 1,000 sessions of 200 events", "memory.filled_mb", "MB", most(100)),
    plain("growth by 1,000 sessions of 200 events", "memory.filling_mb", "MB", most(50)),
]  # fmt: skip

TRACES = [
    plain("golden trace of 10,000 events", "trace.golden_ms", "ms", most(50)),
    costs("golden trace of 10,000 events", "trace.golden_ms", "checking its bytes to be JSON", "trace.check_ms"),
    costs("a case into an EvalSet file of 100 MB", "trace.export_ms", "one parse and one write of it", "trace.rewrite_ms", most(1.3)),
]  # fmt: skip

DOCUMENTS = [
    quicker(name, f"document.{name}.hotseat_ms", "`markitdown`", f"document.{name}.markitdown_ms", least(5))
    for name in ("100-pages.pdf", "50-sheets.xlsx", "200-slides.pptx")
]  # fmt: skip

SCREEN = [
    plain("open a session of 10,000 entries", "screen.open_ms", "ms", most(1000)),
    plain("a key in a form of 40 fields, until it is painted, p50", "screen.key_ms", "ms", most(50)),
]  # fmt: skip

DATABASES = [
    rate("append, 3 servers, 256 clients", "postgres.hotseat", "pgbench, the same rows in the same batches", "postgres.pgbench", least(0.6), limit="postgres.least"),
    rate("append, 3 servers, 256 clients", "postgres.hotseat", "3 of the least servers", "postgres.least"),
    plain("rows in a commit", "postgres.rows_in_a_commit", ""),
]  # fmt: skip

GROWTH = [
    flat("append, 100 to 100,000 events", "append", (100, 1_000, 10_000, 100_000), most(1.5)),
    flat("read without events, 100 to 100,000", "read without events", (100, 1_000, 10_000, 100_000), most(1.5)),
    flat("first page of 10,000, 100,000 and 1,000,000 sessions", "first page of the list", (10_000, 100_000, 1_000_000), most(1.5)),
    Row("", "first page of 10,000 sessions", "ms", "", lambda f: [f.curves["first page of the list"][10_000]], most(20)),
]  # fmt: skip

SECTIONS: dict[str, list[Row]] = {
    "Appends": APPENDS,
    "Reads": READS,
    "Turns": TURNS,
    "Served agents": SERVED,
    "Memory": MEMORY,
    "Golden traces": TRACES,
    "Documents": DOCUMENTS,
    "Page": SCREEN,
    "PostgreSQL": DATABASES,
    "Growth": GROWTH,
}


def evaluated(figures: Figures) -> list[dict[str, Any]]:
    """Every row whose figures there are."""
    told = []
    for section, rows in SECTIONS.items():
        for row in rows:
            try:
                values = row.value(figures)
            except KeyError:
                values = []
            if not values:
                continue  # That part was not measured this time.
            value = summary(values)
            reached = limit_of(row, figures)
            told.append(
                {
                    "section": section,
                    "what": row.what,
                    "unit": row.unit,
                    "against": row.against,
                    "ours": summary(figures.rounds[row.ours]) if row.ours else None,
                    "theirs": summary(figures.rounds[row.theirs]) if row.theirs else None,
                    "value": value,
                    "goal": f"{row.goal.sign} {row.goal.bound:,g}" if row.goal else "",
                    "limit": reached,
                    "verdict": verdict(row.goal, value, reached),
                }
            )
    return told


def limit_of(row: Row, figures: Figures) -> dict[str, Any] | None:
    """What the limit reaches in our place, where it was measured."""
    try:
        values = row.limit(figures) if row.limit else []
    except KeyError:
        values = []
    return summary(values) if values else None


def verdict(goal: Goal | None, value: dict[str, Any], limit: dict[str, Any] | None) -> str:
    """What is to be said of a goal."""
    if goal is None:
        return ""
    if goal.met(value["median"]):
        return "met"
    return "out of reach" if limit and not goal.met(limit["median"]) else "missed"
