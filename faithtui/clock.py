"""The clock of the machine: what reads it takes this function as a default, and tests another."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Tell the time, in UTC."""
    return datetime.now(UTC)
