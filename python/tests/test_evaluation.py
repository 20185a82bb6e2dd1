"""The plugin stays out of evaluations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from hotseat.adk import HotseatPlugin
from hotseat.adk.evaluation import is_eval_command
from support import PACKAGE, PATIENCE, Conversation, free_port, text_of


class Echo(BaseLlm):
    """A model that says one thing."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="model")]))


def app() -> App:
    # Nothing listens there: a plugin that did anything at all would wait for ever.
    plugin = HotseatPlugin(url=f"127.0.0.1:{free_port()}")
    agent = LlmAgent(name="a", model=Echo(model="echo"))
    return App(name="x", root_agent=agent, plugins=[plugin])


@pytest.mark.asyncio
@pytest.mark.parametrize("prefix", ["adk-eval-session-", "___eval___session___"])
async def test_sessions_of_an_evaluation_are_left_to_the_model(prefix: str) -> None:
    events = await Conversation(app(), session_id=f"{prefix}1").ask("Who is there?")
    assert text_of(events[-1]) == "model"


@pytest.mark.asyncio
async def test_the_environment_switches_the_plugin_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTSEAT_DISABLED", "1")
    events = await Conversation(app()).ask("Who is there?")
    assert text_of(events[-1]) == "model"


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["/venv/bin/adk", "eval", "math_agent"], True),
        (["/venv/bin/adk", "test", "math_agent"], True),
        (["/x/google/adk/cli/__main__.py", "eval", "math_agent"], True),
        (["/venv/bin/adk", "web", "eval"], False),
        (["/home/me/program.py", "eval"], False),
        ([], False),
    ],
)
def test_evaluating_commands_are_recognised(argv: list[str], expected: bool) -> None:
    assert is_eval_command(argv) is expected


_AGENT = """
from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from hotseat.adk import HotseatPlugin

class Echo(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="hello")]))

root_agent = LlmAgent(name="greeter", model=Echo(model="echo"))
app = App(name="greeter", root_agent=root_agent, plugins=[HotseatPlugin()])
"""


def test_adk_eval_runs_an_app_with_the_plugin_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "greeter"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import agent\n")
    (folder / "agent.py").write_text(_AGENT)
    case = {
        "eval_id": "one",
        "conversation": [
            {
                "invocation_id": "i1",
                "user_content": {"role": "user", "parts": [{"text": "hi"}]},
                "final_response": {"role": "model", "parts": [{"text": "hello"}]},
                "intermediate_data": {"tool_uses": []},
            }
        ],
    }
    eval_set = {"eval_set_id": "greetings", "eval_cases": [case]}
    (tmp_path / "greetings.evalset.json").write_text(json.dumps(eval_set))
    criteria = {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}
    (tmp_path / "criteria.json").write_text(json.dumps(criteria))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "google.adk.cli", "eval", "greeter"),
            *("greetings.evalset.json", "--config_file_path=criteria.json"),
        ],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(PACKAGE),
            "HOTSEAT_URL": f"127.0.0.1:{free_port()}",
        },
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
