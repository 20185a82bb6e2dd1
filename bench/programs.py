"""The programs of the bench: clients and raw limits, which are examples of `hotseat-testkit`."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server import Server


def absolute(path: str) -> Path:
    """Servers run in folders of their own; links stay, since a Python knows itself by its own."""
    return Path(path).absolute()


@dataclass(frozen=True)
class Programs:
    """Where everything is that is started."""

    hotseat: Path
    examples: Path
    peers: Path | None = None
    """A Python that has what is measured beside us."""

    def run(self, name: str, *words: Any) -> dict[str, Any]:
        """Runs an example to its end, and gives the object that it prints."""
        command = [self.examples / name, *map(str, words)]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(told.stdout)

    def limits(self, *words: Any) -> dict[str, Any]:
        return self.run("limits", *words)

    def load(self, server: Server, clients: int, seconds: int, *more: str) -> dict[str, Any]:
        """Native clients, each with a connection of its own."""
        return self.run("load", server.url, server.token, clients, seconds, *more)

    def streams(self, server: Server, sessions: int, seconds: int) -> dict[str, Any]:
        """A native program whose sessions share a few streams."""
        return self.run("streams", server.url, server.token, sessions, seconds, 4)

    def ask(self, server: Server, count: int, path: str, body: str | None = None) -> dict[str, Any]:
        """One question again and again."""
        words = ["GET", path] if body is None else ["POST", path, body]
        told = self.run("ask", server.url, server.token, count, *words)
        if told["errors"]:
            raise SystemExit(f"{told['errors']} of {count} questions at {path} were refused")
        return told

    def empty_server(self) -> contextlib.AbstractContextManager[Server]:
        """A server that does nothing."""
        return self._serving("serve")

    def least_server(self, folder: Path) -> contextlib.AbstractContextManager[Server]:
        """The least server whose answers are durable, with its files in this folder."""
        return self._serving("least", folder)

    def least_of_several(self, url: str) -> contextlib.AbstractContextManager[Server]:
        """One of the least servers over a PostgreSQL."""
        return self._serving("least-of-several", url)

    @contextlib.contextmanager
    def _serving(self, *words: Any) -> Iterator[Server]:
        """A server of `limits`. It ends with its input."""
        command = [self.examples / "limits", *map(str, words)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            url = json.loads(process.stdout.readline())["url"]
            yield Server(process, url, "none", 0.0)
            process.stdin.close()
