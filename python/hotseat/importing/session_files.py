"""Sessions that were saved as JSON.

`adk run --save_session`, the export of `adk web` and Hotseat's own export write ADK's `Session`.
The other form is the record of an older session store: messages for people, and events only in
its later versions; where it has none, they are made of the messages. A file holds one session, a
list of them, or one after the other.
"""

from __future__ import annotations

import heapq
import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hotseat.importing.stored import (
    APP_PREFIX,
    USER_PREFIX,
    Key,
    Shared,
    SourceError,
    StoredEvent,
    StoredSession,
    Unreadable,
    Wanted,
    delta_of,
    field_of,
    keys_under,
    own_keys,
    seconds,
)

# Who talks to an agent on `adk web`, unless told otherwise.
DEFAULT_USER = "user"

_DECODER = json.JSONDecoder()
_GAP = re.compile(r"[\s,:]*")
# Ids of events that have none, so that importing again finds them.
_NAMESPACE = uuid.UUID("6d7a2f0e-5a3b-4c56-9a53-0f8f8a3c1b7d")


class SessionFile:
    """The sessions in a file."""

    def __init__(self, path: Path, wanted: Wanted) -> None:
        self.name = str(path)
        self._sessions: list[StoredSession] = []
        self._events: list[list[tuple[float, StoredEvent | Unreadable]]] = []
        self._shared = Shared()
        try:
            text = path.read_text(encoding="utf-8-sig")
            pieces = list(_pieces(text))
        except (OSError, ValueError) as error:
            raise SourceError(f"{path} is neither a SQLite database nor JSON: {error}") from None
        for piece in pieces:
            self._add(piece, wanted)
        if not pieces:
            raise SourceError(f"{path} is empty")

    def sessions(self) -> list[StoredSession]:
        return self._sessions

    def shared(self) -> Shared:
        return self._shared

    def events(self) -> Iterator[StoredEvent | Unreadable]:
        for _, event in heapq.merge(*self._events, key=lambda timed: timed[0]):
            yield event

    def _add(self, piece: _Piece, wanted: Wanted) -> None:
        session = piece.value
        session_id = field_of(session, "id") if isinstance(session, dict) else None
        is_session = isinstance(session, dict) and ("events" in session or "messages" in session)
        if not is_session or not isinstance(session_id, str):
            raise SourceError(f"{self.name} holds something that is no session")
        app_name = field_of(session, "app_name") or wanted.app_name
        if not app_name:
            raise SourceError(
                f"session {session_id} in {self.name} does not name its app: say which with --app"
            )
        # Old records count their users.
        user_id = str(field_of(session, "user_id") or wanted.user_id or DEFAULT_USER)
        if not wanted.takes(app_name, user_id):
            return
        key = Key(app_name, user_id, session_id)
        events = _timed(_events(key, piece) or _events_of_messages(key, session))
        self._events.append(events)
        state = field_of(session, "state")
        state = state if isinstance(state, dict) else {}
        times = (
            seconds(field_of(session, "created_at")),
            events[0][0] if events else 0.0,
            seconds(field_of(session, "last_update_time")),
        )
        created = next((time for time in times if time), 0.0)
        self._sessions.append(StoredSession(key, own_keys(state), created))
        self._shared.apps.setdefault(app_name, {}).update(keys_under(APP_PREFIX, state))
        user = self._shared.users.setdefault((app_name, user_id), {})
        user.update(keys_under(USER_PREFIX, state))


def _timed(
    events: list[tuple[float, StoredEvent | Unreadable]],
) -> list[tuple[float, StoredEvent | Unreadable]]:
    """The events of a session with times that never go back, to be merged with others."""
    latest = 0.0
    timed = []
    for time, event in events:
        latest = max(latest, time)
        timed.append((latest, event))
    return timed


def _events(key: Key, session: _Piece) -> list[tuple[float, StoredEvent | Unreadable]]:
    found = []
    for index, piece in enumerate(session.items_of("events")):
        event, raw = piece.value, piece.text
        if event is None or event == {}:
            continue
        if not isinstance(event, dict):
            found.append((0.0, Unreadable(key, f"event {index + 1} is no object")))
            continue
        event_id = event.get("id")
        if not isinstance(event_id, str) or not event_id:
            event_id = str(uuid.uuid5(_NAMESPACE, f"{'/'.join(key)}/{index}/{raw}"))
            raw = json.dumps({**event, "id": event_id}, ensure_ascii=False)
        stored = StoredEvent(key, event_id, raw.encode(), delta_of(event))
        found.append((seconds(event.get("timestamp")), stored))
    return found


def _events_of_messages(
    key: Key, record: dict[str, Any]
) -> list[tuple[float, StoredEvent | Unreadable]]:
    """Events in place of those that an old store did not keep."""
    found = []
    messages = record.get("messages")
    for index, message in enumerate(messages if isinstance(messages, list) else []):
        if not isinstance(message, dict) or not isinstance(message.get("content"), str):
            found.append((0.0, Unreadable(key, f"message {index + 1} has no content")))
            continue
        role = message.get("role") or "assistant"
        time = seconds(message.get("timestamp")) or seconds(record.get("created_at"))
        event = {
            "id": message.get("id") or f"backfill_{key.id}_{index}",
            "invocationId": f"backfill_{key.id}",
            "author": role,
            "timestamp": time,
            "content": {
                # Models know two roles; who it really was is the author.
                "role": "user" if role == "user" else "model",
                "parts": [{"text": message["content"]}],
            },
        }
        raw = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
        found.append((time, StoredEvent(key, event["id"], raw, {})))
    return found


class _Piece(NamedTuple):
    """A JSON value and the text it was written with."""

    value: Any
    text: str

    def items_of(self, name: str) -> Iterator[_Piece]:
        """The items of a list in this object, each as it is written."""
        if not isinstance(self.value.get(name), list):
            return
        at = self._place_of(name)
        if at is not None:
            yield from _items(self.text, at)

    def _place_of(self, name: str) -> int | None:
        """Where the value of a field begins; of its last mention, which is the one that counts."""
        place = None
        at = _past_gap(self.text, 1)
        while self.text[at] != "}":
            found, at = _DECODER.raw_decode(self.text, at)
            at = _past_gap(self.text, at)
            if found == name:
                place = at
            _, at = _DECODER.raw_decode(self.text, at)
            at = _past_gap(self.text, at)
        return place


def _pieces(text: str) -> Iterator[_Piece]:
    """The values of a file; of a list, what is in it."""
    at = _past_gap(text, 0)
    while at < len(text):
        value, end = _DECODER.raw_decode(text, at)
        if isinstance(value, list):
            yield from _items(text, at)
        else:
            yield _Piece(value, text[at:end])
        at = _past_gap(text, end)


def _items(text: str, at: int) -> Iterator[_Piece]:
    """The items of the list that begins here, in text that is known to be JSON."""
    at = _past_gap(text, at + 1)
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        yield _Piece(value, text[at:end])
        at = _past_gap(text, end)


def _past_gap(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return found.end() if found else at
