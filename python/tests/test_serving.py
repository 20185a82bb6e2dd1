"""ADK agents behind the protocols of the agent server: the real program, the real worker."""

from __future__ import annotations

import base64
import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.adk.cli.adk_web_server import RunAgentRequest
from google.adk.cli.conformance.adk_web_server_client import AdkWebServerClient
from google.genai import types
from scripted_models import scripted_person
from support import EXAMPLES, PATIENCE, Server, text_of

PARROT = Path(__file__).parent / "parrot"
CHOIR = Path(__file__).parent / "choir"


@pytest.fixture
def perch(new_server: Callable[..., Server]) -> Server:
    """A server that hosts the parrot."""
    server = new_server(str(PARROT), environment={"HOTSEAT_PYTHON": sys.executable})
    assert [agent["name"] for agent in server.wait_for_agents()["items"]] == ["parrot"]
    return server


@pytest.fixture
def parrot(perch: Server) -> Iterator[httpx.Client]:
    """A client of a server that hosts the parrot."""
    headers = {"authorization": f"Bearer {perch.token}"}
    with httpx.Client(base_url=perch.url, headers=headers, timeout=PATIENCE) as client:
        yield client


def said(text: str) -> dict[str, Any]:
    """A message of the user's."""
    return {"role": "user", "parts": [{"text": text}]}


