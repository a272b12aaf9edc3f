"""An aligned claim as eleven numbers about shared words.

Nothing is decided here and no weight is known: the same numbers are what the embedded judge decides
by and what it was trained on. Whoever changes what a number means trains the weights anew
(`tests.embedded_judge_training.training`), else the two no longer fit; a test compares them.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from faithtui.domain.text.alignment import (
    Alignment,
    align_claim_with_context,
    is_rounded_in_context,
)
from faithtui.domain.text.contradictions import ClashKind
from faithtui.domain.text.sentence_index import SentenceIndex
from faithtui.domain.text.tokens import tokenise_words
from faithtui.domain.text.word_lists import FIRST_PERSON

_FEATURE_OF_CLASH: Final = {
    ClashKind.NUMBER: "number_clash",
    ClashKind.DATE: "number_clash",
    ClashKind.OPPOSITE: "opposite_clash",
    ClashKind.NAME: "opposite_clash",
    ClashKind.CONDITION: "opposite_clash",
    ClashKind.NEGATION: "negation_clash",
}


@dataclass(frozen=True, slots=True)
class SentenceComparison:
    """One sentence of a claim beside a context: everything a finding is made of."""

    text: str
    alignment: Alignment
    features: tuple[float, ...]
    """Values of `FEATURES`."""


def compare_claim_with_context(claim: str, context: SentenceIndex) -> SentenceComparison:
    """Measure a claim of one sentence against a context."""
    aligned = align_claim_with_context(claim, tokenise_words(claim), context)
    words, found = aligned.words, aligned.found
    clash = _FEATURE_OF_CLASH[aligned.clash.kind] if aligned.clash is not None else None
    numbers_missing, numbers_found = _count_missing_and_found_numbers(aligned, context)
    names_missing, names_far = _count_missing_and_far_names(aligned)
    features = (
        sum(found) / len(found) if found else 0.0,
        _compute_mean_or_zero(
            map(context.bigrams.__contains__, pairwise([word.stem for word in words]))
        ),
        aligned.common_order,
        math.log1p(numbers_found),
        math.log1p(numbers_missing),
        math.log1p(names_missing),
        math.log1p(names_far),
        float(any(word.text in FIRST_PERSON for word in words)),
        float(clash == "number_clash"),
        float(clash == "opposite_clash"),
        float(clash == "negation_clash"),
    )
    return SentenceComparison(claim, aligned, features)


def _compute_mean_or_zero(hits: Iterable[bool]) -> float:
    values = list(hits)
    return sum(values) / len(values) if values else 0.0


def _count_missing_and_found_numbers(aligned: Alignment, context: SentenceIndex) -> tuple[int, int]:
    """How many numbers of the claim the context does not hold, rounding forgiven, and holds."""
    missing = found = 0
    for position, word in enumerate(aligned.words):
        if word.number is None:
            continue
        if word.stem in aligned.disputed:
            missing += 1
        elif context.has_word(word):
            found += 1
        else:
            missing += not is_rounded_in_context(word, aligned.words[:position], context)
    return missing, found


def _count_missing_and_far_names(aligned: Alignment) -> tuple[int, int]:
    """How many capitalised words the context does not hold, and holds but not in the evidence.

    The first word of a claim is capitalised whatever it is, so it does not count.
    """
    missing = far = 0
    evidence = set(aligned.best)
    for word, (_, units) in zip(aligned.content, aligned.lookups, strict=True):
        if word.is_capital and word is not aligned.words[0] and word.is_content:
            missing += not units
            far += bool(units) and evidence.isdisjoint(units)
    return missing, far
