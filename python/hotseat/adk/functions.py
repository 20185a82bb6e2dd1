"""Python functions as tools of agents that run elsewhere.

An agent that is written down in a file has tools of its own where it names functions of a Python
file. What such a function is called and takes is what ADK would tell a model of it, and it is
called as ADK would call it, only that it has no ADK context to work in.

A file is loaded again when it has changed. It is loaded under a name of its own, so two files of
one name do not get in each other's way.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import threading
from collections import OrderedDict
from pathlib import Path
from types import ModuleType
from typing import Any

from google.adk.tools.function_tool import FunctionTool

from hotseat.adk.declarations import declaration_of
from hotseat.adk.plain_json import json_bytes
from hotseat.adk.tool_thread import run_in_thread
from hotseat.adk.tools import MAX_RESULT_BYTES, ResultTooLarge
from hotseat.errors import HotseatError

# Files that stay loaded. The one used longest ago is forgotten first, and loaded again if needed.
MAX_FILES = 200


class FunctionNotFound(HotseatError):
    """There is no such file, or no such function in it."""


class Functions:
    """Functions of Python files. Can be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: OrderedDict[Path, tuple[int, ModuleType]] = OrderedDict()

    async def declaration(self, file: str, function: str) -> dict[str, Any]:
        """The name, the description and the parameters, as JSON Schema."""

        async def declare() -> dict[str, Any]:
            declared = declaration_of(self._tool(file, function))
            if declared is None:
                raise HotseatError(f"ADK has no declaration for {function} of {file}")
            return {
                "name": declared.name,
                "description": declared.description or "",
                "parameters": _parameters(declared),
            }

        # A file that takes long to load must not hold up the event loop.
        return await run_in_thread(declare)

    async def call(self, file: str, function: str, args: dict[str, Any]) -> Any:
        """What the function returns for these arguments; raises what it raises."""

        async def load() -> FunctionTool:
            return self._tool(file, function)

        tool = await run_in_thread(load)
        arguments = _arguments(tool, args)

        async def call() -> Any:
            return tool.func(**arguments)

        if _is_async(tool.func):
            result = await tool.func(**arguments)
        else:
            result = await run_in_thread(call)
        size = len(json_bytes(result))
        if size > MAX_RESULT_BYTES:
            raise ResultTooLarge(
                f"{function} returned {size:,} bytes of JSON; at most {MAX_RESULT_BYTES:,} are kept"
            )
        return result

    def _tool(self, file: str, function: str) -> FunctionTool:
        found = getattr(self._module(file), function, None)
        if not callable(found):
            raise FunctionNotFound(f"{file} has no function named {function!r}")
        return FunctionTool(found)

    def _module(self, file: str) -> ModuleType:
        path = Path(file)
        if not path.is_absolute():
            raise HotseatError(f"the path of a Python file must be absolute, not {file!r}")
        try:
            changed = path.stat().st_mtime_ns
        except OSError:
            raise FunctionNotFound(f"there is no file {path}") from None
        # One at a time: a module that two threads load at once is loaded twice.
        with self._lock:
            known = self._loaded.pop(path, None)
            if known is None or known[0] != changed:
                known = (changed, _load(path))
            self._loaded[path] = known
            while len(self._loaded) > MAX_FILES:
                _, (_, forgotten) = self._loaded.popitem(last=False)
                sys.modules.pop(forgotten.__name__, None)
            return known[1]


def _load(path: Path) -> ModuleType:
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:12]
    name = f"hotseat_function_{path.stem}_{digest}"
    # Not through a loader that keeps bytecode: it tells changes by whole seconds.
    spec = importlib.util.spec_from_loader(name, loader=None, origin=str(path))
    if spec is None:
        raise HotseatError(f"{path} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    # The modules beside it are what it expects to be able to import.
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    # Dataclasses and pydantic look for the module of a class while it is being loaded.
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        # Without `dont_inherit`, the `__future__` imports of this file would count in that one.
        code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        exec(code, module.__dict__)
    except BaseException:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        raise
    return module


def _parameters(declared: Any) -> dict[str, Any]:
    schema = getattr(declared, "parameters_json_schema", None)
    if schema is None and declared.parameters is not None:
        schema = declared.parameters.json_schema.model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
    return schema or {"type": "object", "properties": {}}


def _arguments(tool: FunctionTool, args: dict[str, Any]) -> dict[str, Any]:
    """The arguments as the function wants them; what it does not know is left out, as in ADK."""
    given = tool._preprocess_args(args)
    parameters = inspect.signature(tool.func).parameters.values()
    kinds = inspect.Parameter
    open_ended = any(each.kind is kinds.VAR_KEYWORD for each in parameters)
    named = [
        each for each in parameters if each.kind not in (kinds.VAR_KEYWORD, kinds.VAR_POSITIONAL)
    ]
    missing = [
        each.name for each in named if each.default is kinds.empty and each.name not in given
    ]
    if missing:
        raise HotseatError(f"{tool.name} needs {', '.join(missing)}, which the call does not give")
    names = {each.name for each in named}
    return {name: value for name, value in given.items() if open_ended or name in names}


def _is_async(function: Any) -> bool:
    called = (function, getattr(function, "__call__", None))  # noqa: B004
    return any(inspect.iscoroutinefunction(each) for each in called)
