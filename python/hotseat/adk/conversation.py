"""One ADK session and its Hotseat session, side by side."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import grpc
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event

from hotseat import background
from hotseat.adk.event_record import entry, event_entry
from hotseat.errors import HotseatError, ServerRefused
from hotseat.notices import notice
from hotseat.session import SessionLink

if TYPE_CHECKING:
    from hotseat.adk.order import Order
    from hotseat.adk.replay import Replay


# Refusals that are about what is appended, mostly about its size, not about the session.
_NOT_THE_LOG = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)


class StoredAs(NamedTuple):
    """A Hotseat session. One that is deleted and made again is another one, with the same id."""

    session_id: str
    incarnation: str


@dataclass
class Conversation:
    """What the plugin knows of one ADK session."""

    link: SessionLink
    run_id: str | None = None
    """The id of the run in progress; without one, the invocation's id stands for it."""
    replay: Replay | None = None
    """What the log holds of the run in progress, when it is being resumed."""
    order: Order | None = None
    """What the server wants of the run in progress, where it is the server that began it."""
    before_append: Callable[[], Awaitable[None]] | None = None
    """Waited for, on the background loop, before anything gets into the log: an answer must not
    be there before the last piece of it was shown."""
    forwarded: set[str] = field(default_factory=set)
    """Ids of the events of the invocation in progress that are in the log."""
    alone: set[str] = field(default_factory=set)
    """Calls that run beside no other: the log has their results as soon as they have ended."""
    stored_as: StoredAs | None = None
    """What the program's own session service keeps this ADK session as, if that is ours."""
    announced: bool = False
    _open_run: str | None = None
    _invocation_id: str | None = None
    _refusal_told: bool = False

    @property
    def is_stored_by_adk(self) -> bool:
        """Whether ADK's own session service puts the events into this log."""
        return self.stored_as is not None and self.link.id == self.stored_as.session_id

    async def append(self, *entries: Any) -> None:
        """Appends to the log."""
        await background.run(self._append(entries))

    def append_aside(self, *entries: Any) -> None:
        """Appends to the log without waiting, for those who are being cancelled."""
        background.submit_farewell(self._append(entries))

    def append_in_passing(self, *entries: Any) -> concurrent.futures.Future[None]:
        """Appends what nobody will miss; the future ends well in any case."""

        async def append() -> None:
            with contextlib.suppress(ServerRefused):
                await self.link.append(entries)

        return background.submit(append())

    async def run_started(self, invocation_id: str) -> list[Any]:
        """Notes that a run has started, and gives what is to be appended to the log for it.

        It goes in together with the user's message, which saves a write at the start of each run.
        In a replay it was told before.
        """
        await self.run_ended("cancelled")
        # The answer to something that ADK asked the user belongs to the invocation that asked.
        if self._invocation_id not in (None, invocation_id):
            self.forwarded.clear()
        self._invocation_id = invocation_id
        self.alone.clear()
        self._open_run = self.run_id or invocation_id
        self._watch_for_cancellation(self._open_run)
        if self.replay is not None:
            return []
        return [_run_entry(self._open_run, "started", invocation_id=invocation_id)]

    async def run_ended(self, status: str, **more: Any) -> None:
        """Tells the log how the open run has ended, if there is one."""
        run_id, self._open_run = self._open_run, None
        if run_id is not None:
            await self.append(_run_entry(run_id, status, more))

    def _watch_for_cancellation(self, run_id: str) -> None:
        # ADK has no hook for a run that is cancelled, so the task it runs in is asked.
        def task_ended(_: asyncio.Task[Any]) -> None:
            if self._open_run == run_id:
                self._open_run = None
                self.append_aside(_run_entry(run_id, "cancelled"))

        task = asyncio.current_task()
        if task is not None:
            task.add_done_callback(task_ended)

    async def _append(self, entries: Sequence[Any]) -> None:
        if self.before_append is not None:
            await self.before_append()
        try:
            await self.link.append(entries)
        except ServerRefused as error:
            if error.code in _NOT_THE_LOG:
                largest = max(len(each.raw_json) for each in entries)
                raise HotseatError(
                    f"an event of {largest:,} bytes cannot be kept in the log: {error.details}"
                ) from error
            # A log that takes no more entries, such as a completed one, does not stop the agent.
            if not self._refusal_told:
                self._refusal_told = True
                notice(f"the rest of this run is not recorded: {error}")


