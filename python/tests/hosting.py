"""A host without a worker around it, and a model that follows a script."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, Iterable
from typing import Any

from google.adk.agents.base_agent import BaseAgent
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from hotseat import _wire, background
from hotseat.adk.artifacts import artifact_service
from hotseat.adk.host import Host
from hotseat.adk.hosted import HostedAgent
from hotseat.connection import Connection
from hotseat.settings import Settings
from pydantic import PrivateAttr
from support import PATIENCE, Human, Server


def said(*parts: Any, partial: bool | None = None) -> LlmResponse:
    """A response with texts and `(name, args)` calls."""
    made = [
        types.Part(text=part)
        if isinstance(part, str)
        else types.Part(function_call=types.FunctionCall(name=part[0], args=part[1]))
        for part in parts
    ]
    return LlmResponse(content=types.Content(role="model", parts=made), partial=partial)


class ScriptedModel(BaseLlm):
    """Gives one row of responses for each request, pieces of an answer before the answer."""

    model: str = "scripted"
    _rows: list[Any] = PrivateAttr(default_factory=list)
    _requests: list[LlmRequest] = PrivateAttr(default_factory=list)
    _stopped: asyncio.Event = PrivateAttr(default_factory=asyncio.Event)

    @classmethod
    def of(cls, *rows: LlmResponse | Iterable[Any]) -> ScriptedModel:
        """A model that says this. In a row, an event is waited for and a function called."""
        made = cls()
        made._rows = [[row] if isinstance(row, LlmResponse) else list(row) for row in rows]
        return made

    @property
    def requests(self) -> list[LlmRequest]:
        """What it was asked."""
        return self._requests

    @property
    def stopped(self) -> asyncio.Event:
        """Set when it was stopped in the middle of an answer."""
        return self._stopped

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """The next row; without `stream`, no pieces."""
        self._requests.append(llm_request.model_copy(deep=False))
        row = self._rows.pop(0)
        try:
            for each in row:
                if isinstance(each, asyncio.Event):
                    await each.wait()
                elif callable(each):
                    each()
                elif stream or not each.partial:
                    yield each
        except (asyncio.CancelledError, GeneratorExit):
            self._stopped.set()
            raise


class Heard:
    """A line to nobody, which remembers what it was told."""

    def __init__(self) -> None:
        self.ends: asyncio.Queue[Any] = asyncio.Queue()
        self.partials: list[dict[str, Any]] = []
        self.partial_came = asyncio.Event()
        self.log_at_flush: list[int] = []

    def send(self, message: Any) -> None:
        """Takes the end of a run."""
        self.ends.put_nowait(message.run_ended)

    def pass_on(self, message: Any) -> None:
        """Takes a piece of an answer."""
        self.partials.append(json.loads(message.partial.raw_json))
        self.partial_came.set()

    @property
    def waiting(self) -> int:
        """Everything is heard at once."""
        return 0

    async def sent(self) -> None:
        """Everything is heard at once."""
        self.log_at_flush.append(len(self.partials))


class Stage:
    """One agent in a host, in one session of a real server."""

    def __init__(self, server: Server, human: Human, agent: BaseAgent | App) -> None:
        self.human = human
        self.heard = Heard()
        self._server = server
        self._hosted = HostedAgent.of(agent)
        self.restart()

    def restart(self) -> None:
        """Another host, that knows nothing of what was before, as after the death of a worker."""
        settings = Settings.resolve(self._server.url, self._server.token)
        self._connection = Connection(settings)
        self.host = Host(
            self._connection, [self._hosted], artifact_service(None), self.heard, str(uuid.uuid4())
        )

    def start(self, *parts: Any, run_id: str | None = None, **order: Any) -> str:
        """Begins a run with a message of these parts; its id."""
        run_id = run_id or str(uuid.uuid4())
        made = [{"text": part} if isinstance(part, str) else part for part in parts]
        start = _wire.StartRun(
            run_id=run_id,
            session_id=self.human.session_id,
            agent=self._hosted.name,
            message_json=json.dumps({"role": "user", "parts": made}).encode(),
            **order,
        )
        self.host.start(start)
        return run_id

    async def end(self) -> Any:
        """The end of the run in progress."""
        async with asyncio.timeout(PATIENCE):
            return await self.heard.ends.get()

    async def run(self, *parts: Any, **order: Any) -> Any:
        """Begins a run and waits for its end."""
        self.start(*parts, **order)
        return await self.end()

    async def events(self) -> list[dict[str, Any]]:
        """ADK's events in the log."""
        return await self.human.payloads("event")

    async def close(self) -> None:
        """Ends the connection."""
        await background.run(self._connection.close())


def texts(events: list[dict[str, Any]]) -> list[str]:
    """The texts of some events."""
    return [
        part["text"]
        for event in events
        for part in event.get("content", {}).get("parts", [])
        if "text" in part
    ]
