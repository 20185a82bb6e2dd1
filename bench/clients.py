"""Clients of a served agent, for servers that answer slowly enough to be measured from Python.

Plain sockets in a process of their own, one for all: they share the machine with the server.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import statistics
import time
import urllib.parse
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

TEXT = "forty-two"
CLIENTS = 16
WARM_UP_RUNS = 32

# An end of a run that went wrong, as each of the protocols tells it.
FAILURES = (b'"RUN_ERROR"', b'"errorCode"', b'{"error"', b"event: error")


@dataclass(frozen=True)
class Target:
    """A server and how a run is asked of it."""

    url: str
    path: str
    body: Callable[[str], dict[str, Any]]
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


def clients(target: Target, runs: int) -> dict[str, Any]:
    """Runs the clients in a process of their own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(measured, (target, runs))


def measured(target: Target, runs: int) -> dict[str, Any]:
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
        began = time.perf_counter()
        await self._all(runs, sessions)
        seconds = time.perf_counter() - began
        return {
            "per_second": (runs - self._failed) / seconds,
            "p50_ms": statistics.median(self._first_ms or [0.0]),
            "failed": self._failed,
        }

    async def _sessions(self, count: int) -> list[str]:
        sessions = [str(uuid.uuid4()) for _ in range(count)]
        if self._target.prepare is not None:
            async with Wire(self._host, self._port) as wire:
                for session_id in sessions:
                    await wire.post(self._target.prepare(session_id), {})
        return sessions

    async def _all(self, runs: int, sessions: list[str]) -> None:
        left = iter(sessions[:runs])

        async def client() -> None:
            async with Wire(self._host, self._port) as wire:
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
        if TEXT.encode() not in answer or any(sign in answer for sign in FAILURES):
            self._failed += 1
        else:
            self._first_ms.append(first_ms)


class Wire:
    """One HTTP/1.1 connection, opened again where the server closes it."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
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
