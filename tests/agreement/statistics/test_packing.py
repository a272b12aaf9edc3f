from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from faithtui.agreement.statistics.packing import PackedGroups, Spans, packed_kinds

units_st = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 4)), max_size=60)


def counted(units: list[tuple[str, int]]) -> Counter[tuple[int, ...]]:
    groups = {group for group, _ in units}
    return Counter(tuple(units.count((group, place)) for place in range(5)) for group in groups)


@given(units_st)
def test_groups_are_counted_by_what_they_hold(units: list[tuple[str, int]]) -> None:
    found = packed_kinds(Spans([group for group, _ in units]), [place for _, place in units], 5)
    assert found == counted(units)


@given(units_st, units_st)
def test_counts_grow(first: list[tuple[str, int]], second: list[tuple[str, int]]) -> None:
    packed = PackedGroups(5)
    for units in (first, second):
        packed.add((group, packed.ones[place]) for group, place in units)
    assert packed.kinds() == counted([*first, *second])


def test_a_count_as_large_as_was_told_stays_its_own() -> None:
    packed = PackedGroups(2, most=1_023)
    packed.add([("a", packed.ones[0])] * 1_023 + [("a", packed.ones[1])])
    assert packed.kinds() == {(1_023, 1): 1}


@given(units_st)
def test_numbers_are_added_up_by_group_whether_or_not_its_units_follow_each_other(
    units: list[tuple[str, int]],
) -> None:
    for some in (units, sorted(units)):
        spans = Spans([group for group, _ in some])
        groups = dict.fromkeys(group for group, _ in some)
        assert list(spans.sums(number for _, number in some)) == [
            sum(number for name, number in some if name == group) for group in groups
        ]
        sizes = Counter(group for group, _ in some)
        assert spans.most == max(sizes.values(), default=0)
