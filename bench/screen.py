"""The page in a real browser: a long session opened, and a key pressed in a large form."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import grpc
from events import session_with
from memory import Client
from programs import Programs
from rounds import Figures, Measured, alternate
from server import running

ENTRIES = 10_000
FIELDS = 40
HERE = Path(__file__).resolve().parent


async def measure(figures: Figures, programs: Programs, rounds: int) -> None:
    chromium = shutil.which("chromium")
    if not chromium:
        raise SystemExit("there is no browser here: install the package `chromium`")
    with running(programs.hotseat) as server:
        long = session_with(server, ENTRIES)
        async with grpc.aio.insecure_channel(server.address) as channel:
            form = await Client(channel, server.token).waiting(request())

        def browse() -> Measured:
            link = f"{server.url}/?token={server.token}"
            words = ["node", HERE / "screen.mjs", chromium, link, long, str(ENTRIES), form]
            told = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
            return json.loads(told.stdout)

        await alternate(figures, rounds, {"browser": browse})


def request() -> dict:
    """A model request that offers one tool with many fields."""
    fields = {f"field_{n}": {"type": "string", "description": f"Field {n}"} for n in range(FIELDS)}
    declaration = {
        "name": "fill",
        "description": "Takes a large form.",
        "parametersJsonSchema": {
            "type": "object",
            "properties": fields,
            "required": list(fields),
        },
    }
    return {
        "contents": [{"role": "user", "parts": [{"text": "Fill it in."}]}],
        "config": {"tools": [{"functionDeclarations": [declaration]}]},
    }
