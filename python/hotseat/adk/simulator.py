"""Agents of the current program, behind Hotseat's page."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from hotseat.adk.config import SimulatedAgentConfig
from hotseat.adk.hosted import Roster
from hotseat.adk.worker import Worker
from hotseat.errors import HotseatError
from hotseat.notices import notice
from hotseat.settings import Settings

# How long a server that was asked to stop may take.
_STOP_SECONDS = 5.0


class AgentSimulator:
    """Lets a person play the model of some agents, in the browser.

    The agents run in this process. With `url`, they are hosted for a server that runs already;
    without, a server is started beside them.
    """

    def __init__(
        self,
        agents: Sequence[SimulatedAgentConfig],
        url: str | None = None,
        token: str | None = None,
    ) -> None:
        """Checks the configurations; nothing is started yet."""
        agents = list(agents)
        if not agents:
            raise ValueError("there is no agent to simulate")
        for config in agents:
            if not isinstance(config, SimulatedAgentConfig):
                raise TypeError(f"a SimulatedAgentConfig is expected, not {type(config).__name__}")
        names = [config.name for config in agents]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"agents need different names; these are there twice: {twice}")
        self._roster = Roster.empty()
        self._roster.add_all(agents, "AgentSimulator")
        self._url = url
        self._token = token

    def run(
        self, host: str | None = None, port: int | None = None, open_browser: bool = True
    ) -> None:
        """Serves until Ctrl-C. `host` and `port` are those of the server that is started."""
        if self._url is not None:
            if host is not None or port is not None:
                raise ValueError("host and port are for a server of our own; url names another")
            self._serve(Settings.resolve(self._url, self._token))
            return
        server, page = _start_server(host, port)
        try:
            notice(f"simulating {', '.join(a.name for a in self._roster.agents)} at {page}")
            if open_browser:
                webbrowser.open(page)
            address, _, token = page.partition("/?token=")
            # Beside the server's own data, which it keeps here unless it is told otherwise.
            data = Path(os.environ.get("HOTSEAT_DATA") or ".hotseat")
            self._serve(Settings.resolve(address, token or None), data / "artifacts")
        finally:
            _stop_server(server)

    def _serve(self, settings: Settings, artifacts: Path | None = None) -> None:
        try:
            asyncio.run(Worker(self._roster, settings, artifacts).serve())
        except KeyboardInterrupt:
            notice("stopped")


def find_binary() -> str:
    """The path of the `hotseat` program."""
    configured = os.environ.get("HOTSEAT_BIN")
    beside = Path(sys.executable).parent / ("hotseat.exe" if os.name == "nt" else "hotseat")
    for candidate in (configured, beside if beside.is_file() else None, shutil.which("hotseat")):
        if candidate:
            return str(candidate)
    raise HotseatError(
        "the program `hotseat` was not found: install the package `hotseat`, put the program on"
        " PATH, or set HOTSEAT_BIN to it"
    )


def _start_server(host: str | None, port: int | None) -> tuple[subprocess.Popen[str], str]:
    # The server must not outlive a simulator that is killed, so it watches its standard input.
    command = [find_binary(), "web", "--no-open", "--exit-with-parent"]
    if host is not None:
        command += ["--host", host]
    if port is not None:
        command += ["--port", str(port)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    page = server.stdout.readline().strip()
    if not page:
        raise HotseatError(
            f"`{' '.join(command)}` ended with exit code {server.wait()}; its own message is above"
        )
    return server, page


def _stop_server(server: subprocess.Popen[str]) -> None:
    server.terminate()
    try:
        server.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
