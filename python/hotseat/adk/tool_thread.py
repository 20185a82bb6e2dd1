"""Plain functions, run beside the event loop.

ADK calls a plain function on the event loop, where a slow one stops everything else, the Cancel
button included. Each call gets a thread of its own rather than a place in a pool: a cancelled
function cannot be stopped, and must neither take a place from the next one nor keep the program
from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from google.adk.tools.base_tool import BaseTool
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.long_running_tool import LongRunningFunctionTool

_PLAIN_TOOLS = (FunctionTool, LongRunningFunctionTool)


def blocks_the_loop(tool: BaseTool) -> bool:
    """Whether the tool is a plain function of the user's.

    Subclasses stay on the loop: what else they do there, such as fetching credentials, may be
    bound to it. So do ADK's own functions, which are quick.
    """
    if type(tool) not in _PLAIN_TOOLS:
        return False
    function = tool.func
    if (getattr(function, "__module__", None) or "").startswith("google.adk."):
        return False
    called = (function, getattr(function, "__call__", None))  # noqa: B004
    return not any(
        inspect.iscoroutinefunction(f)
        or inspect.isasyncgenfunction(f)
        or inspect.isgeneratorfunction(f)
        for f in called
    )


async def run_in_thread(make: Callable[[], Awaitable[Any]]) -> Any:
    """Awaits what `make` returns on an event loop in a new thread."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    async def complete() -> Any:
        return await make()

    def settle(result: Any, error: BaseException | None) -> None:
        if outcome.done():
            return
        if error is None:
            outcome.set_result(result)
        elif isinstance(error, StopIteration):
            # A future refuses it, because it would end the coroutine that awaits the future.
            outcome.set_exception(RuntimeError(f"the tool raised {error!r}"))
        else:
            outcome.set_exception(error)

    def work() -> None:
        result, failure = None, None
        try:
            result = context.run(asyncio.run, complete())
        except BaseException as error:
            failure = error
        try:
            loop.call_soon_threadsafe(settle, result, failure)
        except RuntimeError:
            return  # The loop is closed: nobody waits any more.

    threading.Thread(target=work, name="hotseat-tool", daemon=True).start()
    return await outcome
