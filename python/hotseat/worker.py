"""A process that hosts ADK agents for a Hotseat server.

    python -m hotseat.worker [--url URL] AGENTS…

The worker attaches itself to the server, registers its agents, and runs them when the server says
so. `hotseat web` starts one by itself; start others by hand to host agents of another environment
or another machine.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from hotseat.adk.agents import load_agents
from hotseat.adk.worker import Worker
from hotseat.errors import HotseatError
from hotseat.notices import notice
from hotseat.parent import exit_with_parent
from hotseat.settings import Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m hotseat.worker", description="Host ADK agents for a Hotseat server."
    )
    parser.add_argument(
        "agents",
        nargs="*",
        metavar="AGENTS",
        help="agent folders, their parent folder, module:attribute or file.py:attribute",
    )
    parser.add_argument("--url", help="address of the server (environment: HOTSEAT_URL)")
    parser.add_argument(
        "--artifacts",
        type=Path,
        metavar="FOLDER",
        help="where files that tools save are kept; without, they last as long as the worker",
    )
    parser.add_argument(
        "--exit-with-parent", action="store_true", help="exit when standard input is closed"
    )
    options = parser.parse_args(arguments)
    if options.exit_with_parent:
        exit_with_parent()
    try:
        settings = Settings.resolve(options.url)
        roster = load_agents(options.agents)
        for problem in roster.problems:
            notice(f"{problem.source} could not be loaded: {problem.message}")
        asyncio.run(Worker(roster, settings, options.artifacts).serve())
    except HotseatError as error:
        notice(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
