"""Tools of a real MCP server, called by a person."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support import PACKAGE, Server, WorkerProcess

pytestmark = pytest.mark.asyncio

DESK = str(Path(__file__).with_name("mcp_desk.py"))


@pytest.fixture
def desk(server: Server, new_worker: Any, deeds: Any) -> WorkerProcess:
    """A worker that hosts an agent with an MCP server."""
    found = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
    return new_worker(server, DESK, DEEDS_FILE=str(deeds.file), PYTHONPATH=found)


async def test_a_person_calls_a_tool_of_an_mcp_server(
    server: Server, desk: Any, begin: Any, deeds: Any
) -> None:
    human = await begin("Double 21", agent="mcp_desk")
    (agent,) = server.http("GET", "/api/v1/agents")["items"]
    assert {tool["name"]: tool["kind"] for tool in agent["tools"]} == {
        "double": "mcp",
        "tidy": "mcp",
    }
    turn = await human.next_turn()
    assert turn.tool_names == {"double", "tidy"}
    await human.call(turn, ("double", {"number": 21}))
    turn = await human.next_turn()
    assert "42" in str(turn.responses)
    await human.say(turn, "42")
    await human.next_run("finished")
    assert deeds.done == ["double"]


async def test_a_running_tool_of_an_mcp_server_can_be_cancelled(
    server: Server, desk: Any, begin: Any, deeds: Any
) -> None:
    human = await begin("Tidy up", agent="mcp_desk")
    await human.call(await human.next_turn(), ("tidy", {"rounds": 1000}))
    started = await human.next_tool_run("started")
    server.http("POST", f"/api/v1/sessions/{human.session_id}/tools/{started['call_id']}/cancel")
    turn = await human.next_turn()
    assert turn.responses[0]["error"]["type"] == "Cancelled"

    # The connection to the server has survived it.
    await human.call(turn, ("double", {"number": 1}))
    turn = await human.next_turn()
    assert "2" in str(turn.responses)
    await human.say(turn, "Enough.")
    await human.next_run("finished")
    assert deeds.done == ["double"]


async def test_progress_is_told_where_the_server_tells_it(
    server: Server, desk: Any, begin: Any, deeds: Any
) -> None:
    from google.adk.tools.mcp_tool.mcp_tool import McpTool

    if not hasattr(McpTool, "_resolve_progress_callback"):
        pytest.skip("this release of ADK does not listen to progress")
    human = await begin("Tidy up", agent="mcp_desk")
    await human.call(await human.next_turn(), ("tidy", {"rounds": 4}))
    turn = await human.next_turn()
    await human.say(turn, "Tidy.")
    await human.next_run("finished")
    told = await human.payloads("tool_run")
    progress = [each for each in told if each["status"] == "progress"]
    assert progress[0]["message"] == "round 1"
    assert progress[0]["fraction"] == 0.25
    assert [each["status"] for each in told][-1] == "succeeded"
