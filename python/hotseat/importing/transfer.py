"""Writes what a source holds to the server.

A source knows how its state ended, not how it began. So a session is created with those values of
its state that none of its events sets; the events set the others again, one after the other. What
sessions share comes with the first session that is created, as far as the server has no value of
its own. Events of all sessions are sent in the order in which they happened, because the last of
them decides what is shared.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import grpc

from hotseat.errors import HotseatError, ServerRefused
from hotseat.importing.hotseat_side import HotseatSide
from hotseat.importing.progress import Progress
from hotseat.importing.stored import (
    APP_PREFIX,
    USER_PREFIX,
    Key,
    Source,
    StoredEvent,
    Unreadable,
    keys_under,
    own_keys,
)
from hotseat.importing.summary import Summary

# Events under way at the same time; the server writes those that wait together with one sync.
_UNDER_WAY = 32

# What the server says about one session or event. Everything else concerns all of them.
_ABOUT_ONE = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ABORTED,
)


class Transfer:
    """The import of one source."""

    def __init__(
        self, source: Source, hotseat: HotseatSide, summary: Summary, progress: Progress
    ) -> None:
        self._source = source
        self._hotseat = hotseat
        self._summary = summary
        self._progress = progress
        self._sessions = {session.key: session for session in source.sessions()}
        self._shared = source.shared()
        self._changed: dict[Key, set[str]] = defaultdict(set)
        self._counts: Counter[Key] = Counter()
        self._created: set[Key] = set()
        self._extended: set[Key] = set()
        self._known_ids: dict[Key, set[str]] = {}
        self._absent: set[Key] = set()
        self._failed: set[Key] = set()
        self._new_apps: set[str] = set()
        self._fatal: HotseatError | None = None

    async def run(self) -> None:
        """Brings everything over that is not there yet, and looks whether it is the same."""
        self._look_through()
        self._progress.begin(self._source.name, self._counts.total())
        await self._create_sessions()
        await self._append_events()
        self._count_sessions()
        await self._compare()

    def _look_through(self) -> None:
        for event in self._source.events():
            if isinstance(event, Unreadable):
                self._fail(event.key, event.why)
            elif event.key in self._sessions:
                self._counts[event.key] += 1
                self._changed[event.key].update(event.delta)

    async def _create_sessions(self) -> None:
        apps = sorted({key.app_name for key in self._sessions})
        users = sorted({(key.app_name, key.user_id) for key in self._sessions})
        # What is passed with the next session that is created.
        missing: dict[Any, dict[str, Any]] = {}
        for app in apps:
            there = await self._hotseat.app_state(app)
            if there is None:
                self._new_apps.add(app)
            missing[app] = self._missing(
                APP_PREFIX, self._shared.apps.get(app), there, lambda key, app=app: key[0] == app
            )
        for user in users:
            there = await self._hotseat.user_state(*user)
            missing[user] = self._missing(
                USER_PREFIX,
                self._shared.users.get(user),
                there,
                lambda key, user=user: key[:2] == user,
            )
        for session in sorted(self._sessions.values(), key=lambda session: session.created):
            app, user = session.key.app_name, session.key[:2]
            own = _without(session.state, self._changed[session.key])
            try:
                created = await self._hotseat.create(session, own | missing[app] | missing[user])
            except ServerRefused as error:
                self._refused(session.key, error)
                self._absent.add(session.key)
                continue
            if created:
                self._created.add(session.key)
                missing[app] = missing[user] = {}

    def _missing(
        self,
        prefix: str,
        state: dict[str, Any] | None,
        there: dict[str, Any] | None,
        concerns: Callable[[Key], bool],
    ) -> dict[str, Any]:
        """Shared values that no event brings and the server does not have."""
        changed = set().union(*(names for key, names in self._changed.items() if concerns(key)))
        return {
            f"{prefix}{name}": value
            for name, value in (state or {}).items()
            if f"{prefix}{name}" not in changed and name not in (there or {})
        }

    async def _append_events(self) -> None:
        """Sends events side by side, but those of a session, and those that change what sessions
        of an app share, one after the other."""
        free = asyncio.Semaphore(_UNDER_WAY)
        last: dict[Any, asyncio.Task[None]] = {}
        tasks: set[asyncio.Task[None]] = set()
        for event in self._source.events():
            if isinstance(event, Unreadable) or event.key not in self._sessions:
                continue
            if event.key in self._absent:
                self._progress.step()
                continue
            if await self._is_known(event):
                self._summary.known_events += 1
                self._progress.step()
                continue
            await free.acquire()
            if self._fatal:
                break
            lanes: list[Any] = [event.key]
            if event.is_shared:
                lanes.append(event.key.app_name)
            before = [last[lane] for lane in lanes if lane in last]
            task = asyncio.create_task(self._append(event, before, free))
            last.update(dict.fromkeys(lanes, task))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        if tasks:
            await asyncio.wait(tasks)
        if self._fatal:
            raise self._fatal

    async def _is_known(self, event: StoredEvent) -> bool:
        if event.key in self._created:
            return False
        if event.key not in self._known_ids:
            self._known_ids[event.key] = await self._hotseat.event_ids(event.key)
        return event.id in self._known_ids[event.key]

    async def _append(
        self, event: StoredEvent, before: list[asyncio.Task[None]], free: asyncio.Semaphore
    ) -> None:
        try:
            if before:
                await asyncio.wait(before)
            if self._fatal:
                return
            if await self._hotseat.append(event):
                self._summary.new_events += 1
                self._extended.add(event.key)
            else:
                self._summary.known_events += 1
        except HotseatError as error:
            try:
                self._refused(event.key, error, f"event {event.id}: ")
            except HotseatError as fatal:
                self._fatal = self._fatal or fatal
        finally:
            self._progress.step()
            free.release()

    def _count_sessions(self) -> None:
        for key in self._sessions:
            if key in self._created:
                self._summary.new_sessions += 1
            elif key in self._extended:
                self._summary.extended_sessions += 1
            elif key not in self._failed:
                self._summary.unchanged_sessions += 1

    async def _compare(self) -> None:
        """Notes where the state is another one than in the source.

        Sessions that went on here have a state of their own, and so has an app that was here
        before.
        """
        compared: set[Any] = set()
        for key in sorted(self._created | self._extended):
            found = await self._hotseat.find(key)
            if found.event_count == self._counts[key]:
                self._note_differences(key, "", self._sessions[key].state, own_keys(found.state))
            if key.app_name not in self._new_apps:
                continue
            shared = {
                APP_PREFIX: (key.app_name, self._shared.apps),
                USER_PREFIX: (key[:2], self._shared.users),
            }
            for prefix, (owner, states) in shared.items():
                if owner not in compared:
                    compared.add(owner)
                    there = keys_under(prefix, found.state)
                    self._note_differences(key, prefix, states.get(owner, {}), there)

    def _note_differences(
        self, key: Key, prefix: str, expected: dict[str, Any], found: dict[str, Any]
    ) -> None:
        for name in sorted(expected.keys() | found.keys()):
            same = name in expected and name in found and expected[name] == found[name]
            if not same:
                self._summary.difference(
                    key, f"{prefix}{name}", expected.get(name), found.get(name)
                )

    def _refused(self, key: Key, error: HotseatError, what: str = "") -> None:
        """Goes on without it, unless nothing else would get through either."""
        if not isinstance(error, ServerRefused) or error.code not in _ABOUT_ONE:
            raise error
        self._fail(key, f"{what}{error.details or error}")

    def _fail(self, key: Key, why: str) -> None:
        self._failed.add(key)
        self._summary.problem(self._source.name, why, key)


def _without(state: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name not in names}
