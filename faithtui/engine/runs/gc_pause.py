"""Keeping the collector away while many values are made that all stay."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
