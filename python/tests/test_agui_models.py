"""AG-UI with the models of its makers' Python package: what they build is understood, and every
event of a run is one of theirs, to the last field."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from ag_ui.core import (
    AssistantMessage,
    DataSource,
    DocumentPart,
    Event,
    EventType,
    Message,
    ResumeEntry,
    RunAgentInput,
    TextPart,
    Tool,
    ToolMessage,
    UserMessage,
)
from pydantic import BaseModel, TypeAdapter
from scripted_models import Exchange, Script, scripted_model
from support import EXAMPLES, PATIENCE, Server

RECORDING = Path(__file__).resolve().parents[2] / "e2e" / "recordings" / "order_desk.evalset.json"

TEA: Script = (
    Exchange("A green tea?", (("find_teas", {"kind": "green", "max_price": 10}),), "The Sencha."),
    Exchange("Paint it", (("paint", {"colour": "red"}),), "It is red."),
)
PAINT = Tool(
    name="paint",
    description="Paints the page.",
    parameters={"type": "object", "properties": {"colour": {"type": "string"}}},
)

EVENTS: TypeAdapter[Any] = TypeAdapter(Event)


class FrontEnd:
    """A thread of an agent, as a program with these models sees it."""

    def __init__(self, client: httpx.Client, agent: str) -> None:
        self._client = client
        self._agent = agent
        self._thread = str(uuid.uuid4())
        self.messages: list[Message] = []

    def say(self, content: Any, **more: Any) -> list[Any]:
        """Runs the agent with one more message of the user's."""
        self.messages.append(UserMessage(id=str(uuid.uuid4()), content=content))
        return self.run(**more)

    def run(self, **more: Any) -> list[Any]:
        """Runs the agent with what was said so far; the events."""
        asked = RunAgentInput(
            thread_id=self._thread,
            run_id=str(uuid.uuid4()),
            messages=self.messages,
            **{"state": {}, "tools": [], "context": [], "forwarded_props": {}, **more},
        )
        told = []
        body = asked.model_dump_json(by_alias=True)
        headers = {"content-type": "application/json", "accept": "text/event-stream"}
        path = f"/ag-ui/{self._agent}"
        with self._client.stream("POST", path, content=body, headers=headers) as answer:
            assert answer.status_code == 200, answer.read()
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    told.append(understood(line.removeprefix("data: ")))
        return told


def understood(data: str) -> Any:
    """An event of theirs, with nothing in it that they do not know, and nothing lost."""
    event = EVENTS.validate_json(data)
    assert list(unknown(event)) == [], data
    assert json.loads(event.model_dump_json(by_alias=True)) == json.loads(data)
    return event


def unknown(value: Any) -> Iterator[str]:
    """The fields that no model declares."""
    if isinstance(value, BaseModel):
        yield from (f"{type(value).__name__}.{name}" for name in value.model_extra or {})
        for name in type(value).model_fields:
            yield from unknown(getattr(value, name))
    elif isinstance(value, list):
        for each in value:
            yield from unknown(each)


def kinds(told: list[Any]) -> set[EventType]:
    """The types of some events."""
    return {event.type for event in told}


def text_of(told: list[Any]) -> str:
    """What was said in some events."""
    return "".join(e.delta for e in told if e.type == EventType.TEXT_MESSAGE_CONTENT)


@contextmanager
def calling(server: Server) -> Iterator[httpx.Client]:
    """A client with the token."""
    server.wait_until_connected()
    headers = {"authorization": f"Bearer {server.token}"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=PATIENCE) as client:
        yield client


@pytest.fixture
def tea_shop(new_server: Callable[..., Server]) -> Iterator[FrontEnd]:
    """A native agent with an MCP server and a model."""
    with scripted_model(TEA) as model:
        environment = {**model.environment, "HOTSEAT_PYTHON": sys.executable}
        command = ("serve", "--seat", "model")
        agent = str(EXAMPLES / "native")
        server = new_server(agent, environment=environment, command=command)
        with calling(server) as client:
            yield FrontEnd(client, "tea_shop")


@pytest.fixture
def order_desk(new_server: Callable[..., Server]) -> Iterator[FrontEnd]:
    """An ADK agent that asks for consent, with a recording in the seat."""
    command = ("serve", "--seat", f"replay:{RECORDING}")
    environment = {"HOTSEAT_PYTHON": sys.executable}
    server = new_server(str(EXAMPLES / "order_desk"), environment=environment, command=command)
    with calling(server) as client:
        yield FrontEnd(client, "order_desk")


def test_text_tools_and_documents_of_a_native_agent(tea_shop: FrontEnd) -> None:
    told = tea_shop.say("A green tea?")
    assert {EventType.RUN_STARTED, EventType.TOOL_CALL_RESULT, EventType.RUN_FINISHED} < kinds(told)
    assert text_of(told) == "The Sencha."
    assert told[-1].outcome.type == "success"

    # What was said goes along with the next message, as a front end keeps it.
    tea_shop.messages.append(AssistantMessage(id="said", content="The Sencha."))
    note = DocumentPart(source=DataSource(value="VGVh", mime_type="text/plain"))
    told = tea_shop.say([TextPart(text="What is in it?"), note])
    assert "Tea" in text_of(told)


def test_a_tool_of_the_front_end(tea_shop: FrontEnd) -> None:
    told = tea_shop.say("Paint it", tools=[PAINT])
    (call_id,) = told[-1].outcome.pending_tool_call_ids
    tea_shop.messages.append(ToolMessage(id="result", tool_call_id=call_id, content="done"))
    told = tea_shop.run(tools=[PAINT])
    assert text_of(told) == "It is red."


def test_state_interrupts_and_resume_of_an_adk_agent(order_desk: FrontEnd) -> None:
    wish = {"forwarded_props": {"interrupts": True}}
    told = order_desk.say("Pay back 200 for A-101", state={"language": "en"}, **wish)
    assert told[-1].outcome.type == "interrupt"
    (asked,) = told[-1].outcome.interrupts
    agreed = ResumeEntry(interrupt_id=asked.id, status="resolved", payload={"confirmed": True})
    told = order_desk.run(resume=[agreed], state={"language": "en"}, **wish)
    assert told[-1].outcome.type == "success"
    assert text_of(told) == "200 euros are on their way."
    changed = [event for event in told if event.type == EventType.STATE_DELTA]
    assert "A-101" in str(changed)
