"""Unary calls over HTTP/1.1, and what happens where nobody speaks that."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import pytest
import pytest_asyncio
from hotseat import _wire, http1, short_calls
from hotseat.connection import Connection
from hotseat.errors import ConnectionClosed, ServerRefused, ServerUnreachable
from hotseat.http1 import NotOurServer, framed
from hotseat.settings import Address, Settings
from hotseat.short_calls import ShortCalls
from support import PATIENCE, Server, free_port

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"

Reply = Callable[[int, asyncio.StreamWriter], Awaitable[None]]


def whole(message: bytes) -> bytes:
    """An answer with its length."""
    body = framed(message)
    return HEAD + b"content-length: %d\r\n\r\n" % len(body) + body


def in_chunks(message: bytes, size: int) -> bytes:
    """An answer in chunks, with something to be ignored behind them."""
    body = framed(message)
    pieces = [body[n : n + size] for n in range(0, len(body), size)]
    chunks = b"".join(b"%x;a=b\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return CHUNKED + chunks + b"0\r\nsome: trailer\r\n\r\n"


class Fake:
    """A server that answers what a test says."""

    def __init__(self, reply: Reply) -> None:
        self.requests: list[bytes] = []
        self._came: asyncio.Queue[None] = asyncio.Queue()
        self.connections = 0
        self._reply = reply
        self._writers: list[asyncio.StreamWriter] = []

    async def start(self) -> Address:
        """Listens; its address."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return Address("127.0.0.1", self._server.sockets[0].getsockname()[1])

    async def wait_for_requests(self, number: int) -> None:
        """Returns when so many more requests have come."""
        async with asyncio.timeout(PATIENCE):
            for _ in range(number):
                await self._came.get()

    async def stop(self) -> None:
        """Closes everything."""
        self._server.close()
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.rpartition(b"content-length: ")[2])
                self.requests.append(head + await reader.readexactly(size))
                self._came.put_nowait(None)
                await self._reply(len(self.requests), writer)
                await writer.drain()
        writer.close()


@pytest_asyncio.fixture
async def fake() -> AsyncIterator[Callable[[Reply], Awaitable[tuple[Fake, Address]]]]:
    """Starts servers of a test's own and stops them."""
    servers: list[Fake] = []

    async def start(reply: Reply) -> tuple[Fake, Address]:
        servers.append(Fake(reply))
        return servers[-1], await servers[-1].start()

    yield start
    for server in servers:
        await server.stop()


def saying(*answers: bytes) -> Reply:
    """Gives one answer after the other, the last one again and again."""

    async def reply(number: int, writer: asyncio.StreamWriter) -> None:
        writer.write(answers[min(number, len(answers)) - 1])

    return reply


async def test_a_call_is_a_framed_message_with_the_token(fake: Any) -> None:
    server, address = await fake(saying(whole(b"pong")))
    calls = ShortCalls(address)
    assert await calls.call("/a.B/C", "secret", b"ping") == b"pong"
    assert await calls.call("/a.B/C", None, b"") == b"pong"
    calls.close()
    first, second = server.requests
    head, _, body = first.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /a.B/C HTTP/1.1\r\n")
    assert f"host: {address.target}".encode() in head
    assert b"authorization: Bearer secret" in head and b"authorization" not in second
    assert body == b"\0\0\0\0\4ping" and second.endswith(b"\0\0\0\0\0")
    assert server.connections == 1


@pytest.mark.parametrize(
    "answer",
    [whole(b"pong"), whole(b""), in_chunks(b"pong", 100), in_chunks(b"p" * 300, 7)],
    ids=["whole", "empty", "one chunk", "many chunks"],
)
async def test_an_answer_may_come_in_pieces_of_any_size(answer: bytes) -> None:
    for size in (1, 2, 3, 5, 50, len(answer)):
        line = http1.Http1Line(lambda _: None)
        line._transport = _Nowhere()
        call = asyncio.ensure_future(line.call(b"?"))
        await asyncio.sleep(0)
        for begin in range(0, len(answer), size):
            assert not call.done()
            line.data_received(answer[begin : begin + size])
        expected = b"" if answer == whole(b"") else b"p" * 300 if len(answer) > 400 else b"pong"
        assert await call == expected


