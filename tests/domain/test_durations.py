import pytest

from faithtui.domain.durations import format_time_left, format_time_span


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (39.2, "40 s"),
        (60, "1 min"),
        (1064, "18 min"),
        (3600, "1 h 0 min"),
        (7500, "2 h 5 min"),
    ],
)
def test_a_span_is_no_time_of_day(seconds: float, words: str) -> None:
    assert format_time_span(seconds) == words
    assert format_time_left(seconds) == f"{words} left"
