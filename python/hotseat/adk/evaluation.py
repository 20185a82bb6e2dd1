"""When the plugin stays out of the way.

`adk eval`, `adk test` and their like run an app with its plugins, and an app that a developer
simulates is the very app that they evaluate. There, the real model must answer.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# `cli/cli_eval.py` of ADK, today and before.
_EVAL_SESSIONS = ("adk-eval-session-", "___eval___session___")

_EVAL_COMMANDS = {"eval", "test", "optimize", "conformance"}

_NO = {"", "0", "false", "no", "off"}


def disabled_by_environment() -> bool:
    """Whether HOTSEAT_DISABLED says so."""
    return os.environ.get("HOTSEAT_DISABLED", "").strip().lower() not in _NO


def is_eval_session(session_id: str) -> bool:
    """Whether ADK made this session to evaluate an agent in it."""
    return session_id.startswith(_EVAL_SESSIONS)


def is_eval_command(argv: list[str] | None = None) -> bool:
    """Whether this process is one of ADK's evaluating commands."""
    program, *arguments = (sys.argv if argv is None else argv) or [""]
    path = Path(program)
    is_adk = path.stem == "adk" or path.parts[-4:-1] == ("google", "adk", "cli")
    command = next((word for word in arguments if not word.startswith("-")), "")
    return is_adk and command in _EVAL_COMMANDS
