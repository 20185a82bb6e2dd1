"""Tools that run where the user is."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from google.adk.agents import LlmAgent, ParallelAgent
from google.adk.apps.app import App, ResumabilityConfig
from google.adk.tools.agent_tool import AgentTool
from hosting import ScriptedModel, Stage, said, texts
from support import Server

pytestmark = pytest.mark.asyncio

Setting = Callable[..., Any]

# What a rewritten schema would lose.
SCHEMA = {
    "type": "object",
    "properties": {
        "color": {"type": ["string", "null"], "pattern": "^#", "x-widget": "picker"},
        "more": {"$ref": "#/$defs/more"},
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"const": 1}]},
    },
    "required": ["color"],
    "additionalProperties": False,
    "$defs": {"more": {"oneOf": [{"type": "integer"}, {"$ref": "#/$defs/more"}]}},
}

PAINT = {"name": "paint", "description": "Paints the page.", "parameters": SCHEMA}
ASK = {"name": "ask", "description": "Asks the user.", "parameters": {"type": "object"}}


def tools(*described: dict[str, Any]) -> bytes:
    """Client tools, as a server sends them."""
    return json.dumps(described).encode()


def answer(call: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    """The part of a message that answers a call."""
    return {"functionResponse": {"id": call["id"], "name": call["name"], "response": response}}


def calls_of(event: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls of an event."""
    return [part["functionCall"] for part in event["content"]["parts"] if "functionCall" in part]


@pytest_asyncio.fixture
async def stage(server: Server, meet: Any) -> AsyncIterator[Setting]:
    """Puts an agent into a host, in a session of its own."""
    stages: list[Stage] = []

    async def put(agent: Any) -> Stage:
        made = Stage(server, await meet(server, str(uuid.uuid4())), agent)
        stages.append(made)
        return made

    yield put
    for made in stages:
        await made.close()


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@pytest.mark.parametrize("own", [[], [add]])
@pytest.mark.parametrize("resumable", [False, True])
async def test_a_call_ends_the_run_and_the_next_message_brings_its_result(
    stage: Setting, own: list[Any], resumable: bool
) -> None:
    model = ScriptedModel.of(said(("paint", {"color": "#f00"})), said("Red now."))
    agent: Any = LlmAgent(name="painter", model=model, tools=own)
    if resumable:
        config = ResumabilityConfig(is_resumable=True)
        agent = App(name="painter", root_agent=agent, resumability_config=config)
    on = await stage(agent)
    offer = tools(PAINT)

    assert (await on.run("red!", seat="model", client_tools_json=offer)).status == "finished"

    events = await on.events()
    (call,) = calls_of(events[1])
    assert (call["name"], call["args"]) == ("paint", {"color": "#f00"})
    assert events[1]["longRunningToolIds"] == [call["id"]]
    assert not any("functionResponse" in json.dumps(event) for event in events)
    assert len(model.requests) == 1
    # It ran elsewhere, so nobody here held a stopwatch.
    assert await on.human.log("tool_run") == []

    result = answer(call, {"done": True})
    ended = await on.run(result, seat="model", client_tools_json=offer)

    assert (ended.status, ended.error_message) == ("finished", "")
    assert texts(await on.events()) == ["red!", "Red now."]
    heard = model.requests[1].contents[-1].parts[0].function_response
    assert (heard.name, heard.response) == ("paint", {"done": True})


async def test_what_the_client_says_of_a_tool_reaches_the_model_unchanged(stage: Setting) -> None:
    model = ScriptedModel.of(said("ok"))
    on = await stage(LlmAgent(name="painter", model=model, tools=[add]))

    assert (
        await on.run("?", seat="model", client_tools_json=tools(PAINT, ASK))
    ).status == "finished"

    (offered,) = model.requests[0].config.tools
    declared = {each.name: each for each in offered.function_declarations}
    assert list(declared) == ["add", "paint", "ask"]
    assert declared["paint"].description == "Paints the page."
    assert declared["paint"].parameters_json_schema == SCHEMA


async def test_a_person_can_call_the_tools_of_the_client(stage: Setting) -> None:
    on = await stage(LlmAgent(name="painter", model=ScriptedModel.of()))
    on.start("red!", client_tools_json=tools(PAINT))
    turn = await on.human.next_turn()
    (offered,) = turn.request["config"]["tools"][0]["functionDeclarations"]
    assert offered["parametersJsonSchema"] == SCHEMA
    await on.human.call(turn, ("paint", {"color": "#f00"}))

    assert (await on.end()).status == "finished"

    assert (await on.events())[-1]["longRunningToolIds"]