def events(client: httpx.Client, path: str, body: Any) -> list[Any]:
    """What a stream of `data:` lines says."""
    with client.stream("POST", path, json=body) as answer:
        assert answer.status_code == 200, answer.read()
        lines = [line for line in answer.iter_lines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def run(session: str, text: str, **more: Any) -> dict[str, Any]:
    """A request to ADK's own routes, for the agent's own model."""
    key = {"appName": "parrot", "userId": "ada", "sessionId": session}
    return {**key, "newMessage": said(text), "seat": "model", **more}


def test_adks_routes_run_the_agent_with_the_state_of_its_session(parrot: httpx.Client) -> None:
    state = {"colour": "red", "user:name": "Ada"}
    made = parrot.post("/apps/parrot/users/ada/sessions/s1", json=state)
    assert made.status_code == 200, made.text
    told = parrot.post("/run", json=run("s1", "hello there")).json()
    assert told[-1]["content"]["parts"][0]["text"] == "You like red and Ada. | hello there "
    # Somebody else changes the state between two runs, and so does the message.
    changed = {"stateDelta": {"colour": "blue"}}
    parrot.patch("/apps/parrot/users/ada/sessions/s1", json=changed).raise_for_status()
    told = parrot.post("/run", json=run("s1", "again", stateDelta={"user:name": "Eve"})).json()
    assert told[-1]["content"]["parts"][0]["text"] == "You like blue and Eve. | again "
    # What belongs to the user is there in another session of theirs.
    parrot.post("/apps/parrot/users/ada/sessions/s2", json={"colour": "green"})
    told = parrot.post("/run", json=run("s2", "hi")).json()
    assert told[-1]["content"]["parts"][0]["text"] == "You like green and Eve. | hi "


# Words and whole events come by two ways. An event that overtakes its last words says them itself.
WORDS = ["You like  and . | ", "one ", "two "]


def test_a_stream_has_words_as_partial_events_and_then_the_whole(
    parrot: httpx.Client,
) -> None:
    parrot.post("/apps/parrot/users/ada/sessions/s1", json={}).raise_for_status()
    told = events(parrot, "/run_sse", run("s1", "one two", streaming=True))
    texts = [(bool(event.get("partial")), event["content"]["parts"][0]["text"]) for event in told]
    assert texts[-1] == (False, "You like  and . | one two ")
    partial = [text for partial, text in texts if partial]
    assert partial == WORDS[: len(partial)]


def test_rest_streams_the_words_of_the_model(parrot: httpx.Client) -> None:
    told = events(parrot, "/agent/parrot/chat/stream?seat=model", {"message": "one two"})
    deltas = [event["delta"] for event in told if "delta" in event]
    assert "".join(deltas) == "".join(WORDS)
    assert told[-1]["content"] == "You like  and . | one two "
    body = {"message": "three", "session_id": told[0]["session_id"]}
    again = parrot.post("/agent/parrot/chat?seat=model", json=body).json()
    assert again["content"] == "You like  and . | three "
    assert again["session_id"] == told[0]["session_id"]


def test_tools_of_a_front_end_are_called_and_their_results_come_back(
    parrot: httpx.Client,
) -> None:
    paint = {
        "name": "paint",
        "description": "Paints.",
        "parameters": {"type": "object", "properties": {"colour": {"type": "string"}}},
    }
    first = {"id": "m1", "role": "user", "content": "paint"}
    body = {"threadId": "t", "runId": "r1", "messages": [first], "tools": [paint]}
    told = events(parrot, "/ag-ui/parrot?seat=model", body)
    calls = [event for event in told if event["type"] == "TOOL_CALL_START"]
    assert [call["toolCallName"] for call in calls] == ["paint"]
    call_id = calls[0]["toolCallId"]
    assert told[-1]["outcome"]["pendingToolCallIds"] == [call_id]
    result = {"id": "m2", "role": "tool", "toolCallId": call_id, "content": "done"}
    body = {"threadId": "t", "runId": "r2", "messages": [first, result], "tools": [paint]}
    told = events(parrot, "/ag-ui/parrot?seat=model", body)
    text = "".join(event["delta"] for event in told if event["type"] == "TEXT_MESSAGE_CONTENT")
    assert text == "You like  and . | {'result': 'done'} "
    assert told[-1]["type"] == "RUN_FINISHED"


def test_a_model_that_fails_ends_the_run_with_its_error(parrot: httpx.Client) -> None:
    answer = parrot.post("/agent/parrot/chat?seat=model", json={"message": "fall"})
    assert answer.status_code == 502
    assert answer.headers["content-type"] == "application/problem+json"
    assert "the parrot fell off its perch" in answer.json()["detail"]
    message = {"id": "m", "role": "user", "content": "fall"}
    body = {"threadId": "t", "runId": "r", "messages": [message]}
    told = events(parrot, "/ag-ui/parrot?seat=model", body)
    types = [event["type"] for event in told]
    assert (types[0], types[-1]) == ("RUN_STARTED", "RUN_ERROR")
    assert "RUN_FINISHED" not in types
    assert types.count("RUN_ERROR") == 1
    assert "the parrot fell off its perch" in told[-1]["message"]


def word_document(*paragraphs: str) -> bytes:
    """The least that is a document of Word."""
    space = "http://schemas.openxmlformats.org"
    lines = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    link = f"{space}/officeDocument/2006/relationships/officeDocument"
    files = {
        "[Content_Types].xml": f'<Types xmlns="{space}/package/2006/content-types">'
        f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{space}/package/2006/relationships">'
        f'<Relationship Id="r" Type="{link}" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{space}/wordprocessingml/2006/main">'
        f"<w:body>{lines}</w:body></w:document>",
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return written.getvalue()


DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def test_the_text_of_documents_reaches_whoever_is_in_the_seat_of_an_adk_agent(
    perch: Server, parrot: httpx.Client
) -> None:
    document = word_document("The parrot is green.", "Its name is Polly.")
    files = [
        ("files", ("bird.docx", document, DOCX)),
        ("files", ("seeds.csv", b"seed,grams\nhemp,12\n", "text/csv")),
    ]
    chat = {"data": {"message": "Describe it"}, "files": files}
    # A person sees it in the request, exactly as ADK would send it to a model,
    with scripted_person(perch, ()) as shown:
        answer = parrot.post("/agent/parrot/chat?seat=human", **chat)
    assert answer.status_code == 200, answer.text
    (request,) = shown
    parts = request["raw"]["contents"][-1]["parts"]
    text = "\n".join(part["text"] for part in parts)
    words = ["Describe it", "bird.docx", "The parrot is green.", "Its name is Polly.", "hemp"]
    for word in words:
        assert word in text, text
    # and a model is told the same.
    told = parrot.post("/agent/parrot/chat?seat=model", **chat).json()["content"]
    for word in words:
        assert word in told, told


@pytest.mark.parametrize(("agent", "name"), [(PARROT, "parrot"), (EXAMPLES / "native", "tea_shop")])
async def test_adks_own_client_talks_to_agents_of_both_runtimes(
    new_server: Callable[..., Server], agent: Path, name: str
) -> None:
    # It knows of no token.
    command = ("serve", "--no-auth", "--seat", "human")
    environment = {"HOTSEAT_PYTHON": sys.executable}
    server = new_server(str(agent), environment=environment, command=command)
    server.wait_until_connected()
    async with AdkWebServerClient(server.url) as client:
        session = await client.create_session(app_name=name, user_id="ada", state={"colour": "red"})
        with scripted_person(server, ()):
            for text in ("one", "two"):
                asked = RunAgentRequest(
                    app_name=name,
                    user_id="ada",
                    session_id=session.id,
                    new_message=types.Content(role="user", parts=[types.Part(text=text)]),
                    streaming=True,
                )
                told = [event async for event in client.run_agent(asked)]
                assert text_of(told[-1]) == f"You said: {text}"
        kept = await client.get_session(app_name=name, user_id="ada", session_id=session.id)
        assert kept.state == {"colour": "red"}
        said = [text_of(event) for event in kept.events]
        assert said == ["one", "You said: one", "two", "You said: two"]
        await client.delete_session(app_name=name, user_id="ada", session_id=session.id)


def test_a_front_end_sees_who_works_and_what_they_think(
    new_server: Callable[..., Server],
) -> None:
    server = new_server(str(CHOIR), environment={"HOTSEAT_PYTHON": sys.executable})
    assert [agent["name"] for agent in server.wait_for_agents()["items"]] == ["choir"]
    message = {"id": "m", "role": "user", "content": "Sing"}
    body = {"threadId": "t", "runId": "r", "messages": [message]}
    headers = {"authorization": f"Bearer {server.token}"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=PATIENCE) as client:
        told = events(client, "/ag-ui/choir?seat=model", body)
        thread = client.get("/ag-ui/choir/threads/t").json()

    def of(kind: str) -> list[Any]:
        return [event for event in told if event["type"] == kind]

    # The sub-agent works inside its own run, and everything it says is tagged with that.
    [singer] = of("SUBAGENT_STARTED")
    assert singer["name"] == "singer"
    steps = [(step["stepName"], step.get("subagentRunId")) for step in of("STEP_STARTED")]
    assert steps == [("choir", None), ("singer", singer["subagentRunId"])]
    assert [event["subagentRunId"] for event in of("SUBAGENT_FINISHED")] == [
        singer["subagentRunId"]
    ]
    assert len(of("STEP_FINISHED")) == 2
    said = of("TEXT_MESSAGE_CONTENT")
    assert [(event["delta"], event["subagentRunId"]) for event in said] == [
        ("La.", singer["subagentRunId"])
    ]
    thoughts = {event["messageId"]: "" for event in of("REASONING_MESSAGE_START")}
    for event in of("REASONING_MESSAGE_CONTENT"):
        thoughts[event["messageId"]] += event["delta"]
    assert list(thoughts.values()) == ["Who can sing?", "La or li?"]
    # What the models signed belongs to the call and to the answer.
    [call] = of("TOOL_CALL_START")
    assert call["toolCallName"] == "transfer_to_agent"
    signed = {
        (event["subtype"], event["entityId"]): base64.urlsafe_b64decode(event["encryptedValue"])
        for event in of("REASONING_ENCRYPTED_VALUE")
    }
    assert signed == {
        ("tool-call", call["toolCallId"]): b"signed: Who can sing?",
        ("message", said[0]["messageId"]): b"signed: La or li?",
    }
    assert told[-1]["type"] == "RUN_FINISHED"
    # Whoever comes later finds the same under the same ids.
    kept = {message["id"]: message for message in thread["messages"]}
    assert kept[said[0]["messageId"]]["content"] == "La."
    assert [kept[thought]["content"] for thought in thoughts] == list(thoughts.values())
