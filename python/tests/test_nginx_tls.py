"""The nginx that is shipped, with TLS as its first lines say: both protocols on one port."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hotseat.adk import HotseatSessionService
from support import OFFICE, PATIENCE, Server, WorkerProcess, free_port
from test_tls import certificate

SHIPPED = Path(__file__).resolve().parents[2] / "deploy" / "nginx.conf"

# One process with everything in its own folder, so that nothing outlives the test.
AROUND = """
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    include hotseat.conf;
}
"""


@dataclass
class Front:
    """nginx with TLS, and the server behind it."""

    server: Server
    port: int
    cert: Path

    @property
    def url(self) -> str:
        """Where everything is."""
        return f"https://127.0.0.1:{self.port}"

    def call(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> http.client.HTTPResponse:
        """A request over HTTP/1.1, as a browser without HTTP/2 would send it."""
        trusted = ssl.create_default_context(cafile=str(self.cert))
        line = http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=trusted, timeout=PATIENCE
        )
        sent = None if body is None else json.dumps(body)
        line.request(method, path, sent, {"content-type": "application/json", **headers})
        return line.getresponse()


def with_tls(text: str, port: int, upstream: int) -> str:
    """What is shipped, changed as it says itself."""
    told = re.search(r"`listen 443 (.*?);`", text)
    assert told is not None, "the file says how to listen with TLS"
    listen = f"    listen 127.0.0.1:{port} {told[1]};\n"
    files = "    ssl_certificate cert.pem;\n    ssl_certificate_key key.pem;\n"
    text, replaced = re.subn(r"(    listen 127\.0\.0\.1:.*;\n){2}", listen + files, text)
    assert replaced == 1, "one line in place of two"
    text = text.replace("    server 127.0.0.1:4688;\n", "")
    return text.replace("127.0.0.1:4687", f"127.0.0.1:{upstream}")


@pytest.fixture
def front(new_server: Callable[..., Server], tmp_path: Path) -> Iterator[Front]:
    """A server behind nginx with a certificate that was just made."""
    server = new_server()
    program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    assert program is not None, "nginx: apt-get install nginx-light"
    folder = tmp_path / "nginx"
    folder.mkdir()
    cert, _ = certificate(folder)
    port = free_port()
    (folder / "hotseat.conf").write_text(with_tls(SHIPPED.read_text(), port, server.port))
    (folder / "nginx.conf").write_text(AROUND)
    command = [program, "-p", str(folder), "-c", "nginx.conf", "-e", "error.log"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as nginx:
        try:
            until = time.monotonic() + PATIENCE
            while not _listens(port):
                assert nginx.poll() is None, (folder / "error.log").read_text()
                assert time.monotonic() < until, "nginx does not listen"
            yield Front(server, port, cert)
        finally:
            nginx.kill()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize(
    ("offered", "chosen"), [(["h2", "http/1.1"], "h2"), (["http/1.1"], "http/1.1")]
)
def test_both_protocols_are_on_one_port(front: Front, offered: list[str], chosen: str) -> None:
    trusted = ssl.create_default_context(cafile=str(front.cert))
    trusted.set_alpn_protocols(offered)
    with (
        socket.create_connection(("127.0.0.1", front.port), timeout=PATIENCE) as line,
        trusted.wrap_socket(line, server_hostname="127.0.0.1") as secure,
    ):
        assert secure.selected_alpn_protocol() == chosen


def test_the_page_works_and_another_page_may_change_nothing(front: Front) -> None:
    page = front.call("GET", "/")
    assert page.status == 200
    assert b"<script" in page.read()
    link = front.call("GET", f"/?token={front.server.token}")
    cookie = str(link.headers["set-cookie"]).partition(";")[0]
    for origin, status in ((front.url, 201), (f"https://127.0.0.1:{front.port + 1}", 403)):
        made = front.call("POST", "/api/v1/sessions", {}, cookie=cookie, origin=origin)
        assert made.status == status, (origin, made.read())


def test_a_stream_comes_as_it_is_written(front: Front) -> None:
    bearer = {"authorization": f"Bearer {front.server.token}"}
    made = json.load(front.call("POST", "/api/v1/sessions", {}, **bearer))
    path = f"/api/v1/sessions/{made['id']}"
    stream = front.call("GET", f"{path}/stream", **bearer)
    lines = iter(stream.readline, b"")
    # Each is seen before the next one is written: nothing is held back until there is more.
    assert any(line == b"event: history_complete\n" for line in lines)
    for said in ("one", "two", "three"):
        message = {"role": "user", "content": said}
        added = front.call("POST", f"{path}/messages", message, **bearer)
        assert added.status == 201, added.read()
        assert any(said.encode() in line for line in lines)


@pytest.mark.asyncio
async def test_programs_are_served(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTSEAT_CA", str(front.cert))
    service = HotseatSessionService(front.url, token=front.server.token)
    made = await service.create_session(app_name="app", user_id="ada", session_id="s")
    assert await service.get_session(app_name="app", user_id="ada", session_id=made.id) is not None


def test_a_worker_is_attached(front: Front, new_worker: Callable[..., WorkerProcess]) -> None:
    front.server.url = front.url
    bearer = {"authorization": f"Bearer {front.server.token}"}
    stream = front.call("GET", "/api/v1/stream", **bearer)
    new_worker(front.server, str(OFFICE), HOTSEAT_CA=str(front.cert))
    # Whatever is told after this is told of the worker.
    assert any(line.split() == [b"event:", b"agents"] for line in iter(stream.readline, b""))
    assert json.load(front.call("GET", "/api/v1/agents", **bearer))["items"]
