"""Examples in the store."""

import pytest

from faithtui.errors import StoreError
from faithtui.store.store import Store


def test_a_set_is_kept_once_under_a_name_of_its_own(store: Store) -> None:
    one = store.examples.store_set([{"claim": "a"}, {"claim": "b"}])
    assert store.examples.store_set([{"claim": "a"}, {"claim": "b"}]) == one
    other = store.examples.store_set([{"claim": "b"}, {"claim": "a"}])
    assert other != one
    assert store.examples.read_set(one) == ({"claim": "a"}, {"claim": "b"})
    assert store.examples.read_set(other) == ({"claim": "b"}, {"claim": "a"})


def test_what_no_database_holds_is_kept_as_it_is_everywhere(store: Store) -> None:
    name = store.examples.store_set([{"claim": "a\x00\ud800"}])
    assert store.examples.read_set(name) == ({"claim": "a\ufffd\ufffd"},)
    assert store.examples.store_set([{"claim": "a\ufffd\ufffd"}]) == name


def test_a_set_that_is_not_there_is_told(store: Store) -> None:
    with pytest.raises(StoreError, match="has no examples abc; start the run again"):
        store.examples.read_set("abc")
