"""Tools that cannot say what they are, and tools that say too much."""

from __future__ import annotations

from typing import Any

import pytest
from support import Server

pytestmark = pytest.mark.asyncio


async def test_a_tool_that_cannot_be_declared_is_told_of_and_the_others_run(
    server: Server, office: Any, begin: Any, deeds: Any
) -> None:
    office()
    human = await begin("Hello")
    (agent,) = server.http("GET", "/api/v1/agents")["items"]
    listed = {tool["name"]: tool.get("error") for tool in agent["tools"]}
    assert listed["raises"] == "ZeroDivisionError: no schema today"
    assert listed["malformed"] == "TypeError: the declaration is of type dict"
    assert listed["note"] is None

    turn = await human.next_turn()
    assert not {"raises", "malformed"} & turn.tool_names
    assert turn.payload["tools"]["raises"] == {
        "kind": "function",
        "error": "ZeroDivisionError: no schema today",
    }
    assert "of type dict" in turn.payload["tools"]["malformed"]["error"]
    assert "error" not in turn.payload["tools"]["note"]
    await human.call(turn, ("note", {"name": "a", "text": "b"}))
    await human.say(await human.next_turn(), "Written.")
    await human.next_run("finished")
    assert deeds.done == ["note"]


async def test_ten_megabytes_of_output_come_through(
    server: Server, office: Any, begin: Any, deeds: Any
) -> None:
    office()
    human = await begin("Shout")
    await human.call(await human.next_turn(), ("flood", {"letter": "a", "size": 10_000_000}))
    turn = await human.next_turn()
    assert len(turn.responses[0]["result"]) == 10_000_000
    await human.say(turn, "Loud.")
    await human.next_run("finished")


async def test_more_than_the_log_takes_is_an_error_of_the_tool(
    server: Server, office: Any, begin: Any, deeds: Any
) -> None:
    office()
    human = await begin("Shout")
    await human.call(await human.next_turn(), ("flood", {"letter": "ä", "size": 6_000_000}))
    turn = await human.next_turn()
    error = turn.responses[0]["error"]
    assert error["type"] == "ResultTooLarge"
    assert "12,000,002 bytes" in error["message"]
    await human.say(turn, "Too loud.")
    await human.next_run("finished")
    assert deeds.done == ["flood"]


async def test_a_conversation_that_outgrows_the_log_ends_with_a_clear_error(
    server: Server, office: Any, begin: Any, deeds: Any
) -> None:
    office()
    human = await begin("Shout")
    for _ in range(2):
        await human.call(await human.next_turn(), ("flood", {"letter": "a", "size": 6_000_000}))
    run = await human.next_run("failed")
    assert "limit" in run["error"]["message"]
    # Nothing is lost but the request: both results are in the log.
    events = await human.payloads("event")
    parts = [part for event in events for part in event.get("content", {}).get("parts", [])]
    assert len([part for part in parts if "functionResponse" in part]) == 2
