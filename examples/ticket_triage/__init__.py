"""Sorts the tickets of a help desk."""

from . import agent

__all__ = ["agent"]
