"""A real server, and a person who follows a script."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import grpc
from google.adk.apps.app import App
from google.adk.events.event import Event
from google.adk.runners import InMemoryRunner
from google.genai import types
from hotseat import _wire

BINARY = Path(
    os.environ.get("HOTSEAT_BIN")
    or Path(__file__).resolve().parents[2] / "target" / "debug" / "hotseat"
)

PACKAGE = Path(__file__).resolve().parents[1]
AGENTS = Path(__file__).resolve().parent / "agents"
EXAMPLES = PACKAGE.parent / "examples"
OFFICE = Path(__file__).resolve().parent / "office"

# No test waits longer than this for anything; a healthy one is done in a fraction of it.
PATIENCE = 40.0


class Server:
    """The `hotseat` program on a port and a data folder that survive its death."""

    def __init__(
        self,
        folder: Path,
        *agents: str,
        environment: dict[str, str] | None = None,
        command: tuple[str, ...] = ("web", "--no-open"),
    ) -> None:
        self.data = folder / "data"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.token = ""
        self._folder = folder
        self._agents = agents
        self._command = command
        self._environment = environment or {}
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Starts the program and returns when it listens."""
        command = [BINARY, *self._command, "--port", str(self.port), "--data", self.data]
        self._process = subprocess.Popen(
            [*command, *self._agents],
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._folder,
            env={**os.environ, **self._environment},
        )
        assert self._process.stdout is not None
        page = self._process.stdout.readline().strip()
        assert f":{self.port}" in page, f"the server printed {page!r}"
        self.token = page.partition("token=")[2]

    def kill(self) -> None:
        """Ends the program as a power cut would."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Ends the program in good order."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(PATIENCE)

    def http(self, method: str, path: str, body: Any = None) -> Any:
        """One request to the HTTP API; the answer's JSON, or the problem's."""
        request = urllib.request.Request(
            f"{self.url}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "authorization": f"Bearer {self.token}",
                "content-type": "application/json",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                text = answer.read()
        except HTTPError as error:
            with error:
                text = error.read()
        return json.loads(text) if text else None

    def wait_for_agents(self) -> dict[str, Any]:
        """The agents, as soon as some have registered."""
        request = urllib.request.Request(
            f"{self.url}/api/v1/stream", headers={"authorization": f"Bearer {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as stream:
            for line in stream:
                if line.split() in ([b"event:", b"ready"], [b"event:", b"agents"]):
                    agents = self.http("GET", "/api/v1/agents")
                    if agents["items"] or agents["problems"]:
                        return agents
        raise AssertionError("the stream ended before an agent registered")

    def wait_until_connected(self) -> None:
        """Returns when every agent has a worker."""
        while not all(agent["connected"] for agent in self.wait_for_agents()["items"]):
            time.sleep(0.05)

    def new_session(self, agent: str) -> str:
        """Creates a session on the page; its id."""
        return self.http("POST", "/api/v1/sessions", {"agent": agent})["id"]

    def query(self, session_id: str, text: str) -> dict[str, Any]:
        """Sends a message to the agent of a session."""
        return self.http("POST", f"/api/v1/sessions/{session_id}/query", {"text": text})

    def respond(self, session_id: str, *responses: tuple[Any, dict[str, Any]]) -> dict[str, Any]:
        """Answers calls that wait for the user."""
        answers = [
            {"id": call["id"], "name": call["name"], "response": response}
            for call, response in responses
        ]
        path = f"/api/v1/sessions/{session_id}/query"
        return self.http("POST", path, {"function_responses": answers})

    def fork(self, session_id: str, turn_id: str) -> dict[str, Any]:
        """Makes a session that stands where this one stood before a turn was answered."""
        return self.http("POST", f"/api/v1/sessions/{session_id}/fork", {"turn_id": turn_id})


class WorkerProcess:
    """A worker that was started by hand."""

    def __init__(self, server: Server, *agents: str, **environment: str) -> None:
        self._command = [sys.executable, "-m", "hotseat.worker", "--url", server.url, *agents]
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(PACKAGE),
            **environment,
            "HOTSEAT_TOKEN": server.token,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the process; it attaches in its own time."""
        self._process = subprocess.Popen(self._command, env=self._environment)

    def kill(self) -> None:
        """Ends the process as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@dataclass(frozen=True)
class Turn:
    """A model request that waits for its answer."""

    turn_id: str
    agent_name: str
    branch: str
    parent_call_id: str
    invocation_id: str
    payload: dict[str, Any]

    @classmethod
    def of(cls, event: Any) -> Turn:
        """The turn that an event of kind `request` opens."""
        return cls(
            event.turn_id,
            event.agent_name,
            event.branch,
            event.parent_call_id,
            event.invocation_id,
            json.loads(event.raw_json),
        )

    @property
    def request(self) -> dict[str, Any]:
        """ADK's request."""
        return self.payload["request"]

    @property
    def tool_names(self) -> set[str]:
        """The tools that the request offers."""
        return {
            declaration["name"]
            for tool in self.request["config"].get("tools", [])
            for declaration in tool.get("functionDeclarations", [])
        }

    @property
    def responses(self) -> list[dict[str, Any]]:
        """What the tools of the newest message gave."""
        return [part["functionResponse"]["response"] for part in self.last_parts]

    @property
    def last_parts(self) -> list[dict[str, Any]]:
        """The parts of the newest message."""
        return self.request["contents"][-1]["parts"]


