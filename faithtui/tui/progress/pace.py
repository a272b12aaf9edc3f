"""What goes on in a run at present: replies in flight, and the pace of the last minute.

The totals of a snapshot are those of the last event, and between two events many answers arrive;
its gauges are as new as the snapshot.
"""

from collections import deque
from dataclasses import dataclass

from faithtui.engine.runs.events import RunSnapshot

LOOK_BACK_S = 60.0
"""How much of the past counts as the present."""
MIN_SPAN_S = 2.0
"""Seconds of looking before there is a pace to speak of."""
MIN_SAMPLE_GAP_S = 0.5
"""Seconds between two looks that are kept."""


@dataclass(frozen=True, slots=True)
class RunRates:
    """A pace. None: nothing was seen for long enough."""

    calls: float | None = None
    """Answers received a minute."""
    windows: float | None = None
    """Windows stored a minute."""


NO_RATES = RunRates()


@dataclass(frozen=True, slots=True)
class _PaceSample:
    at_s: float
    calls: int
    windows: int


class PaceMeter:
    """The pace of one run, while somebody looks at it."""

    def __init__(self) -> None:
        self._samples: deque[_PaceSample] = deque()

    def measure_pace(self, snapshot: RunSnapshot) -> RunRates:
        """Look at the run, and give its pace.

        A snapshot that is older than the one before begins another attempt of the run.
        """
        now = _PaceSample(
            snapshot.elapsed_s, count_received_replies(snapshot), snapshot.progress.windows
        )
        if self._samples and now.at_s < self._samples[-1].at_s:
            self._samples.clear()
        # One look from before the minute stays, so that the whole minute is measured.
        while len(self._samples) > 1 and self._samples[1].at_s <= now.at_s - LOOK_BACK_S:
            self._samples.popleft()
        rates = self._rates_between(self._samples[0], now) if self._samples else NO_RATES
        if not self._samples or now.at_s - self._samples[-1].at_s >= MIN_SAMPLE_GAP_S:
            self._samples.append(now)
        return rates

    @staticmethod
    def _rates_between(then: _PaceSample, now: _PaceSample) -> RunRates:
        passed_s = now.at_s - then.at_s
        if passed_s < MIN_SPAN_S:
            return NO_RATES
        minutes = passed_s / 60
        return RunRates((now.calls - then.calls) / minutes, (now.windows - then.windows) / minutes)


def count_replies_in_flight(now: RunSnapshot) -> int:
    """Count the replies in flight."""
    if now.gauges is None or not now.gauges.steps:
        return now.progress.in_flight
    return sum(step.in_flight for step in now.gauges.steps)


def count_received_replies(now: RunSnapshot) -> int:
    """Count the answers that were received in this process."""
    if now.gauges is None:
        return now.progress.calls
    return max(now.progress.calls, sum(step.calls for step in now.gauges.steps))
