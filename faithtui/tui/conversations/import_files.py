"""Importing without the collector: imports make many objects and no garbage."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_gc_then_freeze_objects() -> Iterator[None]:
    """Keep the collector out of the way, now and later: what was made meanwhile is there to stay.

    Not to be nested, nor entered in two threads at a time.
    """
    before = len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) > before:  # else a second app would keep the remains of the first
            gc.freeze()
        gc.enable()
