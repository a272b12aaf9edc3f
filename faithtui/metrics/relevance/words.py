"""What a judge's verdict on a statement means."""

import re

from faithtui.domain.labels.label_sets import RELEVANCE
from faithtui.metrics.reply_shapes import ParsedVerdict

_LEADING_LETTERS = re.compile(r"[a-z]+")


def read_relevance_label(word: str | None, as_peer: bool) -> str | None:
    """Turn what the judge wrote into a label; None when it is no word of the vocabulary.

    Source of the loose reading under `as_peer`: deepeval 4.3.1 takes the leading letters of the
    trimmed, lower-cased word.
    """
    if word is None:
        return None
    if as_peer:
        found = _LEADING_LETTERS.match(word.strip().lower())
        return RELEVANCE.find_label_name_for_word(found.group()) if found else None
    return RELEVANCE.find_label_name_for_word(word)


def has_relevance_label(verdict: ParsedVerdict, as_peer: bool) -> bool:
    """Whether an entry answers the question: it has a word we can read."""
    return read_relevance_label(verdict.word, as_peer) is not None


def contradicts_itself(verdict: ParsedVerdict) -> bool:
    """Whether a statement is called irrelevant beside messages that it serves."""
    return bool(verdict.supports) and read_relevance_label(verdict.word, as_peer=False) == "no"
