"""Made-up requests to every route of the OpenAPI document: none is a failure of ours, and every
answer is one that the document knows.

An agent is served that answers whatever can be read, so that the routes of the agent server are
reached behind the check of its name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as some
from scripted_models import scripted_model
from support import Server

# Streams that have no end are tried below.
ENDLESS = "^/api/v1/.*stream$"

# How many requests are made up for each route; `make fuzz` asks for more.
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "10"))

SEED = 4687

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
]

AGENT = """\
name: desk
instructions: You help at the desk.
seat: model
model: {provider: openai, name: small, endpoint: "${OPENAI_BASE_URL}", api_key: none}
"""

# What is made up everywhere else is known here: the agent, and a few things of its own.
CONFIG = """\
[[operations]]
include-path-regex = "^/agent/"
parameters = { "path.name" = "desk" }

[[operations]]
include-path-regex = "^/ag-ui/"
parameters = { "path.agent" = "desk", "path.thread" = ["t1", "t2"], "path.run" = ["r1", "r2"] }

[[operations]]
include-path-regex = "^/apps/"
parameters = { "path.app" = "desk", "path.user" = "ada", "path.session" = ["s1", "s2"] }
"""

FEW = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture
def desk(new_server: Callable[..., Server], tmp_path: Path) -> Iterator[Server]:
    """A server with a native agent called `desk`, in a thread of which something was said."""
    file = tmp_path / "agent.yaml"
    file.write_text(AGENT)
    with scripted_model(()) as model:
        server = new_server(str(file), environment=model.environment)
        server.wait_until_connected()
        hello = {"id": "m1", "role": "user", "content": "Hello"}
        run = {"threadId": "t1", "runId": "r1", "messages": [hello]}
        with post(server, "/ag-ui/desk", run) as answer:
            assert "RUN_FINISHED" in answer.text
        server.http("POST", "/apps/desk/users/ada/sessions/s1", {})
        yield server


def post(server: Server, path: str, body: Any) -> requests.Response:
    """Sends JSON with the token."""
    headers = {"Authorization": f"Bearer {server.token}"}
    return requests.post(f"{server.url}{path}", json=body, headers=headers, timeout=10)


def test_every_answer_is_one_that_the_document_knows(desk: Server, tmp_path: Path) -> None:
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG)
    st = Path(sys.executable).with_name("st")
    words = [st, "--config-file", config, "run", f"{desk.url}/api/v1/openapi.json", "--no-color"]
    words += ["--seed", str(SEED), "--header", f"Authorization: Bearer {desk.token}"]
    words += ["--checks", ",".join(CHECKS), "--phases", "fuzzing"]
    words += ["--max-examples", str(EXAMPLES), "--request-timeout", "10"]
    words += ["--exclude-path-regex", ENDLESS]
    ran = subprocess.run(
        words, capture_output=True, text=True, timeout=300 * EXAMPLES / 10, check=False
    )
    assert ran.returncode == 0, ran.stdout[-5000:]
    assert desk.http("GET", "/health")["status"] == "healthy"


def test_no_request_for_a_stream_makes_the_server_fail(desk: Server) -> None:
    token = {"Authorization": f"Bearer {desk.token}"}
    schema = schemathesis.openapi.from_url(f"{desk.url}/api/v1/openapi.json", headers=token)
    streams = [each.ok() for each in schema.include(path_regex=ENDLESS).get_all_operations()]
    assert {"/api/v1/stream"} < {operation.path for operation in streams}
    for operation in streams:

        @seed(SEED)
        @FEW
        @given(case=operation.as_strategy())
        def begins_or_is_refused(case: schemathesis.Case) -> None:
            wish = case.as_transport_kwargs(base_url=desk.url)
            wish["headers"] = {**(wish.get("headers") or {}), **token}
            # The head of the answer says it all; the rest may never end.
            with requests.request(**wish, stream=True, timeout=10) as answer:
                assert answer.status_code < 500, (case.method, case.path, answer.status_code)

        begins_or_is_refused()
    assert desk.http("GET", "/health")["status"] == "healthy"


JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(False) | some.text(),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(), inner, max_size=3),
    max_leaves=5,
)
PARTS = some.lists(
    some.fixed_dictionaries(
        {"type": some.sampled_from(["text", "image", "document", "binary", "new"])},
        optional={
            "text": some.text() | JSON,
            "mimeType": some.sampled_from(["text/plain", "image/png", "application/pdf", ""]),
            "data": some.text(),
            "source": some.fixed_dictionaries({"type": some.just("data"), "value": some.text()}),
        },
    ),
    max_size=2,
)
MESSAGES = some.lists(
    some.fixed_dictionaries(
        {
            "id": some.text(),
            "role": some.sampled_from(["user", "assistant", "tool", "system", "developer", "new"]),
            "content": some.text(min_size=1) | PARTS | JSON,
        },
        optional={"toolCallId": some.text(), "toolCalls": JSON, "name": JSON},
    ),
    min_size=1,
    max_size=3,
)
INPUTS = some.fixed_dictionaries(
    {"threadId": some.sampled_from(["t1", "t2"]) | some.text(), "runId": some.text()},
    optional={
        "messages": MESSAGES,
        "state": JSON,
        "tools": some.lists(
            some.fixed_dictionaries(
                {"name": some.text(), "description": some.text()}, optional={"parameters": JSON}
            ),
            max_size=2,
        ),
        "context": some.just([]) | JSON,
        "forwardedProps": some.just({}) | JSON,
        "resume": JSON,
        "parentRunId": JSON,
    },
)


def test_whatever_a_front_end_sends_is_refused_or_run_to_its_end(desk: Server) -> None:
    @seed(SEED)
    @settings(FEW, max_examples=20 * EXAMPLES)
    @given(body=INPUTS)
    def is_told(body: Any) -> None:
        answer = post(desk, "/ag-ui/desk", body)
        if answer.status_code != 200:
            assert 400 <= answer.status_code < 500, (body, answer.text)
            assert answer.headers["content-type"] == "application/problem+json"
            return
        lines = [line for line in answer.text.split("\n") if line.startswith("data: ")]
        told = [json.loads(line.removeprefix("data: "))["type"] for line in lines]
        ends = [index for index, each in enumerate(told) if each in ("RUN_FINISHED", "RUN_ERROR")]
        assert ends == [len(told) - 1], (body, told)

    is_told()
    assert desk.http("GET", "/health")["status"] == "healthy"
