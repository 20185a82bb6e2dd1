"""A worker's line to the server: what lasts is told in any case, what passes is not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest_asyncio
from hotseat import _wire, background
from hotseat.attachment import Attachment
from hotseat.connection import Connection
from hotseat.settings import Address, Settings
from support import PATIENCE, free_port


class Desk:
    """The server's end of the line."""

    def __init__(self) -> None:
        self.port = free_port()
        self.heard: asyncio.Queue[Any] = asyncio.Queue()
        self._server: grpc.aio.Server | None = None

    async def open(self) -> None:
        """Listens."""
        attach = grpc.stream_stream_rpc_method_handler(
            self._attach,
            request_deserializer=_wire.WorkerMessage.FromString,
            response_serializer=_wire.ServerMessage.SerializeToString,
        )
        service = grpc.method_handlers_generic_handler("hotseat.v1.Worker", {"Attach": attach})
        self._server = grpc.aio.server()
        self._server.add_generic_rpc_handlers([service])
        self._server.add_insecure_port(f"127.0.0.1:{self.port}")
        await self._server.start()

    async def close(self) -> None:
        """Breaks the line."""
        if self._server is not None:
            await self._server.stop(None)

    async def next(self, kind: str) -> Any:
        """The next message of a kind; what else comes is an error."""
        async with asyncio.timeout(PATIENCE):
            message = await self.heard.get()
        assert message.WhichOneof("message") == kind
        return getattr(message, kind)

    async def _attach(self, messages: AsyncIterator[Any], _: Any) -> AsyncIterator[Any]:
        async for message in messages:
            self.heard.put_nowait(message)
            if message.WhichOneof("message") == "register":
                yield _wire.ServerMessage(registered=_wire.Registered(url="here"))


class Line:
    """A worker's end."""

    def __init__(self, port: int) -> None:
        self._connection = Connection(Settings(Address("127.0.0.1", port)))
        self.up: asyncio.Queue[None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def received(_: Any) -> None:
            loop.call_soon_threadsafe(self.up.put_nowait, None)

        down = self.down = asyncio.Event()

        class Watched(Attachment):
            def _hang_up(self) -> None:
                super()._hang_up()
                loop.call_soon_threadsafe(down.set)

        self.attachment = Watched(self._connection, lambda: _wire.Register(worker_id="w"), received)
        self._serving = asyncio.ensure_future(background.run(self.attachment.serve()))

    async def is_up(self) -> None:
        """Returns when the server has greeted."""
        async with asyncio.timeout(PATIENCE):
            await self.up.get()

    async def close(self) -> None:
        """Hangs up for good."""
        await background.run(self._connection.close())
        await asyncio.gather(self._serving, return_exceptions=True)


def partial(text: str) -> Any:
    """A piece of an answer."""
    return _wire.WorkerMessage(partial=_wire.Partial(run_id=text))


def ended(run_id: str) -> Any:
    """The end of a run."""
    return _wire.WorkerMessage(run_ended=_wire.RunEnded(run_id=run_id))


@pytest_asyncio.fixture
async def desk() -> AsyncIterator[Desk]:
    """A server that listens."""
    desk = Desk()
    await desk.open()
    yield desk
    await desk.close()


async def test_pieces_are_sent_in_order_and_before_what_waits_for_them(desk: Desk) -> None:
    line = Line(desk.port)
    await line.is_up()
    for n in range(300):
        line.attachment.pass_on(partial(str(n)))
    await background.run(line.attachment.sent())
    assert line.attachment.waiting == 0
    line.attachment.send(ended("r"))
    await desk.next("register")
    assert [(await desk.next("partial")).run_id for _ in range(300)] == [str(n) for n in range(300)]
    assert (await desk.next("run_ended")).run_id == "r"
    await line.close()


async def test_while_the_line_is_down_ends_are_kept_and_pieces_are_not(desk: Desk) -> None:
    line = Line(desk.port)
    await line.is_up()
    await desk.next("register")
    await desk.close()
    async with asyncio.timeout(PATIENCE):
        await line.down.wait()
    line.attachment.pass_on(partial("lost"))
    line.attachment.send(ended("kept"))
    # Nobody has to wait for a server that is away.
    async with asyncio.timeout(PATIENCE):
        await background.run(line.attachment.sent())
    await desk.open()
    await desk.next("register")
    assert (await desk.next("run_ended")).run_id == "kept"
    await line.close()
