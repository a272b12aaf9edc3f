"""Keeping the collector away while many values are made that all stay."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SLOW_THRESHOLD: Final = 10_000
"""New containers until the youngest are looked at; Python itself looks after 700."""

_slow_lock = threading.Lock()
_slow_users = 0
_usual_thresholds = gc.get_threshold()


@contextmanager
def pause_gc() -> Iterator[None]:
    """Pause the collector, which would look at every reading of a report again and again.

    Where it is paused already it stays so afterwards. Two threads that pause it at once may have
    it back a little early, which costs time and nothing else.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def slow_gc() -> Iterator[None]:
    """Let the collector look more seldom while values come and go without end.

    What is measured leaves few cycles behind, and to look for them took a sixth of the time. The
    last of several that slowed it gives the usual pace back.
    """
    global _slow_users, _usual_thresholds
    with _slow_lock:
        if not _slow_users:
            _usual_thresholds = gc.get_threshold()
            if _usual_thresholds[0]:  # 0: it is off
                gc.set_threshold(max(_SLOW_THRESHOLD, _usual_thresholds[0]), *_usual_thresholds[1:])
        _slow_users += 1
    try:
        yield
    finally:
        with _slow_lock:
            _slow_users -= 1
            if not _slow_users:
                gc.set_threshold(*_usual_thresholds)
