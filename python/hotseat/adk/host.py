"""Runs of hosted agents, each in ADK's own Runner.

There is one runner for each agent, with the plugins of its app and Hotseat's behind them, and one
set of services for all. The ADK session has the id of the Hotseat session. It is only a
cache of the log: one that is not here, because the worker was restarted or because it was not used
for long, is made again from the log.
"""

from __future__ import annotations

import asyncio
import warnings
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Protocol

from google.adk.apps.app import App
from google.adk.artifacts.base_artifact_service import BaseArtifactService
from google.adk.auth.credential_service.in_memory_credential_service import (
    InMemoryCredentialService,
)
from google.adk.events.event import Event
from google.adk.memory.in_memory_memory_service import InMemoryMemoryService
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService

from hotseat import _wire, background
from hotseat.adk.artifacts import Shelf, bring_along
from hotseat.adk.conversation import Conversation
from hotseat.adk.event_record import event_json
from hotseat.adk.hosted import DEFAULT_USER, HostedAgent
from hotseat.adk.hosted_plugin import HostedPlugin
from hotseat.adk.hydrate import fill_session, read_log
from hotseat.adk.order import Order
from hotseat.adk.plugin import HotseatPlugin
from hotseat.adk.replay import Replay
from hotseat.adk.tracebacks import readable_traceback
from hotseat.connection import Connection
from hotseat.errors import HotseatError
from hotseat.session import SessionLink

# ADK sessions kept in memory. Others are read from the log again when they are used.
MAX_SESSIONS = 200

# Ends of runs that are remembered in case the server did not hear of them.
MAX_ENDED_RUNS = 1_000

# Pieces of answers that may be on their way before the model that gives them has to wait.
MAX_PARTIALS_WAITING = 200


class Line(Protocol):
    """Where a host tells what happens."""

    def send(self, message: Any) -> None:
        """Sends a `WorkerMessage` for sure."""

    def pass_on(self, message: Any) -> None:
        """Sends a `WorkerMessage` if the server listens right now."""

    @property
    def waiting(self) -> int:
        """How many messages are not sent yet."""

    async def sent(self) -> None:
        """Returns when what was given so far is sent. For the background loop."""


@dataclass
class _Kept:
    """A session in memory."""

    conversation: Conversation
    app_name: str
    user_id: str
    plugin: HostedPlugin


