"""Importing without the collector: imports make many objects and no garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Keep the collector out of the way, now and later: what was made meanwhile is there to stay.

    Not to be nested, nor entered in two threads at a time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
