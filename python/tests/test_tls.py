"""A server that speaks TLS with a certificate of one's own."""

from __future__ import annotations

import datetime
import ipaddress
import json
import ssl
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hotseat.adk import HotseatSessionService
from hotseat.errors import HotseatError
from hotseat.settings import private_authority
from support import OFFICE, PATIENCE, Server, WorkerProcess


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    cert_file, key_file = folder / "cert.pem", folder / "key.pem"
    cert_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return cert_file, key_file


@pytest.fixture
def secure(new_server: Callable[..., Server], tmp_path: Path) -> tuple[Server, Path]:
    """A server with TLS, and its certificate."""
    cert, key = certificate(tmp_path)
    environment = {"HOTSEAT_TLS_CERT": str(cert), "HOTSEAT_TLS_KEY": str(key)}
    server = new_server(environment=environment)
    server.url = server.url.replace("http://", "https://")
    return server, cert


@pytest.mark.asyncio
async def test_sessions_are_kept_over_tls_with_a_private_authority(
    secure: tuple[Server, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, cert = secure
    monkeypatch.setenv("HOTSEAT_CA", str(cert))
    service = HotseatSessionService(server.url, token=server.token)
    made = await service.create_session(app_name="app", user_id="ada", session_id="s")
    found = await service.get_session(app_name="app", user_id="ada", session_id=made.id)
    assert found is not None
    assert found.id == "s"


def test_a_worker_attaches_over_tls(
    secure: tuple[Server, Path], new_worker: Callable[..., WorkerProcess]
) -> None:
    server, cert = secure
    context = ssl.create_default_context(cafile=str(cert))

    def read(path: str) -> Any:
        headers = {"authorization": f"Bearer {server.token}"}
        request = urllib.request.Request(f"{server.url}{path}", headers=headers)
        return urllib.request.urlopen(request, timeout=PATIENCE, context=context)

    with read("/api/v1/stream") as stream:
        new_worker(server, str(OFFICE), HOTSEAT_CA=str(cert))
        # Whatever is told after this is told of the worker.
        for line in stream:
            if line.split() == [b"event:", b"agents"]:
                break
    with read("/api/v1/agents") as answer:
        assert json.load(answer)["items"]


def test_an_authority_that_cannot_be_read_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOTSEAT_CA", str(tmp_path / "none.pem"))
    with pytest.raises(HotseatError, match=r"HOTSEAT_CA names .*none\.pem, which cannot be read"):
        private_authority()
