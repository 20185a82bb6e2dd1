"""One HTTP/1.1 connection that carries unary gRPC calls, one after the other.

The messages are those of gRPC, framed as gRPC frames them; what differs is the transport. A server
that fails a call says so in the headers, and an answer is complete when its message is, so the
trailers, which HTTP/1.1 does not carry here, are not missed.

Nothing is retried here, and nothing is answered twice: after a broken or abandoned call the
connection is closed.
"""

from __future__ import annotations

import asyncio
import enum
import urllib.parse
from collections.abc import Callable

import grpc

# The largest answer accepted from the server; single events are limited to 10 MiB there, and a
# page of them stays well below this.
MAX_ANSWER_BYTES = 256 * 1024 * 1024

# The largest head of an answer; ours are a few hundred bytes.
_MAX_HEAD_BYTES = 64 * 1024

# The metadata in which the server says which of the refusals that share a code it is.
REASON = "hotseat-code"

_CODES = {code.value[0]: code for code in grpc.StatusCode}
_OK = b"0"
_FRAME_BYTES = 5


class NotOurServer(Exception):
    """What answers does not speak gRPC over HTTP/1.1; it may speak it over HTTP/2."""

    def __init__(self, reason: str, *, for_sure: bool = True) -> None:
        super().__init__(reason)
        self.for_sure = for_sure


class Stale(Exception):
    """A connection that had been used before was closed before anything was answered.

    Servers close connections that nobody uses, and one may be used just then.
    """


class _Reading(enum.Enum):
    HEAD = enum.auto()
    SIZE = enum.auto()
    DATA = enum.auto()
    DATA_END = enum.auto()
    TRAILER = enum.auto()


def failed(code: grpc.StatusCode, details: str, reason: str = "") -> grpc.aio.AioRpcError:
    """The error that gRPC itself would raise, with the server's own word for it."""
    told = grpc.aio.Metadata((REASON, reason)) if reason else grpc.aio.Metadata()
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), told, details)


