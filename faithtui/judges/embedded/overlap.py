"""The overlap baseline: how much of a claim can be found in a context, as a probability.

Eleven numbers about shared words go through a logistic regression whose signs were fixed before
it was trained. It knows no language and no world: it sees which words, numbers and names of a claim
occur in the context, and how close together. What it says is a heuristic, not an understanding.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from faithtui.domain.conversation import Span
from faithtui.domain.text.alignment import matching_stems
from faithtui.domain.text.contradictions import Clash
from faithtui.domain.text.languages import MEASURED, are_comparable, language_of
from faithtui.domain.text.sentence_index import MOST_EVIDENCE, Context, Unit
from faithtui.domain.text.sentences import SentenceKind, answer_sentences
from faithtui.judges.embedded.features import Comparison, compare
from faithtui.judges.embedded.weights import (
    AS_SHIPPED,
    Calibration,
    OverlapWeights,
    shipped_weights,
)

CLASH_CAP: Final = 0.4
"""Probability a claim gets at most that clashes explicitly or is in another language."""


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


def judge_claim(claim: str, context: Context, calibration: Calibration = AS_SHIPPED) -> Finding:
    """Judge a claim against a context.

    A claim of several sentences gets the mean of their probabilities; those that state nothing
    (questions, greetings) are left out unless there are no others. It is `no` when a sentence
    clashes explicitly, else `yes` from 0.5 up, else `idk`. Without letters and digits it is `idk`,
    and so it is when claim and context are visibly in different languages.

    Args:
        claim: One sentence or a whole answer.
        context: What it must be found in.
        calibration: Slope and intercept put on the log odds of the probability, from the labels of
            a project's own people.
    """
    sentences = answer_sentences(claim)
    stating = [each for each in sentences if each.kind is SentenceKind.CLAIM] or sentences
    parts = [(compare(each.text, context), each.span.start) for each in stating] or [
        (compare("", context), 0)
    ]
    # The part with a clash decides, so its evidence and reason come first.
    parts.sort(key=lambda part: part[0].alignment.clash is None)
    clash = parts[0][0].alignment.clash
    languages = (language_of(claim), context.language())
    chance = recalibrated(chance_of([part for part, _ in parts], shipped_weights()), calibration)
    if clash is not None or not are_comparable(*languages):
        chance = min(chance, CLASH_CAP)
    answer = Answer.NO if clash is not None else Answer.YES if chance >= 0.5 else Answer.IDK
    missing = tuple(
        Span(word.start + shift, word.end + shift)
        for part, shift in sorted(parts, key=lambda part: part[1])
        for word in part.alignment.missing
    )
    reason = _reason([part for part, _ in parts], context, answer)
    return Finding(
        answer=answer,
        probability=chance,
        evidence=quoted([part for part, _ in parts], context),
        missing=missing,
        clash=clash,
        reason=f"{reason}{_language_note(*languages)}",
    )


def chance_of(parts: Sequence[Comparison], weights: OverlapWeights) -> float:
    """Probability in [0, 1] that a claim of one or more sentences is supported: their mean.

    A sentence that clashes, or states what the context leaves open, counts `CLASH_CAP` at most; so
    does a claim that holds one that clashes.
    """
    chances = [
        min(chance, CLASH_CAP) if part.alignment.clash or part.alignment.disputed else chance
        for part in parts
        for chance in (_logistic(weights.log_odds(part.features)),)
    ]
    mean = sum(chances) / len(chances)
    return min(mean, CLASH_CAP) if any(part.alignment.clash is not None for part in parts) else mean


def recalibrated(chance: float, calibration: Calibration) -> float:
    """Put a slope and an intercept on the log odds of a probability; both ends stay."""
    if calibration == AS_SHIPPED or chance in (0.0, 1.0):
        return chance
    slope, intercept = calibration
    return _logistic(slope * math.log(chance / (1 - chance)) + intercept)


def _logistic(log_odds: float) -> float:
    if log_odds < 0:  # no overflow on either side
        grown = math.exp(log_odds)
        return grown / (1 + grown)
    return 1 / (1 + math.exp(-log_odds))


def quoted(parts: Sequence[Comparison], context: Context) -> tuple[Evidence, ...]:
    """Evidence of all parts, best sentences first, at most three in all."""
    ranked = [
        (number, part)
        for rank in range(MOST_EVIDENCE)
        for part in parts
        for number in part.alignment.best[rank : rank + 1]
    ]
    chosen: dict[int, Evidence] = {}
    for number, part in ranked:
        if number in chosen or len(chosen) == MOST_EVIDENCE:
            continue
        unit = context.units[number]
        aligned = part.alignment
        stems = matching_stems(aligned.content, aligned.lookups, context)
        matched = tuple(word.span for word in unit.words if word.stem in stems)
        chosen[number] = Evidence(unit.source, unit.span, matched)
    return tuple(chosen.values())


_NAMED_WORDS: Final = 6
"""Missing words a reason names."""


def _reason(parts: Sequence[Comparison], context: Context, answer: Answer) -> str:
    """One sentence or two made from the numbers."""
    if not context.units:
        return "There is no context to compare the claim with."
    aligned = [part.alignment for part in parts]
    total = sum(len(each.content) for each in aligned)
    if not total:
        return "The claim holds no word to compare."
    found = sum(weight > 0 for each in aligned for weight in each.found)
    clash = aligned[0].clash
    if clash is not None:
        reason = _clash_reason(clash, parts[0], context.units[aligned[0].best[0]])
    elif found < total:
        reason = f"{found} of {total} content words are in the context"
        for words, name in (
            (_named(parts, are_disputed=True), "only as one of several"),
            (_named(parts, are_disputed=False), "not found"),
        ):
            reason += f"; {name}: {words}" if words else ""
        reason += "."
    elif answer is Answer.YES:
        reason = f"All {total} content words are in the context."
    else:
        reason = f"All {total} content words are in the context, but not close together."
    return reason


def _language_note(claim: str | None, context: str | None) -> str:
    """What is to be added to a reason about languages; empty when both are English, or unknown."""
    if not are_comparable(claim, context):
        return (
            f" Unmeasured language: the claim reads as {claim}, the context as {context}; words of "
            "different languages cannot be compared."
        )
    other = next((each for each in (claim, context) if each not in (None, MEASURED)), None)
    if other is None:
        return ""
    return f" Unmeasured language ({other}): this heuristic was measured on English only."


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


def _named(parts: Sequence[Comparison], *, are_disputed: bool) -> str:
    """Missing words as the claim writes them, overlapping character pairs joined, each once.

    Args:
        parts: Sentences of the claim.
        are_disputed: Those that the context gives as one of several, or those it does not have.
    """
    named: dict[str, None] = {}
    for part in parts:
        spans: list[tuple[int, int]] = []
        for word in part.alignment.missing:
            if (word.stem in part.alignment.disputed) is not are_disputed:
                continue
            if spans and word.start < spans[-1][1]:
                spans[-1] = (spans[-1][0], word.end)
            else:
                spans.append((word.start, word.end))
        named |= dict.fromkeys(part.text[start:end] for start, end in spans)
    shown = ", ".join(list(named)[:_NAMED_WORDS])
    more = len(named) - _NAMED_WORDS
    return f"{shown} and {more} more" if more > 0 else shown
