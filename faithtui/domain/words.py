"""Words of a text as search compares them: without case, accents and punctuation.

For marking what was found, and for looking through what is in memory already. The index of the
store has a rule of its own (`unicode61 remove_diacritics 2` of SQLite) that agrees for letters of
the Latin alphabet and differs in rare ones, such as those with two accents.
"""

import re
import unicodedata
from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f]+[^\W_]*)*")


def words_of(text: str) -> list[str]:
    """List the words of a text in order, folded."""
    return [folded(found.group()) for found in _WORD.finditer(text)]


def folded(word: str) -> str:
    """Write a word as it is compared: in lower case, without accents."""
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFD", word.lower())
    return "".join(each for each in parts if not unicodedata.combining(each))


def places(wanted: Sequence[str], text: str, *, begins: bool = False) -> list[tuple[int, int]]:
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
    found = [(folded(each.group()), each.span()) for each in _WORD.finditer(text)]
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
