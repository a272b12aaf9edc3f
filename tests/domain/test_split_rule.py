"""Splitting: a function of seed and group, and nothing else."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.split_rule import SPLITS, Split, SplitRule

RULE = SplitRule(0, 60, 20, 20)

shares = st.tuples(st.integers(0, 100), st.integers(0, 100)).map(
    lambda cut: (min(cut), max(cut) - min(cut), 100 - max(cut))
)


def test_a_rule_is_never_another_one_in_a_later_version() -> None:
    """What was put aside for the test must stay there, so these answers are for ever."""
    found = [str(RULE.get_split_of_group(f"shop/{number}")) for number in range(8)]
    assert found == ["train", "dev", "dev", "train", "train", "test", "train", "train"]
    assert RULE.get_split_of_group("\ud800") in SPLITS


@given(st.integers(), shares, st.text())
def test_equal_rules_agree_whatever_else_is_in_the_store(
    seed: int, parts: tuple[int, int, int], group: str
) -> None:
    assert SplitRule(seed, *parts).get_split_of_group(group) is SplitRule(
        seed, *parts
    ).get_split_of_group(group)


@given(st.integers(), shares, st.lists(st.text(), max_size=20))
def test_a_part_without_a_share_is_empty(
    seed: int, parts: tuple[int, int, int], groups: list[str]
) -> None:
    found = {SplitRule(seed, *parts).get_split_of_group(group) for group in groups}
    assert found <= {split for split, share in zip(SPLITS, parts, strict=True) if share}


@given(st.integers(), st.text(), st.integers(0, 99))
def test_a_larger_train_share_keeps_what_was_in_train(seed: int, group: str, share: int) -> None:
    smaller, larger = (SplitRule(seed, each, 0, 100 - each) for each in (share, share + 1))
    if smaller.get_split_of_group(group) is Split.TRAIN:
        assert larger.get_split_of_group(group) is Split.TRAIN


def test_parts_have_their_shares_about() -> None:
    found = Counter(RULE.get_split_of_group(f"group {number}") for number in range(10_000))
    for split, share in zip(SPLITS, RULE.shares, strict=True):
        assert abs(found[split] / 10_000 - share / 100) < 0.02


def test_another_seed_is_another_split() -> None:
    groups = [f"group {number}" for number in range(100)]
    other = SplitRule(1, *RULE.shares)
    moved = sum(
        RULE.get_split_of_group(group) is not other.get_split_of_group(group) for group in groups
    )
    assert 30 < moved < 80  # 56 in a hundred by chance: 1 - (0.6² + 0.2² + 0.2²)


@pytest.mark.parametrize("parts", [(60, 20, 10), (120, -20, 0), (0, 0, 0)])
def test_shares_that_are_none_are_refused(parts: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="percents that make 100"):
        SplitRule(0, *parts)
