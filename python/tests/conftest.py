"""Fixtures: a server for each test, and a person for each session."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from support import BINARY, Human, Server, WorkerProcess


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith("HOTSEAT_") and name != "HOTSEAT_BIN":
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # Nothing in these tests may reach a model.
    monkeypatch.setenv("GOOGLE_API_KEY", "not-a-key")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def new_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers and stops them after the test."""
    if not BINARY.is_file():
        pytest.fail(f"{BINARY} is not there: build it, or set HOTSEAT_BIN to the program")
    servers: list[Server] = []

    def start(*agents: str, **options: dict[str, str]) -> Server:
        server = Server(tmp_path, *agents, **options)
        servers.append(server)
        server.start()
        return server

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def server(new_server: Callable[..., Server], monkeypatch: pytest.MonkeyPatch) -> Server:
    """A server without agents, which plugins find through the environment."""
    server = new_server()
    monkeypatch.setenv("HOTSEAT_URL", server.url)
    monkeypatch.setenv("HOTSEAT_DATA", str(server.data))
    return server


@pytest.fixture
def new_worker() -> Iterator[Callable[..., WorkerProcess]]:
    """Starts workers and ends them after the test."""
    workers: list[WorkerProcess] = []

    def start(server: Server, *agents: str, **environment: str) -> WorkerProcess:
        worker = WorkerProcess(server, *agents, **environment)
        workers.append(worker)
        worker.start()
        return worker

    yield start
    for worker in workers:
        worker.kill()


@pytest_asyncio.fixture
async def meet() -> AsyncIterator[Callable[[Server, str], Awaitable[Human]]]:
    """Gives a session its person. The session is created if it is not there."""
    from hotseat import _wire

    humans: list[Human] = []

    async def meet(server: Server, session_id: str) -> Human:
        human = Human(server, session_id)
        humans.append(human)
        await human._seat.CreateSession(
            _wire.CreateSessionRequest(id=session_id, source="plugin"), metadata=human._metadata
        )
        await human.watch()
        return human

    yield meet
    for human in humans:
        await human.leave()
