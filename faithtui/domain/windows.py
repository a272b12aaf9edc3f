"""Interactions of a conversation, and the overlapping windows in which they are judged."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from faithtui.domain.conversation import Turn


@dataclass(frozen=True, slots=True)
class Interaction:
    """From a user turn to the assistant turn that ends the exchange."""

    position: int
    turns: tuple[int, ...]
    """Positions of its turns, ascending and without gaps."""


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive interactions judged together."""

    position: int
    interactions: tuple[int, ...]
    """Positions of its interactions, ascending; empty only under a peer's rule for size < 1."""
    turns: tuple[int, ...]
    """Positions of all its turns, ascending."""


def split_into_interactions(
    turns: Sequence[Turn], *, answers_alone: bool = False
) -> tuple[Interaction, ...]:
    """Cut a conversation into interactions.

    An interaction begins at a user turn that follows an assistant turn, provided the current one
    already holds a user turn. So a leading greeting joins the first interaction, several replies
    are one interaction, and several user messages are one. The last interaction counts only when
    it holds a user turn and ends with an assistant turn.

    Args:
        turns: All turns, in order. May be empty.
        answers_alone: Take a conversation that has answers and no user turn at all as one
            interaction. The peer has no such rule.

    Returns:
        Interactions with `position` 0 to n - 1, in order; () when there is none.

    Source:
        deepeval 4.3.1, metrics/utils.py, `get_unit_interactions`, as measured.
    """
    units: list[list[int]] = []
    current: list[int] = []
    asked = False
    for position, turn in enumerate(turns):
        if turn.role == "user" and asked and turns[position - 1].role == "assistant":
            units.append(current)
            current, asked = [], False
        current.append(position)
        asked = asked or turn.role == "user"
    if current and turns[-1].role == "assistant" and (asked or answers_alone):
        units.append(current)
    return tuple(Interaction(index, tuple(unit)) for index, unit in enumerate(units))


def has_interaction(turns: Iterable[Turn]) -> bool:
    """Say whether `split_into_interactions` gives any: an answer comes after a question."""
    asked = False
    for turn in turns:
        if turn.role == "user":
            asked = True
        elif asked:
            return True
    return False


def cut_sliding_windows(parts: Sequence[Interaction], size: int) -> tuple[Window, ...]:
    """Cut interactions into overlapping windows, one per interaction.

    Window k ends with interaction k and reaches back at most `size` interactions, so the first
    windows are shorter. n interactions give n windows.

    Args:
        parts: Interactions in order.
        size: How far back a window reaches, in interactions. Below 1 every window is empty, which
            is what the peer does; callers who want sense check it first.

    Returns:
        Windows with `position` 0 to n - 1.

    Source:
        deepeval 4.3.1, metrics/utils.py, `get_turns_in_sliding_window`, as measured.
    """
    windows = []
    for last in range(len(parts)):
        seen = parts[max(0, last - size + 1) : last + 1] if size > 0 else ()
        windows.append(
            Window(
                position=last,
                interactions=tuple(part.position for part in seen),
                turns=tuple(turn for part in seen for turn in part.turns),
            )
        )
    return tuple(windows)


def list_turns_outside_interactions(
    turns: Sequence[Turn], parts: Sequence[Interaction]
) -> tuple[int, ...]:
    """List positions of turns in no interaction, such as an unanswered last question."""
    kept = {position for part in parts for position in part.turns}
    return tuple(position for position in range(len(turns)) if position not in kept)