class Http1Line(asyncio.Protocol):
    """A connection and the call that is on it, if there is one."""

    def __init__(self, closed: Callable[[Http1Line], None]) -> None:
        """Makes a line that calls `closed` once when it cannot be used any more."""
        self.used = False
        self.heard_at = 0.0
        self._closed = closed
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[bytes] | None = None
        self._begin()

    @property
    def busy(self) -> bool:
        """Whether a call is on it."""
        return self._answer is not None

    async def call(self, request: bytes) -> bytes:
        """Sends a whole request and returns the message of the answer."""
        if self._transport is None:
            raise Stale
        answer = self._answer = self._loop.create_future()
        self.heard_at = self._loop.time()
        self._transport.write(request)
        try:
            return await answer
        except asyncio.CancelledError:
            self.close()  # Whatever comes now would be taken for the answer to the next call.
            raise

    def close(self) -> None:
        """Closes the connection; the call on it fails."""
        self._break(failed(grpc.StatusCode.UNAVAILABLE, "the connection was closed"))

    def give_up(self, reason: str) -> None:
        """Closes the connection because the server does not answer."""
        self._break(failed(grpc.StatusCode.UNAVAILABLE, reason))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is up."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is gone, and with it the call on it."""
        if self._answer is not None and not self._heard and error is None:
            silent = NotOurServer("it closes the connection without a word", for_sure=False)
            self._break(Stale() if self.used else silent)
        elif self._answer is not None and not self._heard and self.used:
            self._break(Stale())
        else:
            reason = f"the connection was lost: {error}" if error else "the connection was lost"
            self._break(failed(grpc.StatusCode.UNAVAILABLE, reason))

    def data_received(self, data: bytes) -> None:
        """Some of an answer."""
        self._heard = True
        self.heard_at = self._loop.time()
        try:
            if self._answer is None:
                raise NotOurServer("it speaks without being asked")
            self._read(self._rest + data if self._rest else data)
        except (NotOurServer, ValueError) as error:
            self._break(error if isinstance(error, NotOurServer) else NotOurServer(str(error)))

    def _begin(self) -> None:
        self._heard = False
        self._rest = b""
        self._reading = _Reading.HEAD
        self._chunked = False
        self._last = False
        self._missing = 0
        self._size = 0
        self._parts: list[bytes] = []
        self._failure: grpc.aio.AioRpcError | None = None

    def _read(self, data: bytes) -> None:
        self._rest = b""
        at = 0
        while True:
            if self._reading is _Reading.DATA:
                piece = data[at : at + self._missing] if at or self._missing < len(data) else data
                self._take(piece)
                at += len(piece)
                if self._missing:
                    return
                if not self._chunked:
                    break
                self._reading = _Reading.DATA_END
                continue
            mark = b"\r\n\r\n" if self._reading is _Reading.HEAD else b"\r\n"
            end = data.find(mark, at)
            if end < 0:
                self._rest = data[at:]
                if len(self._rest) > _MAX_HEAD_BYTES:
                    raise NotOurServer("the head of its answer has no end")
                if self._reading is _Reading.HEAD and not b"HTTP/1.1 ".startswith(self._rest[:9]):
                    raise NotOurServer("it does not answer in HTTP/1.1")
                return
            line, at = data[at:end], end + len(mark)
            if self._reading is _Reading.HEAD:
                self._read_head(line)
                if self._reading is _Reading.DATA and not self._missing:
                    break
            elif self._reading is _Reading.SIZE:
                self._missing = int(line.partition(b";")[0], 16)
                self._reading = _Reading.DATA if self._missing else _Reading.TRAILER
            elif self._reading is _Reading.DATA_END:
                if line:
                    raise NotOurServer("a chunk of its answer is longer than it says")
                self._reading = _Reading.SIZE
            elif not line:
                break
        if at < len(data):
            raise NotOurServer("it says more than it was asked")
        self._finish()

    def _read_head(self, head: bytes) -> None:
        status, *lines = head.split(b"\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip()
        if not status.startswith(b"HTTP/1.1 200"):
            raise NotOurServer(f"it answers {status[:80].decode(errors='replace')!r}")
        if not headers.get(b"content-type", b"").startswith(b"application/grpc"):
            raise NotOurServer("its answer is not one of gRPC")
        code = headers.get(b"grpc-status", _OK)
        if code != _OK:
            details = urllib.parse.unquote(headers.get(b"grpc-message", b"").decode())
            known = _CODES.get(int(code), grpc.StatusCode.UNKNOWN)
            reason = headers.get(REASON.encode(), b"").decode(errors="replace")
            self._failure = failed(known, details, reason)
        self._last = headers.get(b"connection", b"").lower() == b"close"
        self._chunked = headers.get(b"transfer-encoding", b"").lower() == b"chunked"
        self._missing = 0 if self._chunked else int(headers.get(b"content-length", b"0"))
        self._reading = _Reading.SIZE if self._chunked else _Reading.DATA

    def _take(self, piece: bytes) -> None:
        self._missing -= len(piece)
        self._size += len(piece)
        if self._size > MAX_ANSWER_BYTES:
            raise NotOurServer(f"its answer has more than {MAX_ANSWER_BYTES:,} bytes")
        self._parts.append(piece)

    def _finish(self) -> None:
        body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        answer, failure, last = self._answer, self._failure, self._last
        self._answer = None
        self.used = True
        self._begin()
        if failure is None and not _is_one_message(body):
            failure = failed(grpc.StatusCode.INTERNAL, "rst_stream: the answer is cut off")
            last = True
        if answer is not None and not answer.done():
            if failure is None:
                answer.set_result(body[_FRAME_BYTES:])
            else:
                answer.set_exception(failure)
        if last:
            self.close()

    def _break(self, error: Exception) -> None:
        answer, self._answer = self._answer, None
        transport, self._transport = self._transport, None
        if answer is not None and not answer.done():
            answer.set_exception(error)
        if transport is not None:
            transport.abort()
            self._closed(self)


def framed(message: bytes) -> bytes:
    """A message as gRPC frames it, not compressed."""
    return b"\0" + len(message).to_bytes(4, "big") + message


def _is_one_message(body: bytes) -> bool:
    return body[:1] == b"\0" and int.from_bytes(body[1:_FRAME_BYTES], "big") == len(body) - 5
