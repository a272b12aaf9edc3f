"""What the C library does with memory that is free again; nothing but glibc is told anything."""

import contextlib
import ctypes
from typing import Final

# `M_MMAP_THRESHOLD` and `M_ARENA_MAX` of glibc's malloc.h.
_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8


def return_large_blocks() -> None:
    """Let large blocks of memory go back to the system when they are free.

    glibc keeps blocks as large as one that it freed before, unless it is told from which size on
    it must not: of two files whose records have 31 MB, an import took 60 MB more.
    """
    _set_option(_MMAP_THRESHOLD, 1024 * 1024)


def share_one_arena() -> None:
    """Let all threads use what any of them freed; call it before the first thread begins.

    glibc gives each thread a stock of its own, and the app reads on ten. Over 100,000
    conversations a tenth of its memory was what one thread had freed and others could not use.
    """
    _set_option(_ARENA_MAX, 1)


def _set_option(option: int, value: int) -> None:
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another system's library
        ctypes.CDLL(None).mallopt(option, value)
