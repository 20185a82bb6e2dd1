"""From the arguments of a command line to agents."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.google_search_tool import google_search
from google.adk.tools.long_running_tool import LongRunningFunctionTool
from hotseat.adk import AgentSimulator, SimulatedAgentConfig
from hotseat.adk.agents import load_agents
from hotseat.adk.describe import describe
from hotseat.adk.hosted import HostedAgent
from pydantic import BaseModel
from support import AGENTS

HERE = Path(__file__).resolve().parent


def test_a_folder_of_agents_gives_those_that_load_and_tells_of_the_rest() -> None:
    roster = load_agents([str(AGENTS)])
    assert [agent.name for agent in roster.agents] == ["counter"]
    (problem,) = roster.problems
    assert problem.source.endswith("broken")
    assert "a_package_that_is_not_there" in problem.message
    frames = [line for line in problem.traceback.splitlines() if line.startswith("  File")]
    assert len(frames) == 1
    assert "broken" in frames[0]


def test_golden_traces_of_a_folder_lie_in_it() -> None:
    (agent,) = load_agents([str(AGENTS / "counter")]).agents
    assert agent.eval_set_path == AGENTS / "counter" / "counter.evalset.json"
    assert agent.app.name == "counter"


def test_a_folder_has_its_own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECRET_OF_THE_AGENT", raising=False)
    folder = tmp_path / "with_env"
    folder.mkdir()
    (folder / ".env").write_text("SECRET_OF_THE_AGENT=sesame\n")
    (folder / "__init__.py").write_text("")
    (folder / "agent.py").write_text(
        "import os\n"
        "from google.adk.agents import LlmAgent\n"
        "root_agent = LlmAgent(name='a', description=os.environ['SECRET_OF_THE_AGENT'])\n"
    )
    (agent,) = load_agents([str(folder)]).agents
    assert agent.root.description == "sesame"


def test_attributes_of_modules_and_files_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    monkeypatch.syspath_prepend(str(HERE))
    roster = load_agents(["several:plain", f"{HERE / 'several.py'}:everything"])
    assert roster.problems == []
    assert [agent.name for agent in roster.agents] == ["plain", "wrapped", "Named One"]
    assert roster.agents[2].eval_set_path == HERE / "traces" / "one.json"


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("several:number", "of type int"),
        ("several:nothing", "no attribute 'nothing'"),
        ("not_a_module_of_mine:x", "not_a_module_of_mine"),
        ("what is this", "neither a folder"),
        ("missing.py:x", "no file"),
    ],
)
def test_what_cannot_be_loaded_is_a_problem_with_a_reason(
    argument: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    roster = load_agents([argument])
    assert roster.agents == []
    assert message in roster.problems[0].message


def test_an_empty_folder_is_a_problem(tmp_path: Path) -> None:
    assert "no agents in" in load_agents([str(tmp_path)]).problems[0].message


def test_two_agents_of_one_name_are_a_problem() -> None:
    roster = load_agents([str(AGENTS / "counter"), str(AGENTS / "counter")])
    assert len(roster.agents) == 1
    assert "already" in roster.problems[0].message


class Question(BaseModel):
    """What is asked."""

    text: str


def greet(name: str, times: int = 1) -> str:
    """Greets."""
    return name * times


def described(agent: LlmAgent) -> Any:
    return asyncio.run(describe(HostedAgent.of(agent)))


def test_a_description_has_tools_with_kinds_and_schemas() -> None:
    """FR-001, FR-002."""
    sub = LlmAgent(name="sub", model="gemini-2.5-flash")
    agent = LlmAgent(
        name="host",
        model="model-of-next-year",
        description="Hosts.",
        instruction="Be kind to {user}.",
        tools=[greet, LongRunningFunctionTool(greet)],
        sub_agents=[sub],
        input_schema=Question,
        output_schema=Question,
    )
    packed = described(agent)
    tools = json.loads(packed.tools_json)
    assert [tool["kind"] for tool in tools] == ["function", "long_running", "transfer"]
    assert tools[0]["parameters"]["properties"].keys() == {"name", "times"}
    assert tools[2]["parameters"]["properties"]["agent_name"]["enum"] == ["sub"]
    assert packed.instruction == "Be kind to {user}."
    assert json.loads(packed.input_schema_json)["properties"].keys() == {"text"}
    assert json.loads(packed.output_schema_json)["properties"].keys() == {"text"}
    assert (packed.model, list(packed.sub_agents)) == ("model-of-next-year", ["sub"])
    # An agent folder has a name of its own.
    assert (packed.name, packed.root_name) == ("host", "host")
    hosted = HostedAgent.of(agent, "hotel")
    packed = asyncio.run(describe(hosted))
    assert (packed.name, packed.root_name) == ("hotel", "host")


def test_a_tool_that_cannot_be_declared_is_shown_with_its_error() -> None:
    class Odd(FunctionTool):
        def _get_declaration(self) -> Any:
            raise ValueError("no schema for this")

    agent = LlmAgent(name="a", model="gemini-2.5-flash", tools=[Odd(greet)])
    (tool,) = json.loads(described(agent).tools_json)
    assert tool["error"] == "ValueError: no schema for this"
    (tool,) = json.loads(
        described(LlmAgent(name="b", model="gemini-2.5-flash", tools=[google_search])).tools_json
    )
    assert "cannot call it" in tool["error"]


def test_an_instruction_that_needs_a_session_does_not_stop_the_description() -> None:
    def provider(context: Any) -> str:
        return context.state["missing"]

    agent = LlmAgent(name="a", model="gemini-2.5-flash", instruction=provider)
    assert "run time" in described(agent).instruction


def test_a_configuration_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FR-007."""
    agent = LlmAgent(name="a", model="gemini-2.5-flash")
    config = SimulatedAgentConfig(name="A", agent=agent, eval_set_path="a.json")
    monkeypatch.chdir(tmp_path)
    assert config.resolve_eval_set_path() == tmp_path / "a.json"
    absolute = SimulatedAgentConfig(name="A", agent=agent, eval_set_path=tmp_path / "b.json")
    assert absolute.resolve_eval_set_path() == tmp_path / "b.json"
    with pytest.raises(ValueError, match="needs a name"):
        SimulatedAgentConfig(name=" ", agent=agent, eval_set_path="a.json")
    with pytest.raises(ValueError, match="at most 100"):
        SimulatedAgentConfig(name="a" * 101, agent=agent, eval_set_path="a.json")
    with pytest.raises(TypeError, match="must be an ADK agent"):
        SimulatedAgentConfig(name="A", agent="agent", eval_set_path="a.json")


def test_a_simulator_wants_different_agents() -> None:
    agent = LlmAgent(name="a", model="gemini-2.5-flash")
    config = SimulatedAgentConfig(name="A", agent=agent, eval_set_path="a.json")
    with pytest.raises(ValueError, match="no agent"):
        AgentSimulator([])
    with pytest.raises(ValueError, match="different names"):
        AgentSimulator([config, config])
    with pytest.raises(TypeError, match="SimulatedAgentConfig"):
        AgentSimulator([agent])
