"""What users type to find things: words of the text, and terms such as `verdict:no`.

A filter is a list of terms that must all hold. Reading one never fails: what cannot be read is
reported in a sentence, with what is possible instead. Which claims, conversations and runs a filter
finds is decided where they are read; docs/filters.md has the whole language.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.labels.reason_codes import REASON_CODES
from faithtui.domain.limits import FILTER, FILTER_TERMS
from faithtui.domain.text.search_words import list_folded_words


class Scope(StrEnum):
    """What is looked through."""

    RUNS = "runs"
    CONVERSATIONS = "conversations"
    CLAIMS = "claims"
    """The claims of one conversation."""


class TermName(StrEnum):
    """What a term is about."""

    TEXT = "text"
    """Words; written without a name."""
    VERDICT = "verdict"
    HUMAN = "human"
    IS = "is"
    REVIEWER = "reviewer"
    CODE = "code"
    SCORE = "score"
    WITH_OVERRIDES = "with-overrides"
    ANSWERS = "answers"
    STATE = "state"
    SOURCE = "source"
    GROUP = "group"
    META = "meta"
    """A key of the metadata that came with the data, perhaps with its value."""
    METRIC = "metric"
    JUDGE = "judge"
    ARCHIVED = "archived"


CLAIM_NAMES = frozenset(
    {TermName.VERDICT, TermName.HUMAN, TermName.IS, TermName.REVIEWER, TermName.CODE}
)
"""Terms about one claim: one and the same claim must meet all of a filter's."""

NAMES_BY_SCOPE: Mapping[Scope, tuple[TermName, ...]] = {
    Scope.RUNS: (
        TermName.METRIC,
        TermName.JUDGE,
        TermName.STATE,
        TermName.SCORE,
        TermName.WITH_OVERRIDES,
        TermName.SOURCE,
        TermName.ARCHIVED,
    ),
    Scope.CONVERSATIONS: (
        *(name for name in TermName if name in CLAIM_NAMES),
        TermName.SCORE,
        TermName.WITH_OVERRIDES,
        TermName.ANSWERS,
        TermName.STATE,
        TermName.SOURCE,
        TermName.GROUP,
        TermName.META,
    ),
    Scope.CLAIMS: tuple(name for name in TermName if name in CLAIM_NAMES),
}
"""Names that can be used, by what is looked through. Words can be used everywhere."""

QUALITIES: Mapping[str, str] = {
    "disagreement": "human label differs from the judge's verdict",
    "agreement": "human label equals the judge's verdict",
    "unlabelled": "no annotator labelled it",
    "labelled": "an annotator labelled it",
    "flagged": "an annotator flagged it",
    "skipped": "an annotator skipped it",
    "unsure": "an annotator was not sure",
    "noted": "an annotator wrote a note",
}
"""What can stand after `is:`, and what it says of a claim."""

_EARLIER_NAMES = {"corrected": TermName.WITH_OVERRIDES.value}
_EARLIER_QUALITIES = {"later": "skipped"}
"""Earlier names of terms and words after `is:`: saved views may hold them."""

DIFFERS = "differs"
"""A short way to write `is:disagreement`."""

STATES: Mapping[Scope, tuple[str, ...]] = {
    Scope.RUNS: (
        "planned",
        "running",
        "interrupted",
        "waiting",
        "done",
        "cancelled",
        "stopped",
        "failed",
        "incomplete",
    ),
    Scope.CONVERSATIONS: ("pending", "done", "failed", "skipped"),
    Scope.CLAIMS: (),
}
"""What can stand after `state:`; a run has `failed` or `incomplete` when a conversation of it
failed, or lacks a verdict."""

ANSWERS: Mapping[str, str] = {
    "differ": "annotators pass an answer as a whole that the judge fails, or the other way round",
    "labelled": "annotators labelled an answer as a whole",
}
"""What can stand after `answers:`, and what it says of a conversation."""

ARCHIVED = ("yes", "no", "any")
"""What can stand after `archived:`; without such a term, archived runs are left out."""

NONE = "none"
MISSING = "missing"

