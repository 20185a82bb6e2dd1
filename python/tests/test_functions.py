"""Functions of Python files, for agents that run elsewhere."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hotseat import _wire
from hotseat.adk import functions
from hotseat.adk.artifacts import artifact_service
from hotseat.adk.asks import Asks
from hotseat.adk.functions import Functions
from hotseat.adk.plain_json import json_bytes
from support import PATIENCE

TOOLS = '''
import asyncio
import dataclasses
import threading
from typing import Literal, Optional

from pydantic import BaseModel

import beside


class Item(BaseModel):
    name: str
    count: int = 1


@dataclasses.dataclass
class Note:
    text: str


def order(item: Item, where: Literal["here", "there"], gift: Optional[bool] = None) -> dict:
    """Orders something.

    Args:
        item: What to order.
        where: Where it goes.
    """
    return {"ordered": item.name, "count": item.count, "where": where, "thread": thread()}


async def wait(text: str) -> Note:
    """Waits a moment."""
    await asyncio.sleep(0)
    return Note(f"{text}, {beside.WORD}, {thread()}")


def thread() -> str:
    return threading.current_thread().name


def odd() -> object:
    return {"big": 2**70, "bytes": b"x", "own": object, "set": {1}}


def fail(how: str) -> None:
    if how == "exit":
        raise SystemExit("enough")
    if how == "cancel":
        raise asyncio.CancelledError()
    raise ValueError(f"no {how}")


async def fail_later() -> None:
    raise SystemExit("enough")


def big() -> str:
    return "x" * (11 * 1024 * 1024)


def anything(**more: int) -> dict:
    return more


WORD = "a constant"
'''


class Worker:
    """The part of a worker that answers, without a server."""

    def __init__(self) -> None:
        self._answers: asyncio.Queue[Any] = asyncio.Queue()
        self.asks = Asks([], artifact_service(None), self._answers.put_nowait)

    async def ask(self, what: str, **question: Any) -> Any:
        """One answer."""
        self.asks.put(_wire.Ask(ask_id="1", what=what, json=json_bytes(question)))
        async with asyncio.timeout(PATIENCE):
            return await self._answers.get()


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A file of functions, and a module beside it."""
    (tmp_path / "beside.py").write_text('WORD = "please"\n')
    file = tmp_path / "tools.py"
    file.write_text(TOOLS)
    return file


def value(answer: Any) -> Any:
    """What an answer holds."""
    assert answer.error == ""
    return json.loads(answer.json)


async def call(file: Path, function: str, **args: Any) -> Any:
    """What a function returns, through the worker."""
    answer = await Worker().ask("function", file=str(file), function=function, args=args)
    return value(answer)["result"]


async def failure(file: Path | str, function: str, **args: Any) -> Any:
    """The answer of a call that fails."""
    answer = await Worker().ask("function", file=str(file), function=function, args=args)
    assert answer.error and not answer.json
    return answer


async def test_a_function_is_declared_by_its_signature(tools: Path) -> None:
    answer = await Worker().ask("function_declaration", file=str(tools), function="order")
    declared = value(answer)
    assert declared["name"] == "order"
    assert declared["description"].startswith("Orders something.")
    parameters = declared["parameters"]
    assert parameters["type"] == "object"
    assert set(parameters["properties"]) == {"item", "where", "gift"}
    assert parameters["properties"]["where"]["enum"] == ["here", "there"]
    assert {"item", "where"} <= set(parameters["required"])
    assert "OBJECT" not in answer.json.decode()


async def test_a_function_without_parameters_takes_an_empty_object(tools: Path) -> None:
    declared = value(await Worker().ask("function_declaration", file=str(tools), function="odd"))
    assert declared["parameters"]["type"] == "object"
    assert not declared["parameters"].get("properties")


async def test_a_plain_function_is_called_beside_the_event_loop(tools: Path) -> None:
    result = await call(tools, "order", item={"name": "tea", "count": 2}, where="here", guess=1)
    assert result.pop("thread") != threading.current_thread().name
    assert result == {"ordered": "tea", "count": 2, "where": "here"}


async def test_an_asynchronous_function_is_awaited(tools: Path) -> None:
    result = await call(tools, "wait", text="wait")
    assert result == {"text": f"wait, please, {threading.current_thread().name}"}


async def test_a_result_without_json_becomes_text(tools: Path) -> None:
    result = await call(tools, "odd")
    assert (result["big"], result["bytes"], result["set"]) == (2**70, "x", [1])
    assert "object" in result["own"]


async def test_a_function_that_takes_anything_gets_everything(tools: Path) -> None:
    assert await call(tools, "anything", a=1, b=2) == {"a": 1, "b": 2}


async def test_the_caller_is_told_what_was_raised_and_the_terminal_where(
    tools: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = await failure(tools, "fail", how="tea")
    assert answer.error == "ValueError: no tea"
    told = capfd.readouterr().err
    assert f"fail of {tools} failed" in told and "Traceback" in told and "tools.py" in told


@pytest.mark.parametrize(
    ("function", "args", "error"),
    [
        ("fail", {"how": "exit"}, "SystemExit: enough"),
        ("fail", {"how": "cancel"}, "CancelledError: "),
        ("fail_later", {}, "SystemExit: enough"),
        ("order", {"item": {"name": "tea"}}, "order needs where, which the call does not give"),
        ("big", {}, "big returned 11,534,338 bytes of JSON; at most 10,420,224 are kept"),
    ],
)
async def test_whatever_goes_wrong_is_answered(
    tools: Path, function: str, args: dict[str, Any], error: str
) -> None:
    assert (await failure(tools, function, **args)).error == error


async def test_what_is_not_there_is_not_found(tools: Path) -> None:
    for file, function in ((tools, "missing"), (tools, "WORD"), (tools.parent / "no.py", "f")):
        assert (await failure(file, function)).not_found
    relative = await failure("tools.py", "order")
    assert "must be absolute" in relative.error and not relative.not_found


async def test_a_file_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import does_not_exist_anywhere\n")
    assert (await failure(broken, "f")).error.startswith("ModuleNotFoundError: ")
    broken.write_text("def f(:\n")
    assert (await failure(broken, "f")).error.startswith("SyntaxError: ")
    broken.write_text("def f(): return 1\n")
    assert await call(broken, "f") == 1


async def test_a_file_is_loaded_again_when_it_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "changing.py"
    loads = tmp_path / "loads"
    source = f"with open({str(loads)!r}, 'a') as f: f.write('x')\ndef f(): return NUMBER\n"
    loaded = Functions()
    for number in (1, 2):
        file.write_text(source.replace("NUMBER", str(number)))
        # The size stays, and so does the second.
        os.utime(file, ns=(0, 1_700_000_000_000_000_000 + number))
        assert await loaded.call(str(file), "f", {}) == number
        assert await loaded.call(str(file), "f", {}) == number
    assert loads.read_text() == "xx"


async def test_files_of_one_name_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tools.py").write_text(f"def f(): return {folder!r}\n")
    loaded = Functions()
    for folder in ("a", "b", "a"):
        assert await loaded.call(str(tmp_path / folder / "tools.py"), "f", {}) == folder


async def test_not_more_files_stay_loaded_than_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(functions, "MAX_FILES", 2)
    loaded = Functions()
    for n in range(4):
        file = tmp_path / f"f{n}.py"
        file.write_text(f"def f(): return {n}\n")
        assert await loaded.call(str(file), "f", {}) == n
    assert [path.name for path in loaded._loaded] == ["f2.py", "f3.py"]
