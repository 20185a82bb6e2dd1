"""Events that are copied when somebody looks at them.

A session that was read before is handed out again with all its events, and most programs look at
few of them. So what is handed out is an :class:`Event` without its fields; the first thing that
is asked of it, whatever it is, puts them in place and makes it an event like any other. Until
then it costs a twentieth of a copy, and it never shares anything that can be changed.
"""

from __future__ import annotations

import threading
from typing import Any

from google.adk.events.event import Event
from pydantic import BaseModel

from hotseat.adk.frozen import Frozen

# The dict that an object really has, whatever its class says of `__dict__`.
_fields = BaseModel.__dict__["__dict__"]
_become = object.__dict__["__class__"].__set__
_new = object.__new__
_reading = threading.Lock()


def unread(frozen: Frozen) -> Event:
    """A copy of an event, made when it is looked at."""
    event = _new(_Unread)
    _fields.__set__(event, {"frozen": frozen})
    return event


def _read(event: Any) -> Any:
    """Makes it an event like any other; another thread that asks meanwhile waits."""
    with _reading:
        if type(event) is _Unread:
            _fields.__get__(event)["frozen"].thaw_into(event)
            _become(event, Event)
    return event


class _Unread(Event):
    """What is asked of it is asked of the event that it becomes."""

    @property
    def __class__(self) -> type[Event]:  # type: ignore[override]
        return type(_read(self))

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return _read(self).__dict__

    def __getattr__(self, name: str) -> Any:
        return getattr(_read(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_read(self), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_read(self), name)

    def __eq__(self, other: object) -> bool:
        return _read(self) == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(_read(self))

    def __str__(self) -> str:
        return str(_read(self))

    def __copy__(self) -> Event:
        return _read(self).__copy__()

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Event:
        return _read(self).__deepcopy__(memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _read(self).__reduce_ex__(protocol)

    def __iter__(self) -> Any:
        return iter(_read(self))
