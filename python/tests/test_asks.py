"""What the server asks a worker, because only ADK's own code can tell."""

from __future__ import annotations

import asyncio
import json
import os
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from hotseat import _wire
from hotseat.adk.agents import load_agents
from hotseat.adk.artifacts import artifact_service
from hotseat.adk.asks import Asks
from hotseat.adk.eval_sets import validate
from support import OFFICE, PACKAGE, PATIENCE, Server

GREETER = """
from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from hotseat.adk import HotseatPlugin

class Echo(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        text = llm_request.contents[-1].parts[0].text
        if text == "wait":
            import asyncio, os, pathlib
            pathlib.Path(os.environ["PID_FILE"]).write_text(str(os.getpid()))
            await asyncio.sleep(3600)
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))

root_agent = LlmAgent(name="greeter", model=Echo(model="echo"))
app = App(name="NAME", root_agent=root_agent, plugins=[HotseatPlugin()])
"""


def case(eval_id: str, said: str, expected: str) -> dict[str, Any]:
    """A case with one message and the answer to it."""
    return {
        "eval_id": eval_id,
        "conversation": [
            {
                "invocation_id": "i",
                "user_content": {"role": "user", "parts": [{"text": said}]},
                "final_response": {"role": "model", "parts": [{"text": expected}]},
                "intermediate_data": {"tool_uses": []},
            }
        ],
    }


def greeter(folder: Path, name: str, *cases: dict[str, Any]) -> Path:
    """An agent that repeats what it hears, and an EvalSet beside it."""
    agent = folder / name
    agent.mkdir()
    (agent / "__init__.py").write_text("from . import agent\n")
    (agent / "agent.py").write_text(GREETER.replace("NAME", name))
    eval_set = {"eval_set_id": "greetings", "eval_cases": cases}
    (agent / "greetings.evalset.json").write_text(json.dumps(eval_set))
    return agent


class Worker:
    """The part of a worker that answers, without a server."""

    def __init__(self, *agents: str, artifacts: Path | None = None) -> None:
        self._answers: asyncio.Queue[Any] = asyncio.Queue()
        roster = load_agents(agents)
        assert not roster.problems
        self.asks = Asks(roster.agents, artifact_service(artifacts), self._answers.put_nowait)

    async def ask(self, what: str, **question: Any) -> Any:
        """One answer."""
        self.put(what, **question)
        async with asyncio.timeout(3 * PATIENCE):
            answer = await self._answers.get()
        assert answer.ask_id == "1"
        return answer

    def put(self, what: str, **question: Any) -> None:
        """One question."""
        self.asks.put(_wire.Ask(ask_id="1", what=what, json=json.dumps(question).encode()))


async def test_artifacts_are_listed_and_read_after_a_restart(
    server: Server, office: Any, begin: Any
) -> None:
    worker = office()
    human = await begin("Write")
    for text in ("one", "größer"):
        call = ("note", {"name": "notes/a.md", "text": text})
        await human.call(await human.next_turn(), call)
    await human.say(await human.next_turn(), "Written.")
    await human.next_run("finished")

    worker.kill()
    worker.start()
    await asyncio.to_thread(server.wait_until_connected)
    path = f"/api/v1/sessions/{human.session_id}/artifacts"
    (item,) = server.http("GET", path)["items"]
    assert item == {
        "name": "notes/a.md",
        "versions": [0, 1],
        "mime_type": "text/markdown",
        "size": len("größer".encode()),
    }
    assert _bytes(server, f"{path}/notes%2Fa.md").decode() == "größer"
    assert _bytes(server, f"{path}/notes%2Fa.md?version=0") == b"one"
    assert server.http("GET", f"{path}/nothing")["status"] == 404
    assert server.http("GET", f"{path}/notes%2Fa.md?version=7")["status"] == 404


async def test_what_a_worker_cannot_answer_is_told_as_text(tmp_path: Path) -> None:
    worker = Worker(str(OFFICE), artifacts=tmp_path)
    answer = await worker.ask("the time")
    assert "the time" in answer.error
    answer = await worker.ask("artifacts", agent="nobody", session_id="s")
    assert "nobody" in answer.error
    answer = await worker.ask("artifact", agent="office", session_id="s", name="../../etc/passwd")
    assert answer.error and not answer.data
    answer = await worker.ask("artifact", agent="office", session_id="s", name="a")
    assert answer.not_found


