"""Going back to before an answer: a new session, and no tool runs twice."""

from __future__ import annotations

from typing import Any

import pytest
from support import Human, Server, Turn

pytestmark = pytest.mark.asyncio


async def _fork(server: Server, meet: Any, human: Human, turn: Turn) -> tuple[Human, Turn]:
    """The person in the fork, and the turn that is open again."""
    forked = await meet(server, server.fork(human.session_id, turn.turn_id)["id"])
    while (again := await forked.next_turn()).turn_id != turn.turn_id:
        pass
    assert again.request == turn.request
    return forked, again


async def test_a_fork_goes_another_way_and_runs_no_tool_again(
    server: Server, office: Any, begin: Any, meet: Any, deeds: Any
) -> None:
    office()
    human = await begin("Write")
    await human.call(await human.next_turn(), ("note", {"name": "a", "text": "one"}))
    regretted = await human.next_turn()
    await human.call(regretted, ("note", {"name": "b", "text": "two"}))
    await human.say(await human.next_turn(), "Written.")
    await human.next_run("finished")
    assert deeds.done == ["note", "note"]

    forked, turn = await _fork(server, meet, human, regretted)
    await forked.call(turn, ("recall", {"name": "a"}))
    turn = await forked.next_turn()
    assert turn.responses == [{"result": "one"}], "the fork has what was saved before it"
    await forked.call(turn, ("recall", {"name": "b"}))
    turn = await forked.next_turn()
    assert turn.responses == [{"result": "nothing"}], "and not what was saved after it"
    await forked.say(turn, "Only one.")
    await forked.next_run("finished")
    assert deeds.done == ["note", "note"]

    # The fork is a session like any other, and the original is as it was.
    server.query(forked.session_id, "Go on")
    await forked.say(await forked.next_turn(), "Gladly.")
    await forked.next_run("finished")
    assert len(await human.log("request")) == 3


async def test_a_fork_in_a_second_invocation_has_the_state_of_the_first(
    server: Server, office: Any, begin: Any, meet: Any, deeds: Any
) -> None:
    office()
    human = await begin("Pay")
    await human.call(await human.next_turn(), ("pay", {"amount": 3}))
    request = await human.next_call("adk_request_confirmation")
    await human.next_run("finished")
    server.respond(human.session_id, (request, {"confirmed": True}))
    await human.say(await human.next_turn(), "Paid.")
    await human.next_run("finished")
    server.query(human.session_id, "And write it down")
    await human.call(await human.next_turn(), ("note", {"name": "a", "text": "paid"}))
    regretted = await human.next_turn()
    assert regretted.payload["state"]["paid"] == 3
    await human.say(regretted, "Written.")
    await human.next_run("finished")

    forked, turn = await _fork(server, meet, human, regretted)
    assert turn.payload["state"]["paid"] == 3
    await forked.call(turn, ("pay", {"amount": 4}))
    request = await forked.next_call("adk_request_confirmation")
    await forked.next_run("finished")
    server.respond(forked.session_id, (request, {"confirmed": True}))
    turn = await forked.next_turn()
    assert turn.payload["state"]["paid"] == 4
    await forked.say(turn, "Paid twice.")
    await forked.next_run("finished")
    assert deeds.done == ["pay", "note", "pay"]


async def test_a_fork_after_a_confirmation_has_the_state_that_the_tool_left(
    server: Server, office: Any, begin: Any, meet: Any, deeds: Any
) -> None:
    office()
    human = await begin("Pay")
    await human.call(await human.next_turn(), ("pay", {"amount": 3}))
    request = await human.next_call("adk_request_confirmation")
    await human.next_run("finished")
    server.respond(human.session_id, (request, {"confirmed": True}))
    regretted = await human.next_turn()
    assert regretted.payload["state"]["paid"] == 3
    await human.say(regretted, "Paid.")
    await human.next_run("finished")

    forked, turn = await _fork(server, meet, human, regretted)
    assert (turn.responses, turn.payload["state"]) == ([{"result": "paid 3"}], {"paid": 3})
    await forked.say(turn, "It is paid.")
    await forked.next_run("finished")
    assert deeds.done == ["pay"]


async def test_a_fork_inside_a_transfer_and_an_agent_tool(
    server: Server, office: Any, begin: Any, meet: Any, deeds: Any
) -> None:
    office()
    human = await begin("Help")
    await human.call(
        await human.next_turn(),
        ("helper", {"request": "Write"}),
        ("flood", {"letter": "x", "size": 3}),
    )
    turn = await human.next_turn()
    assert turn.agent_name == "helper"
    await human.call(turn, ("note", {"name": "a", "text": "one"}))
    inside = await human.next_turn()
    assert inside.agent_name == "helper"
    await human.say(inside, "Written.")
    await human.call(await human.next_turn(), ("transfer_to_agent", {"agent_name": "assistant"}))
    turn = await human.next_turn()
    assert turn.agent_name == "assistant"
    await human.call(turn, ("note", {"name": "b", "text": "two"}))
    transferred = await human.next_turn()
    await human.say(transferred, "Done.")
    await human.next_run("finished")
    done = deeds.done
    assert sorted(done) == ["flood", "note", "note"]

    forked, turn = await _fork(server, meet, human, inside)
    assert (turn.agent_name, turn.parent_call_id) == ("helper", inside.parent_call_id)
    await forked.say(turn, "I have written it.")
    turn = await forked.next_turn()
    assert turn.responses == [{"result": "I have written it."}, {"result": "xxx"}]
    await forked.say(turn, "Good.")
    await forked.next_run("finished")

    forked, turn = await _fork(server, meet, human, transferred)
    assert turn.agent_name == "assistant"
    await forked.say(turn, "Another end.")
    await forked.next_run("finished")
    assert deeds.done == done
