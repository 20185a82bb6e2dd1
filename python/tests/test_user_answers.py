"""What ADK asks the user for: a confirmation, a credential, the result of a long-running tool."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from support import EXAMPLES, OFFICE, Server

pytestmark = pytest.mark.asyncio


async def _asked_to_pay(begin: Any, amount: int = 5) -> tuple[Any, dict[str, Any]]:
    human = await begin("Pay")
    await human.call(await human.next_turn(), ("pay", {"amount": amount}))
    request = await human.next_call("adk_request_confirmation")
    await human.next_run("finished")
    return human, request


@pytest.mark.parametrize(
    ("confirmed", "response", "done"),
    [
        (True, {"result": "paid 5"}, ["pay"]),
        (False, {"error": "This tool call is rejected."}, []),
    ],
)
async def test_a_confirmed_tool_runs_and_a_rejected_one_does_not(
    confirmed: bool,
    response: dict[str, Any],
    done: list[str],
    server: Server,
    office: Any,
    begin: Any,
    deeds: Any,
) -> None:
    office()
    human, request = await _asked_to_pay(begin)
    assert request["args"]["originalFunctionCall"]["name"] == "pay"
    assert deeds.done == []

    server.respond(human.session_id, (request, {"confirmed": confirmed}))
    turn = await human.next_turn()
    assert turn.responses == [response]
    assert deeds.done == done
    await human.say(turn, "Done.")
    await human.next_run("finished")
    # What was in the log before the answer is there once.
    ids = [event.event_id for event in await human.log("event")]
    assert len(ids) == len(set(ids)) == 7
    # A confirmed tool has its stopwatch, although no model was asked before it ran.
    runs = [run["status"] for run in await human.payloads("tool_run")]
    assert not confirmed or runs[-2:] == ["started", "succeeded"]


async def test_a_confirmation_is_found_after_a_restart_and_the_tool_runs_once(
    server: Server, office: Any, begin: Any, deeds: Any
) -> None:
    worker = office()
    human, request = await _asked_to_pay(begin)
    worker.kill()
    worker.start()
    await asyncio.to_thread(server.wait_until_connected)
    server.respond(human.session_id, (request, {"confirmed": True}))
    turn = await human.next_turn()
    assert turn.responses == [{"result": "paid 5"}]

    # Cut off after the confirmed tool has run: it must not run again.
    worker.kill()
    worker.start()
    await human.say(turn, "Paid.")
    await human.next_run("finished")
    assert deeds.done == ["pay"]
    authors = [event.author for event in await human.log("event")]
    assert authors == ["user", "office", "office", "office", "user", "office", "office"]


async def test_a_request_keeps_its_id_when_the_run_is_done_again(
    server: Server, office: Any, begin: Any, deeds: Any
) -> None:
    worker = office(f"{OFFICE}/agent.py:pair")
    human = await begin("Pay", agent="pair")
    turn, pending = await human.next_turn(), await human.next_turn()
    assert {turn.agent_name, pending.agent_name} == {"left", "right"}
    await human.call(turn, ("pay", {"amount": 7}))
    request = await human.next_call("adk_request_confirmation")

    worker.kill()
    worker.start()
    await human.say(pending, "I pay nothing.")
    await human.next_run("finished")
    calls = [
        part["functionCall"]["id"]
        for event in await human.payloads("event")
        for part in event["content"]["parts"]
        if part.get("functionCall", {}).get("name") == "adk_request_confirmation"
    ]
    assert calls == [request["id"]]
    assert deeds.done == []


async def test_the_result_of_a_long_running_tool_comes_later(
    server: Server, office: Any, begin: Any, deeds: Any
) -> None:
    worker = office()
    human = await begin("Order")
    await human.call(await human.next_turn(), ("order", {"thing": "a chair"}))
    call = await human.next_call("order")
    turn = await human.next_turn()
    assert turn.responses == [{"status": "ordered", "ticket": "T1"}]
    await human.say(turn, "It is on its way.")
    await human.next_run("finished")

    worker.kill()
    worker.start()
    await asyncio.to_thread(server.wait_until_connected)
    server.respond(human.session_id, (call, {"status": "delivered"}))
    turn = await human.next_turn()
    assert {"status": "delivered"} in turn.responses
    await human.say(turn, "It is here.")
    await human.next_run("finished")
    assert deeds.done == ["order"]


async def test_a_long_running_tool_may_say_nothing_at_first(
    server: Server, office: Any, begin: Any, deeds: Any
) -> None:
    worker = office()
    human = await begin("Wonder")
    await human.call(await human.next_turn(), ("wonder", {}), ("order", {"thing": "time"}))
    call = await human.next_call("wonder")
    pending = await human.next_turn()

    worker.kill()
    worker.start()
    await human.say(pending, "Wait.")
    await human.next_run("finished")
    assert sorted(deeds.done) == ["order", "wonder"]
    assert "Interrupted" not in json.dumps(await human.payloads("event"))

    server.respond(human.session_id, (call, {"answer": 42}))
    turn = await human.next_turn()
    assert {"answer": 42} in turn.responses
    await human.say(turn, "42.")
    await human.next_run("finished")


async def test_a_tool_gets_the_credential_that_it_asked_for(
    server: Server, office: Any, begin: Any, deeds: Any
) -> None:
    worker = office()
    human = await begin("Open")
    await human.call(await human.next_turn(), ("open_vault", {}))
    request = await human.next_call("adk_request_credential")
    await human.next_run("finished")
    assert deeds.done == []

    config = request["args"]["authConfig"]
    config["exchangedAuthCredential"] = {"authType": "apiKey", "apiKey": "sesame"}
    server.respond(human.session_id, (request, config))
    turn = await human.next_turn()
    assert turn.responses == [{"result": "opened with sesame"}]
    worker.kill()
    worker.start()
    await human.say(turn, "Open.")
    await human.next_run("finished")
    assert deeds.done == ["open_vault"]


async def test_an_answer_to_nothing_fails_clearly(server: Server, office: Any, begin: Any) -> None:
    office()
    human = await begin("Hello")
    await human.say(await human.next_turn(), "Hello.")
    await human.next_run("finished")
    answered = server.respond(human.session_id, ({"id": "adk-0", "name": "pay"}, {"a": 1}))
    if "run_id" in answered:
        run = await human.next_run("failed")
        assert "adk-0" in run["error"]["message"]


async def test_the_example_asks_only_for_consent_to_much_money(
    server: Server, new_worker: Any, begin: Any
) -> None:
    new_worker(server, str(EXAMPLES / "order_desk"))
    human = await begin("Refund", agent="order_desk")
    small = {"order_id": "A-101", "amount": 40.0}
    await human.call(await human.next_turn(), ("refund", small))
    turn = await human.next_turn()
    assert turn.responses == [{"order_id": "A-101", "refunded": 40.0}]
    await human.call(turn, ("refund", {"order_id": "A-101", "amount": 100.0}))
    request = await human.next_call("adk_request_confirmation")
    await human.next_run("finished")
    server.respond(human.session_id, (request, {"confirmed": True}))
    turn = await human.next_turn()
    assert turn.responses == [{"order_id": "A-101", "refunded": 140.0}]

    await human.call(turn, ("write_invoice", {"order_id": "A-101"}))
    turn = await human.next_turn()
    assert turn.responses == [{"file": "invoice_A-101.md", "version": 0}]
    await human.call(turn, ("ask_warehouse", {"question": "Where is it?"}))
    turn = await human.next_turn()
    assert turn.responses == [{"status": "waiting", "ticket": "W-1"}]
    await human.say(turn, "Ticket W-1.")
    await human.next_run("finished")
