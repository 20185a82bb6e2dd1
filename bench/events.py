"""Events to measure with, of the size that real ones have."""

from __future__ import annotations

import json
import uuid

from server import Server

EVENT_BYTES = 600

# Events in one call that fills a session.
BATCH = 1000

# Every text has one of these and its own number, so that a search has something to tell apart.
WORDS = ("seat", "person", "answers", "tool", "session", "event", "log", "replay", "trace")


def raw(n: int, extra: str = "") -> dict:
    """A raw event of ADK. Ten make an invocation: a message, calls and their results, a text."""
    place, invocation = n % 10, f"e-{n // 10}"
    if place == 0:
        author, role, part = "user", "user", {"text": f"Question {n // 10}"}
    elif place == 9:
        author, role, part = "agent", "model", {"text": f"Answer {n // 10}"}
    elif place % 2:
        call = {"id": f"c{n}", "name": "look", "args": {"at": WORDS[n % len(WORDS)]}}
        author, role, part = "agent", "model", {"functionCall": call}
    else:
        result = {"id": f"c{n - 1}", "name": "look", "response": {"found": ""}}
        author, role, part = "agent", "user", {"functionResponse": result}
    event = {
        "id": str(uuid.uuid4()),
        "author": author,
        "invocationId": invocation,
        "timestamp": 1_767_607_200 + n / 1000,
        "content": {"role": role, "parts": [part]},
        "actions": {"stateDelta": {}, "artifactDelta": {}},
    }
    room = max(EVENT_BYTES - len(json.dumps(event)) - len(extra), 0)
    filler = f"{extra} {WORDS[n % len(WORDS)]} number{n} ".ljust(room, "x")
    if "text" in part:
        part["text"] += filler
    elif "functionCall" in part:
        part["functionCall"]["args"]["at"] += filler
    else:
        part["functionResponse"]["response"]["found"] = filler
    return event


def session_with(server: Server, count: int, needles: int = 0) -> str:
    """A new session with so many events; `needle` is in so many of them."""
    session = server.call("/api/v1/sessions", {"description": f"{count} events"})
    between = count // needles if needles else count + 1
    for begin in range(0, count, BATCH):
        batch = [
            raw(n, "needle" if n % between == between - 1 else "")
            for n in range(begin, min(begin + BATCH, count))
        ]
        server.call(f"/api/v1/sessions/{session['id']}/events", batch)
    return session["id"]
