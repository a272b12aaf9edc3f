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
from faithtui.domain.log_odds import logistic
from faithtui.domain.text.alignment import find_matching_stems
from faithtui.domain.text.contradictions import Clash
from faithtui.domain.text.empty_phrases import blank_out_citations, find_statement
from faithtui.domain.text.languages import (
    MEASURED_LANGUAGE,
    are_comparable_languages,
    detect_language,
)
from faithtui.domain.text.sentence_index import MOST_EVIDENCE, IndexedSentence, SentenceIndex
from faithtui.domain.text.sentences import SentenceKind, split_answer
from faithtui.domain.text.unsupported_words import DoubtKind
from faithtui.judges.embedded.features import SentenceComparison, compare_claim_with_context
from faithtui.judges.embedded.weights import (
    NO_RECALIBRATION,
    Calibration,
    OverlapWeights,
    load_weights,
)

MAX_CLASH_PROBABILITY: Final = 0.4
"""Probability a claim gets at most that clashes explicitly, is in doubt, or in another language."""


class VerdictWord(StrEnum):
    """The verdict words of the embedded judge."""

    YES = "yes"
    NO = "no"
    IDK = "idk"


@dataclass(frozen=True, slots=True)
class OverlapEvidence:
    """A sentence that holds part of a claim."""

    source: int
    """Position of its passage among those given."""
    span: Span
    """The sentence within that passage."""
    matched: tuple[Span, ...]
    """Words of that sentence that occur in the claim, in order, within the passage."""


@dataclass(frozen=True, slots=True)
class OverlapVerdict:
    """What the baseline says of one claim."""

    answer: VerdictWord
    probability: float
    """That the claim is supported, in [0, 1]."""
    evidence: tuple[OverlapEvidence, ...]
    """At most three sentences, the best first; () when the context holds no word of the claim."""
    missing: tuple[Span, ...]
    """Content words of the claim that are not in the context, in order."""
    clash: Clash | None
    reason: str


def judge_claim(
    claim: str, context: SentenceIndex, calibration: Calibration = NO_RECALIBRATION
) -> OverlapVerdict:
    """Judge a claim against a context.

    A claim of several sentences gets the mean of their probabilities; those that state nothing
    (questions, greetings) are left out unless there are no others, and of the others citations and
    empty words around what they state. It is `no` when a sentence
    clashes explicitly, else `yes` from the threshold up, else `idk`. Without letters and digits it
    is `idk`, and so it is when claim and context are visibly in different languages.

    Args:
        claim: One sentence or a whole answer.
        context: What it must be found in.
        calibration: From the labels of a project's own annotators. Slope and intercept move the
            probability, and the verdict follows from the probability as shipped.
    """
    sentences = split_answer(claim)
    stating = [each for each in sentences if each.kind is SentenceKind.CLAIM] or sentences
    parts = [
        (
            compare_claim_with_context(statement.slice_text(text), context),
            each.span.start + statement.start,
        )
        for each in stating
        for text in (blank_out_citations(each.text),)
        for statement in (find_statement(text),)
    ] or [(compare_claim_with_context("", context), 0)]
    # The part with a clash decides, so its evidence and reason come first.
    parts.sort(key=lambda part: part[0].alignment.clash is None)
    clash = parts[0][0].alignment.clash
    languages = (detect_language(claim), context.find_language())
    shipped = compute_support_probability([part for part, _ in parts], load_weights())
    chance = recalibrate_probability(shipped, calibration)
    is_comparable = are_comparable_languages(*languages)
    if clash is not None or not is_comparable:
        chance = min(chance, MAX_CLASH_PROBABILITY)
    answer = (
        VerdictWord.NO
        if clash is not None
        else VerdictWord.YES
        if is_comparable and shipped >= calibration.threshold
        else VerdictWord.IDK
    )
    missing = tuple(
        Span(word.start + shift, word.end + shift)
        for part, shift in sorted(parts, key=lambda part: part[1])
        for word in part.alignment.missing
    )
    reason = _make_verdict_reason([part for part, _ in parts], context, answer)
    return OverlapVerdict(
        answer=answer,
        probability=chance,
        evidence=select_best_evidence([part for part, _ in parts], context),
        missing=missing,
        clash=clash,
        reason=f"{reason}{_make_language_note(*languages)}",
    )


def compute_support_probability(
    parts: Sequence[SentenceComparison], weights: OverlapWeights
) -> float:
    """Probability in [0, 1] that a claim of one or more sentences is supported: their mean.

    A sentence that clashes, states what the context leaves open, or has a word that the context
    speaks against (`doubts`) counts `MAX_CLASH_PROBABILITY` at most; so does a claim that holds one
    that clashes.
    """
    chances = [
        min(chance, MAX_CLASH_PROBABILITY)
        if part.alignment.clash or part.alignment.disputed or part.alignment.doubt
        else chance
        for part in parts
        for chance in (logistic(weights.compute_log_odds(part.features)),)
    ]
    mean = sum(chances) / len(chances)
    return (
        min(mean, MAX_CLASH_PROBABILITY)
        if any(part.alignment.clash is not None for part in parts)
        else mean
    )


