"""How labels that came with the data are counted: their order, what passes, how several become one.

Each choice is a convention that another reader of the same data could make differently, so each
is stated here once and in docs/figures.md; where two are natural, both are computed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from faithtui.agreement.rating_scales import translate_to_verdict

PASS = "pass"
FAIL = "fail"
VERDICTS = ("no", "idk", "yes")
"""Worst to best."""

_LEVELS = {
    "mtrag-faithfulness-1-4": ("1", "2", "3", "4"),
    "faithbench-span": ("Unwanted", "Questionable", "Benign"),
    "faithbench-response": ("Unwanted", "Questionable", "Benign", "Consistent"),
    "expertqa-support": ("Incomplete", "Partial", "Complete"),
    "begin-3": ("Not fully attributable", "Generic", "Fully attributable"),
    "fdaudit-begin": (
        "hallucination",
        "entailment,hallucination",
        "generic",
        "entailment,uncooperative",
        "entailment",
    ),
    "q2-consistent-0-1": ("0", "1"),
}
"""Labels of each scale, worst to best; a label that is not listed enters no figure."""

_FREE_SPANS = ("faithbench-span",)
"""Annotators mark pieces of their own choice here, so no two of them label the same unit."""

_COMPARED_WITH_REFERENCE = {"mtrag-faithfulness-1-4": ("rouge_l", "bert_rec")}
"""Scores that compare an answer with the reference answer, and say nothing of that itself."""


class ScaleReading(StrEnum):
    """Which words of a scale are kept apart. Exported word for word."""

    LABELS = "labels"
    """Every label of the scale."""
    VERDICTS = "verdicts"
    """no, idk and yes, as the scale's labels stand for them."""
    TWO_WAY = "two-way"
    """pass and fail: only yes passes."""


class Pooling(StrEnum):
    """How the labels of several annotators become pass or fail. Exported word for word."""

    MAJORITY = "majority"
    """More than half of them pass it; a tie fails."""
    WORST = "worst"
    """All of them pass it."""
    MEAN = "mean"
    """Their mean level lies above the middle between the best level that fails and the worst that
    passes; just there fails."""


@dataclass(frozen=True, slots=True)
class ScaleView:
    """A scale under one reading."""

    reading: ScaleReading
    categories: tuple[str, ...]
    """Worst to best; all are declared, used or not."""
    position: Mapping[str, int]
    """From level to place among the categories."""

    def get_category_of_scale_level(self, level: str) -> str:
        """Give the category of a level."""
        return self.categories[self.position[level]]

    def average_category_positions(self, levels: Sequence[str]) -> float:
        """Average the places of the categories of levels, from 0, at least one level.

        One division of whole numbers: equal means are equal numbers, and ties are ties.
        """
        return sum(self.position[level] for level in levels) / len(levels)


@dataclass(frozen=True, slots=True)
class ScaleConvention:
    """What is to be known of a scale before anything is counted."""

    scale: str
    levels: tuple[str, ...]
    """Labels that count, worst to best."""
    passing: tuple[str, ...]
    """Levels that pass: the best ones, those that stand for yes."""
    views: tuple[ScaleView, ...]
    """The scale under each reading that tells apart what no other does."""
    is_listed: bool
    """Whether the scale is one that is stated here; else its words are read one by one."""
    compared_with_reference: tuple[str, ...]
    """Scores that are left out where the answer is the reference answer."""

    @property
    def has_shared_units(self) -> bool:
        """Whether two annotators label the same units."""
        return has_shared_units(self.scale)

    def find_scale_level_of_label(self, label: str) -> str | None:
        """Find the level a label stands for; None when it enters no figure."""
        if self.is_listed:
            return label if label in self.levels else None
        return translate_to_verdict(self.scale, label)

    def do_people_pass_unit(self, levels: Sequence[str], pooling: Pooling) -> bool:
        """Say whether annotators pass a unit.

        Args:
            levels: Of each annotator who labelled it, at least one.
            pooling: How they become one.
        """
        passing = sum(level in self.passing for level in levels)
        match pooling:
            case Pooling.MAJORITY:
                return 2 * passing > len(levels)
            case Pooling.WORST:
                return passing == len(levels)
            case Pooling.MEAN:
                failing = len(self.levels) - len(self.passing)
                total = sum(self.levels.index(level) for level in levels)
                # The middle is failing - 1/2; whole numbers, so that a tie is a tie.
                return 2 * total > (2 * failing - 1) * len(levels)


def has_shared_units(scale: str) -> bool:
    """Say whether two annotators who use a scale label the same units."""
    return scale not in _FREE_SPANS


def make_scale_convention(scale: str) -> ScaleConvention:
    """Give the convention of a scale.

    A scale that is not stated here is read word by word, as everywhere: yes, no, idk and their
    other names count, anything else enters no figure.
    """
    levels = _LEVELS.get(scale, VERDICTS)
    words = {level: translate_to_verdict(scale, level) or "" for level in levels}
    return ScaleConvention(
        scale=scale,
        levels=levels,
        passing=tuple(level for level in levels if words[level] == "yes"),
        views=tuple(_list_distinct_scale_readings(levels, words)),
        is_listed=scale in _LEVELS,
        compared_with_reference=_COMPARED_WITH_REFERENCE.get(scale, ()),
    )


def _list_distinct_scale_readings(
    levels: Sequence[str], words: Mapping[str, str]
) -> list[ScaleView]:
    """List the readings of a scale, without any that tells apart what an earlier one does.

    Verdicts of a scale without an idk are its two-way reading, so they are not listed either.
    """
    named = {level: level for level in levels}
    two = {level: PASS if word == "yes" else FAIL for level, word in words.items()}
    found = [_make_scale_reading(ScaleReading.LABELS, tuple(levels), named)]
    if "idk" in words.values():
        found.append(_make_scale_reading(ScaleReading.VERDICTS, VERDICTS, words))
    found.append(_make_scale_reading(ScaleReading.TWO_WAY, (FAIL, PASS), two))
    return [
        view
        for place, view in enumerate(found)
        if all(view.position != other.position for other in found[:place])
    ]


def _make_scale_reading(
    reading: ScaleReading, categories: tuple[str, ...], words: Mapping[str, str]
) -> ScaleView:
    places = {level: categories.index(word) for level, word in words.items()}
    return ScaleView(reading, categories, places)
