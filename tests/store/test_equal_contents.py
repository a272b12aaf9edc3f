"""New conversations whose turns another data set has are counted, whichever way they are found."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from faithtui.domain.conversation import content_hash
from faithtui.engine.new_contents import NewContents
from faithtui.store import equal_contents
from faithtui.store.records import EqualElsewhere
from faithtui.store.store import Store
from tests.store.building import make_conversation

LOOK_UP_EACH, GO_THROUGH_ALL = equal_contents._LOOK_UP_EACH, equal_contents._GO_THROUGH_ALL


@pytest.mark.parametrize("query", [LOOK_UP_EACH, GO_THROUGH_ALL, None])
def test_new_conversations_count_by_the_data_sets_that_had_their_turns_before(
    store: Store, monkeypatch: pytest.MonkeyPatch, query: str | None
) -> None:
    """Against a count by hand; a rehearsal counts the same."""
    if query is not None:
        monkeypatch.setattr(equal_contents, "_LOOK_UP_EACH", query)
        monkeypatch.setattr(equal_contents, "_GO_THROUGH_ALL", query)
    chance = Random(5)
    stored: list[tuple[str, str]] = []
    told = 0
    for number in range(24):
        rehearsed, counts = NewContents(), Counter[tuple[str, str]]()
        before, earlier = store.equal_contents.get_last_id(), len(stored)
        sources = [chance.choice("abcd") for _ in range(2)]
        new = [
            replace(
                make_conversation(f"talk {chance.randrange(8)}"),
                source=chance.choice(sources),
                key=f"{number}.{place}",
            )
            for place in range(chance.randrange(1, 5))
        ]
        for each in new:
            hashed = content_hash(each.turns)
            counts.update({(each.source, other) for other, known in stored if known == hashed})
            stored.append((each.source, hashed))
            rehearsed.add(each.source, hashed)
        counts = Counter({pair: count for pair, count in counts.items() if pair[0] != pair[1]})
        told += counts.total()
        expected = tuple(
            EqualElsewhere(*pair, count)
            for pair, count in sorted(
                counts.items(), key=lambda each: (each[0][0], -each[1], each[0][1])
            )
        )
        assert rehearsed.count_equal_elsewhere(store) == expected
        store.conversations.import_batch(new)
        found = store.equal_contents.count_new_with_equal_elsewhere(before, set(sources))
        assert found == expected
        assert len(stored) == earlier + len(new) == store.conversations.count()
    assert told > 20


def test_nothing_new_and_data_sets_of_others_count_nothing(store: Store) -> None:
    count = store.equal_contents.count_new_with_equal_elsewhere
    assert store.equal_contents.get_last_id() == 0
    assert count(0, {"a"}) == ()
    first = make_conversation("one")
    store.conversations.import_batch([first, replace(first, source="other")])
    assert count(0, {"other"}) == (EqualElsewhere("other", first.source, 1),)
    assert count(0, {first.source}) == ()  # the other one came later
    assert count(store.equal_contents.get_last_id(), {"other"}) == ()


@pytest.mark.parametrize("query", [LOOK_UP_EACH, GO_THROUGH_ALL])
def test_the_index_alone_answers(store: Store, query: str) -> None:
    with store._database.open_reader() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        plan = [row[3] for row in driver.execute(f"EXPLAIN QUERY PLAN {query}", (0, "[]"))]
    index = "COVERING INDEX ix_conversation_source_content_hash"
    assert any(step.startswith(("SEARCH other", "SCAN other")) and index in step for step in plan)
    assert any("SEARCH conversation USING INTEGER PRIMARY KEY (rowid>?)" in step for step in plan)
