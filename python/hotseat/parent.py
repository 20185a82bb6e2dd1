"""Processes that must not outlive the one that started them.

The parent keeps the other end of this process's standard input. Whatever way it ends, even killed,
the end is closed, and this process ends too.
"""

from __future__ import annotations

import os
import sys
import threading


def exit_with_parent() -> None:
    """Watches standard input in the background and exits when it is closed."""
    descriptor = sys.stdin.fileno()

    def watch() -> None:
        # Not through Python's own buffer, whose lock would abort an interpreter that shuts down.
        while os.read(descriptor, 4096):
            pass
        # At once: a tool may be in the middle of something that cannot be stopped, and a run that
        # is cut off here is resumed by the next worker.
        os._exit(0)

    threading.Thread(target=watch, name="hotseat-parent", daemon=True).start()
