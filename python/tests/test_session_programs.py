"""Programs that keep their sessions on the server: runners, the plugin, ADK's own server."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import pytest
import pytest_asyncio
from google.adk.agents import LlmAgent, ParallelAgent
from google.adk.apps.app import App
from google.adk.events.event import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.session import Session
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from hotseat.adk import HotseatPlugin, HotseatSessionService
from support import PACKAGE, PATIENCE, Human, Server, free_port, responses_of, text_of

pytestmark = pytest.mark.asyncio


class Scripted(BaseLlm):
    """A model that says what it was told to say."""

    answers: list[list[types.Part]]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = self.answers.pop(0)
        yield LlmResponse(
            content=types.Content(role="model", parts=parts),
            usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=7),
        )


def scripted(*answers: str | tuple[str, dict[str, Any]]) -> Scripted:
    return Scripted(
        model="scripted",
        answers=[
            [types.Part(text=answer)]
            if isinstance(answer, str)
            else [types.Part(function_call=types.FunctionCall(name=answer[0], args=answer[1]))]
            for answer in answers
        ],
    )


def count(step: int, tool_context: ToolContext) -> int:
    """Counts on."""
    total = tool_context.state.get("user:total", 0) + step
    tool_context.state["user:total"] = total
    tool_context.state["temp:scratch"] = "gone"
    tool_context.state["large"] = 2**70
    return total


@pytest_asyncio.fixture
async def service(server: Server) -> AsyncIterator[HotseatSessionService]:
    """A session service on a server of its own."""
    async with HotseatSessionService() as service:
        yield service


async def run(runner: Runner, session: Session, text: str) -> list[Event]:
    async with asyncio.timeout(PATIENCE):
        return [
            event
            async for event in runner.run_async(
                user_id=session.user_id,
                session_id=session.id,
                new_message=types.Content(role="user", parts=[types.Part(text=text)]),
            )
        ]


async def read(service: HotseatSessionService, session: Session) -> Session:
    found = await service.get_session(
        app_name=session.app_name, user_id=session.user_id, session_id=session.id
    )
    assert found is not None
    return found


async def test_a_runner_keeps_its_conversation_here(
    server: Server, service: HotseatSessionService
) -> None:
    model = scripted(("count", {"step": 2}), "two", ("count", {"step": 3}), "five")
    agent = LlmAgent(name="counter", model=model, tools=[count], output_key="said")
    runner = Runner(app=App(name="counting", root_agent=agent), session_service=service)
    session = await service.create_session(app_name="counting", user_id="ada")
    for text, step, total in (("And?", 2, 2), ("More!", 3, 5)):
        events = await run(runner, session, text)
        assert responses_of(events) == [{"result": total}], step
    async with HotseatSessionService() as another:
        for reader in (service, another):
            found = await read(reader, session)
            assert [event.author for event in found.events] == ["user", *["counter"] * 3] * 2
            assert found.state == {"user:total": 5, "large": 2**70, "said": "five"}
            assert found.events[1].usage_metadata.prompt_token_count == 7
        fresh = await another.create_session(app_name="counting", user_id="ada")
        assert fresh.state == {"user:total": 5}


async def test_agents_that_run_side_by_side_share_a_session(
    service: HotseatSessionService,
) -> None:
    names = [f"agent_{number}" for number in range(8)]
    agents = [
        LlmAgent(
            name=name,
            model=scripted(("count", {"step": 1}), "done"),
            tools=[count],
            output_key=f"said_by_{name}",
        )
        for name in names
    ]
    team = ParallelAgent(name="team", sub_agents=agents)
    runner = Runner(app=App(name="teams", root_agent=team), session_service=service)
    session = await service.create_session(app_name="teams", user_id="ada")
    events = await run(runner, session, "Go")
    found = await read(service, session)
    authors = [event.author for event in found.events]
    assert {name: authors.count(name) for name in names} == dict.fromkeys(names, 3)
    assert len(found.events) == len(events) + 1
    assert {found.state[f"said_by_{name}"] for name in names} == {"done"}


async def answer(human: Human, *answers: str | tuple[str, dict[str, Any]]) -> None:
    for decision in answers:
        turn = await human.next_turn()
        if isinstance(decision, str):
            await human.say(turn, decision)
        else:
            await human.call(turn, decision)


@pytest_asyncio.fixture
async def follow(server: Server) -> AsyncIterator[Any]:
    """Follows a session that is there."""
    humans: list[Human] = []

    async def follow(session_id: str) -> Human:
        humans.append(Human(server, session_id))
        await humans[-1].watch()
        return humans[-1]

    yield follow
    for human in humans:
        await human.leave()


@pytest.mark.parametrize("session_id", ["not a UUID", None])
async def test_the_plugin_works_in_the_session_that_is_there(
    server: Server, service: HotseatSessionService, follow: Any, session_id: str | None
) -> None:
    agent = LlmAgent(name="clerk", model="gemini-2.5-flash", tools=[count])
    app = App(name="office", root_agent=agent, plugins=[HotseatPlugin()])
    runner = Runner(app=app, session_service=service)
    session = await service.create_session(
        app_name="office", user_id="ada", session_id=session_id, state={"begun": True}
    )
    human = await follow((await service.known(session)).session_id)
    for number in range(2):
        work = asyncio.create_task(run(runner, session, f"message {number}"))
        await answer(human, ("count", {"step": 1}), "done")
        assert text_of((await work)[-1]) == "done"

    found = await read(service, session)
    assert [event.author for event in found.events] == ["user", "clerk", "clerk", "clerk"] * 2
    assert found.state == {"begun": True, "user:total": 2, "large": 2**70}

    # Every event is in the log once, as ADK stored it.
    logged = [event.raw_json.decode() for event in await human.log("event")]
    assert logged == [e.model_dump_json(by_alias=True, exclude_none=True) for e in found.events]
    assert [r["status"] for r in await human.payloads("run")] == ["started", "finished"] * 2
    assert [stored.id for stored in await human.all_sessions()] == [human.session_id]
    async with HotseatSessionService() as another:
        assert await read(another, session) == found


async def test_an_agent_that_runs_as_a_tool_is_logged_beside_the_session(
    server: Server, service: HotseatSessionService, follow: Any
) -> None:
    helper = LlmAgent(name="helper", model="gemini-2.5-flash", description="Helps.")
    agent = LlmAgent(name="clerk", model="gemini-2.5-flash", tools=[AgentTool(helper)])
    app = App(name="office", root_agent=agent, plugins=[HotseatPlugin()])
    runner = Runner(app=app, session_service=service)
    session = await service.create_session(app_name="office", user_id="ada")
    human = await follow((await service.known(session)).session_id)
    for number in range(2):
        work = asyncio.create_task(run(runner, session, f"message {number}"))
        try:
            await answer(human, ("helper", {"request": "help"}), "helped", "done")
        finally:
            assert text_of((await work)[-1]) == "done"

    found = await read(service, session)
    assert [event.author for event in found.events] == ["user", "clerk", "clerk", "clerk"] * 2
    logged = await human.log("event")
    own = [event.event_id for event in logged if not event.parent_call_id]
    inner = [event for event in logged if event.parent_call_id]
    assert own == [event.id for event in found.events]
    assert [event.author for event in inner] == ["user", "helper"] * 2


async def test_the_plugin_follows_a_session_that_was_made_anew(
    server: Server, service: HotseatSessionService, follow: Any
) -> None:
    agent = LlmAgent(name="clerk", model="gemini-2.5-flash")
    app = App(name="office", root_agent=agent, plugins=[HotseatPlugin()])
    runner = Runner(app=app, session_service=service)
    where = {"app_name": "office", "user_id": "ada", "session_id": "again"}
    for text in ("first", "second"):
        session = await service.create_session(**where)
        human = await follow((await service.known(session)).session_id)
        work = asyncio.create_task(run(runner, session, "Hello"))
        await answer(human, text)
        await work
        found = await read(service, session)
        assert [text_of(event) for event in found.events] == ["Hello", text]
        await service.delete_session(**where)


async def test_sessions_in_memory_are_logged_as_before(server: Server, meet: Any) -> None:
    from support import Conversation

    agent = LlmAgent(name="clerk", model="gemini-2.5-flash")
    app = App(name="office", root_agent=agent, plugins=[HotseatPlugin()])
    conversation = Conversation(app)
    human = await meet(server, conversation.session_id)
    work = conversation.start("Hello")
    await answer(human, "Hi")
    await work
    assert [event.author for event in await human.log("event")] == ["user", "clerk"]


# ------------------------------------------------------------ ADK's own server

SERVICES = """\
services:
  - scheme: hotseat
    type: session
    class: hotseat.adk.HotseatSessionService
