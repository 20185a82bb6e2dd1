"""Fixtures: a server for each test, and a person for each session."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from postgres import new_database, postgres
from support import BINARY, OFFICE, Human, Server, WorkerProcess

# Where servers keep their logs: `sqlite`, or `postgres` for a database each in a PostgreSQL of the
# run's own.
STORE = os.environ.get("HOTSEAT_TEST_STORE", "sqlite")

# A shell that runs the tests in the background has them ignore Ctrl-C, and with them every program
# that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def databases() -> Iterator[str | None]:
    """The PostgreSQL that servers of this run have their databases in, if they do."""
    if STORE == "sqlite":
        yield None
        return
    assert STORE == "postgres", f"HOTSEAT_TEST_STORE is {STORE!r}: use sqlite or postgres"
    with postgres() as server:
        yield server


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
def new_server(tmp_path: Path, databases: str | None) -> Iterator[Callable[..., Server]]:
    """Starts servers and stops them after the test."""
    if not BINARY.is_file():
        pytest.fail(f"{BINARY} is not there: build it, or set HOTSEAT_BIN to the program")
    servers: list[Server] = []

    def start(*agents: str, environment: dict[str, str] | None = None, **more: Any) -> Server:
        store = {"HOTSEAT_STORE": f"postgres{new_database(databases)}"} if databases else {}
        server = Server(tmp_path, *agents, environment={**store, **(environment or {})}, **more)
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


class Deeds:
    """What the tools of the office have really done."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "deeds"
        self.file.touch()

    @property
    def done(self) -> list[str]:
        """The deeds so far."""
        return self.file.read_text().split()


@pytest.fixture
def deeds(tmp_path: Path) -> Deeds:
    """Nothing done yet."""
    return Deeds(tmp_path)


@pytest.fixture
def office(
    server: Server, new_worker: Callable[..., WorkerProcess], deeds: Deeds, tmp_path: Path
) -> Callable[..., WorkerProcess]:
    """Starts a worker for the office."""

    def start(agent: str = str(OFFICE)) -> WorkerProcess:
        shelf = str(tmp_path / "artifacts")
        return new_worker(server, "--artifacts", shelf, agent, DEEDS_FILE=str(deeds.file))

    return start


@pytest_asyncio.fixture
async def begin(
    server: Server, meet: Callable[[Server, str], Awaitable[Human]]
) -> Callable[..., Awaitable[Human]]:
    """Begins a session with an agent and a first message in it."""

    async def begin(text: str, agent: str = "office") -> Human:
        await asyncio.to_thread(server.wait_for_agents)
        human = await meet(server, server.new_session(agent))
        assert "run_id" in server.query(human.session_id, text)
        return human

    return begin
