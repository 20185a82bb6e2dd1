"""A line that grows while events are sent, for a person at a terminal."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_WIDTH = 30
_PAUSE_SECONDS = 0.1


class Progress:
    """Shows how far it is; nothing if nobody looks."""

    def __init__(self, stream: TextIO = sys.stderr) -> None:
        self._stream = stream
        self._is_shown = stream.isatty()
        self._name = ""
        self._total = 0
        self._done = 0
        self._next = 0.0

    def begin(self, name: str, total: int) -> None:
        """Begins with a source that has this many events."""
        self._name, self._total, self._done, self._next = name, total, 0, 0.0
        self._show()

    def step(self) -> None:
        """One event more."""
        self._done += 1
        self._show()

    def end(self) -> None:
        """Takes the line away."""
        if self._is_shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _show(self) -> None:
        now = time.monotonic()
        if not self._is_shown or now < self._next:
            return
        self._next = now + _PAUSE_SECONDS
        share = self._done / self._total if self._total else 1.0
        bar = "█" * round(share * _WIDTH)
        line = f"{bar:░<{_WIDTH}} {share:4.0%}  {self._done}/{self._total} events  {self._name}"
        self._stream.write(f"\r\x1b[K{line[:100]}")
        self._stream.flush()
