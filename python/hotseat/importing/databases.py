"""Rows of a database, which is never written to."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

from hotseat.importing.stored import SourceError

# Rows that are read at once.
_ROWS = 200

# Does something with a connection, and gives what came of it.
_Work = Callable[[Callable[[Any], Any]], Any]


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
    """Any database that SQLAlchemy can reach, with the driver that the URL names.

    ADK's URLs name asynchronous drivers, and whoever has one of them may have no other.
    """

    # All that other databases know.
    tie = "id"

    def __init__(self, url: str) -> None:
        try:
            import sqlalchemy
        except ImportError:
            raise SourceError(
                "databases other than SQLite need SQLAlchemy and the driver that the URL names:"
                " pip install 'sqlalchemy[asyncio]>=2' and, for PostgreSQL, asyncpg"
            ) from None
        self._sql = sqlalchemy
        scheme = url.partition("://")[0]
        try:
            parsed = sqlalchemy.engine.make_url(url)
            self.name = parsed.set(query={}).render_as_string(hide_password=True)
            self._connect = _connector(parsed)
        except (sqlalchemy.exc.SQLAlchemyError, ImportError) as error:
            # The message of a URL that cannot be parsed would show its password.
            why = error.msg if isinstance(error, ImportError) else type(error).__name__
            raise SourceError(f"the {scheme} database cannot be opened: {why}") from None

    def columns(self, table: str) -> set[str]:
        def look(connection: Any) -> set[str]:
            inspector = self._sql.inspect(connection)
            if not inspector.has_table(table):
                return set()
            return {column["name"] for column in inspector.get_columns(table)}

        with self._errors(), self._connect() as work:
            return work(look)

    def rows(self, query: str, values: dict[str, Any]) -> Iterator[dict[str, Any]]:
        def ask(connection: Any) -> Any:
            streamed = connection.execution_options(yield_per=_ROWS)
            return streamed.execute(self._sql.text(query), values).mappings()

        with self._errors(), self._connect() as work:
            result = work(ask)
            while rows := work(lambda _: result.fetchmany(_ROWS)):
                yield from map(dict, rows)

    def _errors(self) -> _Errors:
        # Asynchronous drivers let errors of the network through as they are.
        return _Errors(self.name, (self._sql.exc.SQLAlchemyError, OSError))


def _connector(url: Any) -> Callable[[], AbstractContextManager[_Work]]:
    """What opens a connection to a database, for drivers of either sort."""
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    if not url.get_dialect().is_async:
        engine = create_engine(url, poolclass=NullPool)
        return lambda: _direct(engine)
    from sqlalchemy.ext.asyncio import create_async_engine

    waiting = create_async_engine(url, poolclass=NullPool)
    return lambda: _awaited(waiting)


@contextmanager
def _direct(engine: Any) -> Iterator[_Work]:
    with engine.connect() as connection:
        yield lambda work: work(connection)


@contextmanager
def _awaited(engine: Any) -> Iterator[_Work]:
    """Awaits on a thread of its own: whoever reads here may be in an event loop already."""
    with ThreadPoolExecutor(max_workers=1) as thread:
        runner = asyncio.Runner()

        def wait(coroutine: Coroutine[Any, Any, Any]) -> Any:
            return thread.submit(runner.run, coroutine).result()

        try:
            connection = wait(_opened(engine))
            try:
                yield lambda work: wait(connection.run_sync(work))
            finally:
                wait(connection.close())
        finally:
            thread.submit(runner.close).result()


async def _opened(engine: Any) -> Any:
    return await engine.connect()


class _Errors:
    """Turns errors of the driver into ours; a context manager."""

    def __init__(self, name: str, kinds: tuple[type[Exception], ...]) -> None:
        self._name = name
        self._kinds = kinds

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        if isinstance(error, self._kinds):
            why = getattr(error, "orig", None) or getattr(error, "strerror", None)
            why = why or type(error).__name__
            raise SourceError(f"{self._name} cannot be read: {why}") from None