class _Nowhere(asyncio.Transport):
    """A transport that leads nowhere."""

    def write(self, data: Any) -> None:
        """Forgets it."""

    def abort(self) -> None:
        """Has nothing to end."""


async def test_a_refusal_has_the_code_and_the_words_of_the_server(fake: Any) -> None:
    refusal = (
        HEAD + b"grpc-status: 5\r\ngrpc-message: no%20t%C3%A9a\r\nhotseat-code: no_tea\r\n"
        b"content-length: 0\r\n\r\n"
    )
    server, address = await fake(saying(refusal, whole(b"pong")))
    calls = ShortCalls(address)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await calls.call("/a.B/C", None, b"")
    assert refused.value.code() == grpc.StatusCode.NOT_FOUND
    assert refused.value.details() == "no téa"
    assert refused.value.trailing_metadata().get("hotseat-code") == "no_tea"
    assert await calls.call("/a.B/C", None, b"") == b"pong"
    assert server.connections == 1
    calls.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n",
        b"\0\0\x12\4\0\0\0\0\0" + b"\0" * 18,
        whole(b"pong") + b"more",
        CHUNKED + b"not a number\r\n",
        CHUNKED + b"2\r\nabc\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"x" * 100_000,
    ],
    ids=["status", "type", "http2", "more", "size", "chunk", "endless"],
)
async def test_what_is_no_answer_of_ours_is_told_so(fake: Any, answer: bytes) -> None:
    _, address = await fake(saying(answer))
    calls = ShortCalls(address)
    with pytest.raises(NotOurServer) as told:
        await calls.call("/a.B/C", None, b"")
    assert told.value.for_sure
    calls.close()


async def test_an_answer_that_is_too_large_is_refused(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http1, "MAX_ANSWER_BYTES", 1000)
    _, address = await fake(saying(in_chunks(b"x" * 2000, 100)))
    calls = ShortCalls(address)
    with pytest.raises(NotOurServer, match="more than 1,000 bytes"):
        await calls.call("/a.B/C", None, b"")
    calls.close()


