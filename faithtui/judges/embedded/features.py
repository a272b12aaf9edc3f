"""A claim beside a context, as a dozen numbers about shared words.

Nothing is decided here and no weight is known: the same numbers are what the embedded judge decides
by and what it was trained on. Whoever changes what a number means trains the weights anew
(`tests.embedded_judge_training.training`), else the two no longer fit; a test compares them.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from faithtui.judges.embedded.contradictions import (
    Clash,
    ClashKind,
    find_clash,
    is_hedged_match,
    is_negation,
)
from faithtui.judges.embedded.sentence_index import Context, Lookup, Unit, choose_evidence
from faithtui.judges.embedded.tokens import Word, read_words
from faithtui.judges.embedded.word_lists import FIRST_PERSON, HEDGES

_AGREEING_SHARE: Final = 0.6
"""Share of the other content words the clashing sentence must hold."""
_ELSEWHERE_SHARE: Final = 0.34
"""Share of those words that another sentence must hold to say the clashing word of the same."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One sentence of a claim beside a context: everything a finding is made of."""

    text: str
    words: tuple[Word, ...]
    content: tuple[Word, ...]
    """Words that were looked up: content words, or all when there are none."""
    found: tuple[float, ...]
    """For each of `content`, how well it was found."""
    best: tuple[int, ...]
    """Numbers of the evidence units, the best first."""
    clash: Clash | None
    features: tuple[float, ...]
    """Values of `FEATURES`."""


def compare(claim: str, context: Context) -> Comparison:
    """Measure a claim of one sentence against a context."""
    words = tuple(read_words(claim))
    stems = [word.stem for word in words]
    content = tuple(word for word in words if word.is_content) or words
    lookups = [context.find(word) for word in content]
    found = tuple(weight for weight, _ in lookups)
    best, common_order = choose_evidence(stems, lookups, context)
    top = context.units[best[0]] if best else None
    clash = _clash(words, content, top, context) if top is not None else None
    kind = clash.kind if clash is not None else None
    is_negated = any(map(is_negation, words))
    is_top_negated = is_negated and top is not None and any(map(is_negation, top.words))
    numbers_missing, numbers_found = _numbers(words, context)
    names_missing, names_far = _names(words, content, lookups, best)
    features = (
        sum(found) / len(found) if found else 0.0,
        _share(bigram in context.bigrams for bigram in pairwise(stems)),
        common_order,
        math.log1p(numbers_found),
        math.log1p(numbers_missing),
        math.log1p(names_missing),
        math.log1p(names_far),
        float(any(word.text in FIRST_PERSON for word in words)),
        float(is_negated and not is_top_negated),
        float(kind is ClashKind.NUMBER or kind is ClashKind.DATE),
        float(kind is ClashKind.OPPOSITE),
        float(kind is ClashKind.NEGATION),
    )
    return Comparison(claim, words, content, found, best, clash, features)


def _share(hits: Iterable[bool]) -> float:
    values = list(hits)
    return sum(values) / len(values) if values else 0.0


def _numbers(words: Sequence[Word], context: Context) -> tuple[int, int]:
    """How many numbers of the claim the context does not hold, rounding forgiven, and holds."""
    missing = found = 0
    for position, word in enumerate(words):
        if word.number is None:
            continue
        if word.stem in context.holders:
            found += 1
            continue
        is_hedged = any(each.text in HEDGES for each in words[max(0, position - 2) : position])
        is_forgiven = any(
            is_hedged_match(word, other) or (is_hedged and _is_near(word, other))
            for other in context.numbers
        )
        missing += not is_forgiven
    return missing, found


def _names(
    words: Sequence[Word], content: Sequence[Word], lookups: Sequence[Lookup], best: Sequence[int]
) -> tuple[int, int]:
    """How many capitalised words the context does not hold, and holds but not in the evidence.

    The first word of a claim is capitalised whatever it is, so it does not count.
    """
    missing = far = 0
    evidence = set(best)
    for word, (_, units) in zip(content, lookups, strict=True):
        if word.is_capital and word is not words[0] and word.is_content:
            missing += not units
            far += bool(units) and evidence.isdisjoint(units)
    return missing, far


def _is_near(one: Word, other: Word) -> bool:
    """Within a tenth: what "about" and "over" let pass. Years have no such latitude."""
    if one.number is None or other.number is None or one.is_year or other.is_year:
        return False
    return abs(one.number - other.number) <= abs(one.number) / 10


def _clash(
    words: Sequence[Word], content: Sequence[Word], top: Unit, context: Context
) -> Clash | None:
    """The clash with the best sentence, when the rest of the claim is there."""
    clash = find_clash(words, top.words)
    if clash is None:
        return None
    others = [word for word in content if word is not clash.claimed]
    agreeing = sum(word.stem in top.stems for word in others)
    if agreeing < _AGREEING_SHARE * len(others) or not agreeing:
        return None
    claimed = clash.claimed
    if claimed is None or clash.found is None:
        return clash
    before = words[: words.index(claimed)][-2:]
    if any(word.text in HEDGES for word in before) and _is_near(claimed, clash.found):
        return None
    elsewhere = context.holders.get(claimed.stem, ())
    is_said_elsewhere = any(
        sum(word.stem in context.units[number].stems for word in others)
        >= _ELSEWHERE_SHARE * agreeing
        for number in elsewhere
    )
    return None if is_said_elsewhere else clash
