"""Words that are spelt nearly alike, and so are probably one word with a slip in it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

MIN_SIMILARITY: Final = 90
"""Two words are one, misspelt, from this ratio on: `recommend` and `reccommend`, not `form` and
`from`.

Measured on WiCE: 85 and below find fewer right sentences, 90 as many as without."""
_ALIKE_LETTERS: Final = 5
"""Shorter words are never taken for misspelt ones."""


def preload_rapidfuzz() -> None:
    """Import what compares spellings, so that the first claim shown does not wait for it."""
    from rapidfuzz import fuzz, process  # noqa: F401  # loading them is the purpose


def group_by_first_letter(stems: Collection[str]) -> dict[str, list[str]]:
    """Sort the words that others may be misspelt forms of by their first letter."""
    pool: dict[str, list[str]] = {}
    for stem in stems:
        if len(stem) >= _ALIKE_LETTERS - 1 and stem.isalpha():
            pool.setdefault(stem[0], []).append(stem)
    return pool


def find_near_spellings(stem: str, pool: Mapping[str, Sequence[str]]) -> list[str]:
    """List the words of a pool that one word is spelt nearly like, the nearest first.

    Nobody misspells a first letter, and most words need not be looked at for it. Numbers and short
    words are never misspelt ones.
    """
    same = pool.get(stem[0], ())
    if not same or len(stem) < _ALIKE_LETTERS or not stem.isalpha():
        return []
    from rapidfuzz import fuzz, process  # takes 30 ms to import

    near = process.extract(stem, same, scorer=fuzz.ratio, score_cutoff=MIN_SIMILARITY, limit=8)
    return [each for each, _, _ in near]


def find_nearest_word(word: str, words: Collection[str], least: float) -> str | None:
    """Find the word that one is most alike, letter by letter; None when none is.

    Args:
        word: Any word; for a name of a file's key, not for a text.
        words: Those it may have meant.
        least: Of 100: below this a likeness is chance.
    """
    from rapidfuzz import fuzz, process

    best = process.extractOne(word, list(words), scorer=fuzz.ratio, score_cutoff=least)
    return None if best is None else str(best[0])
