"""An agent that asks before it acts."""

from . import agent

__all__ = ["agent"]
