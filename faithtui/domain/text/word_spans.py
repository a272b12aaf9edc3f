"""Where the words of a text stand: what an annotator marks, and what overlap is counted in."""

import re
from collections.abc import Iterable
from typing import Final

_WORD: Final = re.compile(
    # Scripts written without blanks count character by character.
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
    "|(?:(?![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff])[\\w\u0300-\u036f'’])+"
)


def find_word_spans(text: str) -> list[tuple[int, int]]:
    """Find the words of a text: first character and the one after the last of each, in order."""
    return [found.span() for found in _WORD.finditer(text)]


def find_touched_word_indices(
    words: Iterable[tuple[int, int]], stretches: Iterable[tuple[int, int]]
) -> frozenset[int]:
    """Name the words that stretches of a text touch, by their place among all words.

    Args:
        words: Of the text, from `find_word_spans`.
        stretches: First character and the one after the last of each.
    """
    wanted = list(stretches)
    return frozenset(
        place
        for place, (start, end) in enumerate(words)
        if any(begin < end and start < stop for begin, stop in wanted)
    )
