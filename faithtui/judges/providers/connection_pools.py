"""Many requests at once over several small pools of connections.

A pool looks at each of its connections whenever a request begins or ends. With hundreds in flight
that takes longer than the requests themselves, so there are as many pools as are needed.
"""

from collections.abc import Callable

import httpx2

WIDTH = 16
"""Requests in one pool at once: few connections to look at, few pools to keep."""


class PoolingTransport(httpx2.AsyncBaseTransport):
    """Opens pools as they are needed. Belongs to one event loop."""

    def __init__(self, make: Callable[[], httpx2.AsyncBaseTransport]) -> None:
        """Begin with one.

        Args:
            make: Makes a pool.
        """
        self._make = make
        self.pools = [make()]
        """Those that are open."""
        self._busy = [0]

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request through the first pool that has room."""
        place = next((n for n, busy in enumerate(self._busy) if busy < WIDTH), len(self._busy))
        if place == len(self._busy):
            self.pools.append(self._make())
            self._busy.append(0)
        self._busy[place] += 1
        try:
            return await self.pools[place].handle_async_request(request)
        finally:
            self._busy[place] -= 1

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self.pools:
            await pool.aclose()
