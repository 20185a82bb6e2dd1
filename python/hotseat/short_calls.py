"""Unary calls without the machinery of gRPC.

A call through `grpc.aio` costs a Python program several times what the server spends on it: it
crosses threads, and the loop turns four times. The same messages over plain HTTP/1.1 connections
cost one write and one read. A few connections are kept, one for each call that is under way, and
used again.

Who answers here may not speak gRPC over HTTP/1.1: a proxy, another program. That is told as
:class:`~hotseat.http1.NotOurServer`, and the caller goes on with gRPC.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import deque
from typing import Any

import grpc

from hotseat.http1 import Http1Line, NotOurServer, Stale, failed, framed
from hotseat.settings import Address

__all__ = ["NotOurServer", "ShortCalls", "Stale"]

# Calls at the same time from one event loop. Others wait for their turn.
MAX_LINES = 64

_CONNECT_SECONDS = 10.0

# A server that says nothing for so long is taken for gone, as gRPC's keep-alive would.
ANSWER_SECONDS = 30.0
_LOOK_SECONDS = 5.0

# So that the other machine's death is noticed while nothing is sent.
_KEEP_ALIVE = [("TCP_KEEPIDLE", 20), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 2)]


class ShortCalls:
    """Calls to one server from one event loop."""

    def __init__(self, address: Address) -> None:
        """Makes no connection yet."""
        self._address = address
        self._idle: list[Http1Line] = []
        self._lines: set[Http1Line] = set()
        self._dialling = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._heads: dict[str, tuple[str | None, bytes]] = {}
        self._watch: asyncio.TimerHandle | None = None

    async def call(self, path: str, token: str | None, message: bytes) -> bytes:
        """Sends a message to a method and returns the one that it answers with.

        Raises :class:`grpc.aio.AioRpcError`, :class:`Stale` or :class:`NotOurServer`.
        """
        request = b"%b%d\r\n\r\n%b" % (self._head(path, token), len(message) + 5, framed(message))
        line = self._idle.pop() if self._idle else await self._new_line()
        if self._watch is None:
            self._watch = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look)
        try:
            return await line.call(request)
        finally:
            if line in self._lines:
                self._idle.append(line)
            self._next_please()

    def close(self) -> None:
        """Closes all connections; the calls on them fail."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        for line in list(self._lines):
            line.close()

    def _head(self, path: str, token: str | None) -> bytes:
        known = self._heads.get(path)
        if known is None or known[0] != token:
            lines = [
                f"POST {path} HTTP/1.1",
                f"host: {self._address.target}",
                "content-type: application/grpc",
                "te: trailers",
            ]
            if token:
                lines.append(f"authorization: Bearer {token}")
            known = (token, "\r\n".join([*lines, "content-length: "]).encode())
            self._heads[path] = known
        return known[1]

    async def _new_line(self) -> Http1Line:
        while len(self._lines) + self._dialling >= MAX_LINES:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._next_please()  # It was our turn; somebody else may have it.
                raise
            if self._idle:
                return self._idle.pop()
        self._dialling += 1
        try:
            return await self._dial()
        except BaseException:
            self._next_please()
            raise
        finally:
            self._dialling -= 1

    async def _dial(self) -> Http1Line:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                transport, line = await loop.create_connection(
                    lambda: Http1Line(self._lost), self._address.host, self._address.port
                )
        except (OSError, TimeoutError) as error:
            reason = str(error) or "it does not answer"
            raise failed(
                grpc.StatusCode.UNAVAILABLE, f"cannot connect to {self._address.target}: {reason}"
            ) from None
        _keep_alive(transport)
        self._lines.add(line)
        return line

    def _lost(self, line: Http1Line) -> None:
        self._lines.discard(line)
        if line in self._idle:
            self._idle.remove(line)
        self._next_please()

    def _next_please(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        self._watch = None
        busy = [line for line in self._lines if line.busy]
        for line in busy:
            if loop.time() - line.heard_at > ANSWER_SECONDS:
                line.give_up(f"no answer for {ANSWER_SECONDS:g} seconds")
        if busy:
            self._watch = loop.call_later(_LOOK_SECONDS, self._look)


def _keep_alive(transport: Any) -> None:
    connection = transport.get_extra_info("socket")
    with contextlib.suppress(OSError, AttributeError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEP_ALIVE:
            if option := getattr(socket, name, None):  # Not every system has them all.
                connection.setsockopt(socket.IPPROTO_TCP, option, value)
