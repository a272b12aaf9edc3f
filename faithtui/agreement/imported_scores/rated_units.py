"""Human labels of each answer or claim, and the scores that came with it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from faithtui.agreement.imported_scores.label_scales import ScaleConvention, make_scale_convention
from faithtui.domain.conversation import Conversation, Rating

REFERENCE_PREFIX = "reference"
"""How the name of the model begins where the answer is the reference answer."""


class UnitKind(StrEnum):
    """What a label is about. Exported word for word."""

    ANSWER = "answer"
    CLAIM = "claim"


@dataclass(frozen=True, slots=True)
class ScoredConversation:
    """A conversation as it came, with the scores of automatic judges that came with it."""

    conversation: Conversation
    scores: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    """By judge, then by position of the answer."""
    assigned: frozenset[str] | None = None
    """Who was to label it; labels of anybody else are left out. None: everybody."""


@dataclass(frozen=True, slots=True)
class RatedUnit:
    """An answer or a claim that somebody labelled."""

    group: str
    """What stays together when conversations are left out."""
    levels: Mapping[str, str]
    """From annotator to level of the scale; at least one."""
    scores: Mapping[str, float]
    """By judge; a judge that did not score it is missing."""
    own_reference: frozenset[str]
    """Judges whose score compares the answer with itself, so that it is left out."""


@dataclass(frozen=True, slots=True)
class RatedScale:
    """All labels of annotators on one scale for one kind of unit."""

    convention: ScaleConvention
    kind: UnitKind
    units: tuple[RatedUnit, ...]
    """() when annotators label no common units, see `ScaleConvention.has_shared_units`."""
    counts: Mapping[str, int]
    """Labels that count, by level; all levels, worst to best."""
    left_out: Mapping[str, int]
    """Labels that are no level, by their word, sorted."""
    not_assigned: int
    """Labels of annotators who were not to label the conversation."""
    judges: tuple[str, ...]
    """Everybody whose scores came with the data; () for claims: scores are of answers."""
    has_answer_scores: bool
    """Whether scores came with the data at all."""

    @property
    def annotators(self) -> tuple[str, ...]:
        """Everybody whose labels count, sorted."""
        return tuple(sorted({person for unit in self.units for person in unit.levels}))

    @property
    def group_count(self) -> int:
        """Number of groups."""
        return len({unit.group for unit in self.units})


def get_rated_unit_kind(rating: Rating) -> UnitKind:
    """Say what a label is about."""
    return UnitKind.ANSWER if rating.claim is None else UnitKind.CLAIM


def make_unit_key(rating: Rating) -> tuple[object, ...]:
    """Name the unit a label is about, inside its conversation.

    Claims are the same when turn, place and text are.
    """
    return rating.turn, rating.span, rating.claim


def group_ratings_by_scale(conversations: Sequence[ScoredConversation]) -> tuple[RatedScale, ...]:
    """Sort labels by scale and kind of unit.

    Args:
        conversations: Nobody labels a unit twice on a scale.

    Returns:
        In the order in which scales first occur.
    """
    found = dict.fromkeys(
        (rating.scale, get_rated_unit_kind(rating))
        for each in conversations
        for rating in each.conversation.ratings
    )
    return tuple(
        _make_rated_scale(conversations, make_scale_convention(scale), kind)
        for scale, kind in found
    )


def _make_rated_scale(
    conversations: Sequence[ScoredConversation], rule: ScaleConvention, kind: UnitKind
) -> RatedScale:
    units: list[RatedUnit] = []
    counts, left_out = Counter[str](), Counter[str]()
    not_assigned = 0
    for each in conversations:
        mine = [
            rating
            for rating in each.conversation.ratings
            if rating.scale == rule.scale and get_rated_unit_kind(rating) is kind
        ]
        kept = [
            rating for rating in mine if each.assigned is None or rating.annotator in each.assigned
        ]
        not_assigned += len(mine) - len(kept)
        counts.update(
            level
            for rating in kept
            if (level := rule.find_scale_level_of_label(rating.label)) is not None
        )
        left_out.update(
            rating.label for rating in kept if rule.find_scale_level_of_label(rating.label) is None
        )
        if rule.has_shared_units:
            units += _group_ratings_by_unit(each, kept, rule, kind)
    judges = dict.fromkeys(judge for each in conversations for judge in each.scores)
    return RatedScale(
        convention=rule,
        kind=kind,
        units=tuple(units),
        counts={level: counts[level] for level in rule.levels},
        left_out=dict(sorted(left_out.items())),
        not_assigned=not_assigned,
        judges=tuple(judges) if kind is UnitKind.ANSWER else (),
        has_answer_scores=bool(judges),
    )


def _group_ratings_by_unit(
    scored: ScoredConversation, ratings: Iterable[Rating], rule: ScaleConvention, kind: UnitKind
) -> list[RatedUnit]:
    """Put the labels of each unit together; a unit without a label that counts is none."""
    found: dict[tuple[object, ...], dict[str, str]] = {}
    turns: dict[tuple[object, ...], int] = {}
    for rating in ratings:
        level = rule.find_scale_level_of_label(rating.label)
        if level is not None:
            name = make_unit_key(rating)
            found.setdefault(name, {})[rating.annotator] = level
            turns[name] = rating.turn
    conversation = scored.conversation
    is_reference = str(conversation.metadata.get("model", "")).startswith(REFERENCE_PREFIX)
    own = frozenset(rule.compared_with_reference if is_reference else ())
    return [
        RatedUnit(
            conversation.group,
            levels,
            {
                judge: by_turn[turns[name]]
                for judge, by_turn in scored.scores.items()
                if kind is UnitKind.ANSWER and turns[name] in by_turn and judge not in own
            },
            own,
        )
        for name, levels in found.items()
    ]
