"""Runs as a server orders them: who answers for the model, what streams, what comes along."""

from __future__ import annotations

import asyncio
import base64
import json
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from google.adk.agents import LlmAgent
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from hosting import ScriptedModel, Stage, said, texts
from support import PATIENCE, Server

pytestmark = pytest.mark.asyncio

Setting = Callable[..., Any]


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


def add(a: int, b: int, tool_context: ToolContext) -> int:
    """Adds two numbers."""
    tool_context.state["sum"] = a + b
    return a + b


async def test_in_the_model_seat_the_agents_own_model_answers(stage: Setting) -> None:
    model = ScriptedModel.of(said(("add", {"a": 1, "b": 2})), said("It is 3."))
    on = await stage(LlmAgent(name="math", model=model, tools=[add]))

    ended = await on.run("1 + 2?", seat="model")

    assert (ended.status, ended.error_message) == ("finished", "")
    assert await on.human.log("request", "response") == []
    events = await on.events()
    assert [event["author"] for event in events] == ["user", "math", "math", "math"]
    assert texts(events) == ["1 + 2?", "It is 3."]
    assert events[2]["actions"]["stateDelta"] == {"sum": 3}
    statuses = [run["status"] for run in await on.human.payloads("tool_run")]
    assert statuses == ["started", "succeeded"]
    # The event has the result, and the log need not keep it twice.
    assert "result" not in (await on.human.payloads("tool_run"))[1]


async def test_in_the_model_seat_an_agent_that_runs_as_a_tool_has_its_model_too(
    stage: Setting,
) -> None:
    expert = LlmAgent(name="expert", model=ScriptedModel.of(said("42")), description="Knows.")
    model = ScriptedModel.of(said(("expert", {"request": "?"})), said("It is 42."))
    on = await stage(LlmAgent(name="asker", model=model, tools=[AgentTool(expert)]))

    assert (await on.run("?", seat="model")).status == "finished"

    assert await on.human.log("request") == []
    inner = [event for event in await on.human.log("event") if event.parent_call_id]
    assert [event.author for event in inner] == ["user", "expert"]


class Broken(BaseTool):
    """A tool that cannot say what it is."""

    def _get_declaration(self) -> Any:
        raise ZeroDivisionError("no schema today")


async def test_a_broken_tool_fails_the_run_of_a_model_and_not_that_of_a_person(
    stage: Setting,
) -> None:
    tools = [Broken(name="broken", description="Is broken."), add]
    on = await stage(LlmAgent(name="math", model=ScriptedModel.of(), tools=tools))

    ended = await on.run("hello", seat="model")

    assert (ended.status, "no schema today" in ended.error_message) == ("failed", True)
    on.start("hello", seat="human")
    turn = await on.human.next_turn()
    assert turn.tool_names == {"add"}
    await on.human.say(turn, "hello yourself")
    assert (await on.end()).status == "finished"


@pytest.mark.parametrize("seat", ["", "human", "replay"])
async def test_in_other_seats_every_model_call_is_a_turn(stage: Setting, seat: str) -> None:
    model = ScriptedModel.of()
    on = await stage(LlmAgent(name="math", model=model))
    on.start("hello", seat=seat, streaming=True)
    await on.human.say(await on.human.next_turn(), "hello yourself")

    assert (await on.end()).status == "finished"

    assert model.requests == [] and on.heard.partials == []
    assert texts(await on.events()) == ["hello", "hello yourself"]


async def test_a_seat_that_is_not_known_ends_the_run_with_advice(stage: Setting) -> None:
    on = await stage(LlmAgent(name="math", model=ScriptedModel.of()))
    ended = await on.run("hello", seat="throne")
    assert ended.status == "failed"
    assert "'throne'" in ended.error_message and "update it" in ended.error_message


async def test_a_model_that_is_not_there_says_what_to_install(stage: Setting) -> None:
    on = await stage(LlmAgent(name="math", model="nobodys-model"))
    ended = await on.run("hello", seat="model")
    assert ended.status == "failed"
    assert "'nobodys-model'" in ended.error_message and "install" in ended.error_message


async def test_pieces_of_an_answer_are_streamed_and_not_stored(stage: Setting) -> None:
    pieces = [said("It ", partial=True), said("is 3.", partial=True), said("It is 3.")]
    on = await stage(LlmAgent(name="math", model=ScriptedModel.of(pieces)))

    assert (await on.run("1 + 2?", seat="model", streaming=True)).status == "finished"

    assert texts(on.heard.partials) == ["It ", "is 3."]
    assert all(event["partial"] for event in on.heard.partials)
    assert {event["author"] for event in on.heard.partials} == {"math"}
    assert texts(await on.events()) == ["1 + 2?", "It is 3."]
    # Both pieces were on their way when the answer was stored.
    assert 2 in on.heard.log_at_flush


async def test_nothing_streams_unless_it_is_asked_for(stage: Setting) -> None:
    pieces = [said("It ", partial=True), said("It is 3.")]
    on = await stage(LlmAgent(name="math", model=ScriptedModel.of(pieces)))

    assert (await on.run("1 + 2?", seat="model")).status == "finished"

    assert on.heard.partials == []


