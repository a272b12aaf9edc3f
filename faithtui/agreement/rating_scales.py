"""How labels that came with the data become verdicts and ratings.

Every scale's mapping is stated here and shown in docs/data-model.md; nothing is guessed. A label
that a scale leaves out has no verdict and enters no figure.

Source: the data sets' own documentation; see fixtures/NOTICE.md for what each one is.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from faithtui.domain.label_sets import FAITHFULNESS, NOT_A_CLAIM


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
_OWN_WORDS = {NOT_A_CLAIM: NOT_A_CLAIM, "0": "no"}
"""What the labels of all metrics mean that are no words of faithfulness."""

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
    _make_scale("q2-consistent-0-1", {"1": "yes", "0": "no"}),
)


def translate_to_verdict(scale: str, label: str) -> str | None:
    """Translate a label of a scale into a verdict.

    A scale that is not listed is read word by word: yes, no, idk and their aliases mean
    themselves, anything else has no verdict. Of labels that were given here 0 is no, and `x` stays.
    """
    for known in RATING_SCALES:
        if known.name == scale:
            return known.verdicts.get(label)
    if scale == OWN_SCALE and label in _OWN_WORDS:
        return _OWN_WORDS[label]
    return FAITHFULNESS.find_name(label)


def translate_to_rating(scale: str, label: str) -> float | None:
    """Translate a label of a scale into how faithful the answer is, in [0, 1]."""
    for known in RATING_SCALES:
        if known.name == scale:
            return known.ratings.get(label)
    word = FAITHFULNESS.find_name(label)
    return None if word is None else _RATING[word]
