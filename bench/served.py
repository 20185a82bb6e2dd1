"""Served agents: runs per second, and how soon the first event comes.

Everybody serves the same agent, whose model gives one text at once, so what is measured is the
server. 16 clients each send one run after the other, every run in a session of its own that is
empty when the run begins. ADK's sessions are made before the clock runs; those of AG-UI and REST
are made by the run. A run counts when its stream has ended well and the text was in it. The
limits are an empty stream of as many pieces from an axum server that does nothing else, and one
that commits a row before the first piece and another behind the last.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

from clients import CLIENTS, TEXT, Target, adk_body, adk_session, ag_ui_body, clients
from programs import Programs
from rounds import Figures, Measured, alternate
from server import ROOT, Server, free_port, started

HERE = Path(__file__).resolve().parent
RUNS_OF_PEERS = 128
RUNS = 4000
RUNS_OF_NOTHING = 40_000


async def measure(figures: Figures, programs: Programs, rounds: int) -> None:
    with (
        hotseat_server(programs.hotseat) as server,
        programs.empty_server() as empty,
        programs.least_server(ROOT / "target") as least,
        adk_server() as adk,
        adk_server("--session_service_uri", "memory://") as adk_in_memory,
        ag_ui_server(programs.peers) as ag_ui,
    ):

        def native(name: str, at: Server, path: str, runs: int = RUNS) -> Measured:
            told = programs.run("runs", at.url, at.token, path, CLIENTS, runs, TEXT)
            if told["errors"]:
                raise SystemExit(f"{told['errors']} runs at {path} failed")
            return {f"served.{name}": told["per_second"], f"served.{name}.first_ms": told["p50_ms"]}

        def peer(name: str, target: Target) -> Measured:
            told = clients(target, RUNS_OF_PEERS)
            # Others may fail, too; only what ended well is in their rate.
            return {
                f"served.{name}": told["per_second"],
                f"served.{name}.first_ms": told["p50_ms"],
                f"served.{name}.failed": told["failed"],
            }

        def adk_target(at: Server) -> Target:
            return Target(at.url, "/run_sse", adk_body, prepare=adk_session)

        await alternate(
            figures,
            rounds,
            {
                "ag-ui": lambda: native("ag_ui", server, "/ag-ui/native"),
                "adk": lambda: peer("adk", adk_target(adk)),
                "empty stream": lambda: native("empty", empty, "/ag-ui/empty", RUNS_OF_NOTHING),
                "least": lambda: native("least", least, "/ag-ui/least"),
                "chat": lambda: native("chat", server, "/agent/native/chat/stream"),
                "adk, memory": lambda: peer("adk_in_memory", adk_target(adk_in_memory)),
                "ag-ui-adk": lambda: peer("ag_ui_adk", Target(ag_ui.url, "/", ag_ui_body)),
            },
        )


@contextlib.contextmanager
def adk_server(*flags: str) -> Iterator[Server]:
    """`adk api_server` as a user starts it, on a copy of the agent: it stores sessions beside."""
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as folder:
        shutil.copytree(HERE / "one_text" / "scripted", Path(folder) / "scripted")
        port = free_port()
        adk = Path(sys.executable).with_name("adk")
        words = [adk, "api_server", "--port", port, "--log_level", "error", *flags, folder]
        with started(words, f"http://127.0.0.1:{port}", "/list-apps") as server:
            yield server


@contextlib.contextmanager
def ag_ui_server(python: Path) -> Iterator[Server]:
    port = free_port()
    words = [python, HERE / "ag_ui_server.py", port]
    with started(words, f"http://127.0.0.1:{port}", "/openapi.json") as server:
        yield server


@contextlib.contextmanager
def hotseat_server(program: Path) -> Iterator[Server]:
    """`hotseat serve` with its durable log; the clients' limit of sessions is out of the way."""
    token = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as folder:
        port = free_port()
        seat = f"replay:{HERE / 'one_text' / 'answer.evalset.json'}"
        agent = HERE / "one_text" / "native" / "agent.yaml"
        words = [program, "serve", agent, "--port", port, "--data", folder, "--token", token]
        words += ["--seat", seat, "--log-level", "error", "--max-active-sessions", 1_000_000]
        with started(words, f"http://127.0.0.1:{port}", "/ready", token) as server:
            yield server
