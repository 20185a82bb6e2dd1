"""Calls to one server from whatever event loop the caller is on.

Handing a call to the background loop costs two changes of thread, about as much as the call
itself. For calls that are short and many, each loop gets a connection of its own instead. No lock
is held while anything is awaited, so loops do not wait for each other.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from hotseat.connection import Connection
from hotseat.settings import Settings

# How long a server that went away may stay away before a caller is told.
PATIENCE_SECONDS = 30.0


class Calls:
    """Unary calls of one service."""

    def __init__(
        self, settings: Settings, service: str, patience: float = PATIENCE_SECONDS
    ) -> None:
        self.settings = settings
        self.url = settings.address.url
        self._service = service
        self._patience = patience
        self._lock = threading.Lock()
        self._connections: dict[asyncio.AbstractEventLoop, Connection] = {}

    async def __call__(self, method: str, request: Any) -> Any:
        """One call, repeated while the server is away, but not for ever."""
        loop = asyncio.get_running_loop()
        connection = self._connections.get(loop) or self._connect(loop)
        return await connection.call(self._service, method, request, patience=self._patience)

    async def close(self) -> None:
        """Closes the connections of all loops. A later call opens a new one."""
        with self._lock:
            connections, self._connections = self._connections, {}
        here = asyncio.get_running_loop()
        for loop, connection in connections.items():
            if loop is here:
                await connection.close()
            elif loop.is_running():
                asyncio.run_coroutine_threadsafe(connection.close(), loop)

    def _connect(self, loop: asyncio.AbstractEventLoop) -> Connection:
        with self._lock:
            # Programs that call `asyncio.run` again and again leave loops behind.
            for left in [other for other in self._connections if other.is_closed()]:
                del self._connections[left]
            connection = self._connections[loop] = Connection(self.settings)
            return connection
