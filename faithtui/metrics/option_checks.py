"""Ranges that options of several metrics have in common."""

from faithtui.errors import ConfigError


def check_threshold(threshold: float | None) -> None:
    """Refuse a threshold that no score can be held against.

    Raises:
        ConfigError: It is outside 0 to 1.
    """
    if threshold is not None and not 0 <= threshold <= 1:
        raise ConfigError(f"threshold is {threshold}; expected 0 to 1, or none")


def check_window_size(window_size: int) -> None:
    """Refuse a window that holds nothing.

    Raises:
        ConfigError: It is less than 1.
    """
    if window_size < 1:
        raise ConfigError(f"window_size is {window_size}; expected 1 or more interactions")


def check_truths_extraction_limit(limit: int | None) -> None:
    """Refuse a limit that leaves no truths.

    Raises:
        ConfigError: It is less than 1.
    """
    if limit is not None and limit < 1:
        raise ConfigError(
            f"truths_extraction_limit is {limit}; "
            "expected 1 or more truths per document, or none for all"
        )
