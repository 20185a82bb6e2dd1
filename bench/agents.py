"""Served agents: how many runs per second, and how soon the first event comes.

    python bench/agents.py                                   `adk api_server`, stored and in memory
    python bench/agents.py --ag-ui-python ENV/bin/python     and the `ag-ui-adk` middleware
    python bench/agents.py --url URL --token T --agent NAME  and a Hotseat that serves the agent
    python bench/agents.py --no-adk --url …                  a Hotseat alone
    python bench/agents.py --hotseat BIN --client BIN        and a Hotseat with an agent of its own

With `--hotseat`, the agent runs in the server and a recording gives its one text.

Everybody serves the same agent (`one_text/scripted`), whose model gives one text at once, so what
is measured is the server. For Hotseat, start it with that agent folder; each run is asked to be
answered by the agent's own model.

16 clients each send one run after the other, every run in a session of its own that is empty
when the run begins. ADK's sessions are made before the clock starts; those of AG-UI and REST are
made by the run. A run counts when its stream has ended well and the text was in it.

The clients are plain sockets in a process of their own, one for all; it shares the machine with
the server, so its CPU time per run is given too. The figures are one JSON object on stdout.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TEXT = b"forty-two"
CLIENTS = 16
WARM_UP_RUNS = 32

# An end of a run that went wrong, as each of the protocols tells it.
FAILURES = (b'"RUN_ERROR"', b'"errorCode"', b'{"error"', b"event: error")


@dataclass(frozen=True)
class Target:
    """A server and how a run is asked of it."""

    name: str
    url: str
    path: str
    body: Callable[[str], dict[str, Any]]
    token: str | None = None
    prepare: Callable[[str], str] | None = None
    """The path at which a session must be made before its run."""


def adk_body(session_id: str) -> dict[str, Any]:
    message = {"role": "user", "parts": [{"text": "What is the answer?"}]}
    return {
        "appName": "scripted",
        "userId": "bench",
        "sessionId": session_id,
        "newMessage": message,
        "streaming": False,
    }


def adk_session(session_id: str) -> str:
    return f"/apps/scripted/users/bench/sessions/{session_id}"


def ag_ui_body(session_id: str) -> dict[str, Any]:
    return {
        "threadId": session_id,
        "runId": str(uuid.uuid4()),
        "state": {},
        "messages": [{"id": "1", "role": "user", "content": "What is the answer?"}],
        "tools": [],
        "context": [],
        "forwardedProps": {},
    }


def chat_body(_: str) -> dict[str, Any]:
    return {"message": "What is the answer?"}


def main() -> None:
    options = arguments()
    figures: dict[str, Any] = {
        "machine": {"cores": os.cpu_count(), "system": platform.platform()},
        "load_before": os.getloadavg()[0],
        "clients": CLIENTS,
        "runs": options.runs,
    }
    if not options.no_adk:
        for name, flags in {
            "adk_run_sse": [],
            "adk_run_sse_memory": ["--session_service_uri", "memory://"],
        }.items():
            with adk_server(flags) as url:
                target = Target(name, url, "/run_sse", adk_body, prepare=adk_session)
                figures[name] = measure(target, options.runs)
    if options.ag_ui_python:
        with ag_ui_server(options.ag_ui_python) as url:
            figures["ag_ui_adk"] = measure(Target("ag_ui_adk", url, "/", ag_ui_body), options.runs)
    if options.url:
        agent = urllib.parse.quote(options.agent)
        for name, path, body in (
            ("hotseat_ag_ui", f"/ag-ui/{agent}?seat=model", ag_ui_body),
            ("hotseat_chat", f"/agent/{agent}/chat?seat=model", chat_body),
        ):
            target = Target(name, options.url.rstrip("/"), path, body, options.token)
            figures[name] = measure(target, options.runs)
    if options.hotseat:
        with hotseat_server(options.hotseat) as (url, token):
            for name, path in (
                ("hotseat_native_ag_ui", "/ag-ui/native"),
                ("hotseat_native_chat_stream", "/agent/native/chat/stream"),
            ):
                words = [options.client, url, token, path, str(CLIENTS), str(options.runs * 10)]
                told = subprocess.run([*words, TEXT.decode()], check=True, stdout=subprocess.PIPE)
                figures[name] = json.loads(told.stdout)
    figures["load_after"] = os.getloadavg()[0]
    print(json.dumps(figures, indent=2))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure served agents.")
    parser.add_argument("--runs", type=int, default=480, help="runs per server (480)")
    parser.add_argument("--no-adk", action="store_true", help="leave out `adk api_server`")
    parser.add_argument("--ag-ui-python", help="a Python that has ag-ui-adk and uvicorn")
    parser.add_argument("--url", help="address of a Hotseat that serves the agent")
    parser.add_argument("--token", help="its token")
    parser.add_argument("--agent", default="scripted", help="the agent's name there (scripted)")
    parser.add_argument("--hotseat", help="the program, to be started with an agent of its own")
    parser.add_argument("--client", help="the example `runs` of hotseat-testkit, for --hotseat")
    return parser.parse_args()


@contextlib.contextmanager
def adk_server(flags: list[str]) -> Iterator[str]:
    """`adk api_server` as a user starts it, on a copy of the agent: it stores sessions beside."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(HERE / "one_text" / "scripted", Path(folder) / "scripted")
        port = free_port()
        adk = Path(sys.executable).with_name("adk")
        words = [adk, "api_server", "--port", str(port), "--log_level", "error", *flags, folder]
        with started(words, f"http://127.0.0.1:{port}", "/list-apps") as url:
            yield url


