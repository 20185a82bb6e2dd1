"""One script for whoever sits in the seat: a model, a person, a recording.

A model stands behind the wire format that the agent's own client speaks, OpenAI's or Gemini's, on
a socket; a person answers through the API as the page does; a recording is an EvalSet file. Each
looks at the conversation it is shown and says what the script has for it, so that any number of
conversations can go on at once.
"""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from support import PATIENCE, Server


@dataclass(frozen=True)
class Exchange:
    """A message of the user's, the calls that answer it, one after the other, and the last word."""

    asked: str
    calls: tuple[tuple[str, dict[str, Any]], ...]
    said: str


Script = tuple[Exchange, ...]
Call = tuple[str, dict[str, Any]]


def step(script: Script, contents: list[dict[str, Any]]) -> str | Call:
    """What comes next in a conversation, which is given as genai's contents."""
    asked, results = "", 0
    for content in contents:
        for part in content["parts"]:
            if content["role"] == "user" and "text" in part:
                asked, results = part["text"], 0
            results += "functionResponse" in part or "function_response" in part
    for exchange in script:
        if exchange.asked == asked:
            return exchange.calls[results] if results < len(exchange.calls) else exchange.said
    return f"You said: {asked}"


class Model:
    """A provider of models."""

    def __init__(self, script: Script, port: int) -> None:
        self._script = script
        self.url = f"http://127.0.0.1:{port}"
        self.asked: list[Any] = []
        """What it was asked, as it came over the wire."""

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which the examples find their models, with keys that open nothing."""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GOOGLE_API_KEY": "none",
        }

    def answer(self, path: str, body: Any) -> Iterator[Any]:
        """The pieces of an answer, in the format that the path names."""
        self.asked.append(body)
        if "generateContent" in path.replace("streamG", "g"):
            yield _gemini(step(self._script, body["contents"]))
        else:
            yield from _openai(step(self._script, _contents(body["messages"])))


@contextmanager
def scripted_model(script: Script) -> Iterator[Model]:
    """A provider on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            pieces = model.answer(self.path, json.loads(self.rfile.read(length)))
            plain = self.path.endswith(":generateContent")
            self.send_response(200)
            self.send_header("content-type", "application/json" if plain else "text/event-stream")
            self.end_headers()
            for piece in pieces:
                line = json.dumps(piece)
                self.wfile.write((line if plain else f"data: {line}\n\n").encode())

        def log_message(self, *_: Any) -> None:
            """Tests say what went wrong themselves."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        model = Model(script, server.server_port)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()


def _contents(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """OpenAI's messages as genai's contents, as far as a script looks at them."""
    kinds = {"user": ("user", "text"), "tool": ("user", "function_response")}
    found = []
    for message in messages:
        role, kind = kinds.get(message["role"], ("model", "other"))
        text = message.get("content")
        if isinstance(text, list):
            text = "".join(part.get("text", "") for part in text)
        found.append({"role": role, "parts": [{kind: text}]})
    return found


def _openai(said: str | Call) -> Iterator[Any]:
    if isinstance(said, str):
        # In two pieces, as models do.
        half = len(said) // 2
        deltas: list[dict[str, Any]] = [{"content": said[:half]}, {"content": said[half:]}]
    else:
        name, args = said
        function = {"name": name, "arguments": json.dumps(args)}
        call = {"index": 0, "id": f"call_{name}", "type": "function", "function": function}
        deltas = [{"tool_calls": [call]}]
    stop = "stop" if isinstance(said, str) else "tool_calls"
    for delta, reason in [*((delta, None) for delta in deltas), ({}, stop)]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        yield {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def _gemini(said: str | Call) -> Any:
    if isinstance(said, str):
        part: dict[str, Any] = {"text": said}
    else:
        part = {"functionCall": {"name": said[0], "args": said[1]}}
    content = {"role": "model", "parts": [part]}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}


@contextmanager
def scripted_person(server: Server, script: Script) -> Iterator[list[dict[str, Any]]]:
    """Somebody who answers every turn of every session, as the page does: over the API. What they
    are shown is kept."""
    shown: list[dict[str, Any]] = []
    stream = urllib.request.urlopen(
        urllib.request.Request(
            f"{server.url}/api/v1/stream", headers={"authorization": f"Bearer {server.token}"}
        ),
        timeout=PATIENCE,
    )
    over = threading.Event()

    def answer_all() -> None:
        # Every change of a session is told there, so also that a turn waits in one.
        while not over.is_set() and stream.readline():
            for turn in server.http("GET", "/api/v1/turns?state=pending")["items"]:
                shown.extend(_decide(server, script, turn))

    thread = threading.Thread(target=answer_all)
    thread.start()
    try:
        yield shown
    finally:
        over.set()
        # Something changes, so that the stream is read once more.
        server.http("POST", "/api/v1/sessions", {"description": "over"})
        thread.join(PATIENCE)
        stream.close()


def _decide(server: Server, script: Script, turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    turns = f"/api/v1/sessions/{turn['session_id']}/turns"
    for pending in server.http("GET", f"{turns}?state=pending")["items"]:
        yield pending["request"]
        said = step(script, pending["request"]["contents"])
        if isinstance(said, str):
            part: dict[str, Any] = {"text": said}
        else:
            part = {"function_call": {"name": said[0], "args": said[1]}}
        decision = {"candidates": [{"role": "model", "parts": [part]}]}
        server.http("POST", f"{turns}/{pending['turn_id']}/decision", decision)


def write_recording(file: Path, script: Script) -> None:
    """The script as an EvalSet."""

    def content(role: str, text: str) -> dict[str, Any]:
        return {"role": role, "parts": [{"text": text}]}

    conversation = [
        {
            "invocation_id": str(number),
            "user_content": content("user", exchange.asked),
            "final_response": content("model", exchange.said),
            "intermediate_data": {
                "tool_uses": [{"name": name, "args": args} for name, args in exchange.calls],
                "intermediate_responses": [],
            },
        }
        for number, exchange in enumerate(script)
    ]
    case = {"eval_id": "recorded", "conversation": conversation}
    file.write_text(json.dumps({"eval_set_id": "recorded", "eval_cases": [case]}))
