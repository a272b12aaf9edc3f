import asyncio

import httpx2

from faithtui.judges.providers.connection_pools import WIDTH, PoolingTransport

QUESTION = httpx2.Request("GET", "http://127.0.0.1/")


class Slow(httpx2.AsyncBaseTransport):
    """Answers when it is told to."""

    def __init__(self, may_answer: asyncio.Event) -> None:
        self.most = self.busy = 0
        self.closed = False
        self._may_answer = may_answer

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            await self._may_answer.wait()
        finally:
            self.busy -= 1
        return httpx2.Response(200)

    async def aclose(self) -> None:
        self.closed = True


async def test_as_many_pools_are_opened_as_requests_need_and_used_again() -> None:
    may_answer = asyncio.Event()
    opened: list[Slow] = []

    def make() -> Slow:
        opened.append(Slow(may_answer))
        return opened[-1]

    pools = PoolingTransport(make)
    assert len(opened) == 1
    asked = [
        asyncio.create_task(pools.handle_async_request(QUESTION)) for _ in range(2 * WIDTH + 1)
    ]
    await asyncio.sleep(0)
    assert [each.busy for each in opened] == [WIDTH, WIDTH, 1]
    asked[0].cancel()
    may_answer.set()
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert [isinstance(each, httpx2.Response) for each in answers] == [False] + [True] * 2 * WIDTH

    await asyncio.gather(*(pools.handle_async_request(QUESTION) for _ in range(WIDTH)))
    assert len(opened) == 3
    assert opened[0].most == WIDTH
    await pools.aclose()
    assert all(each.closed for each in opened)
