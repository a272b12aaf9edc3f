"""What a person can see and do of a run under way, from any thread."""

import time
from collections.abc import Callable

from faithtui.engine.calls.budget import Budget, BudgetCaps
from faithtui.engine.calls.concurrency_limit import ConcurrencyLimit
from faithtui.engine.calls.rate_limiter import RateLimiter
from faithtui.engine.calls.send import CallCounts
from faithtui.engine.runs.yield_to_ui import UiYielder

MOST_CONCURRENT = 256
"""Questions in flight of one run at most."""


class RunControl:
    """Handles and gauges of one run.

    Attributes:
        requests: Places for questions in flight.
        conversations: Places for conversations being judged.
        tally: Counts of calls in this process.
        limiter: Limits of the judge's account; None: nobody limits it, or the run has not begun.
        budget: What it may spend; None: the run has not begun.
        ui_yielder: Lets it rest for a moment while somebody waits for the app.
    """

    def __init__(self, workers: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Prepare.

        Args:
            workers: Questions in flight at once.
            clock: Seconds that never jump.
        """
        self._clock = clock
        self._paused_at: float | None = None
        self._paused_s = 0.0
        self.requests = ConcurrencyLimit(workers)
        self.conversations = ConcurrencyLimit(workers)
        self.tally = CallCounts()
        self.limiter: RateLimiter | None = None
        self.budget: Budget | None = None
        self.ui_yielder = UiYielder()

    @property
    def max_in_flight(self) -> int:
        """Questions that may be in flight at once."""
        return self.requests.limit

    @property
    def is_paused(self) -> bool:
        """Whether nothing new is asked at present."""
        return self.requests.is_paused

    @property
    def pause_duration_s(self) -> float:
        """Seconds for which it was paused so far."""
        now = 0.0 if self._paused_at is None else self._clock() - self._paused_at
        return self._paused_s + now

    def set_max_in_flight(self, workers: int) -> int:
        """Change how many questions may be in flight; those in flight stay.

        Returns:
            How many it is now, within 1 to 256.
        """
        wanted = min(max(1, workers), MOST_CONCURRENT)
        self.requests.resize(wanted)
        self.conversations.resize(wanted)
        return wanted

    def set_budget(self, nusd: int | None, tokens: int | None) -> None:
        """Change what may be spent; questions that wait for room look again as others end.

        Args:
            nusd: In units of 1e-9 US dollars; None: no limit.
            tokens: Read and written; None: no limit.
        """
        if self.budget is not None:
            self.budget.caps = BudgetCaps(nusd, tokens)

    def pause(self) -> None:
        """Ask nothing new until `resume`; answers in flight still come in."""
        if self._paused_at is None:
            self._paused_at = self._clock()
        self.requests.pause()
        self.conversations.pause()

    def resume(self) -> None:
        """Go on."""
        self._paused_s, self._paused_at = self.pause_duration_s, None
        self.requests.resume()
        self.conversations.resume()
