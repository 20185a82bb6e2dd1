"""A calculator that can also look things up."""

from . import agent

__all__ = ["agent"]
