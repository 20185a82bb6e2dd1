"""A shop's order desk, where some things need a yes, some a file and some a day."""

from . import agent

__all__ = ["agent"]
