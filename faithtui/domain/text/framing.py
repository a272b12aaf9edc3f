"""Empty words around a statement: "It should be noted that …", "…, as mentioned above", [3].

They say nothing that a passage could hold, so whoever looks words up leaves them out. Only words of
speaking and small words are empty: one other word, a name, a number or a negation in an opening
makes it a part of what is said.
"""

import re
from typing import Final

from faithtui.domain.conversation import Span
from faithtui.domain.text.word_lists import (
    CONDITIONS,
    FIRST_PERSON,
    NEGATIONS,
    OF_SPEAKING,
    STOP_WORDS,
)

_PERSONS: Final = frozenset(
    ("he", "she", "they", "him", "her", "them", "his", "hers", "their", "theirs", "who", "whose")
)
"""With one of these an opening says who said it."""
_EMPTY: Final = (STOP_WORDS | OF_SPEAKING) - NEGATIONS - CONDITIONS - FIRST_PERSON - _PERSONS
_PIECE: Final = re.compile(r"[^\s,]+|,")
_LETTER_OR_DIGIT: Final = re.compile(r"[^\W_]")
_ENDINGS: Final = frozenset({"which", "as", "to", "in"})
"""What an empty ending begins with: another first word, as "and", may go on with the statement."""


_CITATION: Final = re.compile(r" ?\[\d{1,3}(?:[,;–-] ?\d{1,3})*\]")


def blank_citations(sentence: str) -> str:
    """Give a sentence with blanks in the place of citations such as [3] and [1, 2]; offsets stay.

    Their numbers are those of a list of sources, and say nothing of what is told.
    """
    if "[" not in sentence:
        return sentence
    blanked = _CITATION.sub(lambda found: " " * len(found[0]), sentence)
    return sentence if blanked.isspace() else blanked


def find_statement(sentence: str) -> Span:
    """Give the part of a sentence that states something, without empty words around it.

    All of it where there are none, or nothing else. Never empty for a sentence that is not.
    """
    start = _skip_openings(sentence)
    end = _cut_endings(sentence, start)
    return Span(start, end)


def _skip_openings(sentence: str) -> int:
    """Offset behind the last comma or "that" up to which all words are empty, one of speaking."""
    start, speaks = 0, False
    for piece in _PIECE.finditer(sentence):
        word = piece[0].lower()
        if word in (",", "that"):
            if speaks and _LETTER_OR_DIGIT.search(sentence, piece.end()):
                start = piece.end()
        elif word not in _EMPTY:
            break
        speaks = speaks or word in OF_SPEAKING
    while sentence[start : start + 1].isspace():
        start += 1
    return start


def _cut_endings(sentence: str, start: int) -> int:
    """Offset of the comma from which on all words are empty, one of them of speaking."""
    end = len(sentence)
    while (comma := sentence.rfind(",", start + 1, end)) > start:
        words = sentence[comma + 1 : end].rstrip(" .!").lower().split()
        if not words or words[0] not in _ENDINGS or not all(map(_EMPTY.__contains__, words)):
            break
        if OF_SPEAKING.isdisjoint(words):
            break
        end = comma
    return end