class Host:
    """Starts, cancels and reports runs."""

    def __init__(
        self,
        connection: Connection,
        agents: list[HostedAgent],
        artifacts: BaseArtifactService,
        line: Line,
        worker_id: str,
    ) -> None:
        """Makes a host that tells the ends of runs, and answers on their way, over a line."""
        self._connection = connection
        self._worker_id = worker_id
        self._line = line
        self._sessions = InMemorySessionService()
        self._artifacts = artifacts
        self._memory = InMemoryMemoryService()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # It is marked as experimental.
            self._credentials = InMemoryCredentialService()
        self._hosted = {hosted.name: hosted for hosted in agents}
        self._plugins: dict[str, HostedPlugin] = {}
        self._runners: dict[str, Runner] = {}
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._active: dict[str, asyncio.Task[None]] = {}
        self._busy: set[str] = set()
        self._left: set[str] = set()
        self._ended: OrderedDict[str, Any] = OrderedDict()

    @property
    def active_run_ids(self) -> list[str]:
        """The runs in progress."""
        return list(self._active)

    def start(self, start: Any) -> None:
        """Begins a run. One that is in progress goes on; one that has ended is told again.

        One that is just being left begins anew, from the log, once that is done.
        """
        if (active := self._active.get(start.run_id)) is not None:
            if start.run_id in self._left or self._is_refused(start.session_id):
                active.add_done_callback(lambda _: self.start(start))
            return
        if (ended := self._ended.get(start.run_id)) is not None:
            self._line.send(_wire.WorkerMessage(run_ended=ended))
            return
        task = asyncio.get_running_loop().create_task(self._run(start))
        self._active[start.run_id] = task

    def cancel(self, run_id: str) -> None:
        """Stops a run."""
        if task := self._active.get(run_id):
            task.cancel()

    def leave(self, run_id: str) -> None:
        """Stops a run that another worker has now, and writes nothing more about it."""
        if task := self._active.get(run_id):
            self._left.add(run_id)
            for kept in self._kept.values():
                if kept.conversation.run_id == run_id:
                    kept.conversation.link.abandon()
            task.cancel()

    async def _run(self, start: Any) -> None:
        end = _wire.RunEnded(run_id=start.run_id, session_id=start.session_id)
        self._busy.add(start.session_id)
        try:
            await self._complete(start)
            end.status = "finished"
        except asyncio.CancelledError:
            end.status = "cancelled"
        except Exception as error:
            end.status = "failed"
            end.error_type = type(error).__name__
            end.error_message = str(error)
            end.traceback = readable_traceback(error)
        finally:
            self._busy.discard(start.session_id)
            del self._active[start.run_id]
        if start.run_id in self._left or self._is_refused(start.session_id):
            self._left.discard(start.run_id)
            # What is in memory is not what the session has become elsewhere.
            await self._forget(start.session_id)
            return
        self._remember_end(end)
        self._line.send(_wire.WorkerMessage(run_ended=end))

    def _is_refused(self, session_id: str) -> bool:
        # The log may say that another worker has the run before the server does.
        kept = self._kept.get(session_id)
        return kept is not None and kept.conversation.link.abandoned

    async def _complete(self, start: Any) -> None:
        hosted = self._hosted.get(start.agent)
        if hosted is None:
            raise HotseatError(f"this worker has no agent named {start.agent!r}")
        runner = self._runner(hosted)
        user_id = start.user_id or DEFAULT_USER
        order = Order.of(start)
        conversation = await self._prepare(hosted, user_id, start, order)
        conversation.order = order
        conversation.before_append = self._line.sent if order.streaming else None
        complete = start.run_id
        try:
            async for event in runner.run_async(
                user_id=user_id,
                session_id=start.session_id,
                new_message=order.message,
                state_delta=order.state_delta,
                run_config=order.run_config,
            ):
                if not event.partial:
                    complete = event.id
                elif order.streaming:
                    await self._stream(start, event, complete)
        finally:
            conversation.run_id = None
            conversation.replay = None
            conversation.order = None
            conversation.before_append = None

    async def _stream(self, start: Any, event: Event, complete: str) -> None:
        partial = _wire.Partial(
            run_id=start.run_id,
            session_id=start.session_id,
            raw_json=event_json(event),
            after_event_id=complete,
        )
        self._line.pass_on(_wire.WorkerMessage(partial=partial))
        if self._line.waiting > MAX_PARTIALS_WAITING:
            await background.run(self._line.sent())

    async def _prepare(
        self, hosted: HostedAgent, user_id: str, start: Any, order: Order
    ) -> Conversation:
        if start.resume or order.state is not None:
            # What is in memory ends in the middle of the run, or others have written since. The
            # log knows better.
            await self._forget(start.session_id)
        kept = self._kept.get(start.session_id)
        if kept is None:
            kept = await self._read(hosted, user_id, start, order.state)
            self._kept[start.session_id] = kept
            kept.plugin.bound[start.session_id] = kept.conversation
            await self._forget_the_oldest()
        self._kept.move_to_end(start.session_id)
        kept.conversation.run_id = start.run_id
        return kept.conversation

    async def _read(
        self, hosted: HostedAgent, user_id: str, start: Any, state: dict[str, Any] | None
    ) -> _Kept:
        kinds = [] if start.resume else ["event"]
        log = await read_log(self._connection, start.session_id, kinds)
        if start.resume:
            shelf = Shelf(self._artifacts, hosted.app.name, user_id, start.session_id)
            await bring_along(shelf, log)
        replay = Replay.find(log, start.run_id) if start.resume else None
        if replay is not None:
            log = [event for event in log if event.seq < replay.began]
        await fill_session(
            self._sessions,
            app_name=hosted.app.name,
            user_id=user_id,
            session_id=start.session_id,
            log=log,
            state=state,
        )
        link = SessionLink(
            self._connection,
            start.session_id,
            after_seq=log[-1].seq if log else 0,
            worker_id=self._worker_id,
        )
        in_log = {event.event_id for event in log if event.kind == "event"}
        conversation = Conversation(link, replay=replay, forwarded=in_log)
        return _Kept(conversation, hosted.app.name, user_id, self._plugins[hosted.name])

    async def _forget_the_oldest(self) -> None:
        for session_id in list(self._kept):
            if len(self._kept) <= MAX_SESSIONS:
                return
            if session_id not in self._busy:
                await self._forget(session_id)

    async def _forget(self, session_id: str) -> None:
        kept = self._kept.pop(session_id, None)
        if kept is None:
            return
        kept.plugin.bound.pop(session_id, None)
        await background.run(kept.conversation.link.close())
        await self._sessions.delete_session(
            app_name=kept.app_name, user_id=kept.user_id, session_id=session_id
        )

    def _runner(self, hosted: HostedAgent) -> Runner:
        if hosted.name not in self._runners:
            self._runners[hosted.name] = Runner(
                app=self._with_plugin(hosted),
                session_service=self._sessions,
                artifact_service=self._artifacts,
                memory_service=self._memory,
                credential_service=self._credentials,
            )
        return self._runners[hosted.name]

    def _with_plugin(self, hosted: HostedAgent) -> App:
        own = [plugin for plugin in hosted.app.plugins if not isinstance(plugin, HotseatPlugin)]
        theirs = [plugin for plugin in hosted.app.plugins if isinstance(plugin, HotseatPlugin)]
        # An app that has our plugin already says which of its agents a person answers for.
        plugin = HostedPlugin(theirs[0].agents if theirs else None)
        self._plugins[hosted.name] = plugin
        return hosted.app.model_copy(update={"plugins": [*own, plugin]})

    def _remember_end(self, end: Any) -> None:
        self._ended[end.run_id] = end
        while len(self._ended) > MAX_ENDED_RUNS:
            self._ended.popitem(last=False)
