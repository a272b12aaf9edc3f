"""Small changes to a claim or its passages, and what each ought to do to a verdict.

A judge that calls a claim supported has to call it so in other words, and may not when a name, a
number or a negation was changed. The rules only read words, so a change is now and then no error
at all (a name may be exchanged in a list): what a rule breaks, it breaks nearly always.

The same claim, passages and seed give the same change on every machine.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from faithtui.domain.probes.word_pools import (
    INJECTIONS,
    INVENTED_NAMES,
    OTHER_WORDS,
    STRONGER_MODALS,
    STRONGER_QUANTIFIERS,
    SYNONYMS,
    VERBOSE_ENDINGS,
    VERBOSE_OPENINGS,
)
from faithtui.domain.text.contradictions import is_name, is_negation
from faithtui.domain.text.sentences import split_sentences
from faithtui.domain.text.tokens import Word, tokenise_words
from faithtui.domain.text.word_lists import MONTHS, NUMBER_WORDS


class Effect(StrEnum):
    """What a change does to a claim."""

    KEEPS = "keeps"
    """It says the same, or less: the verdict should stay."""
    BREAKS = "breaks"
    """It says something that the passages do not: a supported claim no longer is."""


class ProbeKind(StrEnum):
    """The changes, by what is changed."""

    COPY = "copy"
    DROPPED_CLAUSE = "dropped clause"
    SYNONYMS = "synonyms"
    NUMBER_FORMAT = "number format"
    VERBOSITY = "verbosity"
    PASSAGE_ORDER = "order of passages"
    INJECTION = "injected instruction"
    NUMBER = "number"
    MONTH = "month"
    NAME = "name"
    EXCHANGED_NAMES = "exchanged names"
    NEGATION_ADDED = "negation added"
    NEGATION_REMOVED = "negation removed"
    QUANTIFIER = "quantifier"
    MODAL = "modal"
    OTHER_WORD = "other word"
    SPLICE = "splice"

    @property
    def effect(self) -> Effect:
        """What the change does to a claim."""
        return Effect.KEEPS if self in _KEEPING else Effect.BREAKS


_KEEPING: Final = frozenset(
    {
        ProbeKind.COPY,
        ProbeKind.DROPPED_CLAUSE,
        ProbeKind.SYNONYMS,
        ProbeKind.NUMBER_FORMAT,
        ProbeKind.VERBOSITY,
        ProbeKind.PASSAGE_ORDER,
        ProbeKind.INJECTION,
    }
)


@dataclass(frozen=True, slots=True)
class Probe:
    """A changed claim with its passages."""

    kind: ProbeKind
    claim: str
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Original:
    claim: str
    passages: tuple[str, ...]
    words: tuple[Word, ...]
    chance: random.Random

    def replace_word(self, word: Word, text: str) -> str:
        """Give the claim with another text in the place of a word."""
        return self.claim[: word.start] + text + self.claim[word.end :]

    def get_spelling(self, word: Word) -> str:
        """Give a word as the claim writes it."""
        return self.claim[word.start : word.end]


def make_probes(
    claim: str,
    passages: Sequence[str],
    seed: int = 0,
    kinds: Sequence[ProbeKind] = tuple(ProbeKind),
) -> Iterator[Probe]:
    """Change a claim, or its passages, by each rule that finds something to change.

    Args:
        claim: One statement.
        passages: What it is judged by.
        seed: Another seed chooses other words.
        kinds: Rules to apply, in this order.
    """
    words = tuple(tokenise_words(claim))
    for kind in kinds:
        chance = random.Random(f"{seed}\0{kind}\0{claim}")
        original = _Original(claim, tuple(passages), words, chance)
        if kind in _PASSAGE_RULES:
            changed = _PASSAGE_RULES[kind](original)
            if changed is not None:
                yield Probe(kind, claim, changed)
            continue
        text = _CLAIM_RULES[kind](original)
        if text is not None and (text != claim or kind is ProbeKind.COPY):
            yield Probe(kind, text, original.passages)


_AUXILIARY: Final = re.compile(
    r"\b(is|are|was|were|has|have|had|can|will|could|should|may|might|must|does|do|did)\b"
)
_CLAUSE: Final = re.compile(
    r" \([^()]{4,}\)"
    r"|, (?:which|who|where|although|while|whereas)\b(?:[^,.;]|[,.](?=\d))+(?=[,.;](?!\d))"
)
_NEGATION: Final = re.compile(r"(?<=[A-Za-z]) (?:not|never)\b|(?<=[a-z])n['’]t\b")
_DIGITS: Final = re.compile(r"\d[\d,]*(?:\.\d+)?")
_PERCENT: Final = re.compile(r"(\d) ?%|(\d) percent\b")
_CAPITAL_WORDS: Final = frozenset({"i", "may", "will"})
"""Small words whose capital at the beginning of a statement is that of `I`, a month or a name."""
_NUMBER_NAMES: Final = {value: word for word, value in NUMBER_WORDS.items()}


def _keep_claim_unchanged(original: _Original) -> str | None:
    return original.claim


def _drop_clause(original: _Original) -> str | None:
    clauses = list(_CLAUSE.finditer(original.claim))
    if not clauses:
        return None
    cut = original.chance.choice(clauses)
    left, right = original.claim[: cut.start()], original.claim[cut.end() :]
    return left + right.removeprefix(",") if len(left + right) > 15 else None


def _replace_synonyms(original: _Original) -> str | None:
    known = [
        word
        for place, word in enumerate(original.words)
        if word.text in SYNONYMS and (not place or not word.is_capital)
    ]
    if not known:
        return None
    text = original.claim
    for word in reversed(known):
        other = SYNONYMS[word.text]
        if text[word.start].isupper():
            other = other[0].upper() + other[1:]
        text = text[: word.start] + other + text[word.end :]
    return text


def _rewrite_number_in_other_form(original: _Original) -> str | None:
    """Percent for %, no commas for commas, digits for words and words for digits."""
    claim = original.claim
    if found := _PERCENT.search(claim):
        other = f"{found[1]} percent" if found[1] else f"{found[2]}%"
        return claim[: found.start()] + other + claim[found.end() :]
    for word in original.words:
        written = original.get_spelling(word)
        if word.number is None or word.kind != "number" or word.unit:
            continue
        if re.fullmatch(r"\d{1,3}(?:,\d{3})+", written):
            return original.replace_word(word, written.replace(",", ""))
        if written.lower() in NUMBER_WORDS:
            return original.replace_word(word, f"{word.number:g}")
        if (
            written.isdecimal()
            and 2 <= word.number <= 12
            and _has_blanks_around_number(claim, word)
        ):
            return original.replace_word(word, _NUMBER_NAMES[int(word.number)])
    return None


def _has_blanks_around_number(text: str, word: Word) -> bool:
    """Whether only blanks stand around a number, so that words may take its place."""
    before, after = text[: word.start], text[word.end :]
    return before.endswith(" ") and not before.endswith(". ") and after.startswith(" ")


def _add_verbose_opening_and_ending(original: _Original) -> str | None:
    claim = original.claim
    first = original.words[0] if original.words else None
    if first is None or not claim.rstrip().endswith("."):
        return None
    rest = claim[0].lower() + claim[1:] if _is_capital_only_by_position(original) else claim
    opening = original.chance.choice(VERBOSE_OPENINGS)
    ending = original.chance.choice(VERBOSE_ENDINGS)
    return f"{opening} {rest.rstrip().removesuffix('.')}{ending}."


def _is_capital_only_by_position(original: _Original) -> bool:
    """Whether the first word of a claim has its capital only from standing first.

    An unknown word may be a name, so that one keeps it unless a text writes it without.
    """
    first = original.words[0]
    if (
        is_name(original.words, 0)
        or original.claim[:2].isupper()
        or first.kind == "date"
        or first.text.split("'")[0] in _CAPITAL_WORDS
    ):
        return False
    return not first.is_content or any(
        each.text == first.text and not each.is_capital
        for text in (original.claim, *original.passages)
        for each in tokenise_words(text)
    )


def _change_number(original: _Original) -> str | None:
    numbers = [
        word
        for word in original.words
        if word.number is not None
        and word.unit != "th"
        and _DIGITS.fullmatch(
            original.get_spelling(word)[: _count_leading_digits(original.get_spelling(word))]
        )
    ]
    if not numbers:
        return None
    word = original.chance.choice(numbers)
    written = original.get_spelling(word)
    digits = written[: _count_leading_digits(written)]
    held = {each.stem for text in original.passages for each in tokenise_words(text)}
    for _ in range(20):
        other = _change_digits(digits, original.chance, is_year=word.is_year)
        changed = original.replace_word(word, other + written[len(digits) :])
        if all(each.stem in held for each in tokenise_words(changed) if each.number is not None):
            continue
        if _are_clearly_different_numbers(digits, other, is_year=word.is_year):
            return changed
    return None


def _count_leading_digits(written: str) -> int:
    found = _DIGITS.match(written)
    return found.end() if found else 0


def _change_digits(digits: str, chance: random.Random, *, is_year: bool) -> str:
    """Other digits in the same form. A year stays within its century."""
    places = [place for place, each in enumerate(digits) if each.isdecimal()]
    chosen = chance.choice(places[2:] if is_year and len(places) > 3 else places[:2])
    others = [each for each in "123456789" if each != digits[chosen]]
    return digits[:chosen] + chance.choice(others) + digits[chosen + 1 :]


def _are_clearly_different_numbers(one: str, other: str, *, is_year: bool) -> bool:
    """Whether no rounding makes two numbers one: years differ by any, others by a seventh."""
    left, right = (float(each.replace(",", "")) for each in (one, other))
    return left != right and (is_year or abs(left - right) > max(left, right) / 7)


def _change_month(original: _Original) -> str | None:
    months = [word for word in original.words if original.get_spelling(word).lower() in MONTHS]
    dated = [word for word in months if word.kind == "date"]
    if not dated:
        return None
    word = original.chance.choice(dated)
    other = original.chance.choice([each for each in MONTHS if each not in (word.text, "may")])
    return original.replace_word(word, other.capitalize())


def _find_names(original: _Original) -> list[Word]:
    """Names of the claim, the first word aside."""
    return [
        word
        for place, word in enumerate(original.words)
        if place and word.is_capital and is_name(original.words, place)
    ]


def _replace_name_by_invented(original: _Original) -> str | None:
    names = _find_names(original)
    if not names:
        return None
    held = " ".join((original.claim, *original.passages))
    unknown = [each for each in INVENTED_NAMES if each not in held]
    if not unknown:
        return None
    word = original.chance.choice(names)
    ending = "'s" if original.get_spelling(word).endswith(("'s", "’s")) else ""
    return original.replace_word(word, original.chance.choice(unknown) + ending)


def _exchange_names(original: _Original) -> str | None:
    """Two names that do not stand beside each other, each in the place of the other."""
    names = _find_names(original)
    pairs = [
        (one, two)
        for one in names
        for two in names
        if two.start - one.end > len(" and ") and one.stem != two.stem
    ]
    if not pairs:
        return None
    one, two = original.chance.choice(pairs)
    return (
        original.claim[: one.start]
        + original.get_spelling(two)
        + original.claim[one.end : two.start]
        + original.get_spelling(one)
        + original.claim[two.end :]
    )


def _add_negation(original: _Original) -> str | None:
    if any(map(is_negation, original.words)):
        return None
    verb = _AUXILIARY.search(original.claim)
    if verb is None:
        return None
    return f"{original.claim[: verb.end()]} not{original.claim[verb.end() :]}"


def _remove_negation(original: _Original) -> str | None:
    found = _NEGATION.search(original.claim)
    if found is None or original.claim[: found.start()].lower().endswith((" ca", " wo")):
        return None
    return original.claim[: found.start()] + original.claim[found.end() :]


def _make_word_replacer(table: Mapping[str, str]) -> Callable[[_Original], str | None]:
    def replace_listed_word(original: _Original) -> str | None:
        known = [
            word for word in original.words if word.text in table and not word.stem.startswith("#")
        ]
        if not known:
            return None
        word = original.chance.choice(known)
        other = table[word.text]
        return original.replace_word(
            word, other.capitalize() if original.get_spelling(word)[0].isupper() else other
        )

    return replace_listed_word


def _replace_with_unrelated_word(original: _Original) -> str | None:
    usual = [
        word
        for word in original.words[1:]
        if word.is_content and word.kind == "word" and word.text.isalpha() and len(word.text) > 3
        if not word.is_capital and word.number is None
    ]
    if not usual:
        return None
    word = original.chance.choice(usual)
    ending = next(each for each in OTHER_WORDS if word.text.endswith(each))
    return original.replace_word(word, original.chance.choice(OTHER_WORDS[ending]))


def _splice_claim_with_passage_sentence(original: _Original) -> str | None:
    """What the claim speaks of, with what another sentence of the passages says of something."""
    own = _AUXILIARY.search(original.claim, 8)
    if own is None:
        return None
    others = [
        (sentence, verb)
        for text in original.passages
        for span in split_sentences(text)
        for sentence in (span.slice_text(text),)
        if sentence != original.claim and len(sentence) < 300
        for verb in (_AUXILIARY.search(sentence, 8),)
        if verb is not None and verb[0] == own[0] and len(sentence) - verb.end() > 20
    ]
    if not others:
        return None
    sentence, verb = original.chance.choice(others)
    if sentence[: verb.start()].strip() == original.claim[: own.start()].strip():
        return None
    return original.claim[: own.start()] + sentence[verb.start() :]


def _shuffle_passages(original: _Original) -> tuple[str, ...] | None:
    if len(set(original.passages)) < 2:
        return None
    others = list(original.passages)
    while tuple(others) == original.passages:
        original.chance.shuffle(others)
    return tuple(others)


def _inject_instruction(original: _Original) -> tuple[str, ...] | None:
    if not original.passages:
        return None
    place = original.chance.randrange(len(original.passages))
    instruction = original.chance.choice(INJECTIONS)
    return tuple(
        f"{text}\n\n{instruction}" if number == place else text
        for number, text in enumerate(original.passages)
    )


_PASSAGE_RULES: Final[Mapping[ProbeKind, Callable[[_Original], tuple[str, ...] | None]]] = {
    ProbeKind.PASSAGE_ORDER: _shuffle_passages,
    ProbeKind.INJECTION: _inject_instruction,
}
_CLAIM_RULES: Final[Mapping[ProbeKind, Callable[[_Original], str | None]]] = {
    ProbeKind.COPY: _keep_claim_unchanged,
    ProbeKind.DROPPED_CLAUSE: _drop_clause,
    ProbeKind.SYNONYMS: _replace_synonyms,
    ProbeKind.NUMBER_FORMAT: _rewrite_number_in_other_form,
    ProbeKind.VERBOSITY: _add_verbose_opening_and_ending,
    ProbeKind.NUMBER: _change_number,
    ProbeKind.MONTH: _change_month,
    ProbeKind.NAME: _replace_name_by_invented,
    ProbeKind.EXCHANGED_NAMES: _exchange_names,
    ProbeKind.NEGATION_ADDED: _add_negation,
    ProbeKind.NEGATION_REMOVED: _remove_negation,
    ProbeKind.QUANTIFIER: _make_word_replacer(STRONGER_QUANTIFIERS),
    ProbeKind.MODAL: _make_word_replacer(STRONGER_MODALS),
    ProbeKind.OTHER_WORD: _replace_with_unrelated_word,
    ProbeKind.SPLICE: _splice_claim_with_passage_sentence,
}
