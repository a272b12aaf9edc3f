"""Memory that a process of tests holds."""

import contextlib
import ctypes
import gc
import re
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