"""

AGENT = '''\
from collections.abc import AsyncGenerator

from google.adk.agents.base_agent import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.genai import types


class Echo(BaseAgent):
    """Says what it hears, and counts how often."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        heard = ctx.user_content.parts[0].text
        number = ctx.session.state.get("number", 0) + 1
        yield Event(
            author=self.name,
            invocation_id=ctx.invocation_id,
            content=types.Content(role="model", parts=[types.Part(text=f"{number}: {heard}")]),
            actions=EventActions(state_delta={"number": number, "user:last": heard}),
        )


root_agent = Echo(name="echo")
'''


class AdkServer:
    """`adk api_server` with its sessions on a Hotseat server."""

    def __init__(self, folder: Path, server: Server) -> None:
        agent = folder / "echo"
        agent.mkdir(parents=True)
        (agent / "__init__.py").write_text("from . import agent\n")
        (agent / "agent.py").write_text(AGENT)
        (folder / "services.yaml").write_text(SERVICES)
        self.port = free_port()
        uri = server.url.replace("http://", "hotseat://")
        command = [sys.executable, "-m", "google.adk.cli", "api_server"]
        command += ["--port", str(self.port), "--session_service_uri", uri, str(folder)]
        paths = [str(PACKAGE), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        self._process = subprocess.Popen(
            command,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(path for path in paths if path),
                "HOTSEAT_TOKEN": server.token,
            },
        )

    def wait(self) -> None:
        """Returns when it answers."""
        limit = time.monotonic() + 3 * PATIENCE
        while time.monotonic() < limit and self._process.poll() is None:
            try:
                return self.http("GET", "/list-apps")
            except (URLError, ConnectionError):
                time.sleep(0.2)
        raise AssertionError("adk api_server did not start")

    def http(self, method: str, path: str, body: Any = None) -> Any:
        """One request; the answer's JSON, or the status of an error."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                text = answer.read()
        except HTTPError as error:
            with error:
                return error.code
        return json.loads(text) if text else None

    def stop(self) -> None:
        """Ends it."""
        self._process.terminate()
        self._process.wait(PATIENCE)


@pytest.fixture
def adk_server(server: Server, tmp_path: Path) -> Iterator[AdkServer]:
    """ADK's own server."""
    program = AdkServer(tmp_path / "agents", server)
    program.wait()
    yield program
    program.stop()


async def test_adk_s_own_server_keeps_its_sessions_here(
    server: Server, service: HotseatSessionService, adk_server: AdkServer
) -> None:
    def talk() -> dict[str, Any]:
        http = adk_server.http
        where = "/apps/echo/users/ada/sessions"
        session = http("POST", where, {"sessionId": "s-1", "state": {"number": 10, "app:x": 1}})
        assert session["id"] == "s-1" and session["state"]["number"] == 10
        assert http("POST", where, {"sessionId": "s-1"}) in (400, 409)
        for number, text in ((11, "one"), (12, "two")):
            message = {"role": "user", "parts": [{"text": text}]}
            call = {
                "appName": "echo",
                "userId": "ada",
                "sessionId": "s-1",
                "newMessage": message,
            }
            [said] = http("POST", "/run", call)
            assert said["content"]["parts"][0]["text"] == f"{number}: {text}"
        assert http("POST", where, {})["state"] == {"app:x": 1, "user:last": "two"}
        assert len(http("GET", where)) == 2
        assert http("GET", f"{where}/unknown") == 404
        return http("GET", f"{where}/s-1")

    seen = await asyncio.to_thread(talk)
    assert len(seen["events"]) == 4
    found = await service.get_session(app_name="echo", user_id="ada", session_id="s-1")
    assert found is not None
    assert [text_of(event) for event in found.events] == ["one", "11: one", "two", "12: two"]
    assert found.state == seen["state"] == {"number": 12, "app:x": 1, "user:last": "two"}
    assert [event["id"] for event in seen["events"]] == [event.id for event in found.events]

    await asyncio.to_thread(adk_server.http, "DELETE", "/apps/echo/users/ada/sessions/s-1")
    assert await service.get_session(app_name="echo", user_id="ada", session_id="s-1") is None
