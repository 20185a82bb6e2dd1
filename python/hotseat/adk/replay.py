"""A run that was cut off, done again from the log up to where it was.

ADK cannot be put into the middle of a run, so the run is begun again and everything that the log
knows is answered from the log: model calls return the recorded decisions, tools their recorded
responses, and nothing that happened once happens twice. A turn that is still pending is adopted
under its id and waited for. From there on the run is an ordinary one.

Where the agent's own model answers, there are no turns; its answers are in ADK's events.

Turns are found by the function call that runs the agent, the agent's name and its branch, in
order: within these three, ADK runs one step after the other. Events that ADK emits again are given
the identity of the recorded ones in the same way, so ADK's session equals the log.

A tool that had begun and has no recorded response may or may not have taken effect. It is not
called again; its response says so. Agents that run as tools, and the tools by which ADK steers
itself, are safe to enter again.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from hotseat.adk.decision import unpack_decision
from hotseat.adk.tool_kinds import AGENT, kind_of
from hotseat.adk.tools import error_response

if TYPE_CHECKING:
    from hotseat.adk.conversation import Place

# The function call that runs the agent, the agent's name, its branch.
_Where = tuple[str, str, str]

# What ADK asks the user for by itself. It makes up new ids for these calls each time.
_REQUESTS = "adk_request_"

_INTERRUPTED = error_response(
    "Interrupted",
    "the record ends while this tool ran; it may or may not have taken effect",
)


@dataclass(frozen=True)
class RecordedTurn:
    """A turn of the log; without a response it is still pending."""

    turn_id: str
    response: LlmResponse | None


@dataclass(frozen=True)
class RecordedResult:
    """What a tool call gave."""

    value: Any


class Replay:
    """What the log holds of one run."""

    def __init__(self, began: int, invocation_id: str, log: list[Any]) -> None:
        """Reads the part of the log that begins with the start of the run."""
        self.began = began
        self.invocation_id = invocation_id
        self._turns: dict[_Where, deque[RecordedTurn]] = defaultdict(deque)
        self._events: dict[_Where, deque[Event]] = defaultdict(deque)
        self._answers: dict[_Where, deque[LlmResponse]] = defaultdict(deque)
        self._responses: dict[str, tuple[dict[str, Any], Event]] = {}
        self._restored: set[str] = set()
        self._started: set[str] = set()
        self._ended_beside_others: dict[str, dict[str, Any]] = {}
        answers = {event.turn_id: event for event in log if event.kind == "response"}
        for event in log:
            if event.kind == "request":
                answer = answers.get(event.turn_id)
                response = unpack_decision(answer) if answer is not None else None
                where = (event.parent_call_id, event.agent_name, event.branch)
                self._turns[where].append(RecordedTurn(event.turn_id, response))
            elif event.kind == "event":
                self._read_event(event)
            elif event.kind == "tool_run":
                self._read_tool_run(json.loads(event.raw_json))

    @classmethod
    def find(cls, log: list[Any], run_id: str) -> Replay | None:
        """The replay of a run, or None if the run had not begun to do anything."""
        for index, event in enumerate(log):
            if event.kind == "run" and event.invocation_id:
                run = json.loads(event.raw_json)
                if run.get("run_id") == run_id and run.get("status") == "started":
                    return cls(event.seq, event.invocation_id, log[index:])
        return None

    def invocation_of(self, place: Place) -> str | None:
        """The id of the invocation that is about to begin here; None if it is a new one."""
        if place.is_root:
            return self.invocation_id
        messages = self._events[(place.parent_call_id, "user", "")]
        return messages[0].invocation_id if messages else None

    def next_turn(self, place: Place, agent_name: str, branch: str | None) -> RecordedTurn | None:
        """The recorded turn for a model call, or None if the log ends before it."""
        turns = self._turns[(place.parent_call_id, agent_name, branch or "")]
        return turns.popleft() if turns else None

    def next_answer(self, place: Place, agent_name: str, branch: str | None) -> LlmResponse | None:
        """What the agent's own model answered, or None if the log ends before that."""
        answers = self._answers[(place.parent_call_id, agent_name, branch or "")]
        return answers.popleft() if answers else None

    def tool_result(self, tool: BaseTool, tool_context: ToolContext) -> RecordedResult | None:
        """What to return instead of calling a tool, or None if it is to be called."""
        call_id = tool_context.function_call_id or ""
        if call_id in self._responses:
            response, event = self._responses[call_id]
            self._restore_actions(tool_context, event)
            return RecordedResult(response)
        if (ended := self._ended_beside_others.get(call_id)) is not None:
            tool_context.state.update(ended.get("state_delta") or {})
            _set_actions(tool_context, EventActions.model_validate(ended.get("actions") or {}))
            return RecordedResult(ended.get("result"))
        if call_id in self._started and not _may_be_entered_again(tool):
            return RecordedResult(_INTERRUPTED)
        return None

    def claim(self, place: Place, event: Event) -> bool:
        """Gives an event the identity of the recorded one; False if it is a new event."""
        recorded = self._events[(place.parent_call_id, event.author, event.branch or "")]
        if not recorded:
            return False
        if _shape(recorded[0]) != _shape(event):
            # The agent took another way this time. What is left of the record is not about it.
            recorded.clear()
            return False
        original = recorded.popleft()
        _adopt_call_ids(event, original)
        event.id = original.id
        event.timestamp = original.timestamp
        event.invocation_id = original.invocation_id
        return True

    def _read_event(self, logged: Any) -> None:
        event = Event.model_validate_json(logged.raw_json)
        where = (logged.parent_call_id, event.author, event.branch or "")
        self._events[where].append(event)
        if _is_answer(event):
            fields = {name: getattr(event, name) for name in LlmResponse.model_fields}
            self._answers[where].append(LlmResponse.model_construct(**fields).model_copy(deep=True))
        for response in event.get_function_responses():
            if response.id:
                self._responses[response.id] = (response.response or {}, event)

    def _read_tool_run(self, tool_run: dict[str, Any]) -> None:
        call_id = tool_run.get("call_id", "")
        self._started.add(call_id)
        if tool_run.get("status") == "succeeded" and "result" in tool_run:
            self._ended_beside_others[call_id] = tool_run

    def _restore_actions(self, tool_context: ToolContext, event: Event) -> None:
        # Calls that ran side by side share one event, whose actions must count once.
        if event.id in self._restored:
            return
        self._restored.add(event.id)
        tool_context.state.update(event.actions.state_delta)
        _set_actions(tool_context, event.actions)


