"""A worker's line to the server.

The stream is kept up for as long as the process lives: after a break the worker registers again
under the same id and names the runs it is still working on, so the server neither loses them nor
starts them twice. The end of a run is kept until it is on the stream, and told again if the server
asks for a run that has ended.

Everything here runs on the background loop; only :meth:`Attachment.send` may be called from
elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from typing import Any

import grpc

from hotseat import _wire, background
from hotseat.connection import Connection, Pause


class Attachment:
    """Registers a worker and passes messages in both directions."""

    def __init__(
        self,
        connection: Connection,
        registration: Callable[[], Any],
        receive: Callable[[Any], None],
    ) -> None:
        """Makes a line that is not up yet.

        `registration` gives the `Register` message of the moment. `receive` is called with each
        `ServerMessage`, on the background loop.
        """
        self._connection = connection
        self._registration = registration
        self._receive = receive
        self._outbox: deque[Any] = deque()
        self._filled = asyncio.Event()
        self._emptied = asyncio.Event()
        self._emptied.set()
        self._up = False

    def send(self, message: Any) -> None:
        """Sends a `WorkerMessage`, now or when the line is up again."""
        background.loop().call_soon_threadsafe(self._put, message)

    def pass_on(self, message: Any) -> None:
        """Sends a `WorkerMessage` if the line is up; else nobody will miss it."""
        background.loop().call_soon_threadsafe(self._put_if_up, message)

    @property
    def waiting(self) -> int:
        """How many messages are not on the stream yet."""
        return len(self._outbox)

    async def sent(self) -> None:
        """Returns when everything is on the stream, or the line is down."""
        while self._outbox and self._up:
            await self._emptied.wait()

    async def serve(self) -> None:
        """Keeps the line up; returns only by raising what will not heal."""
        pause = Pause(self._connection)
        while True:
            try:
                await self._attach(pause)
                await pause.wait()
            except grpc.aio.AioRpcError as error:
                await self._connection.endure(error, "Attach", pause)

    async def _attach(self, pause: Pause) -> None:
        call = self._connection.duplex("Worker", "Attach")
        writer = asyncio.get_running_loop().create_task(self._write(call))
        try:
            async for message in call:
                self._connection.reached()
                pause.reset()
                self._receive(message)
        finally:
            writer.cancel()
            call.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await writer
            self._hang_up()

    async def _write(self, call: grpc.aio.StreamStreamCall) -> None:
        # The reader learns why a stream broke, so a failing write only has to stop.
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            await call.write(_wire.WorkerMessage(register=self._registration()))
            self._up = True
            while True:
                while self._outbox:
                    await call.write(self._outbox[0])
                    self._outbox.popleft()
                self._emptied.set()
                self._filled.clear()
                await self._filled.wait()

    def _put(self, message: Any) -> None:
        self._outbox.append(message)
        self._emptied.clear()
        self._filled.set()

    def _put_if_up(self, message: Any) -> None:
        if self._up:
            self._put(message)

    def _hang_up(self) -> None:
        self._up = False
        # What was to be shown at once is not worth showing later.
        lasting = [each for each in self._outbox if each.WhichOneof("message") != "partial"]
        self._outbox = deque(lasting)
        self._emptied.set()
