"""How fast one account is asked: a window of requests in flight and, once known, a pace.

Providers say their limits seldom and change them often, so both are learned from what is accepted
and what is refused. All runs of a process share the limiter of an account. Waits use a clock that
never jumps.
"""

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from faithtui.engine.calls.concurrency_limit import ConcurrencyLimit
from faithtui.judges.base import RateLimits

FIRST_WINDOW = 8
"""Requests in flight at the start: enough to learn from, too few to be cut off for."""

MOST_IN_FLIGHT = 256
"""Requests in flight at most, whatever is accepted."""

OPENING_GROWTH = 2.0
"""How much the window grows with each success until the first refusals: it triples a round."""

_LOOK_BACK_S = 2.0
"""How long answers and refusals are remembered."""

_CUT_SHARE = 0.15
"""Share of refusals that cuts the window. Below it they may be bad luck."""

_STEP_DOWN_SHARE = 0.10
"""Share of refusals at which the window goes down by one."""

_GROWTH_SHARE = 0.08
"""Share of refusals from which the window no longer grows."""

_CUT_SHARE_PACED = 0.06
"""Share of refusals that cuts when there is a pace: then a limit on speed is known to exist."""

_FEWEST, _FEWEST_PACED = 3, 2
"""Refusals below which nothing is cut."""

_STEP_S = 0.5
"""Seconds between two steps of one."""

_CUT, _FIRST_CUT = 0.8, 0.5
"""What is left of the window; the first cut ends a phase that overshoots by more."""

_SECOND_CUT_S = 5.0
"""A second cut within so many seconds says that speed is limited, and sets a pace: a limit of
requests in flight is met by the window alone."""

_PACE_GROWTH = 1.08
"""By how much the pace rises in a second without refusals."""

_PACE_FORGOTTEN_S = 60.0
"""After so long without a cut the pace is forgotten."""

_BURST_S = 1.0
"""How much of unused pace is saved up."""


_NO_LIMITS = RateLimits()


@dataclass(frozen=True, slots=True)
class SpeedLimit:
    """What a person allows. None: whatever the provider takes."""

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


NO_SPEED_LIMIT = SpeedLimit()


class RequestLimiter(Protocol):
    """What lets requests of one account start. See `RateLimiter`."""

    async def start_request(self, tokens: int) -> float:
        """Wait until a request may start, and say when it did."""

    def record_success(self, limits: RateLimits = _NO_LIMITS) -> None:
        """Note an answer."""

    def record_refusal(self, started: float) -> None:
        """Note that the provider found a request too many."""

    def record_failure(self) -> None:
        """Note that a request ended in another way."""


