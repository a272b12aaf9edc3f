"""Rated answers and claims for tests, built from a few letters."""

from collections.abc import Mapping, Sequence

from faithtui.agreement.imported_scores.rated_units import RatedUnit, ScoredConversation
from faithtui.domain.conversation import Conversation, Rating, Turn

MTRAG = "mtrag-faithfulness-1-4"
FAITHBENCH = "faithbench-response"


def unit(
    labels: Mapping[str, str], scores: Mapping[str, float] | None = None, group: str = "g"
) -> RatedUnit:
    """Make a unit that people put on levels, by name."""
    return RatedUnit(group, labels, scores or {}, frozenset())


def units_of(rows: Sequence[str], people: str = "abcdefg") -> list[RatedUnit]:
    """Make a unit of each row, in a group of its own: a label per person, `.` for none."""
    return [
        unit(
            {who: label for who, label in zip(people, row, strict=False) if label != "."},
            group=f"g{place}",
        )
        for place, row in enumerate(rows)
    ]


def rated(
    *ratings: Rating,
    scores: Mapping[str, Mapping[int, float]] | None = None,
    assigned: frozenset[str] | None = None,
    model: str = "m",
    key: str = "k",
) -> ScoredConversation:
    """Make a conversation of two exchanges with these ratings."""
    turns = (Turn("user", "Q"), Turn("assistant", "A"), Turn("user", "Q"), Turn("assistant", "B"))
    conversation = Conversation("s", key, turns, f"s/{key}", {"model": model}, ratings)
    return ScoredConversation(conversation, scores or {}, assigned)
