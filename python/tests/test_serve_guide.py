"""What docs/serve.md prints, run as it is printed: three clients, two agents, three seats.

The real program serves the examples. The clients are curl, `HttpAgent` of AG-UI's makers in Node,
and httpx with ADK's own events; the tools are Python functions in the worker and a real MCP server.
Only the models are played, on a socket, by the variables that their own clients read.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from scripted_models import (
    Exchange,
    Model,
    Script,
    scripted_model,
    scripted_person,
    write_recording,
)
from support import BINARY, EXAMPLES, PACKAGE, PATIENCE, Server

ROOT = PACKAGE.parent
GUIDE = ROOT / "docs" / "serve.md"

SUMS: Script = (
    Exchange(
        "Calculate 5 * 5 + 10",
        (("multiply", {"a": 5, "b": 5}), ("add", {"a": 25, "b": 10})),
        "The answer is 35.",
    ),
    Exchange("And twice that?", (("multiply", {"a": 35, "b": 2}),), "Twice that is 70."),
)
TEAS: Script = (
    Exchange(
        "A green tea for less than ten euros?",
        (("find_teas", {"kind": "green", "max_price": 10}),),
        "Take the Sencha.",
    ),
    Exchange("How do I make it?", (("how_to_make", {"name": "Sencha"}),), "Two minutes at 75 °C."),
)

# The name of each agent, its script, and what its tools really give, in order.
AGENTS = {
    "examples/math_agent": ("math_agent", SUMS, ["25", "35", "70"]),
    "examples/native": ("tea_shop", TEAS, ["Sencha", "200 ml of water"]),
}
RECORDINGS = {
    "examples/math_agent": "examples/math_agent/math_agent.evalset.json",
    "examples/native": "examples/native/tea_shop.evalset.json",
}
CLIENTS = ("sh", "js", "python")
MATRIX = [(agent, seat) for agent in AGENTS for seat in ("human", "model", "replay")]


def blocks() -> dict[str, str]:
    """The fenced blocks of the guide, by what stands behind the fence."""
    found: dict[str, str] = {}
    for mark, text in re.findall(r"^```(.*)\n((?:.*\n)*?)```$", GUIDE.read_text(), re.MULTILINE):
        assert mark not in found, f"there are two blocks `{mark}`"
        found[mark] = text
    return found


class Place:
    """A folder that looks like the repository to whoever follows the guide in it."""

    def __init__(self, folder: Path, model: Model) -> None:
        self.folder = folder
        self.model = model
        self.servers: list[Served] = []
        shutil.copytree(EXAMPLES, folder / "examples")
        shutil.copy(ROOT / "README.md", folder)
        (folder / "node_modules").symlink_to(ROOT / "e2e" / "node_modules")
        programs = [str(BINARY.resolve().parent), str(Path(sys.executable).parent)]
        path = os.pathsep.join([*programs, os.environ["PATH"]])
        self.environment = {**os.environ, **model.environment, "PATH": path}

    def serve(self, agent: str, seat: str) -> Served:
        """Runs the printed line for this agent and this seat."""
        lines = blocks()["sh serve"].splitlines()
        (line,) = (each for each in lines if f"{agent} --seat {seat}" in each)
        server = Served(self, line)
        self.servers.append(server)
        server.start()
        name, *_ = AGENTS[agent]
        self.environment["HOTSEAT_PORT"] = str(server.port)
        # The line for the other agent is left out, as the guide says.
        setup = blocks()["sh setup"].splitlines(keepends=True)
        other = [line for line in setup if "AGENT=" in line and f"AGENT={name} " not in line]
        assert len(other) == 1
        self.setup = "".join(line for line in setup if line not in other)
        return server

    def run(self, mark: str) -> str:
        """Runs a block, after what all need; what it printed."""
        language, text = mark.partition(" ")[0], blocks()[mark]
        if language == "sh":
            script = text
        else:
            program, name = {"js": ("node", "talk.mjs"), "python": ("python", "talk.py")}[language]
            (self.folder / name).write_text(text)
            script = f"{program} {name}"
        return self.shell(f"{self.setup}{script}")

    def shell(self, script: str) -> str:
        """Runs lines of a shell; what they printed."""
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=3 * PATIENCE,
            check=False,
        )
        assert ran.returncode == 0, f"{script}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout


class Served(Server):
    """`hotseat serve`, as a printed line starts it."""

    def __init__(self, place: Place, line: str) -> None:
        super().__init__(place.folder)
        self._place = place
        self._line = line

    def start(self) -> None:
        """Runs the line and returns when the server listens."""
        self._process = subprocess.Popen(
            ["bash", "-c", f"exec {self._line}"],
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._place.folder,
            env={**self._place.environment, "HOTSEAT_PORT": str(self.port)},
        )
        assert self._process.stdout is not None
        self.token = self._process.stdout.readline().strip().partition("token=")[2]
        assert self.token == (self._place.folder / ".hotseat" / "token").read_text()

    def sessions(self) -> list[dict[str, Any]]:
        """The sessions that were talked in, newest first, with their histories."""
        listed = self.http("GET", "/api/v1/sessions")["items"]
        paths = [f"/api/v1/sessions/{each['id']}?include=history" for each in listed]
        return [each for path in paths if (each := self.http("GET", path))["agent"]]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A place whose servers end with the test. Its models know both scripts."""
    with scripted_model(SUMS + TEAS) as model:
        place = Place(tmp_path / "repository", model)
        yield place
        for server in place.servers:
            server.stop()


