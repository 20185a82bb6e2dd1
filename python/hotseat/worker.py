"""A process that hosts ADK agents for a Hotseat server.

    python -m hotseat.worker [--url URL] AGENTS…

The worker attaches itself to the server, registers its agents, and runs them when the server says
so. `hotseat web` starts one by itself; start others by hand to host agents of another environment
or another machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import threading
from collections.abc import Sequence

from hotseat.adk.agents import load_agents
from hotseat.adk.worker import Worker
from hotseat.errors import HotseatError
from hotseat.notices import notice
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
        "--exit-with-parent", action="store_true", help="exit when standard input is closed"
    )
    options = parser.parse_args(arguments)
    if options.exit_with_parent:
        _exit_with_parent()
    try:
        settings = Settings.resolve(options.url)
        roster = load_agents(options.agents)
        for problem in roster.problems:
            notice(f"{problem.source} could not be loaded: {problem.message}")
        asyncio.run(Worker(roster, settings).serve())
    except HotseatError as error:
        notice(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _exit_with_parent() -> None:
    def watch() -> None:
        while sys.stdin.buffer.read(4096):
            pass
        # At once: a tool may be in the middle of something that cannot be stopped, and a run that
        # is cut off here is resumed by the next worker.
        os._exit(0)

    threading.Thread(target=watch, name="hotseat-parent", daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
