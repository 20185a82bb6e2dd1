"""`make profile`: work of every sort for a program that counts which ways it takes.

    python training.py --hotseat PROGRAM --examples FOLDER

The program is a build with counters. What they say when it ends is what release builds are made
with: code that is often run is built for speed, and laid out so that the usual way is the straight
one. The work is of the same sorts as in `make bench`, because that is what the server is for; how
often each is done says how much it counts.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import uuid

import databases
import growth
import peers
from clients import CLIENTS, TEXT
from events import session_with
from programs import Programs, absolute
from rounds import tell
from served import hotseat_server
from server import ROOT, Server, running

SECONDS = 3
RUNS = 4000
TURNS = 1000
ASKED = 300
EVENTS = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hotseat", type=absolute, required=True)
    parser.add_argument("--examples", type=absolute, default=ROOT / "target/release/examples")
    options = parser.parse_args()
    programs = Programs(options.hotseat, options.examples)
    for work in (stored, served, shared):
        tell(work.__name__)
        work(programs)


def stored(programs: Programs) -> None:
    """Sessions over SQLite: appended to, read, listed, searched, exported, and turns in them."""
    with running(programs.hotseat) as server:
        appended(programs, server)
        asyncio.run(by_adk(server))
        programs.run("hand_off", server.url, server.token, TURNS)
        session = session_with(server, EVENTS, growth.NEEDLES)
        server.settle()
        events = f"/api/v1/sessions/{session}/events?limit={EVENTS}"
        paths = [events, f"{events}&kind=event", "/api/v1/sessions?limit=50", "/api/v1/turns"]
        for path in paths:
            programs.ask(server, ASKED, path)
        for path, body in growth.questions_of(session).values():
            programs.ask(server, ASKED, path, body)
        programs.ask(server, ASKED // 10, f"/api/v1/sessions/{session}/export")


def served(programs: Programs) -> None:
    """Runs over AG-UI and REST, each in a conversation of its own."""
    with hotseat_server(programs.hotseat) as server:
        for path in ("/ag-ui/native", "/agent/native/chat/stream"):
            programs.run("runs", server.url, server.token, path, CLIENTS, RUNS, TEXT)
        programs.ask(server, RUNS // 4, "/agent/native/chat", json.dumps({"message": "What?"}))


def shared(programs: Programs) -> None:
    """Two servers over one PostgreSQL."""
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(databases.postgres())
        options = ("--store", database.url, "--token", uuid.uuid4().hex)
        servers = [stack.enter_context(running(programs.hotseat, *options)) for _ in range(2)]
        for server in servers:
            appended(programs, server)
            session = session_with(server, EVENTS)
            programs.ask(server, ASKED // 10, f"/api/v1/sessions/{session}/events?limit={EVENTS}")


def appended(programs: Programs, server: Server) -> None:
    for clients in (1, 64, 256):
        programs.load(server, clients, SECONDS)
    programs.streams(server, 64, SECONDS)


async def by_adk(server: Server) -> None:
    """As an ADK program does it, with the Python package."""
    await peers.one_by_one(peers.hotseat(server), SECONDS)
    await peers.in_parallel(peers.hotseat(server), 64, SECONDS)
    async with peers.hotseat(server)() as service:
        session = await peers.session_of(service)
        for n in range(EVENTS):
            await service.append_event(session, peers.event(n))
    name = {"app_name": peers.APP, "user_id": peers.USER, "session_id": session.id}
    for _ in range(ASKED // 10):
        # A new one each time: nothing of the session is known yet.
        async with peers.hotseat(server)() as fresh:
            await fresh.get_session(**name)


if __name__ == "__main__":
    main()
