"""An empty call over grpc.aio, both sides in Python: what one Python process can send at all.

`python echo.py` serves, says on which port, and ends with its input.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grpc

METHOD = "/bench.Echo/Echo"
MESSAGE = b"x" * 600


@contextlib.contextmanager
def serving() -> Iterator[str]:
    command = [sys.executable, Path(__file__)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield f"127.0.0.1:{int(process.stdout.readline())}"
        process.stdin.close()


async def rate(address: str, tasks: int, seconds: float) -> float:
    """Calls per second of so many tasks in this process."""
    async with grpc.aio.insecure_channel(address) as channel:
        call = channel.unary_unary(METHOD)
        await call(MESSAGE)
        done, end = 0, time.perf_counter() + seconds

        async def work() -> None:
            nonlocal done
            while time.perf_counter() < end:
                await call(MESSAGE)
                done += 1

        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(tasks)))
        return done / (time.perf_counter() - began)


async def serve() -> None:
    async def echo(request: bytes, _: grpc.aio.ServicerContext) -> bytes:
        return request

    server = grpc.aio.server()
    service, method = METHOD.strip("/").split("/")
    handlers = {method: grpc.unary_unary_rpc_method_handler(echo)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await server.stop(None)


if __name__ == "__main__":
    asyncio.run(serve())
