"""One session on the server, as the program that drives it sees it.

A link submits turns and waits for their answers, appends to the log, and hears of tools that are
to be cancelled. Answers come over one `Subscribe` stream per session that is resumed by `seq`, so
an answer given while the connection was down arrives when it is up again. After every break the
turns that still wait are submitted again, which changes nothing where the server has them.

Everything here runs on the background loop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc

from hotseat import _wire, background
from hotseat.connection import Connection, Pause
from hotseat.errors import ConnectionClosed, HotseatError, RunTakenOver, ServerRefused

# A stream without a turn or a tool to wait for is kept this long, because most runs ask again.
_IDLE_SECONDS = 30.0

# How long the dismissal of an abandoned turn is tried.
_DISMISS_SECONDS = 5.0

# The server's word for a run that another worker has.
_TAKEN_OVER = "run_elsewhere"

_KINDS = ["response", "tool_run", "session"]


@dataclass
class _Turn:
    request: Any
    answer: asyncio.Future[Any]


class SessionLink:
    """The driver's end of one Hotseat session."""

    def __init__(
        self,
        connection: Connection,
        session_id: str,
        *,
        creation: Any | None = None,
        after_seq: int = 0,
        worker_id: str = "",
    ) -> None:
        """Makes a link that does nothing yet.

        With `creation`, the session is made by this side, and made again with the same id where
        the server does not know it any more. Without, it must be there. With `worker_id`, nothing
        is written while another worker has the run.
        """
        self.id = session_id
        self.completed = False
        self.opened = False
        self.page_url = ""
        self._connection = connection
        self._creation = creation
        self._last_seq = after_seq
        self._worker_id = worker_id
        self._turns: dict[str, _Turn] = {}
        self._tools: dict[str, Callable[[], None]] = {}
        self._follower: asyncio.Task[None] | None = None
        self._rest: asyncio.TimerHandle | None = None
        self._abandoned = False

    @property
    def idle(self) -> bool:
        """Whether nothing waits on this link."""
        return not self._turns and not self._tools

    async def open(self) -> None:
        """Creates the session, or finds it there."""
        if self._creation is not None:
            session = await self._connection.call("Seat", "CreateSession", self._creation)
        else:
            request = _wire.GetSessionRequest(session_id=self.id)
            session = await self._connection.call("Seat", "GetSession", request)
        self.opened = True
        self.page_url = session.url or f"{self._connection.url}/sessions/{self.id}"
        self.completed = session.status == "completed"
        self._last_seq = max(self._last_seq, session.last_seq)

    async def ask(self, request: Any) -> Any:
        """Submits a turn and waits, without limit, for the event that answers it."""
        request.worker_id = self._worker_id
        turn = _Turn(request, asyncio.get_running_loop().create_future())
        self._turns[request.turn_id] = turn
        self._follow()
        try:
            submitted = await self._call("Seat", "SubmitRequest", request)
            if submitted.duplicate:
                await self._look_for_answer(turn, submitted.seq)
            return await turn.answer
        except asyncio.CancelledError:
            # Nobody will use the answer, and an unanswered turn holds up those behind it.
            background.submit_farewell(self._dismiss(request.turn_id))
            raise
        finally:
            del self._turns[request.turn_id]
            # If submitting failed, nobody looks at what the follower put here.
            turn.answer.cancel()
            self._rest_if_idle()

    async def append(self, events: Sequence[Any]) -> None:
        """Appends to the log; on return the events are durable."""
        request = _wire.AppendEventsRequest(
            session_id=self.id, events=events, worker_id=self._worker_id
        )
        await self._call("Sessions", "AppendEvents", request)

    async def tool_started(self, call_id: str, cancel: Callable[[], None]) -> None:
        """Has `cancel` called, on this loop, when somebody cancels the tool call."""
        self._tools[call_id] = cancel
        self._follow()

    async def tool_ended(self, call_id: str) -> None:
        """Forgets a tool call."""
        self._tools.pop(call_id, None)
        self._rest_if_idle()

    def cancel_tool(self, call_id: str) -> None:
        """Cancels a running tool call; nothing happens if it does not run here."""
        if cancel := self._tools.pop(call_id, None):
            cancel()

    @property
    def abandoned(self) -> bool:
        """Whether another worker goes on with this session."""
        return self._abandoned

    def abandon(self) -> None:
        """Writes nothing more: another worker goes on with this session."""
        self._abandoned = True

    async def close(self) -> None:
        """Stops listening; whoever still waits gets an error."""
        self._fail_turns(ConnectionClosed(self._connection.url))
        self._stop_following()

    def _follow(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        if self._follower is None or self._follower.done():
            self._follower = asyncio.get_running_loop().create_task(self._follow_log())

    def _rest_if_idle(self) -> None:
        if self.idle and self._rest is None:
            loop = asyncio.get_running_loop()
            self._rest = loop.call_later(_IDLE_SECONDS, self._stop_following)

    def _stop_following(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        if self._follower is not None:
            self._follower.cancel()
            self._follower = None

    async def _follow_log(self) -> None:
        pause = Pause(self._connection)
        try:
            while True:
                broken = await self._read_stream(pause)
                if self.idle:
                    return  # The next turn or tool begins to follow again.
                if broken is None:
                    # The server said goodbye properly; it may be back in a moment.
                    await pause.wait()
                elif broken.code() == grpc.StatusCode.NOT_FOUND and self._creation is not None:
                    await self._create_again()
                else:
                    await self._connection.endure(broken, "Subscribe", pause)
                await self._submit_waiting_turns()
        except HotseatError as error:
            self._fail_turns(error)

    async def _read_stream(self, pause: Pause) -> grpc.aio.AioRpcError | None:
        request = _wire.SubscribeRequest(session_id=self.id, after_seq=self._last_seq, kinds=_KINDS)
        try:
            async for event in self._connection.stream("Seat", "Subscribe", request):
                self._connection.reached()
                pause.reset()
                self._take(event)
        except grpc.aio.AioRpcError as error:
            return error
        return None

    def _take(self, event: Any) -> None:
        if event.seq <= self._last_seq:
            return
        self._last_seq = event.seq
        if event.kind == "response":
            turn = self._turns.get(event.turn_id)
            if turn is not None and not turn.answer.done():
                turn.answer.set_result(event)
        elif event.kind == "tool_run" and self._tools:
            tool_run = json.loads(event.raw_json)
            if tool_run.get("status") == "cancel_requested":
                self.cancel_tool(tool_run.get("call_id", ""))
        elif event.kind == "session":
            self.completed = json.loads(event.raw_json).get("status") == "completed"

    async def _submit_waiting_turns(self) -> None:
        for turn in list(self._turns.values()):
            if turn.answer.done():
                continue
            try:
                await self._call("Seat", "SubmitRequest", turn.request)
            except (ServerRefused, RunTakenOver) as error:
                if not turn.answer.done():
                    turn.answer.set_exception(error)

    async def _look_for_answer(self, turn: _Turn, after_seq: int) -> None:
        # A turn that was adopted may have been answered before anybody here waited for it, and
        # the stream may have passed the answer already.
        while not turn.answer.done():
            request = _wire.ListEventsRequest(
                session_id=self.id, after_seq=after_seq, kinds=["response"]
            )
            page = await self._call("Sessions", "ListEvents", request)
            for event in page.events:
                if event.turn_id == turn.request.turn_id and not turn.answer.done():
                    turn.answer.set_result(event)
            if not page.more or not page.events:
                return
            after_seq = page.events[-1].seq

    async def _call(self, service: str, method: str, request: Any) -> Any:
        if self._abandoned:
            raise RunTakenOver(self.id)
        try:
            return await self._connection.call(service, method, request)
        except ServerRefused as error:
            if error.reason == _TAKEN_OVER:
                self.abandon()
                raise RunTakenOver(self.id) from None
            if error.code != grpc.StatusCode.NOT_FOUND or self._creation is None:
                raise
        await self._create_again()
        return await self._connection.call(service, method, request)

    async def _create_again(self) -> None:
        # The log is a new one, so what was read of the old one says nothing about it.
        self._last_seq = 0
        await self._connection.call("Seat", "CreateSession", self._creation)

    async def _dismiss(self, turn_id: str) -> None:
        if self._abandoned:
            return
        request = _wire.DismissTurnRequest(
            session_id=self.id,
            turn_id=turn_id,
            reason="the run was cancelled",
            worker_id=self._worker_id,
        )
        try:
            async with asyncio.timeout(_DISMISS_SECONDS):
                await self._connection.call("Seat", "DismissTurn", request)
        except (HotseatError, TimeoutError):
            return

    def _fail_turns(self, error: HotseatError) -> None:
        for turn in self._turns.values():
            if not turn.answer.done():
                turn.answer.set_exception(error)
