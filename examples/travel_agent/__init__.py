"""A travel desk with two colleagues and an expert on call."""

from . import agent

__all__ = ["agent"]
