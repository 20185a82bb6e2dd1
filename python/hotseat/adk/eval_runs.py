"""`adk eval`, run beside the worker, with its results read from where ADK puts them.

It is a process of its own: evaluating imports the agent anew, with its real model, and what it
does there must not touch the agents that people are playing.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hotseat.errors import HotseatError

DEFAULT_CRITERIA = {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}

# What is kept of what `adk eval` prints. The summary comes last, so the end is kept.
MAX_OUTPUT_BYTES = 1024 * 1024

_HISTORY = Path(".adk", "eval_history")

# `EvalStatus` of ADK.
_PASSED, _FAILED = 1, 2


@dataclass(frozen=True)
class EvalWish:
    """Which cases of which file are to be run with which agent."""

    folder: Path
    """The agent's folder."""
    eval_set: Path
    eval_ids: tuple[str, ...] = ()
    criteria: dict[str, Any] | None = None

    def check(self) -> None:
        """Raises what `adk eval` would not say clearly."""
        if not self.eval_set.is_file():
            raise HotseatError(f"there is no file {self.eval_set}")
        if ":" in str(self.eval_set):
            raise HotseatError(f"`adk eval` cannot read a path with ':' in it: {self.eval_set}")
        if unselectable := [each for each in self.eval_ids if set(each) & set(":,")]:
            raise HotseatError(f"`adk eval` cannot select {unselectable}: an id has ':' or ','")

    @property
    def selection(self) -> str:
        """The file and the cases, as `adk eval` wants them."""
        ids = f":{','.join(self.eval_ids)}" if self.eval_ids else ""
        return f"{self.eval_set}{ids}"


class EvalRuns:
    """Runs `adk eval`, once at a time: a run takes a processor and, often, a model's quota."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()

    async def run(self, wish: EvalWish) -> dict[str, Any]:
        """The exit code, what was printed, and the results of each case."""
        wish.check()
        async with self._turn:
            before = _results(wish.folder)
            with tempfile.TemporaryDirectory(prefix="hotseat-eval-") as scratch:
                exit_code, output = await _adk(wish, _config(wish, Path(scratch)))
            cases = _cases(_results(wish.folder) - before)
        if not cases or not all(case["passed"] for case in cases):
            exit_code = exit_code or 1  # Earlier releases exit with 0 in any case.
        return {"exit_code": exit_code, "output": output, "cases": cases}


def _config(wish: EvalWish, folder: Path) -> Path:
    config = folder / "criteria.json"
    config.write_text(json.dumps({"criteria": wish.criteria or DEFAULT_CRITERIA}), "utf-8")
    return config


async def _adk(wish: EvalWish, config: Path) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "hotseat.adk.eval_process", "eval"),
        *(str(wish.folder), wish.selection, f"--config_file_path={config}"),
        "--print_detailed_results",
        # Where an agent's own absolute imports are found, as in ADK's other commands.
        cwd=wish.folder.parent,
        env={**os.environ, "HOTSEAT_DISABLED": "1", "PYTHONUNBUFFERED": "1"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output = await _tail(process.stdout)
        return await process.wait(), output
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _tail(stream: asyncio.StreamReader | None) -> str:
    assert stream is not None
    kept, cut = bytearray(), 0
    while chunk := await stream.read(65536):
        kept += chunk
        if (surplus := len(kept) - MAX_OUTPUT_BYTES) > 0:
            del kept[:surplus]
            cut += surplus
    text = kept.decode(errors="replace")
    return f"… {cut:,} bytes before this are left out\n{text}" if cut else text


def _results(folder: Path) -> set[Path]:
    return set((folder / _HISTORY).glob("*.evalset_result.json"))


def _cases(files: set[Path]) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = []
    for file in sorted(files):
        result = json.loads(file.read_text("utf-8"))
        if isinstance(result, str):
            result = json.loads(result)  # Earlier releases wrote JSON in a JSON string.
        cases.extend(_case(each) for each in _get(result, "eval_case_results") or [])
    return cases


def _case(result: dict[str, Any]) -> dict[str, Any]:
    metrics = [
        {
            "name": _get(metric, "metric_name"),
            "score": _get(metric, "score"),
            "threshold": _get(metric, "threshold"),
            "passed": _get(metric, "eval_status") == _PASSED,
        }
        for metric in _get(result, "overall_eval_metric_results") or []
        # Some metrics only inform: they are neither passed nor failed.
        if _get(metric, "eval_status") in (_PASSED, _FAILED)
    ]
    passed = _get(result, "final_eval_status") == _PASSED
    return {"eval_id": _get(result, "eval_id"), "passed": passed, "metrics": metrics}


def _get(thing: dict[str, Any], name: str) -> Any:
    first, *rest = name.split("_")
    return thing.get(name, thing.get(first + "".join(word.capitalize() for word in rest)))
