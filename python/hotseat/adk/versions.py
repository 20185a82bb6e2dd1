"""Which ADK this is."""

from __future__ import annotations

from google.adk.version import __version__ as ADK_VERSION

ADK_MAJOR = int(ADK_VERSION.partition(".")[0])

__all__ = ["ADK_MAJOR", "ADK_VERSION"]
