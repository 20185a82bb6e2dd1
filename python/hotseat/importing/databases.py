"""Rows of a database, which is never written to."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from hotseat.importing.stored import SourceError

_ASYNCHRONOUS = ("aiomysql", "aioodbc", "aiosqlite", "asyncmy", "asyncpg", "psycopg_async")


class Database(Protocol):
    """What is asked of a database."""

    name: str
    tie: str
    """What events of the same time are ordered by."""

    def columns(self, table: str) -> set[str]:
        """The columns of a table; none if there is no such table."""

    def rows(self, query: str, values: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The rows of a query."""


class SqliteFile:
    """A file of SQLite's."""

    # The order in which they were written.
    tie = "rowid"

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._uri = f"{path.resolve().as_uri()}?mode=ro"

    def columns(self, table: str) -> set[str]:
        return {row["name"] for row in self.rows(f"PRAGMA table_info({table})", {})}

    def rows(self, query: str, values: dict[str, Any]) -> Iterator[dict[str, Any]]:
        try:
            with closing(sqlite3.connect(self._uri, uri=True)) as database:
                database.row_factory = sqlite3.Row
                for row in database.execute(query, values):
                    yield dict(row)
        except sqlite3.Error as error:
            raise SourceError(f"{self.name} cannot be read: {error}") from None


class UrlDatabase:
    """Any database that SQLAlchemy can reach."""

    # All that other databases know.
    tie = "id"

    def __init__(self, url: str) -> None:
        try:
            import sqlalchemy
        except ImportError:
            raise SourceError(
                "databases other than SQLite need SQLAlchemy and the driver of the database:"
                " pip install 'sqlalchemy>=2' and, for PostgreSQL, psycopg2-binary"
            ) from None
        self._sql = sqlalchemy
        scheme, _, rest = url.partition("://")
        dialect, _, driver = scheme.partition("+")
        # ADK's URLs name asynchronous drivers; the default one of a dialect is none.
        plain = f"{dialect}://{rest}" if driver in _ASYNCHRONOUS else url
        try:
            parsed = sqlalchemy.engine.make_url(plain)
            self.name = parsed.set(query={}).render_as_string(hide_password=True)
            self._engine = sqlalchemy.create_engine(parsed)
        except (sqlalchemy.exc.SQLAlchemyError, ImportError) as error:
            # The message of a URL that cannot be parsed would show its password.
            why = error.msg if isinstance(error, ImportError) else type(error).__name__
            raise SourceError(f"the {scheme} database cannot be opened: {why}") from None

    def columns(self, table: str) -> set[str]:
        with self._errors():
            inspector = self._sql.inspect(self._engine)
            if not inspector.has_table(table):
                return set()
            return {column["name"] for column in inspector.get_columns(table)}

    def rows(self, query: str, values: dict[str, Any]) -> Iterator[dict[str, Any]]:
        with self._errors(), self._engine.connect() as connection:
            streamed = connection.execution_options(yield_per=200)
            for row in streamed.execute(self._sql.text(query), values).mappings():
                yield dict(row)

    def _errors(self) -> _Errors:
        return _Errors(self.name, self._sql.exc.SQLAlchemyError)


class _Errors:
    """Turns errors of the driver into ours; a context manager."""

    def __init__(self, name: str, kind: type[Exception]) -> None:
        self._name = name
        self._kind = kind

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        if isinstance(error, self._kind):
            why = getattr(error, "orig", None) or type(error).__name__
            raise SourceError(f"{self._name} cannot be read: {why}") from None
