"""What the words on the command line mean."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from hotseat.importing.adk_tables import AdkTables
from hotseat.importing.databases import SqliteFile, UrlDatabase
from hotseat.importing.session_files import SessionFile
from hotseat.importing.stored import Source, SourceError, Wanted

_SQLITE_MARK = b"SQLite format 3\x00"
# Where ADK keeps sessions in a folder: of an agent, of agents, and its own.
_IN_A_FOLDER = (".adk/session.db", "*/.adk/session.db", "session.db", "*.session.json")


def places(word: str) -> list[str]:
    """The files that a word stands for; a URL stands for itself."""
    if "://" in word or not Path(word).is_dir():
        return [word]
    found = [str(path) for pattern in _IN_A_FOLDER for path in sorted(Path(word).glob(pattern))]
    if not found:
        raise SourceError(
            f"{word} has no sessions: there is no .adk/session.db and no *.session.json in it"
        )
    return found


def open_source(place: str, wanted: Wanted) -> Source:
    """The sessions at a place."""
    if "://" in place:
        path = _sqlite_path(place)
        if path is None:
            return AdkTables(UrlDatabase(place), wanted)
    else:
        path = Path(place)
    if not path.is_file():
        raise SourceError(f"{path} is not there")
    with path.open("rb") as file:
        is_sqlite = file.read(len(_SQLITE_MARK)) == _SQLITE_MARK
    return AdkTables(SqliteFile(path), wanted) if is_sqlite else SessionFile(path, wanted)


def _sqlite_path(url: str) -> Path | None:
    """The file of a SQLite URL as SQLAlchemy writes it: three slashes before a relative path."""
    parts = urlsplit(url)
    if parts.scheme.partition("+")[0] != "sqlite":
        return None
    return Path(unquote(parts.path).removeprefix("/"))


def shown(place: str) -> str:
    """A place for people to read: a URL without its secrets."""
    if "://" not in place:
        return place
    parts = urlsplit(place)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
