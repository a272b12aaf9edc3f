import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.conversation import Role, Turn
from faithtui.domain.windows import (
    Interaction,
    cut_sliding_windows,
    has_interaction,
    list_turns_outside_interactions,
    split_into_interactions,
)

ROLES: dict[str, Role] = {"u": "user", "a": "assistant"}


def turns_of(letters: str) -> tuple[Turn, ...]:
    return tuple(Turn(ROLES[letter], f"{n}") for n, letter in enumerate(letters))


def cut(letters: str, *, answers_alone: bool = False) -> list[str]:
    turns = turns_of(letters)
    return [
        "".join(letters[turn] for turn in part.turns)
        for part in split_into_interactions(turns, answers_alone=answers_alone)
    ]


def parts(count: int) -> tuple[Interaction, ...]:
    return split_into_interactions(turns_of("ua" * count))


conversations = st.text("ua", max_size=30)


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ("ua", ["ua"]),
        ("uaua", ["ua", "ua"]),
        ("auaua", ["aua", "ua"]),
        ("uaa", ["uaa"]),
        ("uua", ["uua"]),
        ("uau", ["ua"]),
        ("uauau", ["ua", "ua"]),
        ("uauauuu", ["ua", "ua"]),
        ("", []),
        ("a", []),
        ("aa", []),
        ("u", []),
        ("uu", []),
        ("au", []),
    ],
)
def test_interactions_are_cut_as_the_peer_cuts_them(roles: str, expected: list[str]) -> None:
    assert cut(roles) == expected


@pytest.mark.parametrize(
    ("roles", "expected"),
    [("a", ["a"]), ("aaa", ["aaa"]), ("", []), ("u", []), ("au", []), ("aua", ["aua"])],
)
def test_answers_alone_are_one_interaction_on_request(roles: str, expected: list[str]) -> None:
    assert cut(roles, answers_alone=True) == expected


@given(conversations)
def test_answers_alone_changes_only_conversations_without_a_user_turn(roles: str) -> None:
    if "u" in roles:
        assert cut(roles, answers_alone=True) == cut(roles)


@given(conversations)
def test_a_conversation_has_an_interaction_where_it_is_cut_into_any(roles: str) -> None:
    assert has_interaction(turns_of(roles)) == bool(cut(roles))


@given(conversations)
def test_no_turn_is_lost_repeated_or_reordered(roles: str) -> None:
    turns = turns_of(roles)
    found = split_into_interactions(turns)
    kept = [turn for part in found for turn in part.turns]
    assert kept == list(range(len(kept)))
    assert [part.position for part in found] == list(range(len(found)))
    left_out = list_turns_outside_interactions(turns, found)
    assert [*kept, *left_out] == list(range(len(turns)))


@given(conversations)
def test_every_interaction_holds_a_question_and_ends_with_an_answer(roles: str) -> None:
    for unit in cut(roles):
        assert "u" in unit
        assert unit.endswith("a")


@given(conversations)
def test_an_interaction_never_asks_again_after_its_answer(roles: str) -> None:
    for unit in cut(roles):
        assert "au" not in unit.lstrip("a")


@given(st.integers(0, 15), st.integers(1, 20))
def test_n_interactions_give_n_windows_that_end_where_they_should(count: int, size: int) -> None:
    windows = cut_sliding_windows(parts(count), size)
    assert [window.position for window in windows] == list(range(count))
    for window in windows:
        assert window.interactions[-1] == window.position
        assert len(window.interactions) == min(size, window.position + 1)
        first = window.interactions[0]
        assert window.interactions == tuple(range(first, window.position + 1))


@given(conversations, st.integers(1, 5))
def test_a_window_holds_the_turns_of_its_interactions_in_order(roles: str, size: int) -> None:
    found = split_into_interactions(turns_of(roles))
    for window in cut_sliding_windows(found, size):
        turns = [turn for position in window.interactions for turn in found[position].turns]
        assert list(window.turns) == turns


@given(conversations, st.integers(1, 40))
def test_every_interaction_is_in_at_most_size_windows_and_at_least_its_own(
    roles: str, size: int
) -> None:
    found = split_into_interactions(turns_of(roles))
    windows = cut_sliding_windows(found, size)
    for part in found:
        holding = [window for window in windows if part.position in window.interactions]
        assert len(holding) == min(size, len(found) - part.position)
        assert holding[0].position == part.position


@pytest.mark.parametrize(
    ("count", "size", "expected"),
    [
        (1, 10, [(0,)]),
        (1, 2, [(0,)]),
        (3, 10, [(0,), (0, 1), (0, 1, 2)]),
        (3, 2, [(0,), (0, 1), (1, 2)]),
    ],
)
def test_short_conversations_are_cut_as_the_peer_cuts_them(
    count: int, size: int, expected: list[tuple[int, ...]]
) -> None:
    assert [window.interactions for window in cut_sliding_windows(parts(count), size)] == expected


def test_twelve_interactions_grow_to_ten_and_then_slide() -> None:
    windows = cut_sliding_windows(parts(12), 10)
    assert [window.interactions for window in windows[:10]] == [
        tuple(range(last + 1)) for last in range(10)
    ]
    assert windows[10].interactions == tuple(range(1, 11))
    assert windows[11].interactions == tuple(range(2, 12))


def test_twelve_interactions_slide_by_two() -> None:
    windows = cut_sliding_windows(parts(12), 2)
    assert [window.interactions for window in windows] == [
        (0,),
        *((last - 1, last) for last in range(1, 12)),
    ]


@pytest.mark.parametrize("size", [0, -1, -10])
def test_a_size_below_1_gives_as_many_empty_windows(size: int) -> None:
    windows = cut_sliding_windows(parts(3), size)
    assert [(window.position, window.interactions, window.turns) for window in windows] == [
        (0, (), ()),
        (1, (), ()),
        (2, (), ()),
    ]


def test_an_unanswered_question_is_left_out() -> None:
    turns = turns_of("uauu")
    assert list_turns_outside_interactions(turns, split_into_interactions(turns)) == (2, 3)
