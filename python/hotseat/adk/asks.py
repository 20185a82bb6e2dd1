"""Questions of the server that only ADK's own code can answer.

Each is answered once, by its id, from a task of its own: a long one keeps nobody waiting, and one
that fails tells why.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from google.adk.artifacts.base_artifact_service import BaseArtifactService

from hotseat import _wire
from hotseat.adk.artifacts import ArtifactNotFound, Shelf
from hotseat.adk.eval_runs import EvalRuns, EvalWish
from hotseat.adk.functions import FunctionNotFound, Functions
from hotseat.adk.hosted import DEFAULT_USER, HostedAgent
from hotseat.adk.plain_json import json_bytes
from hotseat.adk.tracebacks import readable_traceback
from hotseat.errors import HotseatError
from hotseat.notices import notice

Question = dict[str, Any]


class Asks:
    """Answers what the server asks, until it is closed."""

    def __init__(
        self,
        agents: Iterable[HostedAgent],
        artifacts: BaseArtifactService,
        reply: Callable[[Any], None],
    ) -> None:
        """Answers for these agents; `reply` is called with each `Answer`."""
        self._agents = {agent.name: agent for agent in agents}
        self._artifacts = artifacts
        self._reply = reply
        self._evals = EvalRuns()
        self._functions = Functions()
        self._tasks: set[asyncio.Task[None]] = set()
        self._answers: dict[str, Callable[[Question], Awaitable[Any]]] = {
            "artifacts": self._list_artifacts,
            "artifact": self._read_artifact,
            "validate": self._validate,
            "eval": self._eval,
            "function_declaration": self._declare_function,
            "function": self._call_function,
        }

    def put(self, ask: Any) -> None:
        """Begins to answer; returns at once."""
        task = asyncio.get_running_loop().create_task(self._answer(ask))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Gives up on everything that is not answered yet."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer(self, ask: Any) -> None:
        answer = _wire.Answer(ask_id=ask.ask_id)
        try:
            answer_to = self._answers.get(ask.what)
            if answer_to is None:
                raise HotseatError(f"this worker cannot be asked for {ask.what!r}: update it")
            found = await answer_to(json.loads(ask.json or b"{}"))
            if isinstance(found, tuple):
                answer.data, found = found
            answer.json = json_bytes(found)
        except (ArtifactNotFound, FunctionNotFound) as error:
            answer.not_found = True
            answer.error = str(error)
        except HotseatError as error:
            answer.error = str(error)
        except _OfTheFunction as failure:
            error = failure.error
            answer.error = f"{type(error).__name__}: {error}"
            # Whoever wrote the function finds it here; who asked is told what went wrong only.
            notice(f"{failure.where} failed:\n{readable_traceback(error)}")
        except Exception as error:
            answer.error = f"{type(error).__name__}: {error}"
        self._reply(answer)

    async def _list_artifacts(self, question: Question) -> Any:
        return {"items": await self._shelf(question).list()}

    async def _read_artifact(self, question: Question) -> Any:
        data, mime_type = await self._shelf(question).read(
            question["name"], question.get("version")
        )
        return data, {"mime_type": mime_type}

    async def _validate(self, question: Question) -> Any:
        # Here, because it loads the part of ADK that evaluates, which takes a while.
        def validate() -> Any:
            from hotseat.adk.eval_sets import validate

            return validate(question["text"])

        return await asyncio.to_thread(validate)

    async def _eval(self, question: Question) -> Any:
        agent = self._agent(question)
        if agent.folder is None:
            raise HotseatError(
                f"`adk eval` needs an agent that lives in a folder of its own; {agent.name!r} was"
                " given as an object"
            )
        wish = EvalWish(
            agent.folder,
            Path(question["path"]),
            tuple(question.get("eval_ids") or ()),
            question.get("criteria"),
        )
        return await self._evals.run(wish)

    async def _declare_function(self, question: Question) -> Any:
        with _blamed(question):
            return await self._functions.declaration(question["file"], question["function"])

    async def _call_function(self, question: Question) -> Any:
        with _blamed(question):
            args = question.get("args") or {}
            result = await self._functions.call(question["file"], question["function"], args)
        return {"result": result}

    def _shelf(self, question: Question) -> Shelf:
        return Shelf(
            self._artifacts,
            self._agent(question).app.name,
            question.get("user_id") or DEFAULT_USER,
            question["session_id"],
        )

    def _agent(self, question: Question) -> HostedAgent:
        name = question.get("agent") or ""
        if name not in self._agents:
            raise HotseatError(f"this worker has no agent named {name!r}")
        return self._agents[name]


class _OfTheFunction(Exception):
    """Something that a function of somebody's raised."""

    def __init__(self, where: str, error: BaseException) -> None:
        super().__init__(where)
        self.where = where
        self.error = error


@contextlib.contextmanager
def _blamed(question: Question) -> Iterator[None]:
    try:
        yield
    except HotseatError:
        raise
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and (task is None or task.cancelling()):
            raise  # It is we who are cancelled, not something inside of the function.
        where = f"{question.get('function')} of {question.get('file')}"
        raise _OfTheFunction(where, error) from error
