"""The tables of ADK's session services.

All of them have the same four tables and differ in two points. The event is either one JSON text
(`event_data`: SqliteSessionService, and DatabaseSessionService since ADK 1.22) or spread over
columns (before that, see :mod:`~hotseat.importing.legacy`). And times are either numbers or text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hotseat.importing.databases import Database
from hotseat.importing.legacy import LegacyEvents
from hotseat.importing.stored import (
    Key,
    Shared,
    SourceError,
    StoredEvent,
    StoredSession,
    Unreadable,
    Wanted,
    delta_of,
    own_keys,
    seconds,
)


class AdkTables:
    """The sessions in a database of ADK's."""

    def __init__(self, database: Database, wanted: Wanted) -> None:
        self.name = database.name
        self._database = database
        self._wanted = wanted
        columns = database.columns("events")
        if not columns and not database.columns("sessions"):
            raise SourceError(f"{self.name} has no sessions of ADK")
        self._is_legacy = bool(columns) and "event_data" not in columns

    def sessions(self) -> list[StoredSession]:
        return [
            StoredSession(
                _key(row, "id"),
                own_keys(_object(row["state"], f"the state of session {row['id']}")),
                seconds(row["create_time"]),
            )
            for row in self._rows("sessions", "create_time, id")
        ]

    def shared(self) -> Shared:
        shared = Shared()
        for row in self._rows("app_states", "app_name", by_user=False):
            shared.apps[row["app_name"]] = _object(row["state"], f"the state of {row['app_name']}")
        for row in self._rows("user_states", "app_name, user_id"):
            state = _object(row["state"], f"the state of user {row['user_id']}")
            shared.users[row["app_name"], row["user_id"]] = state
        return shared

    def events(self) -> Iterator[StoredEvent | Unreadable]:
        rows = self._rows("events", f"timestamp, {self._database.tie}")
        if not self._is_legacy:
            for row in rows:
                yield _event(row)
            return
        legacy = LegacyEvents({session.key: session.created for session in self.sessions()})
        for row in rows:
            key = _key(row, "session_id")
            try:
                event = legacy.read(key, row)
            except ValueError as error:
                yield Unreadable(key, f"event {row['id']}: {error}")
            else:
                yield StoredEvent(key, row["id"], _dumped(event), delta_of(event))

    def _rows(self, table: str, order: str, *, by_user: bool = True) -> Iterator[dict[str, Any]]:
        if not self._database.columns(table):
            return
        wanted = {"app_name": self._wanted.app_name}
        if by_user:
            wanted["user_id"] = self._wanted.user_id
        values = {name: value for name, value in wanted.items() if value is not None}
        where = " AND ".join(f"{name} = :{name}" for name in values)
        query = f"SELECT * FROM {table}{' WHERE ' + where if where else ''} ORDER BY {order}"
        yield from self._database.rows(query, values)


def _key(row: dict[str, Any], name: str) -> Key:
    return Key(row["app_name"], row["user_id"], row[name])


def _event(row: dict[str, Any]) -> StoredEvent | Unreadable:
    key = _key(row, "session_id")
    stored = row["event_data"]
    try:
        event = _object(stored, f"event {row['id']}")
    except SourceError as error:
        return Unreadable(key, str(error))
    raw = stored.encode() if isinstance(stored, str) else _dumped(event)
    columns = {"id": row["id"], "invocation_id": row["invocation_id"]}
    if event.get("id") != row["id"] or event.get("timestamp") is None:
        # ADK trusts the columns, and writes events that lack these fields in no release.
        columns["timestamp"] = event.get("timestamp") or seconds(row["timestamp"])
        raw = _dumped(event | columns)
    return StoredEvent(key, row["id"], raw, delta_of(event))


def _object(value: Any, what: str) -> dict[str, Any]:
    """A JSON column: text, or what a driver made of it already."""
    if isinstance(value, str | bytes):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise SourceError(f"{what} is not JSON: {error}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise SourceError(f"{what} is no JSON object")
    return value


def _dumped(event: dict[str, Any]) -> bytes:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
