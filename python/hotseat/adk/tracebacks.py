"""Tracebacks as the author of an agent wants to read them."""

from __future__ import annotations

import traceback
from pathlib import Path

# The first frames of a failing agent or tool are the machinery that called it.
_MACHINERY = ("google/adk/", "/hotseat/", "/asyncio/", "importlib", "/threading.py", "/runpy.py")

# A runaway recursion makes megabytes; the two ends of it tell all there is to tell.
_LONGEST = 32_000


def readable_traceback(error: BaseException) -> str:
    """The traceback without the frames before the author's own code."""
    report = traceback.TracebackException.from_exception(error)
    link: traceback.TracebackException | None = report
    while link is not None:
        frames = list(link.stack)
        own = next((i for i, frame in enumerate(frames) if not _is_machinery(frame)), 0)
        link.stack = traceback.StackSummary.from_list(frames[own:])
        link = link.__cause__ or link.__context__
    text = "".join(report.format())
    if len(text) > _LONGEST:
        half = _LONGEST // 2
        text = f"{text[:half]}\n…\n{text[-half:]}"
    return text


def _is_machinery(frame: traceback.FrameSummary) -> bool:
    path = Path(frame.filename).as_posix()
    return any(sign in path for sign in _MACHINERY)
