"""Who asks a question when several do: one at a time, over all processes of a store.

A process takes a lease on a question before it sends it, and the reply ends the lease in its own
transaction. Whoever comes second waits for the reply instead of paying for it again. A process
that was killed leaves leases behind; they count for nothing once it is known to be gone. No wall
clock decides that, because clocks jump.
"""

import asyncio
import contextlib
import os
import socket
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from faithtui.domain.ids import RunId
from faithtui.errors import StoreError
from faithtui.store.records import WorkerRow
from faithtui.store.store import Store

BEAT_S = 2.0
"""Seconds between two signs of life."""

SILENT_S = 30.0
"""Without a sign of life for so long a process is taken for dead, on another machine too."""

POLL_S = 0.2
"""Seconds between two looks whether somebody else's reply has come."""


class Leases(Protocol):
    """Where leases are taken."""

    @property
    def holder(self) -> str | None:
        """Who takes them, for the reply to end them; None: nobody needs any."""

    async def acquire_or_wait_for_others_answer(
        self, key: str, is_answered: Callable[[], bool]
    ) -> bool:
        """Take the lease on a question, or wait until somebody else has answered it.

        Returns:
            True: ours, and to be given back; False: it is answered.
        """

    async def release(self, key: str) -> None:
        """Let others ask."""


class NoLeases:
    """For judges that cost nothing, and where there is no store."""

    holder = None

    async def acquire_or_wait_for_others_answer(
        self, key: str, is_answered: Callable[[], bool]
    ) -> bool:
        """Take it at once."""
        return True

    async def release(self, key: str) -> None:
        """Do nothing."""


class StoreLeases:
    """Leases in a store, of one run of one process."""

    def __init__(
        self,
        store: Store,
        *,
        run: RunId | None = None,
        write: Callable[..., Awaitable[Any]] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Prepare; nothing is written before `hold_worker_registration`.

        Args:
            store: Where they are kept.
            run: The run that is worked on; None: not one alone.
            write: Calls a function of the store where it may write, and waits while the store is
                locked or full; None: that is an error.
            clock: Seconds that never jump.
            sleep: Waits for seconds.
        """
        self._store = store
        self._write = write or self._submit_write
        self._clock = clock
        self._sleep = sleep
        self._run = run
        self._uid = uuid.uuid4().hex
        self._last_beats: dict[str, tuple[int, float]] = {}
        """Of other processes: their count, and when it was first seen."""

    @property
    def holder(self) -> str | None:
        """This run of this process."""
        return self._uid

    @contextlib.asynccontextmanager
    async def hold_worker_registration(self) -> AsyncIterator[None]:
        """Show that the process lives for as long as the context is held."""
        now = datetime.now(UTC)
        pid = os.getpid()
        me = WorkerRow(
            self._uid, _this_host(), pid, 0, now, self._run, _read_process_identity(pid), now
        )
        await self._write(self._store.workers.add_worker, me)
        beating = asyncio.create_task(self._send_heartbeats())
        try:
            yield
        finally:
            beating.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await beating
            # A store that cannot be written keeps the entry; it goes stale by itself.
            with contextlib.suppress(StoreError):
                await asyncio.wrap_future(
                    self._store.submit(self._store.workers.remove_worker_and_leases, self._uid)
                )

    async def acquire_or_wait_for_others_answer(
        self, key: str, is_answered: Callable[[], bool]
    ) -> bool:
        """Take the lease on a question, or wait until somebody else has answered it."""
        while True:
            if await self._write(
                self._store.workers.try_to_take_lease, key, self._uid, self._is_dead
            ):
                # Between the look for a reply and the lease another process may have answered.
                if not is_answered():
                    return True
                await self.release(key)
                return False
            await self._sleep(POLL_S)
            if is_answered():
                return False

    async def release(self, key: str) -> None:
        """Let others ask."""
        await self._write(self._store.workers.release_lease, key, self._uid)

    async def _submit_write(self, write: Callable[..., Any], *args: object) -> Any:
        return await asyncio.wrap_future(self._store.submit(write, *args))

    async def _send_heartbeats(self) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            with contextlib.suppress(StoreError):  # locked or full: the next one may get through
                await asyncio.wrap_future(
                    self._store.submit(self._store.workers.record_heartbeat, self._uid)
                )

    def _is_dead(self, other: WorkerRow) -> bool:
        if _is_of_this_machine(other) and not _is_same_process_running(other):
            return True
        # Clocks of two machines differ: what counts is how long its beats stood still by ours,
        # from the first look on.
        beats, since = self._last_beats.get(other.uid, (-1, 0.0))
        if other.beats != beats:
            self._last_beats[other.uid] = (other.beats, self._clock())
            return False
        return self._clock() - since > SILENT_S


def is_worker_gone(other: WorkerRow, now: datetime) -> bool:
    """Say whether a process that worked on a run is gone, by one look at what it left.

    Of this machine the system knows. Another one cannot be asked, and nobody waits here to see
    whether its process still counts: there the time it counted last decides.

    Args:
        other: The process.
        now: By the clock of this machine.
    """
    if _is_of_this_machine(other):
        return not _is_same_process_running(other)
    return other.beat_at is None or (now - other.beat_at).total_seconds() > SILENT_S


def _this_host() -> str:
    return socket.gethostname()


def _is_of_this_machine(other: WorkerRow) -> bool:
    """Whether the system can be asked for a process by its number.

    Containers may share the name of a machine and number their processes each for itself.
    """
    if other.host != _this_host():
        return False
    theirs = (other.process or "").split()
    ours = (_read_process_identity(os.getpid()) or "").split()
    # Of the same boot, in another space of numbers. After a restart all of before are gone.
    return not (len(theirs) == len(ours) == 3 and theirs[0] == ours[0] and theirs[1] != ours[1])


def _is_same_process_running(other: WorkerRow) -> bool:
    """Whether a process of this machine is there, and is not a later one with its number."""
    if not is_process_there(other.pid):
        return False
    known = _read_process_identity(other.pid)
    return (
        other.process is None
        or known is None
        or _drop_pid_namespace(other.process) == (_drop_pid_namespace(known))
    )


def is_process_there(pid: int) -> bool:
    """Whether this machine has a process with a number; True where that cannot be asked."""
    if os.name == "nt":  # there, this very call would end the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's process, so there is one
        pass
    return True


def _drop_pid_namespace(process: str) -> tuple[str, str]:
    boot, *_, began = process.split()
    return boot, began


def _read_process_identity(pid: int) -> str | None:
    """Tell a process from later ones with its number: by the boot and the tick it began in.

    Returns:
        The boot, the space of numbers it is in, as far as it is known, and the tick. None where
        the system does not say, or not of others' processes; Linux does. After a restart numbers
        begin anew, in containers always with the same ones.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name of the program stands in brackets before and may hold blanks; field 22 is meant.
    began = stat.rpartition(")")[2].split()[19]
    try:
        space = Path(f"/proc/{pid}/ns/pid").readlink()
    except OSError:
        return f"{boot} {began}"
    return f"{boot} {space} {began}"
