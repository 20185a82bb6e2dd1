"""One thread with an event loop of its own, on which all connections live.

A plugin object is used from several event loops (`Runner.run` makes one, `adk web` has another),
and a blocking tool stalls the loop it runs on. Keep-alives, reconnects and cancellation must go on
regardless, so nothing of ours runs on the caller's loop: callers hand a coroutine over and await.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")

# How long the end of the program waits for farewells, such as the dismissal of an abandoned turn.
_FAREWELL_SECONDS = 1.0

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_farewells: set[asyncio.Task[Any]] = set()


def loop() -> asyncio.AbstractEventLoop:
    """The background loop, started at first use."""
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_serve, args=(_loop,), name="hotseat", daemon=True)
            thread.start()
            atexit.register(_stop, _loop, thread)
        return _loop


async def run(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Runs a coroutine on the background loop; cancelling the caller cancels it there."""
    return await asyncio.wrap_future(submit(coroutine))


def submit(coroutine: Coroutine[Any, Any, _T]) -> concurrent.futures.Future[_T]:
    """Starts a coroutine on the background loop."""
    return asyncio.run_coroutine_threadsafe(coroutine, loop())


def submit_farewell(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Starts something nobody waits for, except, for a moment, the end of the program."""
    loop().call_soon_threadsafe(_start_farewell, coroutine)


def _start_farewell(coroutine: Coroutine[Any, Any, Any]) -> None:
    task = asyncio.get_running_loop().create_task(coroutine)
    _farewells.add(task)
    task.add_done_callback(_farewells.discard)


def _serve(background: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(background)
    background.run_forever()


def _stop(background: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    async def finish() -> None:
        if _farewells:
            await asyncio.wait(list(_farewells), timeout=_FAREWELL_SECONDS)
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    try:
        asyncio.run_coroutine_threadsafe(finish(), background).result(2 * _FAREWELL_SECONDS)
    except concurrent.futures.TimeoutError:
        return
    background.call_soon_threadsafe(background.stop)
    thread.join(_FAREWELL_SECONDS)
