"""How many may do something at once: a limit that can change while it is kept to.

Runs of one process live in threads and event loops of their own and share what a provider counts
together, so every method may be called from any thread.
"""

import asyncio
import threading
from collections import deque
from types import TracebackType

_Waiter = tuple[asyncio.AbstractEventLoop, "asyncio.Future[None]"]


class ConcurrencyLimit:
    """Places that are taken in the order of arrival. An asynchronous context manager."""

    def __init__(self, limit: int) -> None:
        """Open so many places.

        Args:
            limit: Places, 1 or more.
        """
        # Who waits and who gives back may be on the loops of several threads.
        self._lock = threading.Lock()
        self._limit = limit
        self._in_use = 0
        self._is_paused = False
        self._waiting: deque[_Waiter] = deque()

    @property
    def limit(self) -> int:
        """How many places there are."""
        return self._limit

    @property
    def in_use(self) -> int:
        """How many are taken; for a while more than there are, after the limit went down."""
        return self._in_use

    @property
    def is_paused(self) -> bool:
        """Whether no place is given away at present."""
        return self._is_paused

    def resize(self, limit: int) -> None:
        """Change the number of places. Whoever has one keeps it."""
        with self._lock:
            self._limit = max(1, limit)
            given = self._assign_free_slots()
        self._wake_waiters(given)

    def pause(self) -> None:
        """Give no more places away until `resume`."""
        with self._lock:
            self._is_paused = True

    def resume(self) -> None:
        """Give places away again."""
        with self._lock:
            self._is_paused = False
            given = self._assign_free_slots()
        self._wake_waiters(given)

    async def acquire(self) -> None:
        """Wait for a place."""
        loop = asyncio.get_running_loop()
        with self._lock:
            # Nobody is served before those who wait already.
            if not self._waiting and self._has_free_slot():
                self._in_use += 1
                return
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiting.append((loop, waiter))
        try:
            await waiter
        except asyncio.CancelledError:
            self._undo_cancelled_wait(loop, waiter)
            raise

    def release(self) -> None:
        """Give a place back."""
        with self._lock:
            self._in_use -= 1
            given = self._assign_free_slots()
        self._wake_waiters(given)

    async def __aenter__(self) -> None:
        """Wait for a place."""
        await self.acquire()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give it back."""
        self.release()

    def _has_free_slot(self) -> bool:
        return not self._is_paused and self._in_use < self._limit

    def _assign_free_slots(self) -> list[_Waiter]:
        """Take places for those who wait the longest. Only ever called with the lock."""
        given = []
        while self._waiting and self._has_free_slot():
            given.append(self._waiting.popleft())
            # Taken here and not by the waiter, whose loop runs later: nobody else gets it between.
            self._in_use += 1
        return given

    def _wake_waiters(self, given: list[_Waiter]) -> None:
        # Called without the lock, which `release` below takes.
        for loop, waiter in given:
            try:
                loop.call_soon_threadsafe(self._hand_over_slot, waiter)
            except RuntimeError:  # its loop is closed, so nobody waits there any more
                self.release()

    def _hand_over_slot(self, waiter: "asyncio.Future[None]") -> None:
        if waiter.cancelled():
            self.release()
        else:
            waiter.set_result(None)

    def _undo_cancelled_wait(
        self, loop: asyncio.AbstractEventLoop, waiter: "asyncio.Future[None]"
    ) -> None:
        """Undo a wait that was cancelled, whether or not a place was already given."""
        with self._lock:
            try:
                self._waiting.remove((loop, waiter))
            except ValueError:
                # The place was given already. A future that is cancelled gives it back itself
                # when it hears so; one that has heard does not.
                has_place = waiter.done() and not waiter.cancelled()
            else:
                has_place = False
        if has_place:
            self.release()
