"""A run that another worker has by now, and a worker that was not told so."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from hosting import Stage
from postgres import execute, postgres
from support import PATIENCE, Server

pytestmark = pytest.mark.asyncio


@contextmanager
def log_of(kind: str, folder: Path) -> Iterator[tuple[str, Callable[[str], None]]]:
    """A database of a kind: where it is, and how to write to it behind the server's back."""
    if kind == "postgres":
        with postgres() as database:
            yield f"postgres{database}", lambda sql: execute(database, sql)
        return
    path = folder / "log.db"

    def write(sql: str) -> None:
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            database.execute(sql)

    yield f"sqlite://{path}", write


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_what_it_writes_is_refused_and_no_tool_runs(
    kind: str, tmp_path: Path, new_server: Callable[..., Server], meet: Any
) -> None:
    sums: list[int] = []

    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        sums.append(a + b)
        return a + b

    with log_of(kind, tmp_path) as (address, write):
        server = new_server(environment={"HOTSEAT_STORE": address})
        human = await meet(server, str(uuid.uuid4()))
        on = Stage(server, human, LlmAgent(name="math", model="nobody", tools=[add]))
        run_id = on.start("1 + 2?")
        turn = await human.next_turn()
        before = await human.log()
        write(
            "INSERT INTO run_leases (session_id, run_id, server_id, worker) VALUES"
            f" ('{human.session_id}', '{run_id}', '{uuid.uuid4()}', 'another')",
        )

        work = on.host._active[run_id]
        await human.call(turn, ("add", {"a": 1, "b": 2}))
        async with asyncio.timeout(PATIENCE):
            await work

        assert sums == [], "the other worker calls the tool"
        assert on.heard.ends.empty(), "nothing is told of the run"
        written = [event.kind for event in (await human.log())[len(before) :]]
        assert written == ["response"], "only the person's answer was written"
        await on.close()
        await human.leave()
        server.stop()
