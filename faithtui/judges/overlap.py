"""The overlap baseline: how much of a claim can be found in a context, as a probability.

Twelve numbers about shared words go through a logistic regression whose signs were fixed before
it was trained. It knows no language and no world: it sees which words, numbers and names of a claim
occur in the context, and how close together. What it says is a heuristic, not an understanding.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from faithtui.judges.clashes import (
    Clash,
    ClashKind,
    common_length,
    find_clash,
    is_hedged_match,
    is_negation,
)
from faithtui.judges.lexicon import FIRST_PERSON, HEDGES
from faithtui.judges.overlap_index import MOST_EVIDENCE, Context, Unit, choose_evidence
from faithtui.judges.sentences import SentenceKind, Span, answer_sentences
from faithtui.judges.words import Word, read_words

VERSION: Final = "1"
"""Goes up whenever the same question may get another answer."""

FEATURES: Final = (
    "covered",
    "bigrams",
    "common_order",
    "pairs_meet",
    "numbers_missing",
    "names_missing",
    "missing_run",
    "first_person",
    "negation_added",
    "number_clash",
    "opposite_clash",
    "negation_clash",
)
"""Names of the features, in the order of `WEIGHTS`. docs/offline-judge.md defines each."""

WEIGHTS: Final = (
    1.7208,
    1.1542,
    1.106,
    0.4425,
    -2.4673,
    -1.4476,
    -0.342,
    -1.0611,
    -0.2565,
    -3.3017,
    -4.8833,
    -4.5116,
)
"""Weights of `FEATURES`, per unit of the feature. The signs were fixed, the sizes were trained.

Source:
    Logistic regression (L-BFGS-B, sign bounds, ridge 0.01 on standardised features) on the
    development rows of MTRAG (TACL 2025), BEGIN (TACL 2022), the FaithDial data audit (NAACL 2022),
    SummEdits (EMNLP 2023) and WiCE (EMNLP 2023), each family and each class weighing the same; an
    answer of several sentences enters with the mean of their features. FaithBench was not used: its
    licence is non-commercial.
"""
INTERCEPT: Final = -1.5537
PLATT_SLOPE: Final = 0.9384
PLATT_INTERCEPT: Final = -0.0141
"""Slope and intercept of the calibration.

Source:
    Platt, "Probabilistic outputs for support vector machines", 1999, fitted on the scores that
    regressions trained without a family gave to that family. Meant for an even mix of supported and
    unsupported claims.
"""

CLASH_CAP: Final = 0.4
"""Probability a claim with an explicit clash gets at most."""
_AGREEING_SHARE: Final = 0.6
"""Share of the other content words the clashing sentence must hold."""


class Answer(StrEnum):
    """The verdict words of the embedded judge."""

    YES = "yes"
    NO = "no"
    IDK = "idk"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence that holds part of a claim."""

    source: int
    """Position of its passage among those given."""
    span: Span
    """The sentence within that passage."""
    matched: tuple[Span, ...]
    """Words of that sentence that occur in the claim, in order, within the passage."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the baseline says of one claim."""

    answer: Answer
    probability: float
    """That the claim is supported, in [0, 1]."""
    evidence: tuple[Evidence, ...]
    """At most three sentences, the best first; () when the context holds no word of the claim."""
    missing: tuple[Span, ...]
    """Content words of the claim that are not in the context, in order."""
    clash: Clash | None
    reason: str


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


