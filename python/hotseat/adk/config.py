"""An agent to simulate, as its developer names it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from google.adk.agents.base_agent import BaseAgent

MAX_NAME_CHARS = 100


@dataclass
class SimulatedAgentConfig:
    """Configuration for a simulated agent."""

    name: str
    """Display name for the agent (shown in the UI)."""

    agent: BaseAgent
    """The ADK agent to simulate."""

    eval_set_path: str | Path
    """File that golden traces are exported to.

    A relative path is resolved against the current working directory. The file is created if it
    is not there; new cases are appended to those that are.
    """

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ValueError("a simulated agent needs a name")
        if len(self.name) > MAX_NAME_CHARS:
            raise ValueError(
                f"the name of a simulated agent has at most {MAX_NAME_CHARS} characters,"
                f" this one has {len(self.name)}: {self.name[:40]!r}…"
            )
        if not isinstance(self.agent, BaseAgent):
            raise TypeError(
                f"agent of {self.name!r} must be an ADK agent, not {type(self.agent).__name__}"
            )
        if not isinstance(self.eval_set_path, str | Path) or not str(self.eval_set_path):
            raise ValueError(f"eval_set_path of {self.name!r} must be the path of a file")

    def resolve_eval_set_path(self) -> Path:
        """Resolve eval_set_path to an absolute path."""
        path = Path(self.eval_set_path)
        return path if path.is_absolute() else Path.cwd() / path