class Human:
    """Follows one session and answers its turns."""

    def __init__(self, server: Server, session_id: str) -> None:
        self.session_id = session_id
        self._metadata = [("authorization", f"Bearer {server.token}")]
        self._channel = grpc.aio.insecure_channel(
            f"127.0.0.1:{server.port}", options=[("grpc.max_receive_message_length", -1)]
        )
        self._seat = _wire.Stub(self._channel, "Seat")
        self._sessions = _wire.Stub(self._channel, "Sessions")
        self._events: asyncio.Queue[Any] = asyncio.Queue()
        self._reader: asyncio.Task[None] | None = None

    async def watch(self) -> None:
        """Begins to follow the session."""
        self._reader = asyncio.create_task(self._read())

    async def leave(self) -> None:
        """Stops following."""
        if self._reader is not None:
            self._reader.cancel()
        await self._channel.close()

    async def next_event(self, *kinds: str) -> Any:
        """The next event of one of these kinds."""
        async with asyncio.timeout(PATIENCE):
            while True:
                event = await self._events.get()
                if isinstance(event, Exception):
                    raise event
                if event.kind in kinds:
                    return event

    async def next_turn(self) -> Turn:
        """The next model request."""
        return Turn.of(await self.next_event("request"))

    async def next_tool_run(self, status: str) -> dict[str, Any]:
        """The next `tool_run` in this status."""
        while True:
            tool_run = json.loads((await self.next_event("tool_run")).raw_json)
            if tool_run["status"] == status:
                return tool_run

    async def next_run(self, status: str) -> dict[str, Any]:
        """The next `run` in this status."""
        while True:
            run = json.loads((await self.next_event("run")).raw_json)
            if run["status"] == status:
                return run

    async def next_call(self, name: str) -> dict[str, Any]:
        """The next function call of this name in an event of ADK."""
        while True:
            event = json.loads((await self.next_event("event")).raw_json)
            for part in event.get("content", {}).get("parts", []):
                if (call := part.get("functionCall")) and call["name"] == name:
                    return call

    async def say(self, turn: Turn, text: str) -> None:
        """Answers with text."""
        await self._decide(turn, [{"text": text}])

    async def call(self, turn: Turn, *calls: tuple[str, dict[str, Any]]) -> None:
        """Answers with function calls."""
        parts = [{"function_call": {"name": name, "args": args}} for name, args in calls]
        await self._decide(turn, parts)

    async def dismiss(self, turn: Turn, reason: str) -> None:
        """Ends a turn without an answer."""
        await self._seat.DismissTurn(
            _wire.DismissTurnRequest(
                session_id=self.session_id, turn_id=turn.turn_id, reason=reason
            ),
            metadata=self._metadata,
        )

    async def complete(self) -> None:
        """Completes the session."""
        await self._seat.CompleteSession(
            _wire.CompleteSessionRequest(session_id=self.session_id), metadata=self._metadata
        )

    async def session(self) -> Any:
        """The session as the server has it."""
        return await self._seat.GetSession(
            _wire.GetSessionRequest(session_id=self.session_id), metadata=self._metadata
        )

    async def all_sessions(self) -> list[Any]:
        """All sessions that the server has."""
        answer = await self._seat.ListSessions(_wire.ListSessionsRequest(), metadata=self._metadata)
        return list(answer.sessions)

    async def log(self, *kinds: str) -> list[Any]:
        """The whole log, or these kinds of it."""
        answer = await self._sessions.ListEvents(
            _wire.ListEventsRequest(session_id=self.session_id, kinds=kinds),
            metadata=self._metadata,
        )
        return list(answer.events)

    async def payloads(self, kind: str) -> list[dict[str, Any]]:
        """The payloads of one kind."""
        return [json.loads(event.raw_json) for event in await self.log(kind)]

    async def _decide(self, turn: Turn, parts: list[dict[str, Any]]) -> None:
        decision = {"candidates": [{"role": "model", "parts": parts}]}
        await self._seat.SubmitDecision(
            _wire.SubmitDecisionRequest(
                session_id=self.session_id,
                turn_id=turn.turn_id,
                response=_wire.HumanResponse(raw_json=json.dumps(decision).encode()),
            ),
            metadata=self._metadata,
        )

    async def _read(self) -> None:
        try:
            request = _wire.SubscribeRequest(session_id=self.session_id)
            async for event in self._seat.Subscribe(request, metadata=self._metadata):
                self._events.put_nowait(event)
        except grpc.aio.AioRpcError as error:
            self._events.put_nowait(error)


class Conversation:
    """An app in a runner of its own, in one ADK session."""

    def __init__(self, app: App, session_id: str | None = None) -> None:
        self.session_id = session_id or str(uuid.uuid4())
        self.runner = InMemoryRunner(app=app)

    async def ask(self, text: str) -> list[Event]:
        """Sends a message and returns all events of the run."""
        sessions = self.runner.session_service
        where = {
            "app_name": self.runner.app_name,
            "user_id": "ada",
            "session_id": self.session_id,
        }
        if await sessions.get_session(**where) is None:
            await sessions.create_session(**where)
        return [
            event
            async for event in self.runner.run_async(
                user_id="ada",
                session_id=self.session_id,
                new_message=types.Content(role="user", parts=[types.Part(text=text)]),
            )
        ]

    def start(self, text: str) -> asyncio.Task[list[Event]]:
        """The same, in the background."""
        return asyncio.create_task(self.ask(text))


def text_of(event: Event) -> str:
    """The text of an event."""
    return "".join(part.text or "" for part in event.content.parts)


def responses_of(events: list[Event]) -> list[dict[str, Any]]:
    """All function responses of some events, in order."""
    return [response.response for event in events for response in event.get_function_responses()]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