def _set_actions(tool_context: ToolContext, actions: EventActions) -> None:
    defaults = EventActions()
    for name in EventActions.model_fields:
        value = getattr(actions, name)
        if name != "state_delta" and value != getattr(defaults, name):
            setattr(tool_context.actions, name, value)


def _may_be_entered_again(tool: BaseTool) -> bool:
    if kind_of(tool) == AGENT:
        return True
    function = getattr(tool, "func", None) or type(tool)
    return (getattr(function, "__module__", None) or "").startswith(
        (
            "google.adk.tools.transfer_to_agent_tool",
            "google.adk.tools.exit_loop_tool",
            "google.adk.tools.set_model_response_tool",
        )
    )


def _shape(event: Event) -> tuple[tuple[str, ...], tuple[str, ...]]:
    calls = tuple(
        call.name if _is_request(call) else call.id or "" for call in event.get_function_calls()
    )
    responses = tuple(response.id or "" for response in event.get_function_responses())
    return calls, responses


def _is_answer(event: Event) -> bool:
    """Whether an event is what a model said, not a tool, the user or ADK itself."""
    parts = (event.content and event.content.parts) or []
    return (
        event.author != "user"
        and bool(parts)
        and not event.get_function_responses()
        and not any(_is_request(call) for call in event.get_function_calls())
    )


def _is_request(call: types.FunctionCall) -> bool:
    return (call.name or "").startswith(_REQUESTS)


def _adopt_call_ids(event: Event, original: Event) -> None:
    # Somebody may have the recorded ids in front of them, about to answer.
    pairs = zip(event.get_function_calls(), original.get_function_calls(), strict=True)
    if renamed := [(call, old) for call, old in pairs if call.id != old.id]:
        for call, old in renamed:
            call.id = old.id
        event.long_running_tool_ids = original.long_running_tool_ids
