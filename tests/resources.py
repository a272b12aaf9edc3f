"""Processor time and memory that tests take, on any machine."""

import contextlib
import ctypes
import gc
import re
import time
from collections.abc import Callable
from pathlib import Path

_MEMORY = Path("/proc/self/smaps_rollup")


def return_free_memory() -> None:
    """Collect garbage, and let the system have what the C library keeps for later.

    The modules of the program, which `gc.freeze` has set aside, are not looked at.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def read_held_mb() -> int | None:
    """Read how much memory this process holds when all garbage is gone, in MB.

    It depends neither on the load nor on the speed of the machine. None: only Linux says how much.
    """
    if not _MEMORY.exists():
        return None
    return_free_memory()
    resident = re.search(r"^Rss:\s+(\d+) kB", _MEMORY.read_text(), re.MULTILINE)
    assert resident is not None
    return int(resident[1]) // 1024


def times_reading(text: str, work: Callable[[], object]) -> float:
    """Divide the processor time of some work by that of one pass over a text, letter by letter.

    Both are of this process alone, so neither another process nor a slow machine changes much. What
    grows with the square of a text of 100,000 letters comes to tens of thousands.
    """
    resolution = time.get_clock_info("process_time").resolution
    began = time.process_time()
    work()
    worked = time.process_time()
    for _ in text:
        pass
    return (worked - began) / max(time.process_time() - worked, resolution)
