import pytest

from faithtui.tui.review.lines.lazy_values import LazyMapping


def test_values_are_made_once_and_when_they_are_asked_for() -> None:
    made: list[int] = []

    def double(key: int) -> int:
        made.append(key)
        return 2 * key

    mapping = LazyMapping(range(3), double)
    assert (len(mapping), list(mapping), 1 in mapping, 9 in mapping) == (3, [0, 1, 2], True, False)
    assert made == []
    assert (mapping[1], mapping[1], mapping.get(9), mapping.made_count) == (2, 2, None, 1)
    assert made == [1]
    assert dict(mapping) == {0: 0, 1: 2, 2: 4}
    with pytest.raises(KeyError):
        mapping[9]
