"""What a judge's word on a statement means."""

import re

from faithtui.domain.label_sets import RELEVANCE
from faithtui.metrics.shapes import Said

_LEADING_LETTERS = re.compile(r"[a-z]+")


def read_word(word: str | None, as_peer: bool) -> str | None:
    """Turn what the judge wrote into a label; None when it is no word of the vocabulary.

    Source of the loose reading under `as_peer`: deepeval 4.3.1 takes the leading letters of the
    trimmed, lower-cased word.
    """
    if word is None:
        return None
    if as_peer:
        found = _LEADING_LETTERS.match(word.strip().lower())
        return RELEVANCE.read(found.group()) if found else None
    return RELEVANCE.read(word)


def understood(said: Said, as_peer: bool) -> bool:
    """Whether an entry answers the question: it has a word we can read."""
    return read_word(said.word, as_peer) is not None


def contradicts_itself(said: Said) -> bool:
    """Whether a statement is called irrelevant beside messages that it serves."""
    return bool(said.supports) and read_word(said.word, as_peer=False) == "no"