def recalibrate_probability(chance: float, calibration: Calibration) -> float:
    """Put a slope and an intercept on the log odds of a probability; both ends stay."""
    if not calibration.is_probability_recalibrated or chance in (0.0, 1.0):
        return chance
    return logistic(calibration.slope * math.log(chance / (1 - chance)) + calibration.intercept)


def select_best_evidence(
    parts: Sequence[SentenceComparison], context: SentenceIndex
) -> tuple[OverlapEvidence, ...]:
    """Evidence of all parts, best sentences first, at most three in all."""
    ranked = [
        (number, part)
        for rank in range(MOST_EVIDENCE)
        for part in parts
        for number in part.alignment.best[rank : rank + 1]
    ]
    chosen: dict[int, OverlapEvidence] = {}
    stems_of_parts: dict[int, set[str]] = {}
    for number, part in ranked:
        if number in chosen or len(chosen) == MOST_EVIDENCE:
            continue
        unit = context.units[number]
        aligned = part.alignment
        stems = stems_of_parts.get(id(part))
        if stems is None:
            stems = find_matching_stems(aligned.content, aligned.lookups, context)
            stems_of_parts[id(part)] = stems
        matched = tuple(
            [
                word.span
                for word in unit.words
                if word.stem in stems or (word.aliases and word.has_key_in(stems))
            ]
        )
        chosen[number] = OverlapEvidence(unit.source, unit.span, matched)
    return tuple(chosen.values())


_NAMED_WORDS: Final = 6
"""Missing words a reason names."""


def _make_verdict_reason(
    parts: Sequence[SentenceComparison], context: SentenceIndex, answer: VerdictWord
) -> str:
    """One sentence or two made from the numbers."""
    if not context.units:
        return "There is no context to compare the claim with."
    aligned = [part.alignment for part in parts]
    total = sum(len(each.content) for each in aligned)
    if not total:
        return "The claim holds no word to compare."
    found = sum(weight > 0 for each in aligned for weight in each.found)
    clash = aligned[0].clash
    doubted = next(filter(_is_doubt_decisive, parts), None)
    if clash is not None:
        reason = _make_clash_reason(clash, parts[0], context.units[aligned[0].best[0]])
    elif found < total:
        reason = f"{found} of {total} content words are in the context"
        for words, name in (
            (_format_missing_words(parts, are_disputed=True), "only as one of several"),
            (_format_missing_words(parts, are_disputed=False), "not found"),
        ):
            reason += f"; {name}: {words}" if words else ""
        reason += "."
    elif answer is VerdictWord.YES or doubted is not None:
        reason = f"All {total} content words are in the context."
    else:
        reason = f"All {total} content words are in the context, but not close together."
    if doubted is None or answer is not VerdictWord.IDK:
        return reason
    return f"{reason} {_make_doubt_reason(doubted, context)}"


def _is_doubt_decisive(part: SentenceComparison) -> bool:
    """Whether a doubt makes a difference: the features alone speak for the sentence."""
    return part.alignment.doubt is not None and load_weights().compute_log_odds(part.features) >= 0


def _make_doubt_reason(part: SentenceComparison, context: SentenceIndex) -> str:
    """Say what keeps a sentence from being supported; its features alone speak for it."""
    aligned = part.alignment
    doubt = aligned.doubt
    if doubt is None:
        return ""
    claimed = part.text[doubt.claimed.start : doubt.claimed.end] if doubt.claimed else ""
    if doubt.kind is DoubtKind.EXCHANGED_NAMES and doubt.found is not None:
        other = part.text[doubt.found.start : doubt.found.end]
        return f'"{claimed}" and "{other}" stand the other way round in the closest sentence.'
    if doubt.kind in _LACKING:
        return f'The context does not have the {doubt.kind} "{claimed}".'
    unit = context.units[aligned.best[0]]
    found = unit.passage[doubt.found.start : doubt.found.end] if doubt.found else ""
    if not found:
        return f'Only the claim is negated here ("{claimed}").'
    if not claimed:
        return f'Only the closest sentence is negated here ("{found}").'
    return f'The claim says "{claimed}" where the closest sentence says "{found}".'


_LACKING: Final = frozenset({DoubtKind.NAME, DoubtKind.NUMBER, DoubtKind.DATE})
"""What is in no sentence of the context."""


def _make_language_note(claim: str | None, context: str | None) -> str:
    """What is to be added to a reason about languages; empty when both are English, or unknown."""
    if not are_comparable_languages(claim, context):
        return (
            f" Unmeasured language: the claim reads as {claim}, the context as {context}; words of "
            "different languages cannot be compared."
        )
    other = next((each for each in (claim, context) if each not in (None, MEASURED_LANGUAGE)), None)
    if other is None:
        return ""
    return f" Unmeasured language ({other}): this heuristic was measured on English only."


def _make_clash_reason(clash: Clash, part: SentenceComparison, unit: IndexedSentence) -> str:
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


def _format_missing_words(parts: Sequence[SentenceComparison], *, are_disputed: bool) -> str:
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
