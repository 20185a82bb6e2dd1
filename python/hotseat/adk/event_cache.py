"""The events of sessions that were read before, so that only newer ones have to travel.

An entry holds all events of one session up to its head, in ADK's order: by time, then by arrival.
It is a copy of what the server has, never more: each read asks the server for what came after,
and a session that was deleted and made again has another incarnation and starts empty.

What is kept is bounded by the size of the events as JSON; in memory they take about six times
that. The session used longest ago is forgotten first, and one that is too large alone is not kept.
"""

from __future__ import annotations

import contextlib
import enum
import threading
from bisect import insort
from collections.abc import Iterable
from typing import Any

from google.adk.events.event import Event

from hotseat.adk.frozen import Frozen, NotFreezable
from hotseat.adk.frozen_json import frozen_event
from hotseat.adk.sessions_wire import Key
from hotseat.adk.unread import unread

MAX_SESSIONS = 1_000
MAX_JSON_BYTES = 32 * 1024 * 1024


class KeptEvent:
    """One event, and copies of it."""

    __slots__ = ("_frozen", "_next_try", "_raw", "seq", "size", "timestamp")

    def __init__(self, seq: int, timestamp: float, raw: bytes) -> None:
        self.seq = seq
        self.timestamp = timestamp
        self.size = len(raw)
        self._raw = raw
        self._next_try = _Try.JSON
        self._frozen: Frozen | None = None

    def __lt__(self, other: KeptEvent) -> bool:
        return (self.timestamp, self.seq) < (other.timestamp, other.seq)

    def copy(self) -> Event:
        """The event as an object of the caller's own.

        Where its JSON is not simple, pydantic parses it. Freezing what came of that costs a third
        of parsing and pays from the third read on, so it waits for the second: many sessions are
        read once. What cannot be frozen at all is parsed at each read.
        """
        if self._frozen is None and self._next_try is _Try.JSON:
            self._next_try = _Try.LATER
            with contextlib.suppress(NotFreezable):
                self._freeze(frozen_event(self._raw))
        if self._frozen is not None:
            return self._frozen.thaw()
        event = Event.model_validate_json(self._raw)
        if self._next_try is _Try.LATER:
            self._next_try = _Try.PARSED
        elif self._next_try is _Try.PARSED:
            self._next_try = _Try.NEVER
            with contextlib.suppress(NotFreezable):
                self._freeze(Frozen(event))
        return event

    def _freeze(self, frozen: Frozen) -> None:
        self._frozen = frozen
        self._raw = b""


class _Try(enum.Enum):
    """How an event may be frozen the next time it is read."""

    JSON = enum.auto()
    LATER = enum.auto()
    PARSED = enum.auto()
    NEVER = enum.auto()


class _Entry:
    """The events of one session."""

    def __init__(self, incarnation: str) -> None:
        self.incarnation = incarnation
        self.head = 0
        self.size = 0
        self.events: list[KeptEvent] = []

    def add(self, events: Iterable[KeptEvent]) -> None:
        for event in events:
            if event.seq <= self.head:
                continue  # Another reader was faster.
            self.head = event.seq
            self.size += event.size
            if self.events and event < self.events[-1]:
                insort(self.events, event)
            else:
                self.events.append(event)

    def remove_through(self, seq: int) -> None:
        if any(event.seq <= seq for event in self.events):
            self.events = [event for event in self.events if event.seq > seq]
            self.size = sum(event.size for event in self.events)


class EventCache:
    """The events of many sessions. Can be used from several threads."""

    def __init__(self, max_json_bytes: int = MAX_JSON_BYTES) -> None:
        self._max_json_bytes = max_json_bytes
        self._lock = threading.Lock()
        self._entries: dict[Key, _Entry] = {}
        self._size = 0

    def place(self, key: Key) -> tuple[str, int] | None:
        """The incarnation that is kept of a session and up to where; None if there is nothing."""
        with self._lock:
            entry = self._entries.get(key)
            return None if entry is None else (entry.incarnation, entry.head)

    def start(self, key: Key, incarnation: str) -> None:
        """Begins to keep a session that has no events."""
        self.merge(key, incarnation, [], from_start=True)

    def merge(
        self,
        key: Key,
        incarnation: str,
        newer: list[KeptEvent],
        *,
        from_start: bool,
        removed_through: int = 0,
    ) -> list[KeptEvent] | None:
        """Adds what a reader got and gives all events in ADK's order.

        None if what the reader built upon is not kept any more.
        """
        with self._lock:
            entry = self._entries.pop(key, None)
            if entry is not None:
                self._size -= entry.size
            if entry is None or entry.incarnation != incarnation:
                if not from_start:
                    return None
                entry = _Entry(incarnation)
            entry.add(newer)
            if removed_through:
                entry.remove_through(removed_through)
            events = list(entry.events)
            if entry.size <= self._max_json_bytes:
                self._entries[key] = entry
                self._size += entry.size
                self._forget_oldest()
            return events

    def append(self, key: Key, incarnation: str, head: int, event: KeptEvent) -> None:
        """Adds an event that was stored right after `head`, if all before it is kept."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and (entry.incarnation, entry.head) == (incarnation, head):
                entry.add([event])
                self._size += event.size
                self._forget_oldest()

    def forget(self, key: Key) -> None:
        """Keeps nothing of a session."""
        with self._lock:
            entry = self._entries.pop(key, None)
            if entry is not None:
                self._size -= entry.size

    def _forget_oldest(self) -> None:
        while self._size > self._max_json_bytes or len(self._entries) > MAX_SESSIONS:
            entry = self._entries.pop(next(iter(self._entries)))
            self._size -= entry.size


def kept(events: Iterable[Any]) -> list[KeptEvent]:
    """Events as the server sends them, ready to be kept."""
    return [KeptEvent(event.seq, event.timestamp, event.raw_json) for event in events]


def copies(events: Iterable[KeptEvent]) -> list[Event]:
    """Copies of many events; those that were read before are made when they are looked at."""
    return [
        unread(frozen) if (frozen := event._frozen) is not None else event.copy()
        for event in events
    ]
