"""Golden traces: of a long session, and into a large file."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from events import session_with
from programs import Programs
from rounds import Figures, Measured, alternate
from server import ROOT, running

EVENTS = 10_000
FILE_BYTES = 100_000_000
CASE_BYTES = 100_000

# Traces asked for in a round.
TIMES = 10


async def measure(figures: Figures, programs: Programs, rounds: int) -> None:
    with (
        tempfile.TemporaryDirectory(dir=ROOT / "target") as folder,
        running(programs.hotseat, folder=Path(folder)) as server,
    ):
        long = session_with(server, EVENTS)
        session_file = Path(folder) / "session.json"
        whole = server.call(f"/api/v1/sessions/{long}/export?format=session")
        session_file.write_text(json.dumps(whole))
        eval_set = Path(folder) / "large.evalset.json"
        eval_set.write_text(json.dumps(large_set()))

        def golden() -> Measured:
            told = programs.ask(server, TIMES, f"/api/v1/sessions/{long}/export")
            return {"trace.golden_ms": told["p50_ms"]}

        def scan() -> Measured:
            told = programs.limits("scan", session_file)
            return {"trace.check_ms": told["check_ms"], "trace.look_ms": told["look_ms"]}

        def export() -> Measured:
            session = session_with(server, 10)
            server.call(f"/api/v1/sessions/{session}/complete", {})
            began = time.perf_counter()
            server.call(f"/api/v1/sessions/{session}/export", {"eval_set_path": eval_set.name})
            return {"trace.export_ms": (time.perf_counter() - began) * 1000}

        def rewrite() -> Measured:
            return {"trace.rewrite_ms": programs.limits("rewrite", eval_set)["ms"]}

        parts = {"golden": golden, "scan": scan, "export": export, "rewrite": rewrite}
        await alternate(figures, rounds, parts)


def large_set() -> dict:
    """An EvalSet of many cases, each with a long text."""
    case = {
        "conversation": [
            {
                "invocation_id": "e-1",
                "user_content": {"role": "user", "parts": [{"text": "What?"}]},
                "final_response": {
                    "role": "model",
                    "parts": [{"text": "words and more words " * (CASE_BYTES // 21)}],
                },
                "intermediate_data": {"tool_uses": [], "intermediate_responses": []},
            }
        ],
        "session_input": {"app_name": "bench", "user_id": "bench", "state": {}},
    }
    cases = [{"eval_id": f"case_{n}", **case} for n in range(FILE_BYTES // CASE_BYTES)]
    return {"eval_set_id": "large", "name": "large", "eval_cases": cases}