@contextlib.contextmanager
def ag_ui_server(python: str) -> Iterator[str]:
    port = free_port()
    words = [python, str(HERE / "ag_ui_server.py"), str(port)]
    with started(words, f"http://127.0.0.1:{port}", "/openapi.json") as url:
        yield url


@contextlib.contextmanager
def hotseat_server(program: str) -> Iterator[tuple[str, str]]:
    """`hotseat serve` with its durable log; the clients' limit of sessions is out of the way."""
    token = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        seat = f"replay:{HERE / 'one_text' / 'answer.evalset.json'}"
        agent = HERE / "one_text" / "native" / "agent.yaml"
        words = [program, "serve", agent, "--port", str(port), "--data", folder, "--token", token]
        words += ["--seat", seat, "--log-level", "error", "--max-active-sessions", "1000000"]
        with started(words, f"http://127.0.0.1:{port}", "/ready") as url:
            yield url, token


@contextlib.contextmanager
def started(words: list[Any], url: str, probe: str) -> Iterator[str]:
    """Starts a program and waits until it answers."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while True:
            if process.poll() is not None:
                raise SystemExit(f"{words[0]} ended with {process.returncode} before it listened")
            with contextlib.suppress(OSError):
                urllib.request.urlopen(url + probe, timeout=5).close()
                break
            if time.monotonic() > until:
                raise SystemExit(f"{words[0]} does not answer at {url}{probe}")
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def measure(target: Target, runs: int) -> dict[str, Any]:
    """Runs the clients in a process of their own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(clients, (target, runs))


def clients(target: Target, runs: int) -> dict[str, Any]:
    return asyncio.run(Clients(target).measure(runs))


class Clients:
    """Sends runs and reads their streams."""

    def __init__(self, target: Target) -> None:
        self._target = target
        parts = urllib.parse.urlsplit(target.url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._first_ms: list[float] = []
        self._failed = 0

    async def measure(self, runs: int) -> dict[str, Any]:
        await self._all(WARM_UP_RUNS, await self._sessions(WARM_UP_RUNS))
        sessions = await self._sessions(runs)
        self._first_ms, self._failed = [], 0
        began, cpu = time.perf_counter(), time.process_time()
        await self._all(runs, sessions)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        return {
            "runs_per_second": round((runs - self._failed) / seconds, 1),
            "first_event_p50_ms": round(statistics.median(self._first_ms), 2)
            if self._first_ms
            else None,
            "failed": self._failed,
            "client_cpu_ms_per_run": round(cpu / runs * 1000, 3),
        }

    async def _sessions(self, count: int) -> list[str]:
        sessions = [str(uuid.uuid4()) for _ in range(count)]
        if self._target.prepare is not None:
            async with Wire(self._host, self._port, self._target.token) as wire:
                for session_id in sessions:
                    await wire.post(self._target.prepare(session_id), {})
        return sessions

    async def _all(self, runs: int, sessions: list[str]) -> None:
        left = iter(sessions[:runs])

        async def client() -> None:
            async with Wire(self._host, self._port, self._target.token) as wire:
                for session_id in left:
                    await self._run(wire, session_id)

        await asyncio.gather(*(client() for _ in range(CLIENTS)))

    async def _run(self, wire: Wire, session_id: str) -> None:
        body = self._target.body(session_id)
        try:
            first_ms, answer = await wire.post(self._target.path, body)
        except (OSError, asyncio.IncompleteReadError, ValueError):
            self._failed += 1
            return
        if TEXT not in answer or any(sign in answer for sign in FAILURES):
            self._failed += 1
        else:
            self._first_ms.append(first_ms)


class Wire:
    """One HTTP/1.1 connection, opened again where the server closes it."""

    def __init__(self, host: str, port: int, token: str | None) -> None:
        self._host, self._port, self._token = host, port, token
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Wire:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._hang_up()

    async def post(self, path: str, body: dict[str, Any]) -> tuple[float, bytes]:
        """Milliseconds to the first byte of the answer's body, and the body."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        try:
            began = time.perf_counter()
            writer.write(self._request(path, json.dumps(body).encode()))
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            first_ms, answer = await self._body(reader, head, began)
        except BaseException:
            self._hang_up()
            raise
        if b"connection: close" in head:
            self._hang_up()
        if not head.startswith(b"http/1.1 200"):
            raise ValueError(f"{head.splitlines()[0].decode()}: {answer[:200].decode()}")
        return first_ms, answer

    def _request(self, path: str, body: bytes) -> bytes:
        lines = [
            f"POST {path} HTTP/1.1",
            f"host: {self._host}:{self._port}",
            "accept: text/event-stream, application/json",
            "content-type: application/json",
            f"content-length: {len(body)}",
        ]
        if self._token:
            lines.append(f"authorization: Bearer {self._token}")
        return "\r\n".join([*lines, "", ""]).encode() + body

    @staticmethod
    async def _body(reader: asyncio.StreamReader, head: bytes, began: float) -> tuple[float, bytes]:
        if b"transfer-encoding: chunked" not in head:
            size = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            answer = await reader.readexactly(size)
            return (time.perf_counter() - began) * 1000, answer
        pieces = []
        first_ms = None
        while size := int(await reader.readline(), 16):
            pieces.append(await reader.readexactly(size))
            await reader.readexactly(2)
            first_ms = first_ms or (time.perf_counter() - began) * 1000
        await reader.readline()
        return first_ms or 0.0, b"".join(pieces)

    def _hang_up(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    main()