async def test_they_are_offered_for_one_run_only(stage: Setting) -> None:
    model = ScriptedModel.of(said("ok"), said("ok"))
    on = await stage(LlmAgent(name="painter", model=model))
    await on.run("?", seat="model", client_tools_json=tools(PAINT))
    await on.run("?", seat="model")
    assert [list(request.tools_dict) for request in model.requests] == [["paint"], []]


async def test_the_agents_own_tool_wins_over_one_of_the_same_name(
    stage: Setting, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedModel.of(said(("add", {"a": 1, "b": 2})), said("3"))
    on = await stage(LlmAgent(name="math", model=model, tools=[add]))
    theirs = {"name": "add", "description": "Not this one.", "parameters": {}}
    hidden = {"name": "adk_request_input", "description": "Nor this.", "parameters": {}}

    with caplog.at_level(logging.WARNING):
        ended = await on.run(
            "?", seat="model", client_tools_json=tools(theirs, PAINT, PAINT, hidden)
        )

    assert ended.status == "finished"
    assert texts(await on.events()) == ["?", "3"]
    (offered,) = model.requests[0].config.tools
    names = [(each.name, each.description) for each in offered.function_declarations]
    assert names == [("add", "Adds two numbers."), ("paint", "Paints the page.")]
    told = [record.message for record in caplog.records if "is left out" in record.message]
    assert len(told) == 3
    assert any("'add'" in line and "the agent has a tool of this name" in line for line in told)


async def test_tools_of_the_agent_that_are_called_beside_them_run_first(stage: Setting) -> None:
    both = said(("paint", {"color": "#f00"}), ("add", {"a": 1, "b": 2}))
    model = ScriptedModel.of(both, said("Red, and 3."))
    on = await stage(LlmAgent(name="painter", model=model, tools=[add]))
    offer = tools(PAINT)

    assert (await on.run("both!", seat="model", client_tools_json=offer)).status == "finished"

    events = await on.events()
    paint, own = calls_of(events[1])
    assert events[1]["longRunningToolIds"] == [paint["id"]]
    assert events[2]["content"]["parts"][0]["functionResponse"]["id"] == own["id"]
    assert len(events) == 3 and len(model.requests) == 1

    result = answer(paint, {"done": True})
    assert (await on.run(result, seat="model", client_tools_json=offer)).status == "finished"

    assert texts(await on.events()) == ["both!", "Red, and 3."]
    heard = [
        part.function_response.name
        for content in model.requests[1].contents
        for part in content.parts
        if part.function_response
    ]
    assert sorted(heard) == ["add", "paint"]


async def test_a_call_of_one_agent_does_not_stop_the_one_beside_it(stage: Setting) -> None:
    left = ScriptedModel.of(said(("paint", {"color": "#f00"}), ("add", {"a": 1, "b": 2})))
    right = ScriptedModel.of(said(("add", {"a": 1, "b": 2})), said("3"))
    on = await stage(
        ParallelAgent(
            name="pair",
            sub_agents=[
                LlmAgent(name="left", model=left, tools=[add]),
                LlmAgent(name="right", model=right, tools=[add]),
            ],
        )
    )

    assert (await on.run("go", seat="model", client_tools_json=tools(PAINT))).status == "finished"

    assert (len(left.requests), len(right.requests)) == (1, 2)


async def test_an_agent_that_runs_as_a_tool_is_not_offered_them(stage: Setting) -> None:
    inner = ScriptedModel.of(said("42"))
    expert = LlmAgent(name="expert", model=inner, description="Knows.")
    model = ScriptedModel.of(said(("expert", {"request": "?"})), said("It is 42."))
    on = await stage(LlmAgent(name="asker", model=model, tools=[AgentTool(expert)]))

    assert (await on.run("?", seat="model", client_tools_json=tools(PAINT))).status == "finished"

    assert list(inner.requests[0].tools_dict) == []
    assert list(model.requests[0].tools_dict) == ["expert", "paint"]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (b'{"name": "paint"}', "must be a list"),
        (b'[{"description": "no name"}]', "has no name"),
        (json.dumps([{"name": f"t{n}"} for n in range(1001)]).encode(), "at most 1000"),
    ],
)
async def test_tools_that_make_no_sense_fail_the_run(
    stage: Setting, given: bytes, complaint: str
) -> None:
    on = await stage(LlmAgent(name="painter", model=ScriptedModel.of()))
    ended = await on.run("?", seat="model", client_tools_json=given)
    assert ended.status == "failed" and complaint in ended.error_message
