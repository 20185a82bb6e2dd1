"""Agents that a worker hosts for a server."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from support import AGENTS, PACKAGE, PATIENCE, Human, Server

pytestmark = pytest.mark.asyncio

COUNTER = str(AGENTS / "counter")


class Counts:
    """How often `count` of the counter was really called."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "counts"
        self.file.touch()

    @property
    def number(self) -> int:
        """The number so far."""
        return len(self.file.read_text())


@pytest.fixture
def counts(tmp_path: Path) -> Counts:
    """A fresh count."""
    return Counts(tmp_path)


async def begin(server: Server, meet: Any, text: str) -> Human:
    """A session with the counter and a first message in it."""
    await asyncio.to_thread(server.wait_for_agents)
    session_id = server.new_session("counter")
    human = await meet(server, session_id)
    assert "run_id" in server.query(session_id, text)
    return human


async def test_the_server_starts_a_worker_for_agent_folders(
    new_server: Any, meet: Any, counts: Counts
) -> None:
    environment = {"PYTHONPATH": str(PACKAGE), "COUNT_FILE": str(counts.file)}
    server = new_server("--python", sys.executable, str(AGENTS), environment=environment)
    agents = await asyncio.to_thread(server.wait_for_agents)
    (agent,) = agents["items"]
    assert (agent["name"], agent["runtime"]) == ("counter", "adk")
    assert agent["instruction"] == "You count."
    kinds = {tool["name"]: tool["kind"] for tool in agent["tools"]}
    assert kinds["expert"] == "agent"
    assert kinds["transfer_to_agent"] == "transfer"
    (problem,) = agents["problems"]
    assert "a_package_that_is_not_there" in problem["message"]

    human = await begin(server, meet, "Count")
    await human.call(await human.next_turn(), ("count", {}))
    await human.say(await human.next_turn(), "One.")
    await human.next_run("finished")
    assert counts.number == 1
    kinds = [event.kind for event in await human.log()]
    assert kinds == [
        *("run", "run", "event"),
        *("request", "response", "event"),
        *("tool_run", "tool_run", "event"),
        *("request", "response", "event"),
        "run",
    ]
    session = server.http("GET", f"/api/v1/sessions/{human.session_id}")
    assert (session["state"], session["run"]) == ("awaiting_query", None)


async def test_sessions_run_side_by_side(
    server: Server, new_worker: Any, meet: Any, counts: Counts
) -> None:
    new_worker(server, COUNTER, COUNT_FILE=str(counts.file))
    first = await begin(server, meet, "one")
    second = await begin(server, meet, "two")
    turn_of_first, turn_of_second = await first.next_turn(), await second.next_turn()
    await second.say(turn_of_second, "two")
    await second.next_run("finished")
    await first.say(turn_of_first, "one")
    await first.next_run("finished")


@pytest.mark.parametrize("tool", ["block", "wait"])
async def test_a_running_tool_can_be_cancelled(
    tool: str, server: Server, new_worker: Any, meet: Any, counts: Counts
) -> None:
    """FR-033."""
    new_worker(server, COUNTER, COUNT_FILE=str(counts.file))
    human = await begin(server, meet, "Take your time")
    await human.call(await human.next_turn(), (tool, {}))
    started = await human.next_tool_run("started")
    path = f"/api/v1/sessions/{human.session_id}/tools/{started['call_id']}/cancel"
    server.http("POST", path)
    turn = await human.next_turn()
    response = turn.last_parts[0]["functionResponse"]["response"]
    assert response["error"]["type"] == "Cancelled"
    await human.say(turn, "Never mind.")
    await human.next_run("finished")
    assert [run["status"] for run in await human.payloads("tool_run")][-1] == "cancelled"


async def test_a_run_can_be_cancelled_and_the_session_goes_on(
    server: Server, new_worker: Any, meet: Any, counts: Counts
) -> None:
    new_worker(server, COUNTER, COUNT_FILE=str(counts.file))
    human = await begin(server, meet, "Wait")
    await human.next_turn()
    server.http("POST", f"/api/v1/sessions/{human.session_id}/cancel")
    await human.next_run("cancelled")

    async with asyncio.timeout(PATIENCE):
        while "run_id" not in server.query(human.session_id, "Again"):
            await human.next_event("event", "response", "run")
    turn = await human.next_turn()
    await human.say(turn, "Again.")
    await human.next_run("finished")


async def test_a_second_message_finds_the_state_of_the_first_after_a_restart(
    server: Server, new_worker: Any, meet: Any, counts: Counts
) -> None:
    worker = new_worker(server, COUNTER, COUNT_FILE=str(counts.file))
    human = await begin(server, meet, "one")
    await human.call(await human.next_turn(), ("count", {}))
    await human.say(await human.next_turn(), "first answer")
    await human.next_run("finished")

    worker.kill()
    worker.start()
    await _until_connected(server)
    server.query(human.session_id, "two")
    turn = await human.next_turn()
    assert turn.payload["state"]["count"] == 1
    assert "first answer" in json.dumps(turn.request["contents"])
    await human.say(turn, "second answer")
    await human.next_run("finished")


async def test_a_run_survives_the_death_of_its_worker(
    server: Server, new_worker: Any, meet: Any, counts: Counts
) -> None:
    worker = new_worker(server, COUNTER, COUNT_FILE=str(counts.file))
    human = await begin(server, meet, "one")
    await human.call(await human.next_turn(), ("count", {}))
    pending = await human.next_turn()
    before = [event.event_id for event in await human.log()]

    worker.kill()
    worker.start()
    await human.say(pending, "Counted once.")
    await human.next_run("finished")

    log = await human.log()
    assert [event.event_id for event in log][: len(before)] == before
    assert [event.kind for event in log[len(before) :]] == ["response", "event", "run"]
    assert len({event.invocation_id for event in log if event.kind == "event"}) == 1
    assert counts.number == 1


