"""How labels that came with the data become verdicts and ratings.

Every scale's mapping is stated here and shown in docs/data-model.md; nothing is guessed. A label
that a scale leaves out has no verdict and enters no figure.

Source: the data sets' own documentation; see fixtures/NOTICE.md for what each one is.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from faithtui.domain.labels.label_sets import FAITHFULNESS, NOT_A_CLAIM


@dataclass(frozen=True, slots=True)
class RatingScale:
    """One labelling scheme."""

    name: str
    verdicts: Mapping[str, str]
    """From label to yes, no or idk. Labels not listed have no verdict."""
    ratings: Mapping[str, float]
    """From label to how faithful the answer is, in [0, 1]. Labels not listed have no rating."""


OWN_SCALE = "faithtui"
"""Of labels that were given here and come back in an export."""
_OWN_WORDS = {NOT_A_CLAIM: NOT_A_CLAIM, "1": "yes", "0": "no"}
"""What the labels of all metrics mean that are no words of faithfulness."""

BINARY_SCALE = "q2-consistent-0-1"
"""Of scores that take no value but 0 and 1."""

_TRUTH_WORDS = {"true": "yes", "supported": "yes", "false": "no", "unsupported": "no"}
"""Words that mean the same on every scale, beside those of faithfulness."""

_RATING = {"yes": 1.0, "idk": 0.5, "no": 0.0}


def _make_scale(
    name: str, verdicts: Mapping[str, str], ratings: Mapping[str, float] | None = None
) -> RatingScale:
    """Rate by verdict (yes 1, idk 0.5, no 0) unless the scale has numbers of its own."""
    return RatingScale(
        name, verdicts, ratings or {label: _RATING[word] for label, word in verdicts.items()}
    )


RATING_SCALES: tuple[RatingScale, ...] = (
    _make_scale(
        "mtrag-faithfulness-1-4",
        {"1": "no", "2": "no", "3": "yes", "4": "yes"},
        {"1": 0.0, "2": 1 / 3, "3": 2 / 3, "4": 1.0},
    ),
    _make_scale("faithbench-span", {"Unwanted": "no", "Questionable": "idk", "Benign": "yes"}),
    _make_scale(
        "faithbench-response",
        {"Unwanted": "no", "Questionable": "idk", "Benign": "yes", "Consistent": "yes"},
    ),
    _make_scale("expertqa-support", {"Complete": "yes", "Partial": "idk", "Incomplete": "no"}),
    _make_scale(
        "begin-3",
        {"Fully attributable": "yes", "Not fully attributable": "no", "Generic": "idk"},
    ),
    _make_scale(
        "fdaudit-begin",
        {
            "entailment": "yes",
            "entailment,uncooperative": "yes",
            "entailment,hallucination": "no",
            "hallucination": "no",
            "generic": "idk",
        },
    ),
    _make_scale(BINARY_SCALE, {"1": "yes", "0": "no"}),
)


SCALE_NAMES = tuple(each.name for each in RATING_SCALES)


def is_known_scale(scale: str) -> bool:
    """Say whether it is known what the labels of a scale mean."""
    return scale == OWN_SCALE or scale in SCALE_NAMES


def translate_to_verdict(scale: str, label: str) -> str | None:
    """Translate a label of a scale into a verdict.

    A scale that is not listed is read word by word: yes, no, idk and borderline mean themselves,
    true and supported are yes, false and unsupported no. Anything else has no verdict, numbers
    least of all: 1 may be the best of two levels or the worst of five. Of labels that were given
    here 1 is yes, 0 is no, and `x` stays.
    """
    for known in RATING_SCALES:
        if known.name == scale:
            return known.verdicts.get(label)
    if scale == OWN_SCALE and label in _OWN_WORDS:
        return _OWN_WORDS[label]
    return _find_verdict_for_label(label)


def translate_to_rating(scale: str, label: str) -> float | None:
    """Translate a label of a scale into how faithful the answer is, in [0, 1]."""
    for known in RATING_SCALES:
        if known.name == scale:
            return known.ratings.get(label)
    word = _OWN_WORDS.get(label) if scale == OWN_SCALE else None
    return _RATING.get(word or _find_verdict_for_label(label) or "")


def _find_verdict_for_label(label: str) -> str | None:
    folded = label.strip().casefold()
    if folded in _TRUTH_WORDS:
        return _TRUTH_WORDS[folded]
    return None if folded.isdecimal() else FAITHFULNESS.find_label_name_for_word(folded)
