"""Where the server is, and the token for it.

What the caller passes wins, then the environment, then what a server on this machine left behind:
its token file in the data folder, or its entry in the per-user record of running servers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from hotseat.errors import HotseatError

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 4687

_LOOPBACK = ("127.0.0.1", "localhost", "::1")

# A URL with the scheme of the web gets the web's port; our own schemes and bare hosts get ours.
_DEFAULT_PORTS = {
    "http": 80,
    "https": 443,
    "grpc": DEFAULT_PORT,
    "hotseat": DEFAULT_PORT,
}


@dataclass(frozen=True)
class Address:
    """A server's host, port and whether TLS is spoken."""

    host: str
    port: int
    secure: bool = False

    @classmethod
    def parse(cls, text: str) -> Address:
        """Reads `host`, `host:port` and http, https, grpc or hotseat URLs."""
        text = text.strip()
        if "://" not in text:
            text = f"hotseat://{text}"
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError as error:
            shown = _without_secrets(text)
            raise HotseatError(
                f"{shown!r} is not an address of a Hotseat server: {error}"
            ) from None
        if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
            raise HotseatError(
                f"{_without_secrets(text)!r} is not an address of a Hotseat server: write host,"
                " host:port or"
                f" http://host:port"
            )
        return cls(
            host=parts.hostname,
            port=port or _DEFAULT_PORTS[parts.scheme],
            secure=parts.scheme == "https",
        )

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine for sure."""
        return self.host in _LOOPBACK

    def is_same_server(self, other: Address) -> bool:
        """Whether both lead to the same server, as far as can be told."""
        same_host = self.host == other.host or (self.is_loopback and other.is_loopback)
        return same_host and self.port == other.port

    @property
    def target(self) -> str:
        """The form that gRPC dials."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The form that people read."""
        return f"{'https' if self.secure else 'http'}://{self.target}"


@dataclass(frozen=True)
class Settings:
    """A server's address and the token that was given for it, if one was."""

    address: Address
    # Not shown: what is printed ends up in logs.
    given_token: str | None = field(default=None, repr=False)

    @classmethod
    def resolve(cls, url: str | None = None, token: str | None = None) -> Settings:
        """Fills what the caller left out from the environment."""
        text = url or os.environ.get("HOTSEAT_URL") or f"{DEFAULT_HOST}:{DEFAULT_PORT}"
        return cls(Address.parse(text), token or os.environ.get("HOTSEAT_TOKEN") or None)

    def candidate_tokens(self) -> list[str]:
        """Tokens that may be the right one, best first, looked up anew.

        There can be several, because a token file nearby may belong to another server, and there
        can be more of them later, because a server writes its token when it first starts.
        """
        if self.given_token:
            return [self.given_token]
        found: dict[str, None] = {}
        for path in _token_files(self.address):
            try:
                token = path.read_text(encoding="utf-8").strip()
            except OSError:
                continue
            if token:
                found[token] = None
        return list(found)


def private_authority() -> bytes | None:
    """The certificates, in PEM, that a server's own is checked against; none means the system's.

    Environment: HOTSEAT_CA names the file. One that cannot be read is an error, because going on
    without it would only fail later and say less.
    """
    path = os.environ.get("HOTSEAT_CA")
    if not path:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise HotseatError(
            f"HOTSEAT_CA names {path}, which cannot be read: {error.strerror or error}"
        ) from None


def _without_secrets(url: str) -> str:
    """The part of a URL that can be shown: a pasted link may carry a token or a password."""
    shown = url.partition("?")[0].partition("#")[0]
    scheme, separator, rest = shown.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def state_home() -> Path:
    """The folder for state that belongs to this user and survives restarts."""
    configured = os.environ.get("XDG_STATE_HOME")
    return Path(configured) if configured else Path.home() / ".local" / "state"


def _token_files(address: Address) -> Iterator[Path]:
    if data := os.environ.get("HOTSEAT_DATA"):
        yield Path(data) / "token"
    # A token found lying around is only ever shown to this machine.
    if address.is_loopback:
        here = Path.cwd()
        for folder in (here, *here.parents):
            yield folder / ".hotseat" / "token"
    yield from _recorded_token_files(address)


def _recorded_token_files(address: Address) -> Iterator[Path]:
    hosts = dict.fromkeys([address.host, *(_LOOPBACK if address.is_loopback else ())])
    for host in hosts:
        record = state_home() / "hotseat" / "servers" / f"{host}_{address.port}.json"
        try:
            yield Path(json.loads(record.read_text("utf-8"))["token_file"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
