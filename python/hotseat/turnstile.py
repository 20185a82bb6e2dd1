"""One after the other, for tasks on any number of event loops.

`asyncio.Lock` belongs to one loop, and a `threading.Lock` would stop the loop that waits for it.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Hashable

_Waiter = asyncio.Future[None]


class Turnstiles:
    """Lets one task at a time pass for each key, in the order they came."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queues: dict[Hashable, deque[_Waiter]] = {}

    async def enter(self, key: Hashable) -> None:
        """Waits until nobody else is inside; must be followed by :meth:`leave`."""
        with self._lock:
            queue = self._queues.get(key)
            if queue is None:
                self._queues[key] = deque()
                return
            waiter = asyncio.get_running_loop().create_future()
            queue.append(waiter)
        try:
            await waiter
        except BaseException:
            # Cancelled, or left behind by a loop that was closed.
            with self._lock:
                if waiter in queue:
                    queue.remove(waiter)
                    raise
            self.leave(key)  # It was our turn already.
            raise

    def leave(self, key: Hashable) -> None:
        """Lets the next one in."""
        with self._lock:
            queue = self._queues[key]
            while queue:
                waiter = queue.popleft()
                try:
                    waiter.get_loop().call_soon_threadsafe(_wake, waiter)
                except RuntimeError:
                    continue  # Its loop is closed, and with it whoever waited there.
                return
            del self._queues[key]


def _wake(waiter: _Waiter) -> None:
    if not waiter.done():
        waiter.set_result(None)
