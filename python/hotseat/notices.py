"""Lines for the person at the terminal.

They go to stderr: stdout belongs to the program that Hotseat is a guest in.
"""

from __future__ import annotations

import sys


def notice(text: str) -> None:
    """Prints one line, marked as ours."""
    print(f"[Hotseat] {text}", file=sys.stderr, flush=True)
