"""An agent.yaml whose tools are of all three kinds, behind `hotseat serve`.

`examples/returns_desk`: a Python function that the real worker runs, a real MCP server, and a
template that the model itself answers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from scripted_models import Exchange, Model, Script, scripted_model
from support import EXAMPLES, Server

RETURNS: Script = (
    Exchange(
        "Can I send A-100 back?",
        (
            ("order_status", {"order_id": "A-100"}),
            ("days_to_return", {"kind": "furniture"}),
            ("shorten", {"text": "the lamp"}),
        ),
        "Until February 4th.",
    ),
    Exchange("And Z-1?", (("order_status", {"order_id": "Z-1"}),), "I do not know Z-1."),
)


@pytest.fixture
def desk(new_server: Callable[..., Server]) -> Any:
    """The desk, with its model in the seat."""
    with scripted_model(RETURNS) as model:
        environment = {**model.environment, "HOTSEAT_PYTHON": sys.executable}
        agent = str(EXAMPLES / "returns_desk")
        server = new_server(agent, environment=environment, command=("serve",))
        server.wait_until_connected()
        yield server, model


def results(model: Model) -> list[str]:
    """What the tools gave, in the last request to the model."""
    return [each["content"] for each in model.asked[-1]["messages"] if each["role"] == "tool"]


def test_a_function_an_mcp_server_and_a_template_answer_the_model(
    desk: tuple[Server, Model],
) -> None:
    server, model = desk
    (agent,) = server.http("GET", "/api/v1/agents")["items"]
    kinds = {tool["name"]: tool["kind"] for tool in agent["tools"]}
    assert kinds == {"order_status": "function", "days_to_return": "mcp", "shorten": "prompt"}
    told = server.http("POST", "/agent/returns_desk/chat", {"message": RETURNS[0].asked})
    assert told["content"] == RETURNS[0].said
    names = [name for name, _ in RETURNS[0].calls]
    assert [(call["name"], call["status"]) for call in told["tool_calls"]] == [
        (name, "success") for name in names
    ]
    # The function has run, and the model was told what it returned; so were the others'.
    order, days, short = results(model)
    assert json.loads(order) == {
        "item": "desk lamp",
        "kind": "furniture",
        "delivered": "2026-01-05",
    }
    assert "30" in days
    assert "You said: Shorten: the lamp" in short
    # The model knew of it what its signature and its docstring say.
    tools = [each["function"] for each in model.asked[0]["tools"]]
    (declared,) = (tool for tool in tools if tool["name"] == "order_status")
    assert declared["description"].startswith("Look up an order.")
    assert list(declared["parameters"]["properties"]) == ["order_id"]


def test_the_model_is_told_what_a_function_raised(desk: tuple[Server, Model]) -> None:
    server, model = desk
    told = server.http("POST", "/agent/returns_desk/chat", {"message": RETURNS[1].asked})
    assert told["content"] == RETURNS[1].said
    (call,) = told["tool_calls"]
    assert call["status"] == "error"
    (result,) = results(model)
    assert "there is no order Z-1" in result
