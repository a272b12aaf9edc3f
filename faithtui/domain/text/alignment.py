"""A claim held against a text: where its words are, which sentences hold it, where it clashes.

The only place where that is decided. The evidence pane, the integrity checks and the embedded judge
draw their conclusions from what is found here, so that no two of them read the same words
differently.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from faithtui.domain.text.contradictions import (
    Clash,
    ClashKind,
    find_alternative_numbers,
    find_clash,
    may_be_rounded_match,
)
from faithtui.domain.text.numbers import is_near
from faithtui.domain.text.sentence_index import (
    Lookup,
    SentenceIndex,
    choose_evidence_sentences,
    is_in_ascending_list,
)
from faithtui.domain.text.tokens import Word
from faithtui.domain.text.unsupported_words import (
    NEAR_COPY,
    Doubt,
    DoubtKind,
    find_missing_name,
    find_near_copy_doubt,
)
from faithtui.domain.text.word_lists import HEDGES

AGREEING_SHARE: Final = 0.6
"""Share of the other content words that a clashing sentence must hold."""
_STRICT_SHARE: Final = 0.75
"""The same where a name clashes or an exception is made: sentences about somebody else, and about
something more, are frequent."""
_STRICT: Final = frozenset({ClashKind.NAME, ClashKind.CONDITION})
_ELSEWHERE_SHARE: Final = 0.34
"""Share of those words that another sentence must hold to say the clashing word of the same."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """A claim of one sentence beside a context."""

    words: tuple[Word, ...]
    content: tuple[Word, ...]
    """Words that were looked up: content words, or all when there are none."""
    lookups: tuple[Lookup, ...]
    """For each of `content`, how well it is found and in which units."""
    found: tuple[float, ...]
    """For each of `content`, how well it is found, in {0, 0.7, 1}; 0 for what is disputed."""
    disputed: frozenset[str]
    """Stems of numbers and dates that the context gives only as one of several."""
    best: tuple[int, ...]
    """Numbers of the units that hold most of the claim, the best first; at most three."""
    common_order: float
    """Share of the claim's words, in [0, 1], that the best unit holds in the claim's order."""
    clash: Clash | None
    """With the best unit."""
    doubt: Doubt | None
    """What keeps the claim from being what the context says, where nothing clashes."""
    missing: tuple[Word, ...]
    """Those of `content` that are not found, in order."""


def align_claim_with_context(text: str, words: Sequence[Word], context: SentenceIndex) -> Alignment:
    """Hold a claim of one sentence against a context.

    Args:
        text: What `words` have their offsets in.
        words: Of the claim.
        context: What it must be found in.
    """
    content = select_content_words(words)
    lookups = tuple(context.look_up_word(word) for word in content)
    best, common_order = choose_evidence_sentences([word.stem for word in words], lookups, context)
    disputed = find_disputed_numbers(words, content, lookups, context)
    clash, is_said_elsewhere = (
        _find_clash_and_whether_word_occurs_elsewhere(words, content, lookups, best[0], context)
        if best
        else (None, False)
    )
    if is_said_elsewhere:
        clash, elsewhere = None, clash
    else:
        elsewhere = None
    found = tuple(strength for strength, _ in lookups)
    lacking = missing = tuple(
        word for word, strength in zip(content, found, strict=True) if not strength
    )
    if disputed:
        found = tuple(
            0.0 if word.stem in disputed else strength
            for word, strength in zip(content, found, strict=True)
        )
        missing = tuple(word for word, strength in zip(content, found, strict=True) if not strength)
    return Alignment(
        tuple(words),
        content,
        lookups,
        found,
        disputed,
        best,
        common_order,
        clash,
        _find_reason_claim_is_unsupported(
            text, words, lacking, best, common_order, context, elsewhere
        )
        if clash is None
        else None,
        missing,
    )


def _find_reason_claim_is_unsupported(
    text: str,
    words: Sequence[Word],
    missing: Sequence[Word],
    best: Sequence[int],
    common_order: float,
    context: SentenceIndex,
    elsewhere: Clash | None,
) -> Doubt | None:
    """What keeps a claim from being supported.

    Args:
        text: Where the words have their offsets.
        words: Of the claim.
        missing: Those that the context has nowhere.
        best: The units that hold most of the claim, the best first.
        common_order: Share of the claim that the best one holds in its order.
        context: All units.
        elsewhere: A clash with the best unit whose word another unit says of the same.
    """
    if (doubt := find_missing_name(text, words, missing, context)) is not None:
        return doubt
    for word in missing:
        if word.number is None:
            continue
        before = words[: words.index(word)]
        if _is_small_spelled_number(word) or (before and before[-1].end == word.start):  # Q3, A380
            continue
        if not is_rounded_in_context(word, before, context):
            return Doubt(DoubtKind.NUMBER, word, None)
    month = next((word for word in missing if word.kind == "date" and word.number is None), None)
    if month is not None:
        return Doubt(DoubtKind.DATE, month, None)
    if elsewhere is not None and common_order >= NEAR_COPY:
        return Doubt(DoubtKind.ELSEWHERE, elsewhere.claimed, elsewhere.found)
    if not best:
        return None
    return find_near_copy_doubt(words, context.units[best[0]].words, common_order)


_MOST_COUNTED: Final = 12
"""Numbers up to it, in words, are often counted by whoever makes the claim: "his two bands"."""


def _is_small_spelled_number(word: Word) -> bool:
    return word.text.isalpha() and word.number is not None and word.number <= _MOST_COUNTED


def select_content_words(words: Sequence[Word]) -> tuple[Word, ...]:
    """Choose the words of a claim that are looked up: content words, or all when there are none."""
    return tuple(word for word in words if word.is_content) or tuple(words)


def find_matching_stems(
    content: Sequence[Word], lookups: Sequence[Lookup], context: SentenceIndex
) -> set[str]:
    """Stems of a context that stand for words of a claim: the same, or what is taken for them."""
    found = {word.stem for word in content}
    found.update(*(word.aliases for word in content if word.aliases))
    for word, (strength, _) in zip(content, lookups, strict=True):
        if 0 < strength < 1:
            found.update(context.find_similar_stems(word))
    return found


def find_disputed_numbers(
    words: Sequence[Word],
    content: Sequence[Word],
    lookups: Sequence[Lookup],
    context: SentenceIndex,
) -> frozenset[str]:
    """Stems of a claim's numbers and dates that a context gives only as one of several.

    What the claim itself gives as one of several is not disputed.
    """
    if "or" not in context.holders:
        return frozenset()
    held = [
        (word.stem, units)
        for word, (_, units) in zip(content, lookups, strict=True)
        if word.kind in ("number", "date") and units
    ]
    if not held:
        return frozenset()
    offered = find_alternative_numbers(words)
    return frozenset(
        stem
        for stem, units in held
        if stem not in offered
        if all(stem in find_alternative_numbers(context.units[each].words) for each in units)
    )


def find_clash_in_matching_sentence(
    words: Sequence[Word],
    content: Sequence[Word],
    lookups: Sequence[Lookup],
    number: int,
    context: SentenceIndex,
) -> Clash | None:
    """The clash of a claim with one sentence, when the rest of the claim is there.

    Args:
        words: Of the claim.
        content: Those that were looked up.
        lookups: What was found of each.
        number: The sentence, as a unit of the context.
        context: Where they were looked up; what another sentence of it says as well is no clash.
    """
    clash, is_said_elsewhere = _find_clash_and_whether_word_occurs_elsewhere(
        words, content, lookups, number, context
    )
    return None if is_said_elsewhere else clash


def _find_clash_and_whether_word_occurs_elsewhere(
    words: Sequence[Word],
    content: Sequence[Word],
    lookups: Sequence[Lookup],
    number: int,
    context: SentenceIndex,
) -> tuple[Clash | None, bool]:
    """The clash of a claim with one sentence, and whether another says the claim's word as well."""
    clash = find_clash(words, context.units[number].words)
    if clash is None:
        return None, False
    claimed, found = clash.claimed, clash.found
    others = [
        units
        for word, (_, units) in zip(content, lookups, strict=True)
        if word is not claimed and word not in clash.rest_of_name
    ]
    agreeing = sum(is_in_ascending_list(units, number) for units in others)
    share = _STRICT_SHARE if clash.kind in _STRICT else AGREEING_SHARE
    if agreeing < share * len(others) or not agreeing:
        return None, False
    if claimed is None or found is None or clash.kind is ClashKind.CONDITION:
        return clash, False
    if clash.kind is ClashKind.NAME and _are_names_side_by_side(claimed, found, words, context):
        return None, False
    before = words[: words.index(claimed)][-2:]
    is_hedged = any(word.text in HEDGES for word in before)
    if is_hedged and are_about_equal_numbers(claimed, found):
        return None, False
    is_said_elsewhere = any(
        sum(is_in_ascending_list(units, other) for units in others) >= _ELSEWHERE_SHARE * agreeing
        for other in context.holders.get(claimed.stem, ())
    )
    return clash, is_said_elsewhere


def _are_names_side_by_side(
    one: Word, other: Word, words: Sequence[Word], context: SentenceIndex
) -> bool:
    """Whether two names stand beside each other somewhere: first name and surname of one person."""
    pairs = {(one.stem, other.stem), (other.stem, one.stem)}
    own = pairwise(word.stem for word in words)
    return not pairs.isdisjoint(own) or not pairs.isdisjoint(context.bigrams)


def are_about_equal_numbers(one: Word, other: Word) -> bool:
    """Whether "about" lets two numbers pass as one. Years have no such latitude."""
    if one.number is None or other.number is None or one.is_year or other.is_year:
        return False
    return is_near(one.number, other.number)


def is_rounded_in_context(word: Word, before: Sequence[Word], context: SentenceIndex) -> bool:
    """Whether a number that a context lacks may be one of its numbers, rounded.

    Args:
        word: The number.
        before: The words before it.
        context: Where it is missing.
    """
    is_hedged = any(each.text in HEDGES for each in before[-2:])
    return any(
        may_be_rounded_match(word, other) or (is_hedged and are_about_equal_numbers(word, other))
        for other in context.numbers
    )
