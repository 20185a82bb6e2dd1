"""What a source holds, whatever its form.

Events are bytes from here on: an event that is JSON in its source arrives byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

from hotseat.errors import HotseatError

APP_PREFIX = "app:"
USER_PREFIX = "user:"
TEMP_PREFIX = "temp:"


class SourceError(HotseatError):
    """A source cannot be read."""


class Key(NamedTuple):
    """ADK's name of a session."""

    app_name: str
    user_id: str
    id: str

    def __str__(self) -> str:
        return f"session {self.id} of {self.user_id} in {self.app_name}"


@dataclass(frozen=True)
class StoredSession:
    """A session without its events."""

    key: Key
    state: dict[str, Any]
    """Its own keys as they are in the end, without those it shares."""
    created: float
    """Seconds since 1970; 0 if the source does not say."""


@dataclass(frozen=True)
class StoredEvent:
    """An event of a session."""

    key: Key
    id: str
    raw: bytes
    delta: dict[str, Any]
    """What it changes in the state, shared keys included."""

    @property
    def is_shared(self) -> bool:
        """Whether other sessions see what it changes."""
        return any(name.startswith((APP_PREFIX, USER_PREFIX)) for name in self.delta)


@dataclass(frozen=True)
class Unreadable:
    """An event that cannot be taken, and why."""

    key: Key
    why: str


@dataclass
class Shared:
    """State that sessions share, the keys without their prefixes."""

    apps: dict[str, dict[str, Any]] = field(default_factory=dict)
    users: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)


class Source(Protocol):
    """One database or file."""

    name: str

    def sessions(self) -> list[StoredSession]:
        """All sessions that are wanted of it."""

    def shared(self) -> Shared:
        """The state that they share."""

    def events(self) -> Iterator[StoredEvent | Unreadable]:
        """Their events, of all sessions in the order in which they happened; more than once."""


@dataclass(frozen=True)
class Wanted:
    """Which sessions are wanted, and whose they are if they do not say."""

    app_name: str | None = None
    user_id: str | None = None

    def takes(self, app_name: str, user_id: str) -> bool:
        """Whether a session of this app and user is wanted."""
        return self.app_name in (None, app_name) and self.user_id in (None, user_id)


def field_of(thing: dict[str, Any], name: str) -> Any:
    """A field under its snake_case name or its camelCase one; `null` counts as absent."""
    if (value := thing.get(name)) is not None:
        return value
    first, *rest = name.split("_")
    return thing.get(first + "".join(word.capitalize() for word in rest))


def delta_of(event: dict[str, Any]) -> dict[str, Any]:
    """What an event changes in the state. A piece of a stream changes nothing."""
    actions = event.get("actions")
    if event.get("partial") or not isinstance(actions, dict):
        return {}
    delta = field_of(actions, "state_delta")
    return delta if isinstance(delta, dict) else {}


def own_keys(state: dict[str, Any]) -> dict[str, Any]:
    """The part of a state that only the session sees and that is kept."""
    others = (APP_PREFIX, USER_PREFIX, TEMP_PREFIX)
    return {name: value for name, value in state.items() if not name.startswith(others)}


def keys_under(prefix: str, state: dict[str, Any]) -> dict[str, Any]:
    """The part of a state that is shared under a prefix, without it."""
    return {
        name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)
    }


def seconds(value: Any) -> float:
    """A time in any of the forms that sources have, in seconds since 1970; 0 if it is none.

    A time without a zone is UTC, as ADK's databases have it.
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return 0.0
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