async def test_a_run_is_cancelled_while_its_model_streams(stage: Setting) -> None:
    never = asyncio.Event()
    model = ScriptedModel.of([said("It ", partial=True), never, said("It is 3.")], said("Again."))
    on = await stage(LlmAgent(name="math", model=model))
    run_id = on.start("1 + 2?", seat="model", streaming=True)
    async with asyncio.timeout(PATIENCE):
        await on.heard.partial_came.wait()

    on.host.cancel(run_id)

    assert (await on.end()).status == "cancelled"
    async with asyncio.timeout(PATIENCE):
        await model.stopped.wait()
    assert (await on.human.next_run("cancelled"))["run_id"] == run_id
    assert texts(await on.events()) == ["1 + 2?"]
    # The session is as good as new.
    assert (await on.run("Again?", seat="model")).status == "finished"
    assert texts(await on.events()) == ["1 + 2?", "Again?", "Again."]


async def test_changes_of_the_state_come_with_the_message(stage: Setting) -> None:
    model = ScriptedModel.of(said("yes"), said("yes"))
    agent = LlmAgent(name="shop", model=model, instruction="The cart: {cart}. {user:name}")
    on = await stage(agent)
    delta = {"cart": ["a", 2**70], "user:name": "Ada"}

    assert (
        await on.run("?", seat="model", state_delta_json=json.dumps(delta).encode())
    ).status == "finished"

    user, _ = await on.events()
    assert user["actions"]["stateDelta"] == delta
    assert str(2**70) in model.requests[0].config.system_instruction
    assert "Ada" in model.requests[0].config.system_instruction
    on.restart()
    assert (await on.run("still?", seat="model")).status == "finished"
    assert str(2**70) in model.requests[1].config.system_instruction


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
async def test_files_of_a_message_reach_the_model(stage: Setting, encode: Any) -> None:
    model = ScriptedModel.of(said("nice"))
    on = await stage(LlmAgent(name="eye", model=model))
    data = bytes(range(256))
    picture = {"inlineData": {"mimeType": "image/png", "data": encode(data).decode()}}
    paper = {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://a/b.pdf"}}

    assert (await on.run("look", picture, paper, seat="model")).status == "finished"

    _, blob, link = model.requests[0].contents[-1].parts
    assert (blob.inline_data.data, blob.inline_data.mime_type) == (data, "image/png")
    assert link.file_data.file_uri == "gs://a/b.pdf"
    stored = (await on.events())[0]["content"]["parts"]
    assert base64.urlsafe_b64decode(stored[1]["inlineData"]["data"]) == data
    assert stored[2] == paper


async def test_a_resumed_run_of_a_model_repeats_neither_answers_nor_tools(stage: Setting) -> None:
    calls: list[int] = []

    def count(n: int) -> int:
        """Counts."""
        calls.append(n)
        return len(calls)

    asked, never = asyncio.Event(), asyncio.Event()
    model = ScriptedModel.of(said(("count", {"n": 1})), [asked.set, never], said("It was 1."))
    on = await stage(LlmAgent(name="counter", model=model, tools=[count]))
    run_id = on.start("count", seat="model")
    async with asyncio.timeout(PATIENCE):
        await asked.wait()

    before = await on.events()
    on.restart()
    assert (await on.run("count", run_id=run_id, seat="model", resume=True)).status == "finished"

    assert calls == [1]
    assert len(model.requests) == 3
    # It was asked where it had been cut off, not from the start.
    assert model.requests[2].contents[-1].parts[0].function_response.response == {"result": 1}
    events = await on.events()
    assert events[: len(before)] == before
    assert texts(events) == ["count", "It was 1."]
    assert len({event["id"] for event in events}) == len(events) == 4


async def test_a_run_that_another_worker_has_now_is_left_without_a_word(stage: Setting) -> None:
    on = await stage(LlmAgent(name="math", model="nobody", tools=[add]))
    run_id = on.start("1 + 2?")
    turn = await on.human.next_turn()

    on.host.leave(run_id)
    on.restart()
    on.start("1 + 2?", run_id=run_id, resume=True)

    # The turn waits still, and the run is open.
    await on.human.say(turn, "3")
    assert (await on.end()).status == "finished"
    assert on.heard.ends.empty(), "nothing was told of the run that was left"
    assert "cancelled" not in [run["status"] for run in await on.human.payloads("run")]
    assert len(await on.human.log("request")) == len(await on.human.log("response")) == 1


async def test_a_run_that_is_given_back_while_it_is_left_begins_anew_from_the_log(
    stage: Setting,
) -> None:
    on = await stage(LlmAgent(name="math", model="nobody", tools=[add]))
    run_id = on.start("1 + 2?")
    turn = await on.human.next_turn()

    on.host.leave(run_id)
    on.start("1 + 2?", run_id=run_id, resume=True)

    await on.human.say(turn, "3")
    assert (await on.end()).status == "finished"
    assert on.heard.ends.empty()
    assert len(await on.human.log("request")) == 1, "the turn that waited was taken up"
