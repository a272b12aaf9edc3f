"""How long an answer is waited for: the one place where judges look at a clock.

asyncio is imported only where something is waited for: the embedded judge does without it.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final

from faithtui.domain.judging.judge_profile import LONGEST_TIMEOUT_S, SHORTEST_TIMEOUT_S
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    import asyncio

TIMEOUT_S: Final = 120.0
"""Seconds one question may take where nobody says otherwise."""

TIMEOUTS: Final = "a number of seconds from 1 to 86400"
"""What may be given, for messages."""

Deadline = Callable[[float], "AbstractAsyncContextManager[asyncio.Timeout]"]
"""Gives what is done under it so many seconds, and raises TimeoutError when they are over."""


def is_valid_timeout(value: object) -> bool:
    """Whether a question may be given so many seconds."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return SHORTEST_TIMEOUT_S <= value <= LONGEST_TIMEOUT_S  # false for NaN too


def require_valid_timeout(value: float, name: str) -> float:
    """Give back what a user said that a question may take.

    Args:
        value: In seconds.
        name: Where it was said, for the message.

    Raises:
        ConfigError: Too short or too long, or no number.
    """
    if not is_valid_timeout(value):
        raise ConfigError(f"{name} is {value}; expected {TIMEOUTS}")
    return float(value)


def time_out_after(seconds: float) -> "AbstractAsyncContextManager[asyncio.Timeout]":
    """Give so many seconds by the clock of the event loop."""
    import asyncio

    return asyncio.timeout(seconds)
