"""How long an answer is waited for: the one place where judges look at a clock.

asyncio is imported only where something is waited for: the embedded judge does without it.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

Deadline = Callable[[float], "AbstractAsyncContextManager[asyncio.Timeout]"]
"""Gives what is done under it so many seconds, and raises TimeoutError when they are over."""


def after_seconds(seconds: float) -> "AbstractAsyncContextManager[asyncio.Timeout]":
    """Give so many seconds by the clock of the event loop."""
    import asyncio

    return asyncio.timeout(seconds)
