"""A program that simulates its own agents."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import BINARY, PACKAGE, PATIENCE, Server, free_port

_PROGRAM = """
import sys
from google.adk.agents import LlmAgent
from hotseat.adk import AgentSimulator, SimulatedAgentConfig

agent = LlmAgent(name="greeter", model="gemini-2.5-flash", instruction="Greet.")
config = SimulatedAgentConfig(name="The Greeter", agent=agent, eval_set_path="out/greeter.json")
{run}
print("after", flush=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Any]:
    """Starts a program that simulates, and ends it after the test."""
    if not BINARY.is_file():
        pytest.fail(f"{BINARY} is not there: build it, or set HOTSEAT_BIN to the program")
    started: list[subprocess.Popen[str]] = []

    def start(run: str, **environment: str) -> subprocess.Popen[str]:
        (tmp_path / "program.py").write_text(_PROGRAM.format(run=run))
        process = subprocess.Popen(
            [sys.executable, "program.py"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": str(PACKAGE),
                "HOTSEAT_BIN": str(BINARY),
                **environment,
            },
        )
        started.append(process)
        return process

    yield start
    for process in started:
        # Not killed: it would leave the server behind that it started.
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


async def _line_with(stream: Any, word: str) -> str:
    async with asyncio.timeout(PATIENCE):
        while line := await asyncio.to_thread(stream.readline):
            if word in line:
                return line
    raise AssertionError(f"the program ended without saying {word!r}")


@pytest.mark.asyncio
async def test_a_program_simulates_its_agents_until_interrupted(
    program: Any, meet: Any, tmp_path: Path
) -> None:
    """FR-007."""
    port = free_port()
    process = program(f"AgentSimulator([config]).run(port={port}, open_browser=False)")
    page = (await _line_with(process.stderr, "token=")).split()[-1]
    assert page.startswith(f"http://127.0.0.1:{port}/?token=")
    await _line_with(process.stderr, "[Hotseat] worker attached")

    server = Server(tmp_path)
    server.port, server.url = port, f"http://127.0.0.1:{port}"
    server.token = page.partition("token=")[2]
    (agent,) = server.http("GET", "/api/v1/agents")["items"]
    assert agent["name"] == "The Greeter"
    assert agent["eval_set_path"] == str(tmp_path / "out" / "greeter.json")
    human = await meet(server, server.new_session("The Greeter"))
    server.query(human.session_id, "Hello")
    await human.say(await human.next_turn(), "Hello yourself.")
    await human.next_run("finished")
    await human.leave()

    process.send_signal(signal.SIGINT)
    out, _ = await asyncio.to_thread(process.communicate, None, PATIENCE)
    assert "after" in out
    assert process.returncode == 0


@pytest.mark.asyncio
async def test_a_program_can_host_its_agents_for_a_server_that_runs(
    program: Any, server: Server
) -> None:
    process = program(f"AgentSimulator([config], url={server.url!r}).run()")
    await _line_with(process.stderr, "[Hotseat] worker attached")
    (agent,) = server.http("GET", "/api/v1/agents")["items"]
    assert agent["name"] == "The Greeter"


def test_a_missing_program_is_told_with_what_to_do(program: Any, tmp_path: Path) -> None:
    process = program(
        # The binary of an installed package lies beside Python, so Python must be elsewhere.
        f"import sys; sys.executable = '{tmp_path}/python'; AgentSimulator([config]).run()",
        HOTSEAT_BIN="",
        PATH=str(tmp_path),
        HOME=str(tmp_path),
    )
    _, err = process.communicate(timeout=PATIENCE)
    assert "set HOTSEAT_BIN" in err
