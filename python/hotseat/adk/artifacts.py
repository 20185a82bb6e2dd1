"""Files that tools save, kept in a folder and told to the server.

With a folder, they are kept by ADK's own file service, so they outlive the worker as the log does.
Releases of ADK without that service, and workers without a folder, keep them in memory.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from google.adk.artifacts.base_artifact_service import BaseArtifactService
from google.adk.artifacts.in_memory_artifact_service import InMemoryArtifactService
from google.genai import types

from hotseat.errors import HotseatError
from hotseat.notices import notice

# Files told of one session. Nobody reads a longer list, and each is opened to be measured.
MAX_LISTED = 500

# The largest file that is handed over. The server takes messages of 32 MiB.
MAX_BYTES = 31 * 1024 * 1024

# Files whose names begin so belong to all sessions of a user.
_OF_THE_USER = "user:"


class ArtifactNotFound(HotseatError):
    """There is no such file, or no such version of it."""


@dataclass(frozen=True)
class Shelf:
    """The place of one session's files."""

    service: BaseArtifactService
    app_name: str
    user_id: str
    session_id: str

    async def list(self) -> list[dict[str, Any]]:
        """The files with their versions; media type and size are those of the newest."""
        names = await self.service.list_artifact_keys(**self._where)
        return [await self._describe(name) for name in sorted(names)[:MAX_LISTED]]

    async def read(self, name: str, version: int | None = None) -> tuple[bytes, str]:
        """The bytes of one version (the newest, if none is named) and their media type."""
        part = await self._load(name, version)
        if part is None:
            which = name if version is None else f"{name}, version {version}"
            raise ArtifactNotFound(f"this session has no artifact {which}")
        data, mime_type = _content(part, name)
        if len(data) > MAX_BYTES:
            raise HotseatError(
                f"{name} has {len(data):,} bytes; more than {MAX_BYTES:,} cannot be handed over"
            )
        return data, mime_type

    async def take(self, name: str, version: int, session_id: str) -> None:
        """Copies a version from another session, unless it is here already."""
        if version in await self._versions(name):
            return
        other = replace(self, session_id=session_id)
        if (part := await other._load(name, version)) is not None:
            await self.service.save_artifact(filename=name, artifact=part, **self._where)

    async def _describe(self, name: str) -> dict[str, Any]:
        told: dict[str, Any] = {"name": name, "versions": await self._versions(name)}
        try:
            part = await self._load(name, None)
            if part is not None:
                data, told["mime_type"] = _content(part, name)
                told["size"] = len(data)
        except HotseatError:
            pass  # It is elsewhere; its name and versions are all there is to tell.
        return told

    async def _versions(self, name: str) -> list[int]:
        return sorted(await self.service.list_versions(filename=name, **self._where))

    async def _load(self, name: str, version: int | None) -> types.Part | None:
        return await self.service.load_artifact(filename=name, version=version, **self._where)

    @property
    def _where(self) -> dict[str, str]:
        return {
            "app_name": self.app_name,
            "user_id": self.user_id,
            "session_id": self.session_id,
        }


async def bring_along(shelf: Shelf, log: list[Any]) -> None:
    """Copies what the log of a fork says was saved, in the session where it was."""
    for event in log:
        if event.kind != "tool_run" or b'"artifacts"' not in event.raw_json:
            continue
        saved = json.loads(event.raw_json).get("artifacts") or {}
        if saved.get("session_id") in (None, shelf.session_id):
            continue
        for name, version in saved["saved"].items():
            if not name.startswith(_OF_THE_USER):
                await shelf.take(name, version, saved["session_id"])


def artifact_service(folder: Path | None) -> BaseArtifactService:
    """A service that keeps files in a folder, where there is one and ADK can."""
    if folder is None:
        return InMemoryArtifactService()
    try:
        from google.adk.artifacts.file_artifact_service import FileArtifactService
    except ImportError:
        notice("this release of ADK keeps artifacts in memory only")
        return InMemoryArtifactService()
    return FileArtifactService(root_dir=folder)


def _content(part: types.Part, name: str) -> tuple[bytes, str]:
    if part.inline_data is not None:
        mime_type = part.inline_data.mime_type or "application/octet-stream"
        return part.inline_data.data or b"", mime_type
    if part.text is not None:
        return part.text.encode(), "text/plain; charset=utf-8"
    where = part.file_data.file_uri if part.file_data else "elsewhere"
    raise HotseatError(f"{name} is a reference to {where}, not a file")
