"""What a filter may go on with while it is typed, and what was meant where it finds nothing.

Pure: which words a filter may hold is said by its context, so nothing is offered that a blind
reviewer could learn from.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from faithtui.domain.filters import (
    ANSWERS,
    ARCHIVED,
    DIFFERS,
    MISSING,
    QUALITIES,
    STATES,
    FilterContext,
    Scope,
    TermName,
    list_term_names,
    list_values_after_human,
    list_values_after_is,
    parse_filter,
)
from faithtui.domain.labels.reason_codes import REASON_CODES

_MEANT = {
    "agreements": "is:agreement",
    "differ": "is:disagreement",
    "different": "is:disagreement",
    "differences": "is:disagreement",
    "disagreements": "is:disagreement",
    "errors": "state:failed",
    "low": "score:<0.5",
    "new": "is:unlabelled",
    "notes": "is:noted",
    "open": "is:unlabelled",
    "overridden": "is:disagreement",
    "reviewed": "is:labelled",
    "todo": "is:unlabelled",
    "unlabeled": "is:unlabelled",
    "labeled": "is:labelled",
    "unreviewed": "is:unlabelled",
}
"""Words that users try, and the term that means it."""
_EXAMPLES: Mapping[Scope, tuple[str, ...]] = {
    Scope.RUNS: ("judge:offline", "state:done", "score:<0.5"),
    Scope.CONVERSATIONS: ("verdict:no", "is:unlabelled", "score:<0.5", "human:no", "state:failed"),
    Scope.CLAIMS: ("verdict:no", "is:unlabelled", "human:no", "is:noted"),
}
_MOST_EXAMPLES = 3
_LEAST_BEGINNING = 4
"""Letters of a word that tell which one is meant."""
_CLOSE = 0.75
"""How like a word must be to be taken for another one; as `difflib` measures it."""


def list_completions(text: str, context: FilterContext) -> tuple[str, ...]:
    """List the terms that the last word of a filter may become, in the order of the language.

    Args:
        text: What is typed, up to the cursor.
        context: Where the filter is used.

    Returns:
        Whole terms, or names that end with a colon; those that begin with the word come first,
        then those that a word such as `unre` means. () where any word may follow, or inside
        quotation marks.
    """
    typed = _last_word(text)
    if '"' in typed:
        return ()
    minus = "-" if typed.startswith("-") else ""
    word = typed.removeprefix("-").casefold()
    name, colon, _ = word.partition(":")
    names = list_term_names(context)
    if not colon:
        found = [f"{each}:" for each in names]
        if TermName.IS in names and "is:disagreement" in _list_completable_terms(context):
            found.append(DIFFERS)
        found = [each for each in found if each.startswith(word)]
        found += _list_meant_terms(word, _list_completable_terms(context))
        return tuple(f"{minus}{each}" for each in dict.fromkeys(found))
    if name not in names:
        return ()
    return tuple(
        f"{minus}{each}"
        for each in _list_terms_with_name(TermName(name), context)
        if each.casefold().startswith(word) and each.casefold() != word
    )


def list_example_terms(context: FilterContext) -> tuple[str, ...]:
    """List a few terms that a filter may hold here, for somebody who has typed none yet."""
    allowed = [
        each for each in _EXAMPLES[context.scope] if parse_filter(each, context).problem is None
    ]
    return tuple(allowed[:_MOST_EXAMPLES])


def complete_filter(text: str, context: FilterContext) -> str | None:
    """Complete a filter by the first thing its last word may become; None: there is none."""
    found = list_completions(text, context) if _last_word(text) else ()
    return text.removesuffix(_last_word(text)) + found[0] if found else None


def suggest_terms(text: str, context: FilterContext) -> tuple[str, ...]:
    """Say which terms somebody may have meant whose words find nothing, most likely first."""
    known = _list_completable_terms(context)
    by_value = {each.partition(":")[2]: each for each in reversed(known)}
    found: list[str] = []
    for term in parse_filter(text, context).filter.list_terms_with_names(TermName.TEXT):
        word = term.value.casefold()
        meant = next((_MEANT[each] for each in _MEANT if _is_beginning_of(each, word)), None)
        close = get_close_matches(word, by_value, n=2, cutoff=_CLOSE)
        terms = [*([meant] if meant in known else ()), *(by_value[each] for each in close)]
        found += [f"-{each}" if term.negated else each for each in terms]
    return tuple(dict.fromkeys(found))


def _list_meant_terms(word: str, terms: Sequence[str]) -> list[str]:
    """List the terms that the beginning of a word means, or of which it begins the value."""
    if len(word) < _LEAST_BEGINNING:
        return []
    found = [_MEANT[each] for each in _MEANT if each.startswith(word)]
    found += [each for each in terms if each.partition(":")[2].startswith(word)]
    return [each for each in found if each in terms]


def _is_beginning_of(known: str, word: str) -> bool:
    """Whether a word is a known one, or enough of its beginning to mean it."""
    return known == word or (len(word) >= _LEAST_BEGINNING and known.startswith(word))


def _last_word(text: str) -> str:
    return "" if not text or text[-1].isspace() else text.split()[-1]


def _is_one_word(value: str) -> bool:
    return bool(value) and '"' not in value and not any(each.isspace() for each in value)


def _list_completable_terms(context: FilterContext) -> tuple[str, ...]:
    """List every term that has no free value."""
    terms = [
        each for name in list_term_names(context) for each in _list_terms_with_name(name, context)
    ]
    if TermName.SCORE in list_term_names(context):
        terms.append("score:<0.5")
    return tuple(terms)


def _list_terms_with_name(name: TermName, context: FilterContext) -> tuple[str, ...]:
    """List the terms with a name; () where any word may follow it."""
    values: tuple[str, ...]
    match name:
        case TermName.VERDICT:
            values = (*context.labels, MISSING)
        case TermName.HUMAN:
            values = tuple(list_values_after_human(context))
        case TermName.IS:
            values = tuple(each for each in QUALITIES if each in list_values_after_is(context))
        case TermName.CODE:
            values = tuple(each.name for each in REASON_CODES)
        case TermName.STATE:
            values = STATES[context.scope]
        case TermName.ANSWERS:
            values = tuple(ANSWERS)
        case TermName.ARCHIVED:
            values = ARCHIVED
        case _:
            # A blank ends a term, and a quotation mark begins a phrase.
            values = tuple(each for each in context.known.get(name, ()) if _is_one_word(each))
    return tuple(f"{name}:{each}" for each in values)
