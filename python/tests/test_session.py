"""The driver's end of a session."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest
from hotseat import _wire, background
from hotseat.connection import Connection
from hotseat.session import SessionLink
from hotseat.settings import Settings
from support import PATIENCE, Server

pytestmark = pytest.mark.asyncio


async def test_an_answer_that_was_given_before_anybody_waited_is_found(
    server: Server, meet: Any
) -> None:
    human = await meet(server, str(uuid.uuid4()))
    request = _wire.SubmitRequestRequest(
        session_id=human.session_id,
        turn_id=str(uuid.uuid4()),
        agent_name="a",
        request=_wire.SimulatedLlmRequest(raw_json=b'{"contents": []}'),
    )
    connection = Connection(Settings.resolve())
    first = SessionLink(connection, human.session_id)
    asked = asyncio.create_task(background.run(first.ask(request)))
    await human.say(await human.next_turn(), "Yes.")
    answer = await asked

    # A link that has read the log up to its end adopts the turn.
    later = SessionLink(connection, human.session_id, after_seq=answer.seq)
    async with asyncio.timeout(PATIENCE):
        adopted = await background.run(later.ask(request))
    assert adopted.event_id == answer.event_id
    for link in (first, later):
        await background.run(link.close())
    await background.run(connection.close())
