"""Words of a text as search compares them: without case, accents and punctuation.

For marking what was found, and for looking through what is in memory already. The index of the
store has a rule of its own (`unicode61 remove_diacritics 2` of SQLite) that agrees for letters of
the Latin alphabet and differs in rare ones, such as those with two accents.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f]+[^\W_]*)*")


def list_folded_words(text: str) -> list[str]:
    """List the words of a text in order, folded."""
    return [fold_word(found.group()) for found in _WORD.finditer(text)]


def fold_word(word: str) -> str:
    """Write a word as it is compared: in lower case, without accents."""
    if word.isascii():
        return word.lower()
    # The small sigma has a form of its own at the end of a word, and what that is depends on more.
    parts = unicodedata.normalize("NFD", word.lower()).replace("ς", "σ")
    return "".join(each for each in parts if not unicodedata.combining(each))


def contains_phrase(wanted: Sequence[str], text: str, *, begins: bool = False) -> bool:
    """Whether `find_phrase_spans` finds anything, much faster in a long text.

    Args:
        wanted: Folded words in order; () is nowhere.
        text: Where to look.
        begins: The last one may be the beginning of a longer word.
    """
    if not wanted:
        return False
    end = "" if begins else r"(?![^\W_])"
    pattern = r"[\W_]+".join(map(re.escape, wanted))
    there = fold_word(text) if text.isascii() else _fold_text(text)
    return re.search(rf"(?<![^\W_]){pattern}{end}", there) is not None


@lru_cache(maxsize=32)
def _fold_text(text: str) -> str:
    # Kept, because each letter that is typed looks through the same texts.
    return fold_word(text)


def find_phrase_spans(
    wanted: Sequence[str], text: str, *, begins: bool = False
) -> list[tuple[int, int]]:
    """Find where words stand one after the other.

    Args:
        wanted: Folded words in order; () is nowhere.
        text: Where to look.
        begins: The last one may be the beginning of a longer word.

    Returns:
        First and last-plus-one character of each place, in order; places may overlap.
    """
    if not wanted:
        return []
    found = [(fold_word(each.group()), each.span()) for each in _WORD.finditer(text)]
    size = len(wanted)
    *first, last = wanted
    return [
        (found[at][1][0], found[at + size - 1][1][1])
        for at in range(len(found) - size + 1)
        if all(found[at + place][0] == word for place, word in enumerate(first))
        and (
            found[at + size - 1][0].startswith(last) if begins else found[at + size - 1][0] == last
        )
    ]
