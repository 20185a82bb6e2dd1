"""What is wrong with an EvalSet file, in the words of ADK's own models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from google.adk.evaluation.eval_set import EvalSet
from pydantic import ValidationError

# Problems told at once. A file with more of them is wrong as a whole.
MAX_ERRORS = 100

Told = dict[str, str]


def validate(text: str) -> dict[str, Any]:
    """Whether ADK can read an EvalSet and `adk eval` can select each case of it."""
    try:
        document = json.loads(text)
    except ValueError as error:
        return _verdict([_error([], f"this is not JSON: {error}")])
    try:
        EvalSet.model_validate(document)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        told = [_error(_path(each["loc"], document), each["msg"]) for each in found]
    else:
        told = []
    return _verdict([*told, *_unselectable(document)])


def _unselectable(document: Any) -> Iterator[Told]:
    """Ids that ADK's models accept although `adk eval file:id,id` cannot name them."""
    cases = document.get("eval_cases") if isinstance(document, dict) else None
    seen: dict[str, int] = {}
    for index, case in enumerate(cases if isinstance(cases, list) else []):
        if not isinstance(case, dict):
            continue
        key = "eval_id" if "eval_id" in case else "evalId"
        eval_id, path = case.get(key), ["eval_cases", index, key]
        if not isinstance(eval_id, str):
            continue
        if eval_id in seen:
            yield _error(path, f"case {seen[eval_id]} has the same eval_id, {eval_id!r}")
        seen.setdefault(eval_id, index)
        if not eval_id.strip():
            yield _error(path, "an eval_id must not be empty")
        if sign := next((sign for sign in ":," if sign in eval_id), None):
            yield _error(path, f"`adk eval file:id` cannot select an eval_id with {sign!r} in it")


def _path(location: tuple[int | str, ...], document: Any) -> list[int | str]:
    """The part of pydantic's location that is a place in the document.

    The rest of it names models, functions and members of unions.
    """
    path: list[int | str] = []
    here = document
    for step in location:
        if isinstance(here, dict) and isinstance(step, str):
            spelling = next((s for s in (step, _camel(step), _snake(step)) if s in here), None)
            if spelling is None:
                # A field that is missing is told by the place where it should be.
                if step == location[-1]:
                    path.append(step)
                continue
            path.append(spelling)
            here = here[spelling]
        elif isinstance(here, list) and isinstance(step, int) and step < len(here):
            path.append(step)
            here = here[step]
    return path


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _error(path: list[int | str], message: str) -> Told:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return {"path": "".join(f"/{step}" for step in steps), "message": message}


def _verdict(errors: list[Told]) -> dict[str, Any]:
    return {"valid": not errors, "errors": errors[:MAX_ERRORS]}
