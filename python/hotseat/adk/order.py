"""What the server wants of one run: who answers for the model, and what comes with the message."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from google.adk.agents.run_config import RunConfig, StreamingMode
from google.genai import types

from hotseat.adk.client_tools import ClientTools
from hotseat.errors import HotseatError

# For these, every model call is submitted as a turn; the server knows who is to answer it.
_SEATS_OF_TURNS = ("", "human", "replay")
_MODEL_SEAT = "model"


@dataclass(frozen=True)
class Order:
    """A `StartRun`, read and checked."""

    message: types.Content
    model_answers: bool
    """Whether the agents' own models answer. Then there are no turns."""
    streaming: bool
    client_tools: ClientTools
    state_delta: dict[str, Any] | None
    state: dict[str, Any] | None
    """The session's state as it is, where others may have changed it."""

    @classmethod
    def of(cls, start: Any) -> Order:
        """Reads a `StartRun`; raises what is wrong with it."""
        if start.seat not in (*_SEATS_OF_TURNS, _MODEL_SEAT):
            raise HotseatError(f"this worker does not know the seat {start.seat!r}: update it")
        state_delta = json.loads(start.state_delta_json) if start.state_delta_json else None
        if not isinstance(state_delta, dict | None):
            raise HotseatError("the changes of the state that come with a message are no object")
        state = json.loads(start.state_json) if start.state_json else None
        return cls(
            message=types.Content.model_validate_json(start.message_json),
            model_answers=start.seat == _MODEL_SEAT,
            streaming=start.streaming,
            client_tools=ClientTools(start.client_tools_json),
            state_delta=state_delta,
            state=state,
        )

    @property
    def run_config(self) -> RunConfig:
        """What ADK's Runner is told."""
        return RunConfig(streaming_mode=StreamingMode.SSE if self.streaming else StreamingMode.NONE)
