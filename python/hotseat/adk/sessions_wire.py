"""ADK's sessions and events as messages of the contract, and back.

An event travels as the JSON that ADK itself would store, and comes back from exactly that. What
is known of a stored session (which one it is, and up to where it was read) stays with the ADK
object, also when that is copied, as runners do.
"""

from __future__ import annotations

import json
import logging
from typing import Any, NamedTuple

import grpc
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.events.event import Event
from google.adk.sessions.session import Session
from pydantic_core import to_json

from hotseat import _wire
from hotseat.adk.plain_json import json_bytes
from hotseat.errors import ServerRefused

try:
    from google.adk.errors.session_not_found_error import SessionNotFoundError
except ImportError:  # Older releases of ADK raise the class it derives from.
    SessionNotFoundError = ValueError  # type: ignore[misc, assignment]
try:
    from google.adk.errors import StaleSessionError
except ImportError:
    StaleSessionError = ValueError  # type: ignore[misc, assignment]

_log = logging.getLogger(__name__)

# Where the note lies in a session object. It is no field of the model: two sessions are equal
# whatever we know of them, and nothing of it gets into their JSON.
_NOTE = "_hotseat_known"

Key = tuple[str, str, str]


class Known(NamedTuple):
    """What is known of the stored session that a session object stands for."""

    session_id: str
    """Hotseat's own id of the session."""
    incarnation: str
    head: int | None
    """The last event that the object has seen; None if that is not known for sure."""


def known(session: Session) -> Known | None:
    """What is known of a session object; None if it does not come from here."""
    return session.__dict__.get(_NOTE)


def remember(session: Session, note: Known) -> None:
    """Notes what is known of a session object."""
    session.__dict__[_NOTE] = note


def forget_head(session: Session) -> None:
    """Notes that something may have been appended without us hearing of it."""
    if note := known(session):
        remember(session, note._replace(head=None))


def wire_key(key: Key) -> Any:
    """The key of a session: app, user and id."""
    app_name, user_id, session_id = key
    return _wire.AdkSessionKey(app_name=app_name, user_id=user_id, id=session_id)


def session_from(stored: Any, events: list[Event]) -> Session:
    """The session object for a stored session."""
    session = Session(
        id=stored.key.id,
        app_name=stored.key.app_name,
        user_id=stored.key.user_id,
        state=state_from(stored.state_json),
        last_update_time=stored.last_update_time,
    )
    # Not through the constructor, which would look at every event again.
    session.events = events
    remember(session, Known(stored.session_id, stored.incarnation, stored.event_head))
    return session


def state_from(packed: bytes) -> dict[str, Any]:
    """State as the server keeps it. Numbers come back as they are, however large."""
    return json.loads(packed) if packed else {}


def state_json(state: dict[str, Any] | None) -> bytes:
    """State for the server. What has no JSON is kept as a string, as ADK does."""
    if not state:
        return b""
    try:
        return to_json(state, inf_nan_mode="null")
    except Exception:
        _log.warning("some values of a session's state have no JSON; strings are stored for them")
        return json_bytes(state)


def adk_error(refusal: ServerRefused, session_id: str) -> Exception:
    """The exception that ADK's own services raise for this."""
    if refusal.code == grpc.StatusCode.NOT_FOUND:
        return SessionNotFoundError(f"Session {session_id} not found.")
    if refusal.code == grpc.StatusCode.ALREADY_EXISTS:
        return AlreadyExistsError(f"Session with id {session_id} already exists.")
    if refusal.code == grpc.StatusCode.FAILED_PRECONDITION:
        return StaleSessionError(
            f"Session {session_id} has been modified in storage since it was loaded. Please reload"
            " the session before appending more events."
        )
    return refusal