async def test_calls_at_the_same_time_have_connections_of_their_own_up_to_a_limit(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(short_calls, "MAX_LINES", 3)
    gate = asyncio.Event()

    async def reply(_: int, writer: asyncio.StreamWriter) -> None:
        await gate.wait()
        writer.write(whole(b"pong"))

    server, address = await fake(reply)
    calls = ShortCalls(address)
    tasks = [asyncio.ensure_future(calls.call("/a.B/C", None, b"")) for _ in range(10)]
    await server.wait_for_requests(3)
    for waiting in tasks[5:7]:
        waiting.cancel()
    gate.set()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert [answer for answer in answers if answer == b"pong"] == [b"pong"] * 8
    assert server.connections == 3
    calls.close()


async def test_the_connection_of_a_cancelled_call_is_not_used_again(fake: Any) -> None:
    gate = asyncio.Event()

    async def reply(number: int, writer: asyncio.StreamWriter) -> None:
        if number == 1:
            await gate.wait()
        writer.write(whole(b"%d" % number))

    server, address = await fake(reply)
    calls = ShortCalls(address)
    first = asyncio.ensure_future(calls.call("/a.B/C", None, b""))
    await server.wait_for_requests(1)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    gate.set()
    assert await calls.call("/a.B/C", None, b"") == b"2"
    assert server.connections == 2
    calls.close()


async def test_a_server_that_says_nothing_is_given_up(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(short_calls, "ANSWER_SECONDS", 0.05)
    monkeypatch.setattr(short_calls, "_LOOK_SECONDS", 0.02)
    _, address = await fake(saying(b""))
    calls = ShortCalls(address)
    with pytest.raises(grpc.aio.AioRpcError) as given_up:
        await calls.call("/a.B/C", None, b"")
    assert given_up.value.code() == grpc.StatusCode.UNAVAILABLE
    assert "no answer for" in given_up.value.details()
    calls.close()


def connected(address: Address) -> Connection:
    """A connection with a token."""
    return Connection(Settings(address, "token"))


async def ask(connection: Connection) -> Any:
    """A call that any server of ours answers."""
    request = _wire.GetAdkUserStateRequest(app_name="a", user_id="u")
    return await connection.call("Sessions", "GetAdkUserState", request, patience=5)


ANSWER = _wire.GetAdkUserStateResponse(state_json=b"{}").SerializeToString()


async def test_a_connection_that_was_closed_meanwhile_costs_nothing(
    fake: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    async def reply(number: int, writer: asyncio.StreamWriter) -> None:
        if number == 2:
            writer.close()  # Just when it is used again.
        else:
            writer.write(whole(ANSWER))

    server, address = await fake(reply)
    connection = connected(address)
    for _ in range(3):
        assert (await ask(connection)).state_json == b"{}"
    assert (len(server.requests), server.connections) == (4, 2)
    assert "not reachable" not in capfd.readouterr().err
    await connection.close()


async def test_a_refusal_after_a_lost_answer_says_that_it_was_repeated(fake: Any) -> None:
    refusal = HEAD + b"grpc-status: 6\r\ncontent-length: 0\r\n\r\n"

    async def reply(number: int, writer: asyncio.StreamWriter) -> None:
        if number == 2:
            writer.close()
        else:
            writer.write(whole(ANSWER) if number == 1 else refusal)

    _, address = await fake(reply)
    connection = connected(address)
    await ask(connection)
    with pytest.raises(ServerRefused) as refused:
        await ask(connection)
    assert refused.value.repeated
    with pytest.raises(ServerRefused) as refused:
        await ask(connection)
    assert not refused.value.repeated
    await connection.close()


async def test_a_server_that_is_not_there_is_waited_for_with_patience() -> None:
    connection = connected(Address("127.0.0.1", free_port()))
    request = _wire.GetAdkUserStateRequest(app_name="a", user_id="u")
    with pytest.raises(ServerUnreachable, match="cannot connect"):
        await connection.call("Sessions", "GetAdkUserState", request, patience=0.1)
    await connection.close()


async def test_closing_ends_the_calls_that_are_under_way(fake: Any) -> None:
    server, address = await fake(saying(b""))
    connection = connected(address)
    call = asyncio.ensure_future(ask(connection))
    await server.wait_for_requests(1)
    await connection.close()
    with pytest.raises(ConnectionClosed):
        await call
    with pytest.raises(ConnectionClosed):
        await ask(connection)


async def test_a_server_of_http2_alone_is_spoken_to_in_grpc() -> None:
    async def state(request: bytes, context: Any) -> bytes:
        return ANSWER

    handlers = {"GetAdkUserState": grpc.unary_unary_rpc_method_handler(state)}
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler("hotseat.v1.Sessions", handlers)]
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    connection = connected(Address("127.0.0.1", port))
    for _ in range(3):
        assert (await ask(connection)).state_json == b"{}"
    assert connection._short is None
    await connection.close()
    await server.stop(None)


async def test_our_own_server_needs_no_grpc_for_short_calls(server: Server) -> None:
    connection = Connection(Settings.resolve(server.url, server.token))
    assert (await ask(connection)).state_json == b"{}"
    with pytest.raises(ServerRefused, match="NOT_FOUND"):
        key = _wire.AdkSessionKey(app_name="a", user_id="u", id="none")
        request = _wire.GetAdkSessionRequest(key=key)
        await connection.call("Sessions", "GetAdkSession", request)
    assert connection._channel is None
    await connection.close()
