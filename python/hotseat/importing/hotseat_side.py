"""ADK's sessions on the server, in the few questions that an import has."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import grpc

from hotseat import _wire
from hotseat.connection import Connection
from hotseat.errors import ServerRefused
from hotseat.importing.stored import APP_PREFIX, Key, StoredEvent, StoredSession, keys_under


@dataclass(frozen=True)
class Found:
    """A session as the server has it."""

    state: dict[str, Any]
    event_count: int


class HotseatSide:
    """The server's end of an import."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def create(self, session: StoredSession, state: dict[str, Any]) -> bool:
        """Makes a session with this state; False if it is there already."""
        request = _wire.CreateAdkSessionRequest(
            key=_wire_key(session.key), state_json=_json(state), create_time=session.created
        )
        try:
            await self._call("CreateAdkSession", request)
        except ServerRefused as error:
            if error.code == grpc.StatusCode.ALREADY_EXISTS:
                return False
            raise
        return True

    async def append(self, event: StoredEvent) -> bool:
        """Appends an event; False if it was there already."""
        request = _wire.AppendAdkEventRequest(key=_wire_key(event.key), raw_json=event.raw)
        return not (await self._call("AppendAdkEvent", request)).duplicate

    async def find(self, key: Key) -> Found:
        """A session without its events."""
        request = _wire.GetAdkSessionRequest(key=_wire_key(key), num_recent_events=0)
        session = (await self._call("GetAdkSession", request)).session
        return Found(json.loads(session.state_json or b"{}"), session.event_count)

    async def event_ids(self, key: Key) -> set[str]:
        """The ids of all events of a session."""
        ids: set[str] = set()
        request = _wire.GetAdkSessionRequest(key=_wire_key(key))
        while True:
            answer = await self._call("GetAdkSession", request)
            ids.update(json.loads(event.raw_json).get("id") or "" for event in answer.events)
            if not answer.more or not answer.events:
                return ids
            request.after_seq = answer.events[-1].seq
            request.incarnation = answer.session.incarnation

    async def app_state(self, app_name: str) -> dict[str, Any] | None:
        """What all sessions of an app share; None if it has no sessions."""
        request = _wire.ListAdkSessionsRequest(app_name=app_name, page_size=1)
        for session in (await self._call("ListAdkSessions", request)).sessions:
            return keys_under(APP_PREFIX, json.loads(session.state_json or b"{}"))
        return None

    async def user_state(self, app_name: str, user_id: str) -> dict[str, Any]:
        """What the sessions of a user share."""
        request = _wire.GetAdkUserStateRequest(app_name=app_name, user_id=user_id)
        answer = await self._call("GetAdkUserState", request)
        return json.loads(answer.state_json or b"{}")

    async def _call(self, method: str, request: Any) -> Any:
        return await self._connection.call("Sessions", method, request)


def _wire_key(key: Key) -> Any:
    return _wire.AdkSessionKey(app_name=key.app_name, user_id=key.user_id, id=key.id)


def _json(state: dict[str, Any]) -> bytes:
    return json.dumps(state, ensure_ascii=False).encode() if state else b""