_HINTS: Mapping[TermName, str] = {
    TermName.REVIEWER: "a name, such as reviewer:ann",
    TermName.SOURCE: "the name of a data set",
    TermName.GROUP: "the name of a group",
    TermName.META: "a key of the metadata, such as meta:model or meta:tags=beta",
    TermName.METRIC: "a metric, or the beginning of one",
    TermName.JUDGE: "a judge, or the beginning of one",
}
_REVEALING_NAMES = frozenset(
    {
        TermName.VERDICT,
        TermName.CODE,
        TermName.SCORE,
        TermName.WITH_OVERRIDES,
        TermName.ANSWERS,
        TermName.META,
    }
)
"""Metadata too: scores of judges may have come in it."""
_JUDGE_QUALITIES = frozenset({"disagreement", "agreement"})
_LABEL_QUALITIES = frozenset({"unsure"})

_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)"
_BOUND = re.compile(rf"(<=|>=|<|>)({_NUMBER})", re.ASCII)
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})", re.ASCII)
_EXACT = re.compile(_NUMBER, re.ASCII)
_NAMED = re.compile(rf"({TermName.WITH_OVERRIDES}|[A-Za-z]+):(?!//)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Term:
    """One condition."""

    name: TermName
    value: str
    """As it was typed, without quotation marks."""
    negated: bool = False
    quoted: bool = False

    def __str__(self) -> str:
        """Write it so that it is read as the same term."""
        value = self.value
        if self.quoted:
            doubled = value.replace('"', '""')
            value = f'"{doubled}"'
        name = "" if self.name is TermName.TEXT else f"{self.name}:"
        return f"{'-' if self.negated else ''}{name}{value}"


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions that must all hold; without any, everything is found."""

    terms: tuple[Term, ...] = ()

    def __str__(self) -> str:
        """Write it so that it is read as the same filter."""
        return " ".join(map(str, self.terms))

    def __bool__(self) -> bool:
        """Say whether there is a condition at all."""
        return bool(self.terms)

    def list_terms_with_names(self, *names: TermName) -> tuple[Term, ...]:
        """List the terms with these names, in order."""
        return tuple(term for term in self.terms if term.name in names)

    @property
    def claim_terms(self) -> tuple[Term, ...]:
        """Terms that one claim must meet."""
        return tuple(term for term in self.terms if term.name in CLAIM_NAMES)

    @property
    def unfinished_word(self) -> Term | None:
        """The last plain word: whoever types may not have finished it, so its beginning counts."""
        plain = [
            term
            for term in self.list_terms_with_names(TermName.TEXT)
            if not term.negated and not term.quoted
        ]
        return plain[-1] if plain else None

    @property
    def reveals_judge(self) -> bool:
        """Whether what is found shows what the judge said of it."""
        return any(_reveals_judge(term) for term in self.terms)


@dataclass(frozen=True, slots=True)
class ScoreBounds:
    """Which scores a term means."""

    low: float
    high: float
    with_low: bool = True
    with_high: bool = True

    def contains(self, score: float) -> bool:
        """Say whether a score is within; the ends count when they are part of it."""
        above = score > self.low or (self.with_low and score == self.low)
        return above and (score < self.high or (self.with_high and score == self.high))


@dataclass(frozen=True, slots=True)
class FilterContext:
    """Where a filter is used, and so which words it may hold."""

    scope: Scope
    labels: tuple[str, ...] = ()
    """Labels of the run's metric; (): any word may be one."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Other words for them."""
    blind: bool = False
    """Neither what the judge said must be found out nor how others labelled."""
    known: Mapping[TermName, tuple[str, ...]] = field(default_factory=dict)
    """Values there are of terms that any word may follow: judges, annotators. Only offered."""

    @property
    def hides_labels(self) -> bool:
        """Whether no label may be looked for; of one conversation the hidden ones are not read."""
        return self.blind and self.scope is Scope.CONVERSATIONS

    def find_label(self, word: str) -> str | None:
        """Find the label that a word means here; None when it means none."""
        word = word.casefold()
        if word in self.labels or not self.labels:
            return word
        return self.synonyms.get(word)


@dataclass(frozen=True, slots=True)
class ParsedFilter:
    """What was made of a text."""

    filter: Filter
    """Everything that could be read."""
    problem: str | None = None
    """What could not, in a sentence; the first of several."""


def parse_filter(text: str, context: FilterContext) -> ParsedFilter:
    """Read what somebody typed.

    Args:
        text: Any text, unfinished ones too.
        context: Where it is used.

    Returns:
        The filter without the terms that cannot be used, and what is wrong with the first of them;
        without any when there are too many.
    """
    terms = list(_split_into_terms(text[: FILTER.most]))
    if (
        too_much := FILTER.find_size_problem(len(text))
        or FILTER_TERMS.find_size_problem(len(terms))
    ) is not None:
        return ParsedFilter(Filter(), too_much)
    good: list[Term] = []
    problem: str | None = None
    for term in terms:
        wrong = term if isinstance(term, str) else _find_problem_of_term(term, context)
        if wrong is None and isinstance(term, Term):
            good.append(term)
        else:
            problem = problem or wrong
    return ParsedFilter(Filter(tuple(good)), problem)


def parse_score_bounds(value: str) -> ScoreBounds | None:
    """Read scores: `<0.5`, `>=0.8`, `0.2..0.8` with both ends, `1`; None for anything else."""
    if found := _BOUND.fullmatch(value):
        sign, number = found[1], float(found[2])
        if sign[0] == "<":
            return ScoreBounds(float("-inf"), number, with_high=sign == "<=")
        return ScoreBounds(number, float("inf"), with_low=sign == ">=")
    if found := _RANGE.fullmatch(value):
        return ScoreBounds(float(found[1]), float(found[2]))
    if _EXACT.fullmatch(value):
        return ScoreBounds(float(value), float(value))
    return None


def find_reason_code(value: str) -> str | None:
    """Find a reason code by its name or its number, from 1; None when there is none."""
    if value.isascii() and value.isdigit():
        place = int(value[:9])
        return REASON_CODES[place - 1].name if 1 <= place <= len(REASON_CODES) else None
    wanted = value.casefold()
    return next((code.name for code in REASON_CODES if code.name == wanted), None)


def describe_allowed_values(name: TermName, context: FilterContext) -> str:
    """Say what can stand after a name."""
    match name:
        case TermName.VERDICT:
            return ", ".join((*context.labels, MISSING))
        case TermName.HUMAN:
            return ", ".join(list_values_after_human(context))
        case TermName.IS:
            return ", ".join(list_values_after_is(context))
        case TermName.CODE:
            return ", ".join(f"{n} or {code.name}" for n, code in enumerate(REASON_CODES, start=1))
        case TermName.SCORE | TermName.WITH_OVERRIDES:
            return f"<0.5, >=0.8, 0.2..0.8, 1, {NONE}"
        case TermName.STATE:
            return ", ".join(STATES[context.scope])
        case TermName.ANSWERS:
            return ", ".join(ANSWERS)
        case TermName.ARCHIVED:
            return ", ".join(ARCHIVED)
        case _:
            return _HINTS.get(name, "a word")


def list_term_names(context: FilterContext) -> tuple[TermName, ...]:
    """List the names that can be used."""
    return tuple(
        name
        for name in NAMES_BY_SCOPE[context.scope]
        if not (context.blind and name in _REVEALING_NAMES)
    )


def list_values_after_human(context: FilterContext) -> Sequence[str]:
    """List what can stand after `human:`."""
    return (NONE,) if context.hides_labels else (*context.labels, NOT_A_CLAIM, NONE)


def list_values_after_is(context: FilterContext) -> Sequence[str]:
    """List what can stand after `is:`."""
    return [
        each
        for each in QUALITIES
        if not (context.blind and each in _JUDGE_QUALITIES)
        and not (context.hides_labels and each in _LABEL_QUALITIES)
    ]


def _split_into_terms(text: str) -> Iterator[Term | str]:
    """Cut a text into terms; what has an unknown name comes as the sentence that says so."""
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        start = at
        negated = text[at] == "-" and at + 1 < len(text) and not text[at + 1].isspace()
        at += negated
        named = _NAMED.match(text, at)
        at = named.end() if named else at
        if at < len(text) and text[at] == '"':
            value, at = _read_quoted(text, at + 1)
            quoted = True
        else:
            end = at
            while end < len(text) and not text[end].isspace():
                end += 1
            value, at, quoted = text[at:end], end, False
        if named is None:
            if value == DIFFERS and not quoted:
                yield Term(TermName.IS, "disagreement", negated)
            else:
                yield Term(TermName.TEXT, value, negated, quoted)
        else:
            yield _make_named_term_or_problem(named[1], value, negated, quoted, text[start:at])


def _read_quoted(text: str, start: int) -> tuple[str, int]:
    """Read up to the closing quotation mark or the end; a doubled mark stands for itself."""
    value: list[str] = []
    at = start
    while at < len(text):
        if text[at] != '"':
            value.append(text[at])
            at += 1
        elif text.startswith('""', at):
            value.append('"')
            at += 2
        else:
            return "".join(value), at + 1
    return "".join(value), at


def _make_named_term_or_problem(
    name: str, value: str, negated: bool, quoted: bool, typed: str
) -> Term | str:
    try:
        found = TermName(_EARLIER_NAMES.get(name.casefold(), name.casefold()))
    except ValueError:
        found = TermName.TEXT
    if found is TermName.TEXT:
        return (
            f"{_quote_term(typed)}: there is no `{name}:`; put it in quotation marks to look "
            "for the "
            "text itself"
        )
    if found is TermName.IS:
        value = _EARLIER_QUALITIES.get(value.casefold(), value)
    return Term(found, value, negated, quoted)


def _find_problem_of_term(term: Term, context: FilterContext) -> str | None:
    """Say what is wrong with a term; None when nothing is."""
    quoted_term, name, value = _quote_term(str(term)), term.name, term.value
    if name is TermName.TEXT:
        if list_folded_words(value):
            return None
        return f"{quoted_term}: there is no letter or digit in it to look for"
    if name not in NAMES_BY_SCOPE[context.scope]:
        there = ", ".join(f"{each}:" for each in list_term_names(context))
        return f"{quoted_term}: {context.scope} cannot be found by `{name}:`; possible are {there}"
    if context.blind and _reveals_judge(term):
        # A list goes by the other terms; a search within a conversation takes all of them or none.
        fate = "nothing is searched" if context.scope is Scope.CLAIMS else "left out"
        return f"{fate} while you work blind: {quoted_term} would reveal the judge's verdict"
    if context.hides_labels and _reveals_labels(term):
        return f"left out while you work blind: {quoted_term} would reveal labels of others"
    if _has_allowed_value(term, context):
        return None
    return f"{quoted_term}: after `{name}:` comes {describe_allowed_values(name, context)}"


def _reveals_judge(term: Term) -> bool:
    return term.name in _REVEALING_NAMES or (
        term.name is TermName.IS and term.value.casefold() in _JUDGE_QUALITIES
    )


def _reveals_labels(term: Term) -> bool:
    value = term.value.casefold()
    return (term.name is TermName.HUMAN and value not in ("", NONE)) or (
        term.name is TermName.IS and value in _LABEL_QUALITIES
    )


def _has_allowed_value(term: Term, context: FilterContext) -> bool:
    value = term.value.casefold()
    match term.name:
        case TermName.VERDICT:
            return bool(value) and (value == MISSING or context.find_label(value) is not None)
        case TermName.HUMAN:
            special = value in (NONE, NOT_A_CLAIM)
            return bool(value) and (special or context.find_label(value) is not None)
        case TermName.IS:
            return value in QUALITIES
        case TermName.CODE:
            return find_reason_code(value) is not None
        case TermName.SCORE | TermName.WITH_OVERRIDES:
            return value == NONE or parse_score_bounds(value) is not None
        case TermName.STATE:
            return value in STATES[context.scope]
        case TermName.ANSWERS:
            return value in ANSWERS
        case TermName.ARCHIVED:
            return value in ARCHIVED
        case _:
            return bool(value.strip())


def _quote_term(typed: str) -> str:
    """Quote a term in a sentence, without the end of a long one."""
    return f"`{typed[:40]}…`" if len(typed) > 40 else f"`{typed}`"
