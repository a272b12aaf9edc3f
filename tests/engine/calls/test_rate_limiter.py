"""Limits, against servers that are only arithmetic and a clock that only the test moves."""

import asyncio
import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from faithtui.engine.calls.rate_limiter import MOST_IN_FLIGHT, RateLimiter, RateLimiters, SpeedLimit
from faithtui.judges.base import RateLimits


class Time:
    """A clock that jumps to the next thing that happens once everybody waits."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._due, (self.now + seconds, self._count, future))
        await future

    async def run(self, everything: "asyncio.Future[list[None]]") -> None:
        while not everything.done():
            for _ in range(12):
                await asyncio.sleep(0)
            if self._due and not everything.done():
                self.now, _, future = heapq.heappop(self._due)
                if not future.done():
                    future.set_result(None)


@dataclass
class Outcome:
    per_s: float
    rejected: float
    limiter: RateLimiter
    starts: list[float] = field(default_factory=list)


Refuses = Callable[[float, int, int], bool]
"""Time, requests in flight, try of the item."""


def ask_all(
    items: int,
    refuses: Refuses,
    *,
    latency_s: float = 0.3,
    concurrency: int = 64,
    speed: SpeedLimit | None = None,
    said: RateLimits | None = None,
) -> Outcome:
    time = Time()
    limiter = RateLimiter(speed or SpeedLimit(), clock=time, sleep=time.sleep)
    sent = rejected = in_flight = 0
    starts: list[float] = []

    async def item(places: asyncio.Semaphore) -> None:
        nonlocal sent, rejected, in_flight
        tries = 0
        while True:
            async with places:
                started = await limiter.start_request(100)
                sent += 1
                starts.append(time.now)
                if not refuses(time.now, in_flight, tries):
                    in_flight += 1
                    await time.sleep(latency_s)
                    in_flight -= 1
                    limiter.record_success(said or RateLimits())
                    return
                await time.sleep(0.01)
                limiter.record_refusal(started)
                rejected += 1
            await time.sleep(0.5 * 2 ** min(tries, 4))
            tries += 1

    async def play() -> None:
        places = asyncio.Semaphore(concurrency)
        await time.run(asyncio.gather(*(item(places) for _ in range(items))))

    asyncio.run(play())
    return Outcome(items / time.now, rejected / sent, limiter, starts)


def at_most_per_second(most: int) -> Refuses:
    taken: list[float] = []

    def refuses(now: float, in_flight: int, tries: int) -> bool:
        taken[:] = [at for at in taken if at > now - 1]
        if len(taken) >= most:
            return True
        taken.append(now)
        return False

    return refuses


def test_a_provider_without_limits_gets_all_there_is() -> None:
    outcome = ask_all(2_000, lambda now, in_flight, tries: False)
    assert outcome.per_s > 0.85 * 64 / 0.3
    assert outcome.rejected == 0


def test_a_limit_of_requests_in_flight_is_found() -> None:
    outcome = ask_all(600, lambda now, in_flight, tries: in_flight >= 8)
    assert outcome.per_s >= 0.7 * 8 / 0.3
    assert outcome.rejected <= 0.10


def test_a_limit_of_requests_per_second_is_found() -> None:
    outcome = ask_all(1_000, at_most_per_second(20))
    assert outcome.per_s >= 0.7 * 20
    assert outcome.rejected <= 0.12
    assert outcome.limiter.requests_per_second is not None


def test_single_refusals_now_and_then_slow_nothing_down() -> None:
    dice = random.Random(1)
    outcome = ask_all(3_000, lambda now, in_flight, tries: dice.random() < 0.05)
    assert outcome.per_s > 0.4 * 64 / 0.3
    assert outcome.limiter.requests_per_second is None


def test_a_provider_that_refuses_every_first_try_is_not_given_up() -> None:
    outcome = ask_all(12, lambda now, in_flight, tries: tries == 0, concurrency=8)
    assert outcome.rejected == 0.5
    assert 12 / outcome.per_s < 8


@pytest.mark.parametrize(
    ("speed", "said"),
    [
        (SpeedLimit(requests_per_minute=600), None),
        (None, RateLimits(requests_per_minute=600)),
        (SpeedLimit(tokens_per_minute=60_000), None),
        (SpeedLimit(requests_per_minute=600), RateLimits(requests_per_minute=6_000)),
    ],
)
def test_a_limit_that_is_known_is_kept_to(
    speed: SpeedLimit | None, said: RateLimits | None
) -> None:
    outcome = ask_all(300, lambda now, in_flight, tries: False, speed=speed, said=said)
    late = [at for at in outcome.starts if at > 2]
    assert len(late) / (late[-1] - late[0]) == pytest.approx(10, rel=0.1)


def test_the_window_never_grows_past_what_one_process_sends() -> None:
    outcome = ask_all(5_000, lambda now, in_flight, tries: False, concurrency=1_000)
    assert outcome.limiter.max_in_flight == MOST_IN_FLIGHT


async def test_a_request_that_fails_in_another_way_changes_nothing() -> None:
    limiter = RateLimiter()
    before = limiter.max_in_flight
    for _ in range(20):
        await limiter.start_request(1)
        limiter.record_failure()
    assert (limiter.max_in_flight, limiter.in_flight, limiter.requests_per_second) == (
        before,
        0,
        None,
    )


async def test_who_is_cancelled_while_waiting_for_the_pace_gives_its_place_back() -> None:
    limiter = RateLimiter(SpeedLimit(requests_per_minute=1))
    await limiter.start_request(1)
    waiting = asyncio.create_task(limiter.start_request(1))
    await asyncio.sleep(0.01)
    assert limiter.in_flight == 2
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert limiter.in_flight == 1


def test_an_account_has_one_limiter_and_judges_without_account_none() -> None:
    traffic = RateLimiters()
    assert traffic.get_limiter("a") is traffic.get_limiter("a")
    assert traffic.get_limiter("a") is not traffic.get_limiter("b")
    assert traffic.get_limiter("") is None
