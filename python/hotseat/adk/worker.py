"""A worker: hosted agents, attached to a server."""

from __future__ import annotations

import asyncio
import platform
import uuid
from pathlib import Path
from typing import Any

from hotseat import _wire, background
from hotseat.adk.artifacts import artifact_service
from hotseat.adk.asks import Asks
from hotseat.adk.describe import describe
from hotseat.adk.host import Host
from hotseat.adk.hosted import Roster
from hotseat.adk.versions import ADK_VERSION
from hotseat.attachment import Attachment
from hotseat.connection import Connection
from hotseat.notices import notice
from hotseat.settings import Settings


class Worker:
    """Hosts the agents of a roster until it is cancelled."""

    def __init__(self, roster: Roster, settings: Settings, artifacts: Path | None = None) -> None:
        """Makes a worker that keeps the files of its tools in a folder, if one is given."""
        self._roster = roster
        self._connection = Connection(settings)
        self._id = str(uuid.uuid4())
        self._described: list[Any] = []
        kept = artifact_service(artifacts)
        self._attachment = Attachment(self._connection, self._registration, self._received)
        self._host = Host(self._connection, roster.agents, kept, self._attachment, self._id)
        self._asks = Asks(roster.agents, kept, self._reply)

    async def serve(self) -> None:
        """Attaches to the server and works for it; raises what will not heal."""
        self._loop = asyncio.get_running_loop()
        self._described = [await describe(hosted) for hosted in self._roster.agents]
        try:
            await background.run(self._attachment.serve())
        finally:
            # Before the runs are cancelled: they are not over, the next worker resumes them.
            await background.run(self._connection.close())
            await self._asks.close()

    def _registration(self) -> Any:
        return _wire.Register(
            worker_id=self._id,
            agents=self._described,
            problems=[
                _wire.LoadProblem(
                    source=problem.source, message=problem.message, traceback=problem.traceback
                )
                for problem in self._roster.problems
            ],
            active_run_ids=self._host.active_run_ids,
            adk_version=ADK_VERSION,
            python_version=platform.python_version(),
        )

    def _received(self, message: Any) -> None:
        self._loop.call_soon_threadsafe(self._obey, message)

    def _obey(self, message: Any) -> None:
        kind = message.WhichOneof("message")
        if kind == "registered":
            names = ", ".join(agent.name for agent in self._roster.agents) or "no agents"
            notice(f"worker attached to {self._connection.url} with {names}")
        elif kind == "start_run":
            self._host.start(message.start_run)
        elif kind == "cancel_run":
            if message.cancel_run.taken_over:
                self._host.leave(message.cancel_run.run_id)
            else:
                self._host.cancel(message.cancel_run.run_id)
        elif kind == "ask":
            self._asks.put(message.ask)

    def _reply(self, answer: Any) -> None:
        self._attachment.send(_wire.WorkerMessage(answer=answer))