def _run_entry(
    run_id: str, status: str, more: Mapping[str, Any] | None = None, invocation_id: str = ""
) -> Any:
    # The server ends a run under the same id, so that telling it twice is telling it once.
    return entry(
        "run",
        {"run_id": run_id, "status": status, **(more or {})},
        event_id=f"run-{run_id}-{status}",
        invocation_id=invocation_id,
    )


@dataclass(frozen=True)
class Place:
    """Where in a conversation something happens."""

    conversation: Conversation
    parent_call_id: str = ""
    """The function call that runs this agent, where it runs in a session of its own."""

    @property
    def is_root(self) -> bool:
        """Whether this is the conversation's own run, not one inside a tool."""
        return not self.parent_call_id

    async def forward(self, event: Event) -> None:
        """Puts an event into the log, unless it is there."""
        if (packed := self._entry(event)) is not None:
            await self.conversation.append(packed)

    async def catch_up(self, context: InvocationContext, before: Sequence[Any] = ()) -> None:
        """Puts events into the log that ADK stored without showing them to the plugin.

        The user's message is one, and so is an event that a plugin before ours replaced. What is
        to be there `before` them goes in with them.
        """
        missing: list[Event] = []
        for event in reversed(context.session.events):
            if event.invocation_id != context.invocation_id:
                break
            if event.id not in self.conversation.forwarded:
                missing.append(event)
        entries = [*before]
        for event in reversed(missing):
            if (packed := self._entry(event)) is not None:
                entries.append(packed)
        if entries:
            await self.conversation.append(*entries)

    def _entry(self, event: Event) -> Any | None:
        """What is to be appended for an event; None if the log has it, or gets it otherwise."""
        conversation = self.conversation
        if event.partial or event.id in conversation.forwarded:
            return None
        if self.is_root and conversation.is_stored_by_adk:
            return None  # ADK is about to store it, or has done so.
        replayed = conversation.replay is not None and conversation.replay.claim(self, event)
        conversation.forwarded.add(event.id)
        return None if replayed else event_entry(event, self.parent_call_id)


@dataclass(frozen=True)
class CallInProgress:
    """The tool call that the current task works for."""

    owner: object
    conversation: Conversation
    session_id: str
    call_id: str
    outer: CallInProgress | None = None


# An agent that runs as a tool gets a runner, a session and an invocation of its own. What links
# it to its caller is that it runs in the caller's task.
_call: contextvars.ContextVar[CallInProgress | None] = contextvars.ContextVar(
    "hotseat_call", default=None
)


def enter_call(owner: object, conversation: Conversation, session_id: str, call_id: str) -> None:
    """Notes that the current task now runs a tool."""
    _call.set(CallInProgress(owner, conversation, session_id, call_id, outer=_call.get()))


def leave_call(call_id: str) -> None:
    """Notes that the tool has ended."""
    call = _call.get()
    if call is not None and call.call_id == call_id:
        _call.set(call.outer)


def current_call(owner: object) -> CallInProgress | None:
    """The tool call that the current task works for, if it is one of `owner`'s."""
    call = _call.get()
    return call if call is not None and call.owner is owner else None


def calling(owner: object, session_id: str) -> CallInProgress | None:
    """The tool call, made in another session, that runs what happens in this one."""
    call = current_call(owner)
    while call is not None and call.session_id == session_id:
        call = call.outer
    return call
