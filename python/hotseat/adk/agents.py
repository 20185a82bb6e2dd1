"""From the arguments of a command line to agents.

An argument is an ADK agent folder, a folder of such folders, `module:attribute` or
`file.py:attribute`. Folders are loaded by ADK's own loader, with their `.env`. An agent that fails
to load is a problem to show, never a reason not to start: the others live on.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from google.adk.agents.base_agent import BaseAgent
from google.adk.apps.app import App
from google.adk.cli.utils import envs
from google.adk.cli.utils.agent_loader import AgentLoader

from hotseat.adk.config import SimulatedAgentConfig
from hotseat.adk.hosted import HostedAgent, Problem, Roster
from hotseat.errors import HotseatError


def load_agents(arguments: Iterable[str]) -> Roster:
    """Loads what can be loaded and tells of the rest."""
    roster = Roster.empty()
    for argument in arguments:
        try:
            _load(argument, roster)
        except Exception as error:
            roster.problems.append(Problem.of(argument, error))
        except SystemExit as error:
            # A script without a main guard; it must not end the worker.
            roster.problems.append(Problem.of(argument, error))
    return roster


def _load(argument: str, roster: Roster) -> None:
    path = Path(argument)
    if path.is_dir():
        _load_folder(path.resolve(), argument, roster)
    elif path.is_file():
        module = _import_file(path.resolve())
        name = path.resolve().stem
        roster.add(HostedAgent.of(_root_of(module), name, path.resolve().parent), argument)
    else:
        source, colon, attribute = argument.rpartition(":")
        if not colon or not attribute.isidentifier():
            raise HotseatError(
                f"{argument!r} is neither a folder nor `module:attribute` nor `file.py:attribute`"
            )
        roster.add_all(_hostables(_attribute(source, attribute), argument), argument)


def _load_folder(folder: Path, argument: str, roster: Roster) -> None:
    if _is_agent_folder(folder):
        roster.add(_load_agent_folder(folder), argument)
        return
    folders = sorted(child for child in folder.iterdir() if _may_be_agent_folder(child))
    if not folders:
        raise HotseatError(
            f"no agents in {folder}: an agent is a folder with an agent.py that defines"
            " `root_agent` or `app`"
        )
    for child in folders:
        try:
            roster.add(_load_agent_folder(child), str(child))
        except (Exception, SystemExit) as error:
            roster.problems.append(Problem.of(str(Path(argument) / child.name), error))


def _is_agent_folder(folder: Path) -> bool:
    if (folder / "agent.py").is_file() or (folder / "root_agent.yaml").is_file():
        return True
    package = folder / "__init__.py"
    return package.is_file() and "root_agent" in package.read_text("utf-8", errors="replace")


def _may_be_agent_folder(folder: Path) -> bool:
    return folder.is_dir() and not folder.name.startswith((".", "_")) and _is_agent_folder(folder)


def _load_agent_folder(folder: Path) -> HostedAgent:
    _refuse_taken_name(folder.name, folder)
    # A parent that is an agent folder itself would put the loader into its single-agent mode.
    parent_is_agent = (folder.parent / "agent.py").is_file()
    loader = AgentLoader(str(folder if parent_is_agent else folder.parent))
    return HostedAgent.of(loader.load_agent(folder.name), folder.name, folder)


def _refuse_taken_name(name: str, folder: Path) -> None:
    loaded = sys.modules.get(name)
    if loaded is None:
        return
    origins = list(getattr(loaded, "__path__", [])) or [getattr(loaded, "__file__", None) or ""]
    if not any(Path(origin).resolve().is_relative_to(folder) for origin in origins if origin):
        raise HotseatError(
            f"the folder {folder} cannot be loaded because a Python module named {name!r} is"
            f" loaded from {origins[0] or 'elsewhere'}: rename the folder"
        )


def _attribute(source: str, attribute: str) -> Any:
    if source.endswith(".py"):
        path = Path(source).resolve()
        if not path.is_file():
            raise HotseatError(f"there is no file {path}")
        module = _import_file(path)
    else:
        _prefer_on_path(Path.cwd())
        module = importlib.import_module(source)
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise HotseatError(f"{source} has no attribute {attribute!r}") from None


def _import_file(path: Path) -> ModuleType:
    envs.load_dotenv_for_agent(path.parent.name, str(path.parent.parent))
    # A file in a package may use relative imports, so it is imported as part of it.
    home, name = path.parent, path.stem
    while (home / "__init__.py").is_file():
        home, name = home.parent, f"{home.name}.{name}"
    _prefer_on_path(home)
    _refuse_taken_name(name, path.parent)
    return importlib.import_module(name)


def _prefer_on_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _root_of(module: ModuleType) -> BaseAgent | App:
    for attribute, kind in (("app", App), ("root_agent", BaseAgent)):
        if isinstance(thing := getattr(module, attribute, None), kind):
            return thing
    raise HotseatError(f"{module.__file__} defines neither `app` nor `root_agent`")


def _hostables(thing: Any, argument: str) -> list[Any]:
    things = list(thing) if isinstance(thing, list | tuple) else [thing]
    for each in things:
        if not isinstance(each, BaseAgent | App | SimulatedAgentConfig):
            raise HotseatError(
                f"{argument} is of type {type(each).__name__}: an agent, an App, a"
                " SimulatedAgentConfig or a list of them is expected"
            )
    return things
