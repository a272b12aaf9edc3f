"""The index of replies says what a dict would say."""

from hypothesis import given
from hypothesis import strategies as st

from faithtui.engine.shards import reply_index
from faithtui.engine.shards.reply_index import ReplyIndex

KEYS = st.integers(0, 40) | st.integers(0, 2**60 - 1)


@given(st.lists(st.tuples(KEYS, st.integers(0, 2**60))), st.integers(1, 9))
def test_the_latest_place_of_each_key_is_found(added: list[tuple[int, int]], least: int) -> None:
    usual, reply_index._LEAST_NEW = reply_index._LEAST_NEW, least  # type: ignore[misc]
    try:
        index, expected = ReplyIndex(), dict[int, int]()
        for key, place in added:
            index.add(key, place)
            expected[key] = place
        assert {key: index.find(key) for key in expected} == expected
        assert all(index.find(key) is None for key in range(41) if key not in expected)
    finally:
        reply_index._LEAST_NEW = usual  # type: ignore[misc]
