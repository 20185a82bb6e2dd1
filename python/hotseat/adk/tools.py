"""A stopwatch and a Cancel button on every tool, without leaving ADK's path.

`run_async` of a tool object is replaced once. The replacement looks for the Hotseat plugin of the
run that calls it, so tools that are shared by several runs, with and without Hotseat, report to
the right one or to nobody. Everything else stays ADK's: contexts, callbacks, confirmation, the
merging of parallel responses and the stored event.

What happens when a tool raises: the failure is logged with its traceback and raised again, so
ADK asks, in this order, the plugins that come before Hotseat's, then Hotseat's plugin. That one
asks the plugins after it and the agent's own `on_tool_error_callback`, as ADK would have done, and
only if nobody has an answer it gives its own: a function response with the error, so that the run
goes on (:func:`error_response`).
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import functools
import inspect
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol

from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from hotseat.adk.client_tools import ClientTool
from hotseat.adk.plain_json import json_bytes
from hotseat.adk.tool_thread import blocks_the_loop, run_in_thread
from hotseat.adk.tracebacks import readable_traceback
from hotseat.errors import HotseatError

RunTool = Callable[[], Awaitable[Any]]

# How long a cancelled tool may take to clean up before the run goes on without it.
_CLEAN_UP_SECONDS = 5.0

# The largest result of a tool. The log takes events of 10 MiB, and the result is one's heart.
MAX_RESULT_BYTES = 10 * 1024 * 1024 - 64 * 1024

# How often the progress of one call is told at most.
_PROGRESS_SECONDS = 0.25

_MARK = "_hotseat_watched"

# Of `McpTool`: gives the function that an MCP server's progress is told to.
_PROGRESS = "_resolve_progress_callback"


class ResultTooLarge(HotseatError):
    """A tool gave more than the log can keep. Cutting it would show what never was."""


class ToolWatcher(Protocol):
    """What a plugin must be for the tools of its runs to report to it."""

    def watches(self, tool_context: ToolContext) -> bool:
        """Whether the run that this context belongs to is watched."""

    def forgives(self, tool_context: ToolContext) -> bool:
        """Whether a tool that cannot say what it is, is left out of the requests of this run."""

    async def run_tool(
        self, tool: BaseTool, tool_context: ToolContext, args: dict[str, Any], run: RunTool
    ) -> Any:
        """Runs a tool and reports it."""


def watcher_of(tool_context: ToolContext) -> ToolWatcher | None:
    """The plugin that watches the run which a context belongs to."""
    for plugin in tool_context._invocation_context.plugin_manager.plugins:
        if hasattr(plugin, "run_tool") and plugin.watches(tool_context):
            return plugin
    return None


def watch_tools(tools: Iterable[BaseTool]) -> None:
    """Replaces `run_async` on each tool that does not have the replacement yet."""
    for tool in tools:
        if _MARK in getattr(tool, "__dict__", {}) or isinstance(tool, ClientTool):
            continue  # It has the replacement, or runs elsewhere.
        try:
            object.__setattr__(tool, "run_async", _watched(tool, tool.run_async))
            if resolve := getattr(tool, _PROGRESS, None):
                object.__setattr__(tool, _PROGRESS, _with_progress(resolve))
            object.__setattr__(tool, _MARK, True)
        except AttributeError:
            continue  # An object without a dict; it runs as ADK made it.


def _watched(tool: BaseTool, original: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    @functools.wraps(original)
    async def run_async(*, args: dict[str, Any], tool_context: ToolContext) -> Any:
        async def run() -> Any:
            return await original(args=args, tool_context=tool_context)

        watcher = watcher_of(tool_context)
        if watcher is None:
            return await run()
        return await watcher.run_tool(tool, tool_context, args, run)

    return run_async


def _with_progress(resolve: Callable[[ToolContext], Any]) -> Callable[[ToolContext], Any]:
    """Listens to the progress that an MCP server tells of, beside whoever else does."""

    @functools.wraps(resolve)
    def resolve_progress_callback(tool_context: ToolContext) -> Any:
        others, tool_run = resolve(tool_context), _running.get()
        if tool_run is None:
            return others

        async def progressed(
            progress: float, total: float | None = None, message: str | None = None
        ) -> None:
            fraction = {"fraction": min(max(progress / total, 0.0), 1.0)} if total else {}
            tool_run.progressed(message=message or f"{progress:g}", **fraction)
            if others is not None:
                await others(progress, total, message)

        return progressed

    return resolve_progress_callback


class ToolRun:
    """One call of a tool, from start to whatever end."""

    def __init__(
        self,
        tool: BaseTool,
        call_id: str,
        tell: Callable[[dict[str, Any]], concurrent.futures.Future[None]],
    ) -> None:
        """Begins the stopwatch. `tell` puts a `tool_run` into the log, without waiting for it."""
        self.tool = tool
        self.call_id = call_id
        self.result: Any = None
        self.failure: Exception | None = None
        self._cancelled = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._began = time.monotonic()
        self._tell = tell
        self._telling: concurrent.futures.Future[None] | None = None
        self._told_at = 0.0

    def progressed(self, **told: Any) -> None:
        """Tells how far the call is, unless that was told a moment ago."""
        now = time.monotonic()
        if now - self._told_at < _PROGRESS_SECONDS or (self._telling and not self._telling.done()):
            return
        self._told_at = now
        self._telling = self._tell(self.report("progress", **told))

    async def progress_told(self) -> None:
        """Returns when nothing of this call is on its way into the log any more."""
        if self._telling is not None:
            await asyncio.wrap_future(self._telling)

    def cancel(self) -> None:
        """Ends the call early. May be called from any thread."""
        self._loop.call_soon_threadsafe(self._cancelled.set)

    async def complete(self, run: RunTool) -> dict[str, Any]:
        """Runs the tool and returns how it ended, as `tool_run` wants it told.

        Raises nothing but cancellation of the run; an exception of the tool is in `failure`.
        """
        token = _running.set(self)
        task = asyncio.ensure_future(run_in_thread(run) if blocks_the_loop(self.tool) else run())
        _running.reset(token)
        button = asyncio.ensure_future(self._cancelled.wait())
        try:
            await asyncio.wait({task, button}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                await self._stop(task)
                self.result = error_response("Cancelled", f"{self.tool.name} was cancelled")
                return self.report("cancelled")
            self.result = task.result()
            self._refuse_a_giant()
            return self.report("succeeded")
        except asyncio.CancelledError:
            task.cancel()
            if self._run_is_cancelled():
                raise
            # The tool gave up by itself, for instance because a time limit of its own ran out.
            self.result = error_response("Cancelled", f"{self.tool.name} cancelled itself")
            return self.report("cancelled")
        except Exception as error:
            self.failure = error
            return self.report(
                "failed",
                error_type=type(error).__name__,
                error_message=str(error),
                traceback=readable_traceback(error),
            )
        finally:
            button.cancel()

    def report(self, status: str, **more: Any) -> dict[str, Any]:
        """The payload of a `tool_run` entry."""
        told = {"call_id": self.call_id, "tool_name": self.tool.name, "status": status, **more}
        if status not in ("started", "progress"):
            told["duration_ms"] = round((time.monotonic() - self._began) * 1000, 3)
        return told

    def _refuse_a_giant(self) -> None:
        size = len(json_bytes(self.result))
        if size > MAX_RESULT_BYTES:
            self.result = None
            raise ResultTooLarge(
                f"{self.tool.name} returned {size:,} bytes of JSON; the log takes at most"
                f" {MAX_RESULT_BYTES:,}. The tool has done its work, but nobody can be shown it"
            )

    @staticmethod
    async def _stop(task: asyncio.Future[Any]) -> None:
        task.cancel()
        await asyncio.wait({task}, timeout=_CLEAN_UP_SECONDS)
        if task.done() and not task.cancelled():
            task.exception()  # Asked for, so that asyncio does not complain about it.

    @staticmethod
    def _run_is_cancelled() -> bool:
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0


# The call that the current task works for.
_running: contextvars.ContextVar[ToolRun | None] = contextvars.ContextVar(
    "hotseat_tool_run", default=None
)


def error_response(error_type: str, message: str) -> dict[str, Any]:
    """The function response that tells a model, or a person, of an error."""
    return {"error": {"type": error_type, "message": message}}


async def first_answer(callbacks: Iterable[Callable[..., Any]], **arguments: Any) -> Any:
    """The first result that is not None, as ADK asks a row of callbacks."""
    for callback in callbacks:
        result = callback(**arguments)
        if inspect.isawaitable(result):
            result = await result
        if result is not None:
            return result
    return None
