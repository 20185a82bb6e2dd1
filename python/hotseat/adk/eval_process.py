"""`adk`, as a process that ends with the one that started it."""

from __future__ import annotations

import sys

from hotseat.parent import exit_with_parent


def main() -> None:
    """Runs ADK's command line with this process's arguments."""
    exit_with_parent()
    sys.argv[0] = "adk"
    from google.adk.cli.cli_tools_click import main as adk

    adk()


if __name__ == "__main__":
    main()
