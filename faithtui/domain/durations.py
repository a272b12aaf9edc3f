"""Spans of time in words that nobody takes for a time of day."""

import math


def format_time_span(seconds: float) -> str:
    """Write a span as users read it: `40 s`, `18 min`, `2 h 5 min`; minutes are rounded up."""
    if seconds < 60:
        return f"{max(0, math.ceil(seconds))} s"
    hours, minutes = divmod(math.ceil(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def format_time_left(seconds: float) -> str:
    """Say how long something still takes: `18 min left`."""
    return f"{format_time_span(seconds)} left"
