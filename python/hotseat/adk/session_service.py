"""ADK's session service on a Hotseat server.

Sessions, their events and their state are in the server's log: an append that has returned is
durable, and whoever looks at the page sees it. The rules are those of ADK's own persistent
services, so a program can change from them by changing one line.

What this side keeps of a session (:mod:`hotseat.adk.event_cache`) only saves work. The server is
asked at every read.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
import uuid
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import grpc
from google.adk.events.event import Event
from google.adk.sessions.base_session_service import (
    BaseSessionService,
    GetSessionConfig,
    ListSessionsResponse,
)
from google.adk.sessions.session import Session
from google.adk.sessions.state import State

from hotseat import _wire
from hotseat.adk.event_cache import MAX_JSON_BYTES, EventCache, KeptEvent, copies, kept
from hotseat.adk.event_record import event_json
from hotseat.adk.sessions_wire import (
    Key,
    Known,
    adk_error,
    forget_head,
    known,
    remember,
    session_from,
    state_from,
    state_json,
    wire_key,
)
from hotseat.calls import PATIENCE_SECONDS, Calls
from hotseat.errors import ServerRefused
from hotseat.settings import Settings
from hotseat.turnstile import Turnstiles

# Events made into objects before other tasks get their turn.
_EVENTS_AT_ONCE = 1_000

# Events for which it does not matter when garbage is collected.
_FEW = 100


class HotseatSessionService(BaseSessionService):
    """Keeps ADK's sessions on a Hotseat server.

    Args:
        url: Address of the server. Environment: HOTSEAT_URL; default http://127.0.0.1:4687.
        token: Token for the server. Environment: HOTSEAT_TOKEN; else the token of a server on
            this machine is found by itself.
        uri: The same as `url`, for ADK's service registry: `hotseat://HOST:PORT`.
        agents_dir: Given by ADK's service registry; not used.
        patience: For how many seconds a server that went away is waited for.
        cache_bytes: Up to how many bytes of events, as JSON, are kept for the next read.

    One object may be used from several event loops and threads.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        uri: str | None = None,
        agents_dir: str | None = None,
        patience: float = PATIENCE_SECONDS,
        cache_bytes: int = MAX_JSON_BYTES,
        **_: Any,
    ) -> None:
        # `hotseat://` alone means: wherever the environment says.
        address = url or (uri if uri and uri.partition("://")[2] else None)
        self._call = Calls(Settings.resolve(address, token), "Sessions", patience)
        self._cache = EventCache(cache_bytes)
        self._writers = Turnstiles()

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._call.url

    @property
    def settings(self) -> Settings:
        """Where the server is."""
        return self._call.settings

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Creates a session; without an id, it gets a new one."""
        # The id and the time are chosen here, so that a session can be told to be ours if the
        # answer to the first attempt was lost.
        key = (app_name, user_id, _trimmed(session_id) or str(uuid.uuid4()))
        request = _wire.CreateAdkSessionRequest(
            key=wire_key(key), state_json=state_json(state), create_time=time.time()
        )
        try:
            stored = await self._call("CreateAdkSession", request)
        except ServerRefused as refusal:
            stored = await self._created_before(key, request, refusal)
        self._cache.start(key, stored.incarnation)
        return session_from(stored, [])

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """Reads a session; None if there is none."""
        key = (app_name, user_id, _trimmed(session_id))
        if not all(key):
            return None
        recent = config.num_recent_events if config else None
        after = config.after_timestamp if config else None
        selective = recent is not None or after is not None
        try:
            if recent == 0 or (selective and self._cache.place(key) is None):
                request = _wire.GetAdkSessionRequest(
                    key=wire_key(key), num_recent_events=recent, after_timestamp=after
                )
                answer = await self._call("GetAdkSession", request)
                stored, events = answer.session, kept(answer.events)
            else:
                stored, events = await self._all_events(key)
        except ServerRefused as refusal:
            if refusal.code != grpc.StatusCode.NOT_FOUND:
                raise
            self._cache.forget(key)
            return None
        return session_from(stored, await _copies(_selected(events, recent, after)))

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """All sessions of an app, or of one of its users, without events, oldest update first."""
        request = _wire.ListAdkSessionsRequest(app_name=app_name, user_id=user_id or "")
        sessions: list[Session] = []
        while True:
            page = await self._call("ListAdkSessions", request)
            sessions.extend(
                session_from(stored, [])
                for stored in page.sessions
                if user_id is None or stored.key.user_id == user_id
            )
            if not page.next_page_token:
                return ListSessionsResponse(sessions=sessions)
            request.page_token = page.next_page_token

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Deletes a session and its events; nothing happens if there is none."""
        key = (app_name, user_id, _trimmed(session_id))
        if all(key):
            await self._call("DeleteAdkSession", _wire.DeleteAdkSessionRequest(key=wire_key(key)))
            self._cache.forget(key)

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """The state that all sessions of a user share, with keys without `user:`."""
        request = _wire.GetAdkUserStateRequest(app_name=app_name, user_id=user_id)
        return state_from((await self._call("GetAdkUserState", request)).state_json)

    async def append_event(self, session: Session, event: Event) -> Event:
        """Stores an event and adds it to the session object; durable when it returns.

        Appending an event that is stored already changes nothing.
        """
        if event.partial:
            return event
        _move_temporary_state(session, event)
        # Agents that run side by side share the session object. One that waits for its turn has
        # seen what the one before it appended, which is what keeps it from being stale.
        turn = id(session)
        await self._writers.enter(turn)
        try:
            answer = await self._store(session, event)
            session.last_update_time = event.timestamp
            if not answer.duplicate or all(other.id != event.id for other in session.events):
                self._update_session_state(session, event)
                session.events.append(event)
        finally:
            self._writers.leave(turn)
        return event

    async def flush(self) -> None:
        """Does nothing: what was appended is stored."""

    async def close(self) -> None:
        """Closes the connections to the server. Using the service again opens new ones."""
        await self._call.close()

    async def __aenter__(self) -> HotseatSessionService:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def known(self, session: Session) -> Known:
        """What Hotseat knows a session as; asked for if the object does not come from here."""
        if note := known(session):
            return note
        key = (session.app_name, session.user_id, session.id)
        request = _wire.GetAdkSessionRequest(key=wire_key(key), num_recent_events=0)
        try:
            stored = (await self._call("GetAdkSession", request)).session
        except ServerRefused as refusal:
            raise adk_error(refusal, session.id) from refusal
        return Known(stored.session_id, stored.incarnation, None)

    async def _created_before(self, key: Key, request: Any, refusal: ServerRefused) -> Any:
        """The session, if the refused attempt to create it was a repetition of one that worked."""
        if refusal.code == grpc.StatusCode.ALREADY_EXISTS and refusal.repeated:
            wish = _wire.GetAdkSessionRequest(key=request.key, num_recent_events=0)
            stored = (await self._call("GetAdkSession", wish)).session
            # The server keeps milliseconds.
            if abs(stored.create_time - request.create_time) < 0.002 and not stored.event_count:
                return stored
        raise adk_error(refusal, key[2]) from refusal

    async def _all_events(self, key: Key) -> tuple[Any, list[KeptEvent]]:
        while True:
            incarnation, after_seq = self._cache.place(key) or ("", 0)
            from_start = not after_seq
            request = _wire.GetAdkSessionRequest(
                key=wire_key(key), after_seq=after_seq, incarnation=incarnation
            )
            newer: list[KeptEvent] = []
            while True:
                answer = await self._call("GetAdkSession", request)
                if answer.from_start:
                    from_start = True
                    newer.clear()
                newer.extend(kept(answer.events))
                if not answer.more or not answer.events:
                    break
                request.after_seq = answer.events[-1].seq
                request.incarnation = answer.session.incarnation
            stored = answer.session
            events = self._cache.merge(
                key,
                stored.incarnation,
                newer,
                from_start=from_start,
                removed_through=stored.removed_through,
            )
            # It was forgotten while the server was asked. What came is a part only.
            if events is not None:
                return stored, events

    async def _store(self, session: Session, event: Event) -> Any:
        key = (session.app_name, session.user_id, session.id)
        note = known(session)
        raw = event_json(event)
        stored = None
        if note is not None and (note.incarnation, note.head) == self._cache.place(key):
            stored = KeptEvent(0, event.timestamp, raw)
        request = _wire.AppendAdkEventRequest(
            key=wire_key(key),
            raw_json=raw,
            expected_head=note.head if note else None,
            incarnation=note.incarnation if note else "",
        )
        try:
            answer = await self._call("AppendAdkEvent", request)
        except ServerRefused as refusal:
            if await self._is_about_something_else(refusal, request):
                raise
            raise adk_error(refusal, session.id) from refusal
        except BaseException:
            # Cancelled, or given up: perhaps it is stored. The session is not stale for that.
            forget_head(session)
            raise
        if note is not None:
            remember(session, note._replace(head=answer.event_head))
        if stored is not None and not answer.duplicate:
            stored.seq = answer.seq
            self._cache.append(key, note.incarnation, note.head, stored)
        return answer

    async def _is_about_something_else(self, refusal: ServerRefused, request: Any) -> bool:
        """Whether an append was refused although the session has nothing new.

        A session that a person has completed takes no more events, and reading it again, which is
        what a stale one asks for, would not help.
        """
        if refusal.code != grpc.StatusCode.FAILED_PRECONDITION:
            return False
        wish = _wire.GetAdkSessionRequest(key=request.key, num_recent_events=0)
        try:
            stored = (await self._call("GetAdkSession", wish)).session
        except ServerRefused:
            return False
        if request.incarnation and stored.incarnation != request.incarnation:
            return False
        return not request.HasField("expected_head") or stored.event_head == request.expected_head