def judge_claim(claim: str, context: Context) -> Finding:
    """Judge a claim against a context.

    A claim of several sentences gets the mean of their probabilities; those that state nothing
    (questions, greetings) are left out unless there are no others. It is `no` when a sentence
    clashes explicitly, else `yes` from 0.5 up, else `idk`. Without letters and digits it is `idk`.
    """
    sentences = answer_sentences(claim)
    stating = [each for each in sentences if each.kind is SentenceKind.CLAIM] or sentences
    parts = [(compare(each.text, context), each.span.start) for each in stating] or [
        (compare("", context), 0)
    ]
    # The part with a clash decides, so its evidence and reason come first.
    parts.sort(key=lambda part: part[0].clash is None)
    clash = parts[0][0].clash
    chances = [probability(part.features) for part, _ in parts]
    chances[0] = min(chances[0], CLASH_CAP) if clash is not None else chances[0]
    chance = sum(chances) / len(chances)
    chance = min(chance, CLASH_CAP) if clash is not None else chance
    answer = Answer.NO if clash is not None else Answer.YES if chance >= 0.5 else Answer.IDK
    missing = tuple(
        Span(word.start + shift, word.end + shift)
        for part, shift in sorted(parts, key=lambda part: part[1])
        for word, weight in zip(part.content, part.found, strict=True)
        if not weight
    )
    return Finding(
        answer=answer,
        probability=chance,
        evidence=_quoted([part for part, _ in parts], context),
        missing=missing,
        clash=clash,
        reason=_reason([part for part, _ in parts], context, answer),
    )


def compare(claim: str, context: Context) -> Comparison:
    """Measure a claim of one sentence against a context."""
    words = tuple(read_words(claim))
    content = tuple(word for word in words if word.is_content) or words
    lookups = [context.find(word) for word in content]
    found = tuple(weight for weight, _ in lookups)
    best = choose_evidence(words, content, lookups, context)
    top = context.units[best[0]] if best else None
    clash = _clash(words, content, top, context, lookups) if top is not None else None
    stems = [word.stem for word in words]
    bigrams = list(pairwise(stems))
    is_negated = any(map(is_negation, words))
    is_top_negated = top is not None and any(map(is_negation, top.words))
    kind = clash.kind if clash is not None else None
    features = (
        sum(found) / len(found) if found else 0.0,
        _share(bigram in context.bigrams for bigram in bigrams),
        common_length(words, top.words) / len(words) if top is not None else 0.0,
        _share(_meet(left, right) for left, right in pairwise(units for _, units in lookups)),
        math.log1p(_numbers_missing(words, context)),
        math.log1p(
            sum(
                word.is_capital and position > 0 and not context.find(word)[0]
                for position, word in enumerate(words)
                if word.is_content
            )
        ),
        math.log1p(_longest_run(found)),
        float(any(word.text in FIRST_PERSON for word in words)),
        float(is_negated and not is_top_negated),
        float(kind in (ClashKind.NUMBER, ClashKind.DATE)),
        float(kind is ClashKind.OPPOSITE),
        float(kind is ClashKind.NEGATION),
    )
    return Comparison(claim, words, content, found, best, clash, features)


def _share(hits: Iterable[bool]) -> float:
    values = list(hits)
    return sum(values) / len(values) if values else 0.0


