"""What waits for the writer thread: urgent work first, then in the order in which it came.

Only one thread of a process runs at a time. While somebody waits for the app, what is not urgent
waits, so that the writer does not take the processor from what is drawn after a key.
"""

import heapq
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

_URGENT, _ORDINARY, _LAST = 0, 1, 2

MOST_TOGETHER = 16
"""Jobs in one transaction at most. What is urgent ends it after the job at hand."""
LONGEST_REST_S = 0.1
"""How long a job waits for the app at most: keys without end make writing slow and not still."""
LEAST_WORK_S = 0.01
"""How long jobs are given out between two rests."""


@dataclass(order=True, slots=True)
class WriteJob:
    """Work for the writer thread; sorts by urgency, then by arrival."""

    rank: int
    number: int
    run: Callable[[], Any] = field(compare=False)
    future: "Future[Any]" = field(compare=False, default_factory=Future)
    shares: bool = field(compare=False, default=False)
    """It may be in one transaction with others."""

    def start_unless_cancelled(self) -> bool:
        """Say that it begins; False when nobody wants it any more. One that was given back has."""
        return self.future.running() or self.future.set_running_or_notify_cancel()

    def run_and_resolve(self) -> None:
        """Run it, and give the result to whoever waits."""
        try:
            result = self.run()
        except BaseException as error:  # whoever waits gets whatever it was
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class WriteQueue:
    """The queue. Any thread may put something in, one takes it out.

    Args:
        seconds: Tells the time.
    """

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._jobs: list[WriteJob] = []
        """A heap."""
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        """Holds the lock of all that is here; notified when there is something to be done."""
        self._rest_until = 0.0
        self._work_until = 0.0
        self._urgent = 0
        """Urgent jobs that wait or run."""
        self.is_closed = False
        """Nothing more is taken in."""

    @property
    def is_urgent_work_at_hand(self) -> bool:
        """Whether an urgent job waits or runs."""
        return self._urgent > 0

    def wait_for_urgent_work(self) -> None:
        """Wait while urgent jobs wait or run.

        For threads that would take the processor from them. Not for the thread that runs them.
        """
        if self._urgent:  # without the lock, as this is called for each record of a file
            with self._changed:
                self._changed.wait_for(lambda: not self._urgent)

    def add_job(self, fn: Callable[[], T], *, urgent: bool, shares: bool) -> Future[T] | None:
        """Line a function up.

        Args:
            fn: What is to be run.
            urgent: Before everything that is not.
            shares: It may be in one transaction with others.

        Returns:
            What tells how it went; None when nothing is taken in any more.
        """
        with self._changed:
            if self.is_closed:
                return None
            rank = _URGENT if urgent else _ORDINARY
            job = WriteJob(rank, next(self._numbers), fn, shares=shares)
            heapq.heappush(self._jobs, job)
            if urgent:
                self._urgent += 1
            # All, as the writer waits for jobs here and others for the end of urgent ones.
            self._changed.notify_all()
        return job.future

    def delay_non_urgent_work(self, seconds: float) -> None:
        """Let what is not urgent wait from now on for so long."""
        with self._changed:
            self._rest_until = self._seconds() + seconds
            self._changed.notify_all()

    def close_unless_closed(self) -> bool:
        """Take nothing more in; what waits is still given out. False if that was said before."""
        with self._changed:
            if self.is_closed:
                return False
            self.is_closed = True
            # Nobody is left to rest for.
            self._rest_until = 0.0
            heapq.heappush(self._jobs, WriteJob(_LAST, next(self._numbers), _do_nothing))
            self._changed.notify_all()
        return True

    def iter_started_batches(self) -> Iterator[list[WriteJob]]:
        """Give out what is to be run next, and what may be run with it, until the end.

        They have begun: nobody can call them off any more.
        """
        while (job := self._pop_next_job()).rank != _LAST:
            taken = [job, *self._pop_shareable_jobs(job)]
            urgent = sum(each.rank == _URGENT for each in taken)
            try:
                if jobs := [each for each in taken if each.start_unless_cancelled()]:
                    yield jobs
            finally:
                self._subtract_ended_urgent_jobs(urgent)
            # What they hold may be large, and the next may take long to come.
            del job, jobs, taken

    def give_back_unrun_jobs(self, jobs: Iterable[WriteJob]) -> None:
        """Line up again, in their old places, jobs that were given out and not run."""
        with self._changed:
            for job in jobs:
                heapq.heappush(self._jobs, job)
                self._urgent += job.rank == _URGENT  # its batch counts it as over

    def _pop_next_job(self) -> WriteJob:
        """Take the next job when there is one, and its turn has come."""
        with self._changed:
            latest: float | None = None
            while True:
                rest: float | None = None
                if self._jobs:
                    now = self._seconds()
                    if self._jobs[0].rank != _ORDINARY or now < self._work_until:
                        return heapq.heappop(self._jobs)
                    # However often the rest is prolonged, ordinary work waits no longer than this.
                    latest = now + LONGEST_REST_S if latest is None else latest
                    rest = min(self._rest_until, latest) - now
                    if rest <= 0:
                        self._work_until = now + LEAST_WORK_S
                        return heapq.heappop(self._jobs)
                self._changed.wait(rest)

    def _subtract_ended_urgent_jobs(self, count: int) -> None:
        """Say that urgent jobs are over."""
        if count:
            with self._changed:
                self._urgent -= count
                self._changed.notify_all()

    def _pop_shareable_jobs(self, job: WriteJob) -> list[WriteJob]:
        """Take what waits and may share a transaction with a job, up to what may not."""
        more: list[WriteJob] = []
        with self._changed:
            while job.shares and self._jobs and self._jobs[0].shares:
                if len(more) == MOST_TOGETHER - 1:
                    break
                more.append(heapq.heappop(self._jobs))
        return more


def _do_nothing() -> None:
    """Stand for the end."""