@pytest.mark.parametrize(
    ("document", "path", "message"),
    [
        ("{", "", "not JSON"),
        ("[]", "", "dictionary"),
        ({"eval_cases": []}, "/eval_set_id", "required"),
        ({"eval_set_id": "s", "eval_cases": [{"eval_id": "a"}]}, "/eval_cases/0", "onversation"),
        (
            {"eval_set_id": "s", "eval_cases": [{**case("a", "x", "y"), "conversation": [{}]}]},
            "/eval_cases/0/conversation/0/user_content",
            "required",
        ),
        (
            {"eval_set_id": "s", "eval_cases": [case("a", "x", "y"), case("a", "x", "y")]},
            "/eval_cases/1/eval_id",
            "case 0",
        ),
        (
            {"eval_set_id": "s", "eval_cases": [case("2026-01-01T10:00", "x", "y")]},
            "/eval_cases/0/eval_id",
            "':'",
        ),
    ],
)
def test_what_is_wrong_with_an_eval_set_is_told_by_place(
    document: Any, path: str, message: str
) -> None:
    text = document if isinstance(document, str) else json.dumps(document)
    verdict = validate(text)
    assert not verdict["valid"]
    told = [error for error in verdict["errors"] if message.lower() in error["message"].lower()]
    assert path in [error["path"].replace("userContent", "user_content") for error in told]


async def test_a_good_eval_set_is_valid() -> None:
    text = json.dumps({"eval_set_id": "s", "eval_cases": [case("a", "x", "y")]})
    answer = await Worker().ask("validate", text=text)
    assert json.loads(answer.json) == {"valid": True, "errors": []}


async def test_adk_eval_tells_the_metrics_of_each_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE))
    agent = greeter(
        tmp_path, "greeter", case("same", "hello", "hello"), case("other", "hello", "bye")
    )
    eval_set = str(agent / "greetings.evalset.json")
    worker = Worker(str(agent))
    answer = await worker.ask("eval", agent="greeter", path=eval_set)
    assert not answer.error
    told = json.loads(answer.json)
    assert told["exit_code"] == 1
    assert "greetings" in told["output"]
    by_id = {each["eval_id"]: each for each in told["cases"]}
    assert (by_id["same"]["passed"], by_id["other"]["passed"]) == (True, False)
    metrics = {metric["name"]: metric for metric in by_id["other"]["metrics"]}
    assert metrics["tool_trajectory_avg_score"] == {
        "name": "tool_trajectory_avg_score",
        "score": 1.0,
        "threshold": 1.0,
        "passed": True,
    }
    assert not metrics["response_match_score"]["passed"]

    # Only the new results are told, and only what was asked for is run.
    answer = await worker.ask(
        "eval",
        agent="greeter",
        path=eval_set,
        eval_ids=["other"],
        criteria={"response_match_score": 0.0},
    )
    told = json.loads(answer.json)
    assert told["exit_code"] == 0
    (only,) = told["cases"]
    assert (only["eval_id"], only["passed"]) == ("other", True)
    assert [metric["name"] for metric in only["metrics"]] == ["response_match_score"]


async def test_what_cannot_be_evaluated_is_refused(tmp_path: Path) -> None:
    worker = Worker(f"{OFFICE}/agent.py:pair", str(OFFICE))
    answer = await worker.ask("eval", agent="pair", path=str(tmp_path / "x.json"))
    assert "folder" in answer.error
    answer = await worker.ask("eval", agent="office", path=str(tmp_path / "x.json"))
    assert "there is no file" in answer.error
    file = tmp_path / "x.json"
    file.write_text("{}")
    answer = await worker.ask("eval", agent="office", path=str(file), eval_ids=["10:00"])
    assert "cannot select" in answer.error


async def test_an_evaluation_ends_with_its_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE))
    monkeypatch.setenv("PID_FILE", str(tmp_path / "pid"))
    agent = greeter(tmp_path, "waiter", case("long", "wait", "never"))
    worker = Worker(str(agent))
    worker.put("eval", agent="waiter", path=str(agent / "greetings.evalset.json"))
    async with asyncio.timeout(3 * PATIENCE):
        pid = await asyncio.to_thread(_when_written, tmp_path / "pid")
    await worker.asks.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def _when_written(file: Path) -> int:
    while not file.is_file() or not file.read_text():
        time.sleep(0.05)
    return int(file.read_text())


def _bytes(server: Server, path: str) -> bytes:
    request = urllib.request.Request(
        f"{server.url}{path}", headers={"authorization": f"Bearer {server.token}"}
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return answer.read()
