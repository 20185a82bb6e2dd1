"""`docs/benchmarks.md` from `target/bench.json`: the tables, with the goals beside.

`python bench/page.py` writes it again from the last run.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import groupby
from typing import Any

import plots
from server import ROOT

ABOUT = """\
`make bench` measures all of this, and writes this page. Others, and what the machine can do at
all, are measured beside us with the same data on the same disk, in turns: everybody once to warm
up, which is not counted, then everybody again and again. A figure is the median of its rounds, with
the lowest and the highest beside it. A ratio is made within each round, and the median of those is
told: rates differ between machines, and minutes; ratios differ less. Where the host of a virtual
machine took more than 5 % of the time that programs wanted to run, a figure is measured again for a
while, and the one that least was taken from counts, whatever it says; for each part it is told how
often that was done, and what was still taken from a figure that counts. Goals that are missed are
shown like the others. The column "limit" has what the least that could do the same reaches in our
place, measured in the same rounds: where that misses a goal, the goal is out of reach on this
machine, and how near we are to the limit is in a row of its own. Every append of Hotseat and of
ADK's SQLite services is durable before the call returns.
"""

NOTES = {
    "Appends": """\
Events have 600 bytes. Native clients speak gRPC over HTTP/1.1 with a connection each, as the
Python package does, and share one thread, so that they cost little; the native program shares four
streams of `AppendAdkEvents`. In all of them a session's next event is sent when the one before is
acknowledged. "SQLite alone" has our own tables and the same durability: an event's row, and what
leads to it in its session, by time, by its id and by its words, written in the cheapest way for
many events at a time, by one process without a network that checks nothing; nobody copies its
write-ahead log back, which ours does on a thread of its own. Without what leads to them, "events
only", no event could be found again. "The least durable server" puts the network before that: the
same clients, the same gRPC, and a handler that looks into nothing and commits the event where it
stands, or hands it to one thread if others write, which commits what waits for it together. What it
cannot reach of "SQLite alone" or of others, nobody can who is asked over a network on this machine.
For one client there is also what a call that does nothing and a commit take one after the other:
that is less than any server does. At half of our highest rate, 64 clients send at fixed times,
and an append takes from that time on.
""",
    "Reads": """\
Events of a warm session are copied when they are looked at, so both are shown: with and without
looking. "SQLite alone" reads the payloads of the same rows and makes nothing of them; the least
durable server sends them as one body, with what ours tells of each event beside its payload.
""",
    "Turns": """\
A way is from the call until the caller has its answer and the other side has seen the event: a
request to a person, or an answer to the plugin. Each is one durable write. The least durable server
commits a row and tells whoever follows.
""",
    "Served agents": """\
An agent whose model says one text, 16 clients, a new conversation with every run. Hotseat's log is
durable; of `adk api_server` both its default and `memory://` are shown. The empty stream has as
many pieces of the same size. The least durable server sends the same, and commits one row before
the first piece and one behind the last.
""",
    "Memory": """\
What the process holds resident. Memory that was given back before may hide a part of what a thing
costs, so small figures say "little" rather than how little. Caches grow up to their sizes and stay
there: what a stored event takes is measured when 200,000 have filled them, over 800,000 more. A
subscriber holds a connection, whose buffers are the HTTP library's; its limit is an empty axum
stream.
""",
    "Golden traces": """\
A case goes into a file by a parse that refuses what is malformed, and a new file that is synced and
takes the old one's place, which is synced, too. The limit does the same: one parse, one write, the
same two syncs, the same rename.
""",
    "PostgreSQL": """\
The database syncs every commit. pgbench has as many clients as the three servers have
transactions under way, puts as many rows into each as they did, and makes its rows in the database.
The limit is three servers that write rows from the same clients with one statement, and number the
events of a session without gaps, for which they change a row of the session; they do no more. What
pgbench has for itself, they share with the database.
""",
    "Growth": """\