async def test_transfers_and_agents_as_tools_survive_the_death_of_their_worker(
    server: Server, new_worker: Any, meet: Any, counts: Counts
) -> None:
    worker = new_worker(server, COUNTER, COUNT_FILE=str(counts.file))
    human = await begin(server, meet, "one")
    await human.call(await human.next_turn(), ("count", {}))
    await human.call(await human.next_turn(), ("transfer_to_agent", {"agent_name": "clerk"}))
    turn = await human.next_turn()
    assert turn.agent_name == "clerk"
    await human.call(turn, ("expert", {"request": "Count, please"}), ("count", {}))
    turn = await human.next_turn()
    assert turn.agent_name == "expert"
    await human.call(turn, ("count", {}))
    pending = await human.next_turn()
    assert counts.number == 3

    worker.kill()
    worker.start()
    await human.say(pending, "I counted.")
    turn = await human.next_turn()
    assert (turn.agent_name, turn.parent_call_id) == ("clerk", "")
    responses = [part["functionResponse"]["response"] for part in turn.last_parts]
    assert responses == [{"result": "I counted."}, {"result": "counted"}]
    await human.say(turn, "All counted.")
    await human.next_run("finished")

    assert counts.number == 3
    nested = [event for event in await human.log("event") if event.parent_call_id]
    assert len({event.invocation_id for event in nested}) == 1
    assert [event.author for event in nested] == ["user", "expert", "expert", "expert"]


async def test_a_tool_that_was_cut_off_is_not_called_again(
    server: Server, new_worker: Any, meet: Any, counts: Counts
) -> None:
    worker = new_worker(server, COUNTER, COUNT_FILE=str(counts.file))
    human = await begin(server, meet, "one")
    await human.call(await human.next_turn(), ("block", {}))
    await human.next_tool_run("started")

    worker.kill()
    worker.start()
    turn = await human.next_turn()
    response = turn.last_parts[0]["functionResponse"]["response"]
    assert response["error"]["type"] == "Interrupted"
    await human.say(turn, "I see.")
    await human.next_run("finished")


async def test_a_run_goes_on_while_the_server_is_away(
    server: Server, new_worker: Any, meet: Any, counts: Counts
) -> None:
    new_worker(server, COUNTER, COUNT_FILE=str(counts.file))
    human = await begin(server, meet, "one")
    before = await human.next_turn()
    server.kill()
    server.start()
    human = await meet(server, human.session_id)
    after = await human.next_turn()
    assert after.turn_id == before.turn_id
    await human.call(after, ("count", {}))
    await human.say(await human.next_turn(), "Done.")
    await human.next_run("finished")
    assert counts.number == 1
    assert len(await human.log("request")) == 2


async def test_a_failing_run_is_told_with_its_traceback(
    server: Server, new_worker: Any, meet: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "fails"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "agent.py").write_text(
        "from google.adk.agents import LlmAgent\n"
        "def fail(callback_context):\n"
        "    raise ZeroDivisionError('the agent is at fault')\n"
        "root_agent = LlmAgent(name='f', model='m', before_agent_callback=fail)\n"
    )
    new_worker(server, str(folder))
    await asyncio.to_thread(server.wait_for_agents)
    session_id = server.new_session("fails")
    human = await meet(server, session_id)
    server.query(session_id, "Hello")
    run = await human.next_run("failed")
    assert run["error"]["type"] == "ZeroDivisionError"
    assert "in fail" in run["error"]["traceback"]


async def test_an_app_keeps_its_plugins_and_says_which_agents_are_played(
    server: Server, new_worker: Any, meet: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "apart"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "agent.py").write_text(
        """
from google.adk.agents import LlmAgent, SequentialAgent
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types
from hotseat.adk import HotseatPlugin

class Parrot(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Arr")]))

class Mark(BasePlugin):
    async def before_run_callback(self, *, invocation_context):
        invocation_context.session.state["marked"] = True

parrot = LlmAgent(name="parrot", model=Parrot(model="parrot"))
human = LlmAgent(name="human", model="gemini-2.5-flash")
root_agent = SequentialAgent(name="both", sub_agents=[parrot, human])
app = App(name="apart", root_agent=root_agent,
          plugins=[Mark(name="mark"), HotseatPlugin(agents=["human"])])
"""
    )
    new_worker(server, str(folder))
    await asyncio.to_thread(server.wait_for_agents)
    human = await meet(server, server.new_session("apart"))
    server.query(human.session_id, "Hello")
    turn = await human.next_turn()
    assert turn.agent_name == "human"
    assert turn.payload["state"]["marked"] is True
    await human.say(turn, "Hello.")
    await human.next_run("finished")
    assert [event.author for event in await human.log("event")] == ["user", "parrot", "human"]


async def test_a_worker_ends_when_its_parent_does(server: Server) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hotseat.worker", "--exit-with-parent", "--url", server.url),
        stdin=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    )
    assert process.stdin is not None
    process.stdin.close()
    async with asyncio.timeout(PATIENCE):
        assert await process.wait() == 0


async def _until_connected(server: Server) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            agents = await asyncio.to_thread(server.wait_for_agents)
            if all(agent["connected"] for agent in agents["items"]):
                return
