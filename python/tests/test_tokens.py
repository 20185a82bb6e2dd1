"""Tokens stay out of whatever is logged, raised or printed.

One line may hold one: the plugin's banner, whose link a person is to click.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import traceback
from collections.abc import Awaitable
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.events.event import Event
from hotseat import _wire
from hotseat.adk import HotseatPlugin, HotseatSessionService
from hotseat.calls import Calls
from hotseat.connection import Connection
from hotseat.errors import HotseatError
from hotseat.settings import Address, Settings
from support import OFFICE, PACKAGE, PATIENCE, Conversation, Server, free_port

WRONG = "wrong-token-that-nobody-may-see"


@pytest.fixture(autouse=True)
def _log_everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)


async def raised_by(call: Awaitable[Any]) -> str:
    """What somebody sees who prints the exception in full."""
    try:
        await call
    except RuntimeError as error:  # ADK wraps what a plugin raises.
        return "".join(traceback.TracebackException.from_exception(error).format())
    raise AssertionError("nothing was raised")


async def test_the_session_service_logs_no_token(
    server: Server, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    async with HotseatSessionService(server.url, server.token) as service:
        session = await service.create_session(app_name="a", user_id="u", state={"o": object()})
        await service.append_event(session, Event(author="a"))
        assert await service.get_session(app_name="a", user_id="u", session_id=session.id)
        server.kill()
        server.start()
        await service.append_event(session, Event(author="a"))
    assert caplog.text  # The state had something to be warned of.
    printed = capfd.readouterr()
    for seen in (caplog.text, printed.out, printed.err):
        assert server.token not in seen


async def test_a_refused_token_is_not_shown(
    server: Server, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    async with HotseatSessionService(server.url, WRONG) as service:
        seen = await raised_by(service.list_sessions(app_name="a"))
    assert "the token is missing or wrong" in seen
    app = App(
        name="app",
        root_agent=LlmAgent(name="math", model="gemini-2.5-flash"),
        plugins=[HotseatPlugin(token=WRONG)],
    )
    seen += await raised_by(Conversation(app).ask("hello"))
    printed = capfd.readouterr()
    for text in (seen, caplog.text, printed.out, printed.err):
        assert WRONG not in text


async def test_a_server_that_is_away_is_told_of_without_the_token(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    async with HotseatSessionService(url, WRONG, patience=0.1) as service:
        seen = await raised_by(service.list_sessions(app_name="a"))
    printed = capfd.readouterr().err
    assert "was not reachable" in seen and "trying again" in printed
    for text in (seen, caplog.text, printed):
        assert WRONG not in text


async def test_what_is_printed_of_objects_holds_no_token() -> None:
    settings = Settings.resolve("http://127.0.0.1:1", WRONG)
    connection = Connection(settings)
    assert connection.token == WRONG
    service = HotseatSessionService("http://127.0.0.1:1", WRONG)
    plugin = HotseatPlugin(url="http://127.0.0.1:1", token=WRONG)
    for thing in (settings, connection, Calls(settings, "Sessions"), service, plugin):
        assert WRONG not in f"{thing} {thing!r}"
    await connection.close()


@pytest.mark.parametrize(
    "address", [f"ftp://host/?token={WRONG}", f"http://u:{WRONG}@host:x", f"http://#{WRONG}"]
)
def test_an_address_that_is_refused_is_shown_without_its_secrets(address: str) -> None:
    with pytest.raises(HotseatError, match="not an address") as refusal:
        Address.parse(address)
    assert WRONG not in str(refusal.value)


async def test_a_worker_prints_no_token(server: Server) -> None:
    token = server.token
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hotseat.worker", "--url", server.url, str(OFFICE)),
        env={**os.environ, "PYTHONPATH": str(PACKAGE), "HOTSEAT_TOKEN": token},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        await asyncio.to_thread(server.wait_for_agents)
        server.stop()  # It says so, and tries again.
        assert worker.stdout is not None
        printed = b""
        async with asyncio.timeout(PATIENCE):
            while b"trying again" not in printed:
                printed += await worker.stdout.readline()
    finally:
        worker.kill()
        printed += (await worker.communicate())[0]
    assert b"worker attached" in printed
    assert token.encode() not in printed


def test_messages_of_the_contract_have_no_place_for_a_token() -> None:
    names = [
        field.name
        for message in _wire._CLASSES.values()
        for field in message.DESCRIPTOR.fields
        if "token" in field.name
    ]
    assert sorted(names) == ["next_page_token", "next_page_token", "page_token", "page_token"]