The same question of a small log and of ones 10, 100 and 1,000 times as large, over one connection
from a native client. The exponent is the slope of the line through the logarithms: 0 is no growth,
1 is growth as the size.
""",
}


def write() -> None:
    result = json.loads((ROOT / "target" / "bench.json").read_text())
    plots.write(result)
    machine = result["machine"]
    lines = [
        "# Benchmarks",
        "",
        *ABOUT.splitlines(),
        "",
        f"Machine: {machine['cores']} cores ({machine['processor']}), {machine['memory_gb']} GB, "
        f"{machine['system']}, Python {machine['python']}. One durable write (fdatasync) takes "
        f"{machine['sync_ms']:.2f} ms. Clients, servers and databases share the machine.",
        "",
        *moments(result["parts"]),
        "",
        verdict(result["rows"]),
        "",
        *(
            line
            for name, text in plots.PLOTS.items()
            for line in (f"![{text}](benchmarks/{name}.svg)", "")
        ),
    ]
    for section, rows in groupby(result["rows"], key=lambda row: row["section"]):
        lines += [f"## {section}", ""]
        lines += [*NOTES[section].splitlines(), ""] if section in NOTES else []
        lines += table(list(rows))
        if section == "Growth":
            lines += ["", *curves(result["growth"])]
        lines.append("")
    (ROOT / "docs" / "benchmarks.md").write_text("\n".join(lines))


def moments(parts: dict[str, Any]) -> list[str]:
    lines = ["| part | began | load then | measured again | most taken |", "|---|---|---|---|---|"]
    for name, part in parts.items():
        cells = [
            name,
            part["began"],
            str(part["load"]),
            # Not known of a part from before that was counted.
            str(part["again"]) if "again" in part else "",
            f"{part['taken']:.0%}" if "taken" in part else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def verdict(rows: list[dict[str, Any]]) -> str:
    counts = Counter(row["verdict"] for row in rows if row["goal"])
    missed = [f"{row['what']} ({row['goal']})" for row in rows if row["verdict"] == "missed"]
    met = f"**{counts['met']} of {counts.total()} goals are met.**"
    text = f"{met} {counts['out of reach']} are out of reach."
    return f"{text} Missed within reach: {'; '.join(missed)}." if missed else text


def table(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| what | ours | against | theirs | measured | goal | | limit |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [
            row["what"],
            spread(row["ours"], row["unit"]),
            row["against"],
            spread(row["theirs"], row["unit"]),
            spread(row["value"], "×" if row["ours"] else row["unit"]),
            row["goal"],
            row["verdict"].replace("missed", "**missed**"),
            spread(row["limit"], "×" if row["ours"] else row["unit"]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def curves(growth: dict[str, Any]) -> list[str]:
    lines = ["| what | ms by size | exponent |", "|---|---|---|"]
    for name, curve in growth.items():
        costs = ", ".join(
            f"{int(size):,}: {number(cost)}" for size, cost in curve["milliseconds"].items()
        )
        lines.append(f"| {name} | {costs} | {curve['exponent']:.2f} |")
    return lines


def spread(value: dict[str, Any] | None, unit: str) -> str:
    """The median, and from where to where it went."""
    if value is None:
        return ""
    beside = {"/s": "/s", "×": " ×", "": ""}.get(unit, f" {unit}")
    middle = f"{number(value['median'])}{beside}"
    if len(value["rounds"]) == 1 or number(value["low"]) == number(value["high"]):
        return middle
    return f"{middle} ({number(value['low'])}–{number(value['high'])})"


def number(value: float) -> str:
    """Three digits that count, and no more."""
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def show(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        name = f"{row['what']}{' : ' if row['against'] else ''}{row['against']}"
        value = spread(row["value"], "×" if row["ours"] else row["unit"])
        print(f"{name:80} {value:>28}  {row['goal']:>8} {row['verdict']}")


if __name__ == "__main__":
    write()
