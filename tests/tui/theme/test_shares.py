"""Shares in whole percent."""

import pytest

from faithtui.tui.theme.format import NONE, format_share


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [
        (0, 0, NONE),
        (0, 3, "0%"),
        (1, 3, "33%"),
        (2, 3, "67%"),
        (1, 1000, "<1%"),
        (999, 1000, "99%"),
        (3, 3, "100%"),
    ],
)
def test_a_share_is_rounded_and_never_all_or_nothing_of_some(
    part: int, whole: int, words: str
) -> None:
    assert format_share(part, whole) == words
