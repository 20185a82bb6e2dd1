"""An ADK client: sends one message to `/run_sse` and reads the events with ADK's own model.

`python run_sse.py URL TOKEN APP SESSION TEXT` makes the session if it is not there and prints a
line of JSON for each event: whether it is partial, who spoke, the text, the tools called and
answered.
"""

from __future__ import annotations

import json
import sys

import httpx
from google.adk.events.event import Event


def main(url: str, token: str, app: str, session: str, text: str) -> None:
    headers = {"authorization": f"Bearer {token}"}
    with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
        sessions = f"/apps/{app}/users/user/sessions"
        if client.get(f"{sessions}/{session}").status_code == 404:
            client.post(f"{sessions}/{session}", json={}).raise_for_status()
        request = {
            "appName": app,
            "userId": "user",
            "sessionId": session,
            "newMessage": {"role": "user", "parts": [{"text": text}]},
            "streaming": True,
        }
        with client.stream("POST", "/run_sse", json=request) as answer:
            answer.raise_for_status()
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    print(json.dumps(shown(line.removeprefix("data: "))))


def shown(data: str) -> dict[str, object]:
    event = Event.model_validate_json(data)
    parts = (event.content and event.content.parts) or []
    return {
        "partial": bool(event.partial),
        "author": event.author,
        "text": "".join(part.text or "" for part in parts),
        "calls": [call.name for call in event.get_function_calls()],
        "results": [response.name for response in event.get_function_responses()],
        "final": event.is_final_response(),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
