"""Made-up requests to every route of the OpenAPI document: none is a failure of ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support import Server

# Streams have no end, so nothing can be checked behind it; and no agent is there to be well.
LEFT_OUT = "stream$|^/health/agent$"


def test_no_request_makes_the_server_fail(server: Server) -> None:
    st = Path(sys.executable).with_name("st")
    words = [st, "run", f"{server.url}/api/v1/openapi.json", "--no-color", "--seed", "4687"]
    words += ["--header", f"Authorization: Bearer {server.token}"]
    words += ["--checks", "not_a_server_error", "--phases", "fuzzing", "--max-examples", "10"]
    words += ["--exclude-path-regex", LEFT_OUT, "--request-timeout", "10"]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout[-5000:]
    assert server.http("GET", "/health")["status"] == "healthy"
