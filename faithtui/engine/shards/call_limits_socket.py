"""The way from workers in other processes of this machine to the server of limits: a local socket.

One JSON text a line each way. A worker whose connection ends is gone, and what it held is given
back; so a process that is killed takes no place in flight and no money with it.
"""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Final

from faithtui.engine.shards.call_limits import CallLimitsServer

_STOP: Final = b"[null, null]\n"
_METHODS: Final = frozenset(
    ("start_request", "end_request", "reserve", "charge", "check_was_answered", "report_progress")
)


@asynccontextmanager
async def serve_call_limits(server: CallLimitsServer, stop: asyncio.Event) -> AsyncIterator[Path]:
    """Let processes of this user reach a server, and give the path of the socket.

    Args:
        server: The server.
        stop: Set to tell every worker, of now and later, that it is to stop asking.
    """
    numbers = count()
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        try:
            await _serve_worker(server, f"{next(numbers)}", reader, writer, stop)
        finally:
            serving.discard(task)
            writer.close()

    # A folder of its own for its owner alone; the path of a socket may have about 100 letters.
    with tempfile.TemporaryDirectory(prefix="faithtui-") as folder:
        path = Path(folder) / "limits"
        socket = await asyncio.start_unix_server(serve, path)
        try:
            yield path
        finally:
            socket.close()
            for task in list(serving):
                task.cancel()
            await asyncio.gather(*serving, return_exceptions=True)


async def _serve_worker(
    server: CallLimitsServer,
    holder: str,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    stop: asyncio.Event,
) -> None:
    async def send_stop() -> None:
        await stop.wait()
        writer.write(_STOP)

    waiting = {asyncio.create_task(send_stop())}

    async def answer(number: int, method: str, arguments: list[Any]) -> None:
        result = await getattr(server, method)(holder, *arguments)
        writer.write(json.dumps([number, result]).encode() + b"\n")

    try:
        # A connection that is reset ends the worker as one that is closed.
        with suppress(ConnectionError):
            while line := await reader.readline():
                number, method, arguments = json.loads(line)
                assert method in _METHODS
                if number is None:
                    await getattr(server, method)(holder, *arguments)
                else:
                    task = asyncio.create_task(answer(number, method, arguments))
                    waiting.add(task)
                    task.add_done_callback(waiting.discard)
    finally:
        for task in list(waiting):
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await server.release_holdings(holder)


class SocketLink:
    """A worker's way to the server. A `CallLimitsLink`; belongs to one event loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.stop = asyncio.Event()
        """The server's command is to stop, or is gone."""
        self._reader = reader
        self._writer = writer
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}

    async def request(self, method: str, *arguments: Any) -> Any:
        """Call a method of the server and wait for what it returns."""
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._send(number, method, arguments)
        return await answer

    def notify(self, method: str, *arguments: Any) -> None:
        """Call a method of the server and do not wait."""
        self._send(None, method, arguments)

    async def read_answers(self) -> None:
        """Hand answers to whoever waits for them, until the server is gone."""
        with suppress(ConnectionError):
            while line := await self._reader.readline():
                number, result = json.loads(line)
                if number is None:
                    self.stop.set()
                    continue
                answer = self._waiting.pop(number)
                if not answer.done():
                    answer.set_result(result)
        self.stop.set()
        for each in self._waiting.values():
            if not each.done():
                each.set_exception(ConnectionError("the command that began this worker is gone"))

    def _send(self, number: int | None, method: str, arguments: tuple[Any, ...]) -> None:
        self._writer.write(json.dumps([number, method, arguments]).encode() + b"\n")


@asynccontextmanager
async def connect_call_limits(path: Path) -> AsyncIterator[SocketLink]:
    """Reach the server behind a socket."""
    reader, writer = await asyncio.open_unix_connection(path)
    link = SocketLink(reader, writer)
    reading = asyncio.create_task(link.read_answers())
    try:
        yield link
    finally:
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
        with suppress(ConnectionError):
            await writer.drain()
        writer.close()
