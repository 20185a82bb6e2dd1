"""The connection to one Hotseat server.

A connection belongs to one loop, which for all but :mod:`hotseat.calls` is the background loop
(:mod:`hotseat.background`). What can heal (the server is not there, or goes away) is waited out
with growing pauses and told once per outage; what cannot is raised as
:class:`~hotseat.errors.ServerRefused`. Every request of the contract may be sent twice without
harm, which is what makes trying again safe.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import grpc

from hotseat import _wire
from hotseat.errors import ConnectionClosed, ServerRefused, ServerUnreachable
from hotseat.http1 import MAX_ANSWER_BYTES, REASON
from hotseat.notices import notice
from hotseat.settings import Settings, private_authority
from hotseat.short_calls import NotOurServer, ShortCalls, Stale

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0

# Whoever waits with a limit is in a hurry, and a server that restarts is away for a moment only.
_HURRIED_PAUSE_SECONDS = 0.05
_LONGEST_HURRIED_PAUSE_SECONDS = 1.0

_CHANNEL_OPTIONS = [
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 0),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", MAX_ANSWER_BYTES),
    ("grpc.max_send_message_length", -1),
    # gRPC's own pauses between dials grow to two minutes; ours decide.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # A local server must not be asked for through a proxy of the environment.
    ("grpc.enable_http_proxy", 0),
]


class Pause:
    """Growing pauses of one caller, cut short when any caller reaches the server again."""

    def __init__(
        self,
        connection: Connection,
        first: float = FIRST_PAUSE_SECONDS,
        longest: float = LONGEST_PAUSE_SECONDS,
    ) -> None:
        self._connection = connection
        self._first = self._seconds = first
        self._longest = longest

    def reset(self) -> None:
        """Begins again with the first, short pause."""
        self._seconds = self._first

    async def wait(self) -> None:
        """Waits, and makes the next pause longer."""
        seconds = self._seconds
        self._seconds = min(seconds * 2, self._longest)
        await self._connection.wait_until_reached(seconds)


class Connection:
    """A channel to one server, opened at first use, with the token on every call."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.url = settings.address.url
        self._channel: grpc.aio.Channel | None = None
        self._stubs: dict[str, _wire.Stub] = {}
        self._token: str | None = None
        self._refused_tokens: set[str] = set()
        self._reached = asyncio.Event()
        self._pausing = 0
        # TLS is left to gRPC.
        self._short = None if settings.address.secure else ShortCalls(settings.address)
        self._outage_told = False
        self._closed = False

    @property
    def token(self) -> str | None:
        """The token in use, also for links that people click."""
        if self._token is None:
            candidates = self.settings.candidate_tokens()
            self._token = next((t for t in candidates if t not in self._refused_tokens), None)
        return self._token

    async def call(
        self, service: str, method: str, request: Any, *, patience: float | None = None
    ) -> Any:
        """One unary call, repeated until the server answers it.

        With `patience`, a server that is away for more than so many seconds is given up.
        """
        pause: Pause | None = None
        away_since = 0.0
        repeated = False
        while True:
            try:
                answer = await self._unary(service, method, request)
            except Stale:
                repeated = True  # The server may have read it before it closed the connection.
            except grpc.aio.AioRpcError as error:
                away_since = away_since or time.monotonic()
                away = time.monotonic() - away_since
                if patience is not None and away > patience and _heals(error):
                    details = error.details() or ""
                    raise ServerUnreachable(self.url, method, patience, details) from None
                pause = pause or self._pause(patience)
                try:
                    await self.endure(error, method, pause)
                except ServerRefused as refusal:
                    refusal.repeated = repeated
                    raise
                repeated = True
            except (asyncio.CancelledError, grpc.aio.UsageError):
                # Closing the channel cancels the calls that are under way on it, which looks
                # like a cancelled task to whoever waits. It is not one.
                task = asyncio.current_task()
                if not self._closed or (task is not None and task.cancelling()):
                    raise
                raise ConnectionClosed(self.url) from None
            else:
                self.reached()
                return answer

    def stream(self, service: str, method: str, request: Any) -> AsyncIterator[Any]:
        """One server stream, as it is: the caller reads, resumes and endures errors."""
        return self._stub(service, method)(request, metadata=self._metadata())

    def duplex(self, service: str, method: str) -> grpc.aio.StreamStreamCall:
        """One stream in both directions, as it is."""
        return self._stub(service, method)(metadata=self._metadata())

    async def endure(self, error: grpc.aio.AioRpcError, method: str, pause: Pause) -> None:
        """Returns when it is time to try again; raises if that would not help."""
        if self._closed:
            raise ConnectionClosed(self.url) from None
        if error.code() == grpc.StatusCode.UNAUTHENTICATED and self._try_another_token():
            return
        if not _heals(error):
            refused = (self.url, method, error.code(), error.details() or "", _reason(error))
            raise ServerRefused(*refused) from None
        if not self._outage_told:
            self._outage_told = True
            notice(
                f"Hotseat is not reachable at {self.url}; start it with `hotseat web`;"
                " trying again…"
            )
        await pause.wait()
        if self._closed:
            raise ConnectionClosed(self.url) from None

    def reached(self) -> None:
        """Notes that the server answered, and wakes everybody who pauses."""
        if self._outage_told:
            self._outage_told = False
            notice(f"connected to {self.url}")
        self._wake()

    async def wait_until_reached(self, seconds: float) -> None:
        """Returns when somebody reached the server, after `seconds` at the latest."""
        self._pausing += 1
        try:
            await asyncio.wait_for(self._reached.wait(), seconds)
        except TimeoutError:
            return
        finally:
            self._pausing -= 1

    async def close(self) -> None:
        """Ends every call on this connection."""
        self._closed = True
        self._wake()
        if self._short is not None:
            self._short.close()
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    def _pause(self, patience: float | None) -> Pause:
        if patience is None:
            return Pause(self)
        return Pause(self, _HURRIED_PAUSE_SECONDS, _LONGEST_HURRIED_PAUSE_SECONDS)

    def _wake(self) -> None:
        if self._pausing:
            self._reached.set()
            self._reached = asyncio.Event()

    async def _unary(self, service: str, method: str, request: Any) -> Any:
        if self._short is None:
            return await self._stub(service, method)(request, metadata=self._metadata())
        if self._closed:
            raise ConnectionClosed(self.url)
        path, answer = _wire.unary(service, method)
        try:
            packed = await self._short.call(path, self.token, request.SerializeToString())
        except NotOurServer as error:
            if error.for_sure and self._short is not None:
                self._short.close()
                self._short = None
            return await self._stub(service, method)(request, metadata=self._metadata())
        return answer.FromString(packed)

    def _stub(self, service: str, method: str) -> Any:
        if self._closed:
            raise ConnectionClosed(self.url)
        if self._channel is None:
            address = self.settings.address
            self._channel = (
                grpc.aio.secure_channel(
                    address.target,
                    grpc.ssl_channel_credentials(root_certificates=private_authority()),
                    options=_CHANNEL_OPTIONS,
                )
                if address.secure
                else grpc.aio.insecure_channel(address.target, options=_CHANNEL_OPTIONS)
            )
            self._stubs.clear()
        if service not in self._stubs:
            self._stubs[service] = _wire.Stub(self._channel, service)
        return getattr(self._stubs[service], method)

    def _metadata(self) -> list[tuple[str, str]]:
        return [("authorization", f"Bearer {self.token}")] if self.token else []

    def _try_another_token(self) -> bool:
        if self._token is not None:
            self._refused_tokens.add(self._token)
            self._token = None
        if self.token is not None:
            return True
        # A later call starts over: the server may have been restarted with another token.
        self._refused_tokens.clear()
        return False


def _reason(error: grpc.aio.AioRpcError) -> str:
    told = error.trailing_metadata()
    reason = told.get(REASON) if told is not None else None
    return reason if isinstance(reason, str) else ""


def _heals(error: grpc.aio.AioRpcError) -> bool:
    if error.code() == grpc.StatusCode.UNAVAILABLE:
        return True
    # A connection that breaks in the middle of a call does not always end as UNAVAILABLE.
    details = (error.details() or "").lower()
    broken = ("rst_stream", "goaway", "stream removed", "connection reset", "socket closed")
    return error.code() in (
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.CANCELLED,
    ) and any(sign in details for sign in broken)
