"""What a provider says of its limits of speed, in the headers of its answers."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from faithtui.judges.base import RateLimits

_REQUESTS = ("x-ratelimit-limit-requests", "anthropic-ratelimit-requests-limit")
_TOKENS = (
    "x-ratelimit-limit-tokens",
    "anthropic-ratelimit-input-tokens-limit",
    "anthropic-ratelimit-tokens-limit",
)
"""Headers that name a limit per minute, the one that counts first.

Source: OpenAI's and Anthropic's guides to rate limits.
"""

_MOST = 10**12
"""A limit above it is no limit that anybody keeps."""


def read_rate_limits(headers: Mapping[str, str]) -> RateLimits:
    """Read the limits beside an answer, of whichever provider.

    Args:
        headers: Of the answer; looked up in lower case.
    """
    return RateLimits(_read_first_number(headers, _REQUESTS), _read_first_number(headers, _TOKENS))


def read_retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Read how long a provider asks us to wait.

    Understands `retry-after-ms`, and `retry-after` in seconds or as a date. A date is compared
    with the answer's own `date`, so a wrong clock on either side does no harm.

    Returns:
        Seconds, 0 or more; None when nothing readable was said.
    """
    milliseconds = _parse_finite_or_none(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    value = headers.get("retry-after", "")
    seconds = _parse_finite_or_none(value)
    if seconds is not None:
        return max(0.0, seconds)
    until = _parse_date_or_none(value)
    if until is None:
        return None
    now = _parse_date_or_none(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _read_first_number(headers: Mapping[str, str], names: tuple[str, ...]) -> int | None:
    values = (_parse_finite_or_none(headers.get(name, "")) for name in names)
    return next((int(value) for value in values if value and 1 <= value <= _MOST), None)


def _parse_finite_or_none(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _parse_date_or_none(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
