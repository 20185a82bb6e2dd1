"""The errors a user of this package can see.

Messages name the server's address and say what to do next, because they surface in the middle of
somebody else's program.
"""

from __future__ import annotations

import grpc

_ADVICE = {
    grpc.StatusCode.UNAUTHENTICATED: (
        "the token is missing or wrong: pass token=…, set HOTSEAT_TOKEN, or run where the server's"
        " .hotseat/token can be found"
    ),
    grpc.StatusCode.PERMISSION_DENIED: "the token does not allow this",
    grpc.StatusCode.UNIMPLEMENTED: (
        "what answers there does not speak this version of Hotseat: check the address and update"
        " the server"
    ),
}


class HotseatError(RuntimeError):
    """Hotseat could not do what was asked, and trying again will not help."""


class ServerRefused(HotseatError):
    """The server answered with an error that will not heal by itself."""

    def __init__(
        self, url: str, method: str, code: grpc.StatusCode, details: str, reason: str = ""
    ) -> None:
        advice = _ADVICE.get(code)
        text = f"Hotseat at {url} refused {method}: {code.name}"
        if details:
            text += f": {details}"
        if advice:
            text += f"; {advice}"
        super().__init__(text)
        self.code = code
        self.details = details
        self.reason = reason
        """Which refusal it is, by the server's own word: several share a code."""
        self.repeated = False
        """Whether the request was sent before, and may have done its work without us knowing."""


class ServerUnreachable(HotseatError):
    """The server was away for longer than the caller was willing to wait."""

    def __init__(self, url: str, method: str, seconds: float, details: str) -> None:
        text = (
            f"Hotseat was not reachable at {url} for {seconds:g} seconds, so {method} was given"
            " up: start the server with `hotseat web`, or check the address"
        )
        super().__init__(f"{text} ({details})" if details else text)


class ConnectionClosed(HotseatError):
    """The connection was closed on this side while somebody waited on it."""

    def __init__(self, url: str) -> None:
        super().__init__(f"the connection to Hotseat at {url} was closed")


class RunTakenOver(HotseatError):
    """Another worker goes on with the run, so nothing more is written of it here."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"another worker goes on with the run of session {session_id}")