def _trimmed(session_id: str | None) -> str:
    return session_id.strip() if session_id else ""


def _move_temporary_state(session: Session, event: Event) -> None:
    """Takes `temp:` state out of an event: it is for this run only and is never stored."""
    delta = event.actions.state_delta if event.actions else None
    if not delta or not any(key.startswith(State.TEMP_PREFIX) for key in delta):
        return
    kept_delta = {}
    for key, value in delta.items():
        if key.startswith(State.TEMP_PREFIX):
            session.state[key] = value
        else:
            kept_delta[key] = value
    event.actions.state_delta = kept_delta


def _selected(events: list[KeptEvent], recent: int | None, after: float | None) -> list[KeptEvent]:
    if after is not None:
        events = [event for event in events if event.timestamp >= after]
    if recent is not None:
        events = events[len(events) - min(recent, len(events)) :]
    return events


async def _copies(events: list[KeptEvent]) -> list[Event]:
    made: list[Event] = []
    for begin in range(0, len(events), _EVENTS_AT_ONCE):
        if begin:
            await asyncio.sleep(0)
        some = events[begin : begin + _EVENTS_AT_ONCE]
        with _no_garbage_collection() if len(some) > _FEW else contextlib.nullcontext():
            made += copies(some)
    return made


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Makes many objects without looking through all objects there are again and again.

    Nor are they looked through right behind it, which would take a quarter of the time that they
    took, to find that all are in use: they are made as old as can be. What was frozen and is not
    any more counts as that. What the program itself has left behind is collected before, so that
    nothing of it grows old uncollected; one that has frozen something is left alone.
    """
    if not gc.isenabled():
        yield
        return
    ages = not gc.get_freeze_count()
    if ages:
        gc.collect(1)
    gc.disable()
    try:
        yield
    finally:
        if ages:
            gc.freeze()
            gc.unfreeze()
        gc.enable()
