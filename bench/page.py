"""`docs/benchmarks.md`, from the last runs of `make bench` and `make bench-serve`."""

from __future__ import annotations

import json
from typing import Any

from server import ROOT

import bench

Row = tuple[str, str, str]

ABOUT = """\
One run of `make bench` and one of `make bench-serve`, put together by
`.venv/bin/python bench/page.py`. Others are measured in the same run, with the same data on the
same disk. Every append of Hotseat and of ADK's SQLite services is durable before the call returns.
Rates differ between machines; ratios differ less. Goals that are missed are shown like the others.
"""

ABOUT_CLIENTS = """\
Native clients with a connection each speak gRPC over HTTP/1.1, as the Python package does; the
native program shares four streams of `AppendAdkEvents`. In all of them a session's next event is
sent when the one before is acknowledged. Events of a warm session are copied when they are looked
at, so both are shown: with and without looking.
"""

ABOUT_AGENTS = """\
An agent whose model says one text, 16 clients, a new conversation with every run. Hotseat's log is
durable; of `adk api_server` both its default and `memory://` are shown.
"""


def main() -> None:
    measured = {name: read(name) for name in ("bench", "bench-agents", "bench-documents")}
    machine = measured["bench"]["machine"]
    lines = [
        "# Benchmarks",
        "",
        *ABOUT.splitlines(),
        "",
        f"Machine: {machine['cores']} cores, {machine['system']},",
        f"load {machine['load']:.1f} at the start. Clients and server share it.",
        "",
        "## Sessions and turns",
        "",
        *rows(bench.table(measured["bench"])),
        "",
        *ABOUT_CLIENTS.splitlines(),
        "",
        "## Served agents",
        "",
        *ABOUT_AGENTS.splitlines(),
        "",
        *rows(agents(measured["bench-agents"])),
        "",
        "## Documents",
        "",
        *rows(documents(measured["bench-documents"])),
    ]
    (ROOT / "docs" / "benchmarks.md").write_text("\n".join(lines) + "\n")


def read(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "target" / f"{name}.json").read_text())


def rows(table: list[Row]) -> list[str]:
    return [
        "| what | measured | goal |",
        "|---|---|---|",
        *(
            f"| {name.replace('  ', '&nbsp;&nbsp;', 1)} | {figure} | {goal} |"
            for name, figure, goal in table
        ),
    ]


def agents(measured: dict[str, Any]) -> list[Row]:
    table: list[Row] = []
    others = {
        "adk_run_sse": ("`adk api_server`", "≥ 100"),
        "adk_run_sse_memory": ("`adk api_server`, `memory://`", "≥ 30"),
        "ag_ui_adk": ("`ag-ui-adk`", "≥ 30"),
    }
    for key, name in (
        ("hotseat_native_ag_ui", "AG-UI"),
        ("hotseat_native_chat_stream", "`/chat/stream`"),
    ):
        ours = measured[key]
        table.append((f"runs/s, {name}", f"{ours['runs_per_second']:.0f}", ""))
        for other, (their_name, goal) in others.items():
            times = ours["runs_per_second"] / measured[other]["runs_per_second"]
            table.append((f"  times {their_name}", f"{times:.0f}", goal))
        table.append(("  first event, p50", f"{ours['first_event_p50_ms']:.1f} ms", "≤ 5 ms"))
    for other, (name, _) in others.items():
        table.append((f"runs/s, {name}", f"{measured[other]['runs_per_second']:.0f}", ""))
    return table


def documents(measured: dict[str, Any]) -> list[Row]:
    return [
        (f"{name}, times `markitdown`", f"{each['times_faster']:.0f}", "≥ 5")
        for name, each in measured.items()
    ]


if __name__ == "__main__":
    main()
