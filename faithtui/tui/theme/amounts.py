"""Amounts of money and tokens as users type them. Pure."""

import re

from faithtui.errors import ConfigError

GROUP_COMMA = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
"""What stands between the digits of a large number, as it is shown."""

_NUSD = 1_000_000_000
_MOST_USD = 1_000_000.0
_MONEY = re.compile(r"\$?\s*(\d{1,7}(?:\.\d{1,9})?)")
_TOKENS = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([kKmM]?)")
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}


def parse_typed_dollars(text: str) -> int | None:
    """Read an amount of money: `5`, `$2.50`, `$1,234.50`.

    Returns:
        Units of 1e-9 US dollars; None for a blank text.

    Raises:
        ConfigError: It is none, nothing, or more than a million.
    """
    if not text.strip():
        return None
    found = _MONEY.fullmatch(GROUP_COMMA.sub("", text.strip()))
    if found is None or not 0 < float(found[1]) <= _MOST_USD:
        raise ConfigError("dollars are a number above 0, such as 5 or 2.50; blank: no limit")
    whole, _, part = found[1].partition(".")
    return int(whole) * _NUSD + int(part.ljust(9, "0") or 0)


def parse_typed_tokens(text: str) -> int | None:
    """Read a number of tokens: `800000`, `800,000`, `800k`, `1.5M`; blanks may be between digits.

    Returns:
        The number; None for a blank text.

    Raises:
        ConfigError: It is none, or nothing.
    """
    bare = GROUP_COMMA.sub("", text.replace(" ", ""))
    if not bare:
        return None
    found = _TOKENS.fullmatch(bare)
    count = 0 if found is None else round(float(found[1]) * _TIMES[found[2].lower()])
    if count < 1:
        raise ConfigError("tokens are a number above 0, such as 800k or 1.5M; blank: no limit")
    return count


def format_typed_dollars(nusd: int | None) -> str:
    """Write an amount as it is typed; "" for no limit."""
    if nusd is None:
        return ""
    return f"{nusd // _NUSD}.{nusd % _NUSD:09}".rstrip("0").rstrip(".")


def format_typed_tokens(count: int | None) -> str:
    """Write a number of tokens as it is typed; "" for no limit."""
    return "" if count is None else str(count)