def _meet(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether two ascending lists share a number."""
    if len(left) > len(right):
        left, right = right, left
    if not left:
        return False
    return not set(left).isdisjoint(right)


def _longest_run(found: Sequence[float]) -> int:
    longest = run = 0
    for weight in found:
        run = 0 if weight else run + 1
        longest = max(longest, run)
    return longest


def _numbers_missing(words: Sequence[Word], context: Context) -> int:
    missing = 0
    for position, word in enumerate(words):
        if word.number is None or word.stem in context.holders:
            continue
        is_hedged = any(each.text in HEDGES for each in words[max(0, position - 2) : position])
        is_forgiven = any(
            is_hedged_match(word, other) or (is_hedged and _is_near(word, other))
            for other in context.numbers
        )
        missing += not is_forgiven
    return missing


def _is_near(one: Word, other: Word) -> bool:
    """Within a tenth: what "about" and "over" let pass. Years have no such latitude."""
    if one.number is None or other.number is None or one.is_year or other.is_year:
        return False
    return abs(one.number - other.number) <= abs(one.number) / 10


def _clash(
    words: Sequence[Word],
    content: Sequence[Word],
    top: Unit,
    context: Context,
    lookups: Sequence[tuple[float, Sequence[int]]],
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
    if claimed is None or claimed.number is None or clash.found is None:
        return clash
    before = words[: words.index(claimed)][-2:]
    if any(word.text in HEDGES for word in before) and _is_near(claimed, clash.found):
        return None
    elsewhere = context.holders.get(claimed.stem, ())
    is_said_elsewhere = any(
        sum(word.stem in context.units[number].stems for word in others) >= agreeing / 2
        for number in elsewhere
    )
    return None if is_said_elsewhere else clash


def probability(features: Sequence[float]) -> float:
    """Probability in [0, 1] that a claim with these values of `FEATURES` is supported."""
    raw = INTERCEPT + sum(w * x for w, x in zip(WEIGHTS, features, strict=True))
    return 1 / (1 + math.exp(-(PLATT_SLOPE * raw + PLATT_INTERCEPT)))


def _quoted(parts: Sequence[Comparison], context: Context) -> tuple[Evidence, ...]:
    """Evidence of all parts, best sentences first, at most three in all."""
    ranked = [
        (number, part)
        for rank in range(MOST_EVIDENCE)
        for part in parts
        for number in part.best[rank : rank + 1]
    ]
    chosen: dict[int, Evidence] = {}
    for number, part in ranked:
        if number in chosen or len(chosen) == MOST_EVIDENCE:
            continue
        unit = context.units[number]
        stems = {word.stem for word in part.content}
        prefixes = {word.prefix for word in part.content} - {""}
        matched = tuple(
            Span(word.start, word.end)
            for word in unit.words
            if word.stem in stems or word.prefix in prefixes
        )
        chosen[number] = Evidence(unit.source, unit.span, matched)
    return tuple(chosen.values())


_NAMED_WORDS: Final = 6
"""Missing words a reason names."""


def _reason(parts: Sequence[Comparison], context: Context, answer: Answer) -> str:
    """One sentence or two made from the numbers."""
    if not context.units:
        return "There is no context to compare the claim with."
    total = sum(len(part.content) for part in parts)
    if not total:
        return "The claim holds no word to compare."
    found = sum(weight > 0 for part in parts for weight in part.found)
    if parts[0].clash is not None:
        reason = _clash_reason(parts[0].clash, parts[0], context.units[parts[0].best[0]])
    elif found < total:
        reason = (
            f"{found} of {total} content words are in the context; "
            f"not found: {_missing_words(parts)}."
        )
    elif answer is Answer.YES:
        reason = f"All {total} content words are in the context."
    else:
        reason = f"All {total} content words are in the context, but not close together."
    if all(_is_unmeasured(part.words) for part in parts):
        reason += " Unmeasured language: this heuristic was measured on English only."
    return reason


def _clash_reason(clash: Clash, part: Comparison, unit: Unit) -> str:
    claimed = part.text[clash.claimed.start : clash.claimed.end] if clash.claimed else ""
    found = unit.passage[clash.found.start : clash.found.end] if clash.found else ""
    if clash.found is None:
        return f'Possible contradiction: only the claim is negated ("{claimed}").'
    if clash.claimed is None:
        return f'Possible contradiction: only the closest sentence is negated ("{found}").'
    return (
        f'Possible contradiction: the claim says "{claimed}" where the closest sentence says '
        f'"{found}".'
    )


def _missing_words(parts: Sequence[Comparison]) -> str:
    """Missing words as the claim writes them, overlapping character pairs joined, each once."""
    named: dict[str, None] = {}
    for part in parts:
        spans: list[tuple[int, int]] = []
        for word, weight in zip(part.content, part.found, strict=True):
            if weight:
                continue
            if spans and word.start < spans[-1][1]:
                spans[-1] = (spans[-1][0], word.end)
            else:
                spans.append((word.start, word.end))
        named |= dict.fromkeys(part.text[start:end] for start, end in spans)
    shown = ", ".join(list(named)[:_NAMED_WORDS])
    more = len(named) - _NAMED_WORDS
    return f"{shown} and {more} more" if more > 0 else shown


_LAST_LATIN: Final = "\u024f"


def _is_unmeasured(words: Sequence[Word]) -> bool:
    """Whether most words are in another script than the one the weights were trained on."""
    foreign = sum(word.text > _LAST_LATIN for word in words)
    return 2 * foreign > len(words)
