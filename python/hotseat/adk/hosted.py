"""Agents that a worker hosts, and agents that could not be loaded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.adk.agents.base_agent import BaseAgent
from google.adk.apps.app import App

from hotseat.adk.config import SimulatedAgentConfig
from hotseat.adk.tracebacks import readable_traceback

Hostable = BaseAgent | App | SimulatedAgentConfig

# Who talks to an agent where nobody says who it is.
DEFAULT_USER = "local"


@dataclass(frozen=True)
class HostedAgent:
    """An app, the name people know it by, and where its golden traces go."""

    name: str
    app: App
    eval_set_path: Path | None = None
    folder: Path | None = None
    """The agent's folder, where it has one that ADK's commands accept."""

    @property
    def root(self) -> Any:
        """The agent that runs first."""
        return self.app.root_agent

    @classmethod
    def of(
        cls, thing: Hostable, name: str | None = None, folder: Path | None = None
    ) -> HostedAgent:
        """Hosts an agent, an app or a configuration.

        `name` and `folder` are those of an agent folder, which ADK calls the app by.
        """
        if isinstance(thing, SimulatedAgentConfig):
            app = _app(thing.agent.name, thing.agent)
            return cls(thing.name, app, thing.resolve_eval_set_path())
        app = thing if isinstance(thing, App) else _app(name or thing.name, thing)
        name = name or app.name
        # Golden traces lie beside the agent, where `adk eval` users keep them.
        home = folder if folder is not None else Path.cwd()
        own = folder if folder is not None and name in (folder.name, "agent") else None
        return cls(name, app, home / f"{name}.evalset.json", own)


@dataclass(frozen=True)
class Problem:
    """An agent that could not be loaded, and why."""

    source: str
    message: str
    traceback: str = ""

    @classmethod
    def of(cls, source: str, error: BaseException) -> Problem:
        """The problem that an exception tells of."""
        cause = error.__cause__ if type(error).__name__ == "_AgentLoadError" else None
        error = cause or error
        return cls(source, f"{type(error).__name__}: {error}", readable_traceback(error))


@dataclass
class Roster:
    """What a list of arguments gave."""

    agents: list[HostedAgent]
    problems: list[Problem]

    @classmethod
    def empty(cls) -> Roster:
        """Nobody yet."""
        return cls([], [])

    def add(self, agent: HostedAgent, source: str) -> None:
        """Adds an agent, unless its name is taken."""
        if any(other.name == agent.name for other in self.agents):
            message = f"there is an agent named {agent.name!r} already"
            self.problems.append(Problem(source, message))
        else:
            self.agents.append(agent)

    def add_all(self, things: Iterable[Hostable], source: str) -> None:
        """Adds several agents that came from one place."""
        for thing in things:
            self.add(HostedAgent.of(thing), source)


def _app(name: str, agent: BaseAgent) -> App:
    # As ADK's Runner does for a bare agent: without the checks on names that an App has.
    return App.model_construct(name=name, root_agent=agent, plugins=[])