def sitter(server: Server, seat: str) -> AbstractContextManager[None]:
    """A person, where one is needed."""
    return scripted_person(server, SUMS + TEAS) if seat == "human" else nullcontext()


def assert_talked(server: Served, agent: str, seat: str, source: str) -> None:
    """Checks the newest conversation: what was said, and what the tools really gave."""
    _, script, results = AGENTS[agent]
    session = server.sessions()[0]
    assert session["source"] == source
    history = session["history"]
    said = [entry["content"] for entry in history if entry["type"] == "final_response"]
    assert said == [exchange.said for exchange in script]
    called = [entry["tool_name"] for entry in history if entry["type"] == "tool_call"]
    assert called == [name for exchange in script for name, _ in exchange.calls]
    given = [json.dumps(each["result"]) for each in history if each["type"] == "tool_output"]
    assert len(given) == len(results)
    for result, expected in zip(given, results, strict=True):
        assert expected in result
    people = {entry["answered_by"] for entry in history if entry.get("answered_by")} - {"replay"}
    assert people == ({"human"} if seat == "human" else set())


@pytest.mark.parametrize(("agent", "seat"), MATRIX)
def test_each_client_holds_a_conversation(place: Place, agent: str, seat: str) -> None:
    """curl, a front end and an ADK client, with this agent and this seat."""
    _, script, _ = AGENTS[agent]
    if seat == "replay":
        write_recording(place.folder / RECORDINGS[agent], script)
    server = place.serve(agent, seat)
    with sitter(server, seat):
        for client, source in zip(CLIENTS, ("rest", "ag-ui", "adk"), strict=True):
            printed = place.run(f"{client} client")
            for exchange in script:
                assert exchange.said in printed
            assert_talked(server, agent, seat, source)
    assert bool(place.model.asked) == (seat == "model")
    assert len(server.sessions()) == len(CLIENTS)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_persons_conversation_becomes_a_golden_trace(place: Place, agent: str) -> None:
    """Exported as printed, it passes `adk eval` where ADK can run it, and can take the seat."""
    _, script, _ = AGENTS[agent]
    server = place.serve(agent, "human")
    with sitter(server, "human"):
        for client in CLIENTS:
            place.run(f"{client} client")
            assert '"action":"' in place.run("sh export")
    cases = json.loads((place.folder / RECORDINGS[agent]).read_text())["eval_cases"]
    assert len(cases) == len(CLIENTS)
    assert all(len(case["conversation"]) == len(script) for case in cases)
    judge, validate = blocks()["sh golden"].splitlines()
    if agent == "examples/math_agent":
        assert f"Tests passed: {len(CLIENTS)}" in place.shell(judge)
        assert place.model.asked, "adk eval has asked the model"
    else:
        place.shell(validate)
    server.stop()
    server = place.serve(agent, "replay")
    assert script[-1].said in place.run("sh client")
    assert_talked(server, agent, "replay", "rest")


def test_the_other_lines_of_the_guide_work(place: Place) -> None:
    place.serve("examples/native", "model")
    answers = place.run("sh rest")
    assert answers.count("You said: Hello") == 2 and "event: stream_end" in answers, answers
    assert "about:blank" not in answers, answers
    (asked,) = (body for body in place.model.asked if "What is in it?" in str(body))
    assert "Hotseat puts" in str(asked["messages"][-1]), "the file is part of the message"
    assert '"type":"RUN_FINISHED"' in place.run("sh agui")
    events = [line for line in place.run("sh adk").splitlines() if line.startswith("data: ")]
    assert "You said: Hello" in events[-1]


def test_every_block_of_the_guide_is_known() -> None:
    """A block without a mark is a synopsis; the others are run here, or are files of examples."""
    languages = {f"{client} client" for client in CLIENTS}
    shell = ["serve", "setup", "export", "golden", "rest", "agui", "adk"]
    assert set(blocks()) == {"", "yaml", *languages, *(f"sh {each}" for each in shell)}


def test_the_agent_of_the_guide_is_an_example() -> None:
    assert blocks()["yaml"] == (EXAMPLES / "returns_desk" / "agent.yaml").read_text()
