"""A server to measure, and what the kernel says of it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# How long a server may take to be ready, in seconds.
PATIENCE = 60

# It has settled when it wrote nothing for so long, in seconds.
QUIET = 0.5


@dataclass
class Server:
    process: subprocess.Popen[str]
    url: str
    token: str
    ready_seconds: float

    @property
    def address(self) -> str:
        return self.url.removeprefix("http://")

    def call(self, path: str, body: Any = None) -> Any:
        """Asks the API, as a program would."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data)
        request.add_header("authorization", f"Bearer {self.token}")
        request.add_header("content-type", "application/json")
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read() or b"null")

    def resident_bytes(self) -> int:
        return self._count("status", "VmRSS:") * 1024

    def written_bytes(self) -> int:
        """All that it gave to `write` and its like so far."""
        return self._count("io", "wchar:")

    def settle(self) -> None:
        """Waits until it has written all that it does behind its answers; nothing tells of that."""
        before, since = self.written_bytes(), time.monotonic()
        while time.monotonic() - since < QUIET:
            time.sleep(QUIET / 10)
            if self.written_bytes() != before:
                before, since = self.written_bytes(), time.monotonic()

    def cpu_ms(self) -> float:
        """The CPU time that it has used so far."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        # The name, which may hold spaces, ends with the last bracket.
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def _count(self, file: str, name: str) -> int:
        text = Path(f"/proc/{self.process.pid}/{file}").read_text()
        line = next(line for line in text.splitlines() if line.startswith(name))
        return int(line.split()[1])


@contextlib.contextmanager
def running(binary: Path, *options: str, folder: Path | None = None) -> Iterator[Server]:
    """Starts `hotseat web`, waits until `/ready` answers, and stops it in the end."""
    with contextlib.ExitStack() as stack:
        data = folder or stack.enter_context(tempfile.TemporaryDirectory(dir=ROOT / "target"))
        command = [binary, "web", "--port", "0", "--data", str(data), "--no-open"]
        command += ["--log-level", "error", *options]
        said = stack.enter_context(tempfile.TemporaryFile("w+"))
        began = time.perf_counter()
        process = stack.enter_context(
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True, cwd=data)
        )
        stack.callback(process.terminate)
        link = process.stdout.readline().strip()
        if not link:
            said.seek(0)
            raise SystemExit(f"{binary} ended before it listened: {said.read().strip()}")
        url, token = link.split("/?token=")
        with urllib.request.urlopen(f"{url}/ready", timeout=PATIENCE) as answer:
            answer.read()
        yield Server(process, url, token, time.perf_counter() - began)


@contextlib.contextmanager
def started(words: list[Any], url: str, probe: str, token: str = "none") -> Iterator[Server]:
    """Starts any other program, and waits until it answers."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while True:
            if process.poll() is not None:
                raise SystemExit(f"{words[0]} ended with {process.returncode} before it listened")
            with contextlib.suppress(OSError):
                urllib.request.urlopen(url + probe, timeout=5).close()
                break
            if time.perf_counter() - began > PATIENCE:
                raise SystemExit(f"{words[0]} does not answer at {url}{probe}")
            # Nothing tells that it listens, so it is asked again and again.
            time.sleep(0.01)
        yield Server(process, url, token, time.perf_counter() - began)
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
