"""Made-up requests to every route of the OpenAPI document: none is a failure of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import requests
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from support import Server

# Streams have no end, so they are tried below. No agent is there to be well.
LEFT_OUT = "stream$|^/health/agent$"

# How many requests are made up for each route; `make fuzz` asks for more.
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "10"))

SEED = 4687


def test_no_request_makes_the_server_fail(server: Server) -> None:
    st = Path(sys.executable).with_name("st")
    words = [st, "run", f"{server.url}/api/v1/openapi.json", "--no-color", "--seed", str(SEED)]
    words += ["--header", f"Authorization: Bearer {server.token}"]
    words += [
        "--checks",
        "not_a_server_error",
        "--phases",
        "fuzzing",
        "--max-examples",
        str(EXAMPLES),
    ]
    words += ["--exclude-path-regex", LEFT_OUT, "--request-timeout", "10"]
    ran = subprocess.run(
        words, capture_output=True, text=True, timeout=300 * EXAMPLES / 10, check=False
    )
    assert ran.returncode == 0, ran.stdout[-5000:]
    assert server.http("GET", "/health")["status"] == "healthy"


def test_no_request_for_a_stream_makes_the_server_fail(server: Server) -> None:
    token = {"Authorization": f"Bearer {server.token}"}
    schema = schemathesis.openapi.from_url(f"{server.url}/api/v1/openapi.json", headers=token)
    streams = [
        operation.ok()
        for operation in schema.include(path_regex=LEFT_OUT).get_all_operations()
        if not operation.ok().path.endswith("/health/agent")
    ]
    assert {"/api/v1/stream"} < {operation.path for operation in streams}
    for operation in streams:

        @seed(SEED)
        @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def begins_or_is_refused(case: schemathesis.Case) -> None:
            wish = case.as_transport_kwargs(base_url=server.url)
            wish["headers"] = {**(wish.get("headers") or {}), **token}
            # The head of the answer says it all; the rest may never end.
            with requests.request(**wish, stream=True, timeout=10) as answer:
                assert answer.status_code < 500, (case.method, case.path, answer.status_code)

        begins_or_is_refused()
    assert server.http("GET", "/health")["status"] == "healthy"
