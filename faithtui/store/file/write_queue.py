"""What waits for the writer thread: urgent work first, then in the order in which it came."""

import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, PriorityQueue
from typing import Any, TypeVar

T = TypeVar("T")

_URGENT, _ORDINARY, _LAST = 0, 1, 2

MOST_TOGETHER = 16
"""Jobs in one transaction at most: what is urgent waits until it ends."""


@dataclass(order=True, slots=True)
class WriteJob:
    """Work for the writer thread; sorts by urgency, then by arrival."""

    rank: int
    number: int
    run: Callable[[], Any] = field(compare=False)
    future: "Future[Any]" = field(compare=False, default_factory=Future)
    shares: bool = field(compare=False, default=False)
    """It may be in one transaction with others."""

    def begin(self) -> bool:
        """Say that it begins; False when nobody wants it any more."""
        return self.future.set_running_or_notify_cancel()

    def finish(self) -> None:
        """Run it, and tell whoever waits what came of it."""
        try:
            result = self.run()
        except BaseException as error:  # whoever waits gets whatever it was
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class WriteQueue:
    """The queue. Any thread may put something in, one takes it out."""

    def __init__(self) -> None:
        self._queue: PriorityQueue[WriteJob] = PriorityQueue()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self.is_closed = False
        """Nothing more is taken in."""

    def put(self, fn: Callable[[], T], *, urgent: bool, shares: bool) -> Future[T] | None:
        """Line a function up.

        Args:
            fn: What is to be run.
            urgent: Before everything that is not.
            shares: It may be in one transaction with others.

        Returns:
            What tells how it went; None when nothing is taken in any more.
        """
        with self._lock:
            if self.is_closed:
                return None
            rank = _URGENT if urgent else _ORDINARY
            job = WriteJob(rank, next(self._numbers), fn, shares=shares)
            self._queue.put(job)
        return job.future

    def close(self) -> bool:
        """Take nothing more in; what waits is still given out. False if that was said before."""
        with self._lock:
            if self.is_closed:
                return False
            self.is_closed = True
            self._queue.put(WriteJob(_LAST, next(self._numbers), _do_nothing))
        return True

    def take_batches(self) -> Iterator[list[WriteJob]]:
        """Give out what is to be run next, and what may be run with it, until the end.

        They have begun: nobody can call them off any more.
        """
        while (job := self._queue.get()).rank != _LAST:
            if jobs := [each for each in (job, *self._take_shareable(job)) if each.begin()]:
                yield jobs
            del job, jobs  # what they hold may be large, and the next may take long to come

    def _take_shareable(self, job: WriteJob) -> list[WriteJob]:
        """Take what waits and may share a transaction with a job, up to what may not."""
        more: list[WriteJob] = []
        while job.shares and len(more) < MOST_TOGETHER - 1:
            try:
                following = self._queue.get_nowait()
            except Empty:
                break
            if not following.shares:
                self._queue.put(following)  # its number keeps its place
                break
            more.append(following)
        return more


def _do_nothing() -> None:
    """Stand for the end."""
