"""Deadlines that pass when a test says so."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from tests.judges.fault_server import FaultServer


class HeldDeadlines:
    """Keeps the time of exchanges, and lets none of it pass by itself."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        """What each exchange was given."""
        self.is_over = False
        """Whether what begins from now on gets no time at all."""
        self._running: set[asyncio.Timeout] = set()

    @asynccontextmanager
    async def __call__(self, seconds: float) -> AsyncGenerator[asyncio.Timeout]:
        """Give an exchange until everybody hangs."""
        self.seconds.append(seconds)
        async with asyncio.timeout(0 if self.is_over else None) as running:
            self._running.add(running)
            try:
                yield running
            finally:
                self._running.discard(running)

    async def expire_when_stuck(self, server: FaultServer) -> None:
        """Let the time of all exchanges be over whenever all that are on hang, until cancelled."""
        expired = 0
        while True:
            if self._running and server.stuck - expired == len(self._running):
                expired += len(self._running)
                now = asyncio.get_running_loop().time()
                for each in tuple(self._running):
                    self._running.discard(each)
                    each.reschedule(now)
            await asyncio.sleep(0.005)
