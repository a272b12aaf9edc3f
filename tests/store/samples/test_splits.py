"""The split of a store, and the looks at its test part."""

from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.domain.split_rule import SPLITS, Split, SplitRule
from faithtui.errors import StoreError
from faithtui.store.store import Store
from tests.store.building import make_conversation

RULE = SplitRule(3, 50, 25, 25)


def test_there_is_no_split_until_it_is_made(store: Store) -> None:
    store.conversations.import_batch([make_conversation("one")])
    assert store.splits.read_split_rule() is None
    assert store.splits.map_conversations_to_splits() == {}


def test_a_split_is_made_once(store: Store) -> None:
    made = store.splits.set_split_rule_unless_set(RULE, "ann")
    assert (made.rule, made.made_by) == (RULE, "ann")
    assert store.splits.set_split_rule_unless_set(RULE, "bo") == made
    with pytest.raises(StoreError, match=r"split already, 50,25,25 with seed 3, .*never changed"):
        store.splits.set_split_rule_unless_set(replace(RULE, seed=4), "bo")
    assert store.splits.read_split_rule() == made


def test_a_second_process_cannot_make_another_one(store: Store, path: Path) -> None:
    with Store.open(path) as other:
        store.splits.set_split_rule_unless_set(RULE, "ann")
        with pytest.raises(StoreError, match="split already"):
            other.splits.set_split_rule_unless_set(replace(RULE, train=60, dev=15), "bo")


def test_a_group_stays_together_and_later_conversations_move_nobody(store: Store) -> None:
    first = [replace(make_conversation(f"chat {n}"), group=f"group {n % 7}") for n in range(40)]
    store.conversations.import_batch(first)
    store.splits.set_split_rule_unless_set(RULE, "ann")
    before = store.splits.map_conversations_to_splits()
    later = [
        replace(make_conversation(f"late {n}", source="b"), group=f"group {n % 9}")
        for n in range(40)
    ]
    store.conversations.import_batch(later)
    after = store.splits.map_conversations_to_splits()
    assert {number: after[number] for number in before} == before
    assert len(after) == 80
    by_group: dict[str, set[Split]] = {}
    for number, split in after.items():
        by_group.setdefault(store.conversations.get(number).group, set()).add(split)
    assert {len(each) for each in by_group.values()} == {1}


def test_groups_and_conversations_are_counted_per_part(store: Store) -> None:
    chats = [replace(make_conversation(f"chat {n}"), group=f"group {n % 7}") for n in range(40)]
    store.conversations.import_batch(chats)
    counts = store.splits.count_conversations_per_split(RULE)
    assert tuple(counts) == SPLITS
    assert sum(each.conversations for each in counts.values()) == 40
    assert sum(each.groups for each in counts.values()) == 7
    of_test = [each for each in chats if RULE.get_split_of_group(each.group) is Split.TEST]
    assert counts[Split.TEST].conversations == len(of_test)


def test_looks_at_the_test_part_are_counted_and_kept(store: Store) -> None:
    assert store.splits.record_test_opening("compare", [RunId(1), RunId(2)], "ann") == 1
    assert store.splits.record_test_opening("report", [RunId(2)], "bo\x00") == 2
    first, second = store.splits.list_test_openings()
    assert (first.command, first.runs, first.opened_by) == ("compare", (1, 2), "ann")
    assert (second.command, second.runs, second.opened_by) == ("report", (2,), "bo\ufffd")
