"""A server to measure: the release binary on an empty store, on a free port."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = ROOT / "target" / "release" / "hotseat"


@dataclass
class Server:
    process: subprocess.Popen[str]
    url: str
    token: str
    ready_seconds: float

    @property
    def address(self) -> str:
        return self.url.removeprefix("http://")

    def resident_bytes(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024


@contextlib.contextmanager
def running(folder: Path | None = None) -> Iterator[Server]:
    """Starts a server, waits until `/ready` answers, and stops it in the end."""
    with contextlib.ExitStack() as stack:
        data = folder or stack.enter_context(tempfile.TemporaryDirectory(dir=ROOT / "target"))
        command = [BINARY, "web", "--port", "0", "--data", str(data), "--no-open"]
        command += ["--log-level", "error"]
        started = time.perf_counter()
        process = stack.enter_context(
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=data
            )
        )
        stack.callback(process.terminate)
        link = process.stdout.readline().strip()
        url, token = link.split("/?token=")
        with urllib.request.urlopen(f"{url}/ready", timeout=10) as answer:
            assert answer.status == 200
        yield Server(process, url, token, time.perf_counter() - started)
