"""ADK sessions, made again from the log."""

from __future__ import annotations

from typing import Any

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import BaseSessionService

from hotseat import _wire, background
from hotseat.connection import Connection

_PAGE = 500


async def read_log(connection: Connection, session_id: str, kinds: list[str]) -> list[Any]:
    """All events of these kinds (empty: of all), oldest first."""
    return await background.run(_read_log(connection, session_id, kinds))


async def _read_log(connection: Connection, session_id: str, kinds: list[str]) -> list[Any]:
    events: list[Any] = []
    while True:
        request = _wire.ListEventsRequest(
            session_id=session_id,
            after_seq=events[-1].seq if events else 0,
            limit=_PAGE,
            kinds=kinds,
        )
        page = await connection.call("Sessions", "ListEvents", request)
        events.extend(page.events)
        if not page.more or not page.events:
            return events


async def fill_session(
    sessions: BaseSessionService,
    *,
    app_name: str,
    user_id: str,
    session_id: str,
    log: list[Any],
    state: dict[str, Any] | None = None,
) -> None:
    """Creates an ADK session and appends the log's raw events, which rebuilds its state.

    Where others share the state, it is `state` that counts in the end. Events of agents that ran
    as tools are left out: they were never part of this session.
    """
    session = await sessions.create_session(
        app_name=app_name, user_id=user_id, session_id=session_id
    )
    for logged in log:
        if logged.kind == "event" and not logged.parent_call_id:
            await sessions.append_event(session, Event.model_validate_json(logged.raw_json))
    if state:
        # Nobody said it, so no model sees it.
        now = Event(author="hotseat", actions=EventActions(state_delta=state))
        await sessions.append_event(session, now)
