"""What an import did, for people and for scripts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hotseat.importing.stored import Key

# As many differences, and as many problems, are told to people.
MOST_LINES = 20


@dataclass
class Summary:
    """Figures, and everything that is not as it should be."""

    new_sessions: int = 0
    extended_sessions: int = 0
    unchanged_sessions: int = 0
    new_events: int = 0
    known_events: int = 0
    differences: list[dict[str, Any]] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 if everything is there and the same, otherwise 1."""
        return 1 if self.problems or self.differences else 0

    def problem(self, source: str, message: str, key: Key | None = None) -> None:
        """Notes something that could not be brought over."""
        self.problems.append({"source": source, **_named(key), "message": message})

    def difference(self, key: Key, name: str, expected: Any, found: Any) -> None:
        """Notes a value of the state that is another one than in the source."""
        self.differences.append(
            {**_named(key), "key": name, "in_source": expected, "in_hotseat": found}
        )

    def as_json(self) -> dict[str, Any]:
        """The form for scripts."""
        return {
            "sessions": {
                "new": self.new_sessions,
                "extended": self.extended_sessions,
                "unchanged": self.unchanged_sessions,
            },
            "events": {"new": self.new_events, "there_already": self.known_events},
            "differences": self.differences,
            "problems": self.problems,
        }

    def lines(self) -> list[str]:
        """The form for people."""
        lines = [
            f"Sessions: {self.new_sessions} new, {self.extended_sessions} extended,"
            f" {self.unchanged_sessions} there already.",
            f"Events: {self.new_events} new, {self.known_events} there already.",
        ]
        return (
            lines
            + _some(map(_told_difference, self.differences))
            + _some(map(_told_problem, self.problems))
        )


def _told_difference(found: dict[str, Any]) -> str:
    where = f"session {found['session_id']} in {found['app_name']}"
    return f"State differs: {found['key']} of {where}"


def _told_problem(found: dict[str, Any]) -> str:
    place = f", session {found['session_id']}" if "session_id" in found else ""
    return f"Left out ({found['source']}{place}): {found['message']}"


def _some(lines: Iterable[str]) -> list[str]:
    lines = list(lines)
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], f"… and {more} more; --json tells all"] if more > 0 else lines


def _named(key: Key | None) -> dict[str, str]:
    if key is None:
        return {}
    return {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.id}
