"""A locked file of JSON lines that only grows; a line is whole or not there.

One process has the file at a time. A line is known by the place at which it begins, so that no more
than the place has to be held in memory.
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from pydantic_core import from_json, to_json

from faithtui.errors import ExportError
from faithtui.output_files import OWNER_ONLY


class ShardTaken(ExportError):
    """Another worker has the shard."""


class JournalFile:
    """The file below a `ShardJournal`. Belongs to one event loop."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it, and lock it.

        Raises:
            ShardTaken: Another worker has it.
            OSError: It cannot be opened.
        """
        self.path = path
        self.end = 0
        """Where the next line begins, once `read_lines_and_cut_off_partial_one` has read those
        there are."""
        self.written = 0
        """Lines that were appended."""
        self._synced = 0
        self._syncing: asyncio.Task[None] | None = None
        self._file = self._open_locked()

    def close(self) -> None:
        """Close it; the lock goes with it."""
        self._file.close()

    def delete(self) -> None:
        """Delete it."""
        with suppress(FileNotFoundError):
            self.path.unlink()

    def read_lines_and_cut_off_partial_one(self) -> Iterator[tuple[int, Any]]:
        """Give every whole line with its place; what a kill left of the last one is cut off."""
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                yield self.end, from_json(line)
                self.end += len(line)
        self._file.truncate(self.end)

    def iter_lines_starting_with(self, beginning: bytes) -> Iterator[Any]:
        """Give the lines that begin so, in order; to parse the others would take long."""
        with self.path.open("rb") as file:
            for line in file:
                if line.startswith(beginning):
                    yield from_json(line)

    def read_line(self, place: int) -> Any:
        """Read the line that begins at a place."""
        self._file.seek(place)
        pieces = [self._file.read(1 << 14)]
        while pieces[-1] and b"\n" not in pieces[-1]:
            pieces.append(self._file.read(1 << 18))
        return from_json(b"".join(pieces).partition(b"\n")[0])

    def append_line_and_get_place(self, value: object) -> int:
        """Write a line, and give its place.

        Raises:
            ExportError: It cannot be written.
        """
        data = memoryview(to_json(value) + b"\n")
        place = self.end
        try:
            while data:
                written = os.write(self._file.fileno(), data)
                data = data[written:]
                self.end += written
        except OSError as error:
            with suppress(OSError):  # half a line would hide the next one
                self._file.truncate(place)
            self.end = place
            raise ExportError(format_write_error(self.path, error)) from error
        self.written += 1
        return place

    def delete_all_lines(self) -> None:
        """Take all lines out."""
        self._file.truncate(0)
        self.end = 0

    def sync(self) -> None:
        """Wait until the disk has all lines."""
        os.fsync(self._file.fileno())

    async def sync_up_to(self, end: int) -> None:
        """Wait until the disk has all up to a place; who waits together shares one write."""
        while self._synced < end:
            if self._syncing is None or self._syncing.done():
                self._syncing = asyncio.create_task(self._sync_once())
            await asyncio.shield(self._syncing)

    async def _sync_once(self) -> None:
        end = self.end
        try:
            await asyncio.to_thread(os.fsync, self._file.fileno())
        except OSError as error:
            raise ExportError(format_write_error(self.path, error)) from error
        self._synced = end

    def _open_locked(self) -> IO[bytes]:
        """Open and lock the file that has the name now; one that was deleted meanwhile is none.

        Raises:
            ShardTaken: Another worker has it.
        """
        import fcntl  # not on every system, and imported with the package everywhere

        while True:
            number = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, OWNER_ONLY)
            file = os.fdopen(number, "r+b", buffering=0)
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(number).st_ino == self.path.stat().st_ino:
                    return file
            except FileNotFoundError:
                pass
            except BlockingIOError as error:
                file.close()
                raise ShardTaken(
                    f"another worker has shard {self.path.stem}; wait for it, or end it"
                ) from error
            file.close()


def format_write_error(path: Path, error: OSError) -> str:
    """Say why a journal cannot be written, and what to do."""
    return (
        f"{path} cannot be written: {error.strerror or error}; make room or name another folder "
        "with -o. What was answered before is kept"
    )