class RateLimiter:
    """The limits of one account."""

    def __init__(
        self,
        allowed: SpeedLimit = NO_SPEED_LIMIT,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Begin with a small window and no pace.

        Args:
            allowed: What a person allows.
            clock: Seconds that never jump.
            sleep: Waits for seconds.
        """
        self._user_limit = allowed
        self._provider_limits = RateLimits()
        self._clock = clock
        self._sleep = sleep
        # Runs of one account are on threads of their own, and share this.
        self._lock = threading.Lock()
        self._window = float(FIRST_WINDOW)
        self._slots = ConcurrencyLimit(FIRST_WINDOW)
        self._is_opening = True
        self._accepted_times: deque[float] = deque()
        self._refused_times: deque[float] = deque()
        self._cut_at = self._step_at = -math.inf
        self._pace: float | None = None
        """Requests a second at the time of the last cut; None: none is needed."""
        self._next_start = -math.inf

    @property
    def max_in_flight(self) -> int:
        """Requests that may be in flight now."""
        return self._slots.limit

    @property
    def in_flight(self) -> int:
        """Requests in flight."""
        return self._slots.in_use

    @property
    def requests_per_second(self) -> float | None:
        """Requests a second that may start; None: as many as there is room for."""
        with self._lock:
            return self._compute_requests_per_second(self._clock())

    async def start_request(self, tokens: int) -> float:
        """Wait until a request may start.

        Args:
            tokens: What it may use, as far as known.

        Returns:
            When it started, for `record_success`, `record_refusal` or `record_failure`: one of them
            must follow.
        """
        # A place before a time: a time reserved by who still waits for a place would go unused.
        await self._slots.acquire()
        try:
            wait_s = self._reserve_start_and_compute_wait(tokens)
            if wait_s > 0:
                await self._sleep(wait_s)
        except BaseException:
            # Cancelled while it waited: no outcome will follow, which would give the place back.
            self._slots.release()
            raise
        return self._clock()

    def record_success(self, limits: RateLimits = _NO_LIMITS) -> None:
        """Note an answer, and what the provider says of its limits beside it."""
        with self._lock:
            now = self._clock()
            self._accepted_times.append(now)
            self._forget_old_times(now)
            if limits != _NO_LIMITS:
                self._provider_limits = limits
            # A window that is not used says nothing about a wider one.
            if self._slots.in_use >= self._slots.limit:
                if self._is_opening:
                    self._window += OPENING_GROWTH
                elif self._compute_refused_share() < _GROWTH_SHARE:
                    # One more place for each window of answers: additive increase, as in TCP.
                    self._window += 1 / self._window
                self._window = min(self._window, MOST_IN_FLIGHT)
        self._release_slot()

    def record_refusal(self, started: float) -> None:
        """Note that the provider found a request too many.

        Args:
            started: When it started. What began before the last cut says nothing new.
        """
        with self._lock:
            now = self._clock()
            if started >= self._cut_at:
                self._refused_times.append(now)
            self._forget_old_times(now)
            is_paced = self._compute_learned_requests_per_second(now) is not None
            share = self._compute_refused_share()
            if len(self._refused_times) >= (_FEWEST_PACED if is_paced else _FEWEST) and share >= (
                _CUT_SHARE_PACED if is_paced else _CUT_SHARE
            ):
                self._shrink_concurrency_window(now)
            elif (
                not self._is_opening
                and len(self._refused_times) > 1
                and share >= _STEP_DOWN_SHARE
                and now - self._step_at > _STEP_S
            ):
                self._window = max(1.0, self._window - 1)
                self._step_at = now
        self._release_slot()

    def record_failure(self) -> None:
        """Note that a request ended in another way, which says nothing about limits."""
        self._slots.release()

    def _forget_old_times(self, now: float) -> None:
        for times in (self._accepted_times, self._refused_times):
            while times and times[0] < now - _LOOK_BACK_S:
                times.popleft()

    def _compute_refused_share(self) -> float:
        return len(self._refused_times) / max(
            1, len(self._accepted_times) + len(self._refused_times)
        )

    def _release_slot(self) -> None:
        self._slots.release()
        if int(self._window) != self._slots.limit:
            self._slots.resize(int(self._window))

    def _shrink_concurrency_window(self, now: float) -> None:
        self._window = max(1.0, self._window * (_FIRST_CUT if self._is_opening else _CUT))
        self._is_opening = False
        # Before anything was accepted there is no pace to go by.
        if self._accepted_times and now - self._cut_at < _SECOND_CUT_S:
            span = max(now - self._accepted_times[0], 1.0)
            self._pace = max(1.0, len(self._accepted_times) / span)
        else:
            self._pace = self._compute_learned_requests_per_second(now)
        self._cut_at = now
        # This cut answers them: the next one needs refusals of its own.
        self._refused_times.clear()

    def _compute_learned_requests_per_second(self, now: float) -> float | None:
        """Requests a second that were accepted before, and a bit more each second since."""
        since = now - self._cut_at
        if self._pace is None or since > _PACE_FORGOTTEN_S:
            return None
        growth: float = _PACE_GROWTH**since
        return self._pace * growth

    def _compute_requests_per_second(self, now: float) -> float | None:
        minute = _min_ignoring_none(
            self._user_limit.requests_per_minute, self._provider_limits.requests_per_minute
        )
        return _min_ignoring_none(
            self._compute_learned_requests_per_second(now), None if minute is None else minute / 60
        )

    def _reserve_start_and_compute_wait(self, tokens: int) -> float:
        """Take the next place in time, and give the seconds until then."""
        with self._lock:
            now = self._clock()
            pace = self._compute_requests_per_second(now)
            minute = _min_ignoring_none(
                self._user_limit.tokens_per_minute, self._provider_limits.tokens_per_minute
            )
            interval = 0.0 if pace is None else 1 / pace
            if minute is not None:
                interval = max(interval, 60 * tokens / minute)
            if not interval:
                return 0.0
            start = max(now, self._next_start)
            # Unused pace is saved up, but for no more than a burst.
            self._next_start = max(self._next_start, now - _BURST_S) + interval
            return start - now


class RateLimiters:
    """The limiters of a process, one per account."""

    def __init__(self, allowed: SpeedLimit = NO_SPEED_LIMIT) -> None:
        """Begin without any.

        Args:
            allowed: What a person allows, for each account.
        """
        self._allowed = allowed
        self._lock = threading.Lock()
        self._limiters: dict[str, RateLimiter] = {}

    def get_limiter(self, account: str) -> RateLimiter | None:
        """Give the limiter of an account; None for judges that nobody limits."""
        if not account:
            return None
        with self._lock:
            return self._limiters.setdefault(account, RateLimiter(self._allowed))


def _min_ignoring_none(*values: float | None) -> float | None:
    return min((value for value in values if value is not None), default=None)
