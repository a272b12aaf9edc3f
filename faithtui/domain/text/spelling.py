"""Words that are spelt nearly alike, and so are probably one word with a slip in it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

ALIKE_FROM: Final = 90
"""Two words are one, misspelt, from this ratio on: `receive` and `recieve`, not `form` and `from`.

Measured on WiCE: 85 and below find fewer right sentences, 90 as many as without."""
_ALIKE_LETTERS: Final = 5
"""Shorter words are never taken for misspelt ones."""
_MOST_ALIKE: Final = 50
"""So many words are looked for misspelt: each is held against every word of the other text."""


def spelt_alike(stems: Sequence[str], there: Collection[str]) -> dict[str, frozenset[str]]:
    """Find words that are nowhere letter for letter, but nearly.

    Args:
        stems: Words to find; numbers and short ones are left out, and what is beyond the first
            50 of the others.
        there: Where to look.

    Returns:
        For each word that has any, the words that are taken for it.
    """
    wanted = [stem for stem in stems if is_spellable(stem)][:_MOST_ALIKE]
    pool = spellable(there) if wanted else {}
    return {stem: frozenset(near) for stem in wanted if (near := nearly_spelt(stem, pool))}


def is_spellable(stem: str) -> bool:
    """Whether a word is long enough to be told from another word, and no number."""
    return len(stem) >= _ALIKE_LETTERS and stem.isalpha()


def spellable(stems: Collection[str]) -> dict[str, list[str]]:
    """Sort the words that others may be misspelt forms of by their first letter."""
    pool: dict[str, list[str]] = {}
    for stem in stems:
        if len(stem) >= _ALIKE_LETTERS - 1 and stem.isalpha():
            pool.setdefault(stem[0], []).append(stem)
    return pool


def nearly_spelt(stem: str, pool: Mapping[str, Sequence[str]]) -> list[str]:
    """List the words of a pool that one word is spelt nearly like, the nearest first.

    Nobody misspells a first letter, and most words need not be looked at for it.
    """
    same = pool.get(stem[0])
    if same is None:
        return []
    from rapidfuzz import fuzz, process  # takes 30 ms to import

    near = process.extract(stem, same, scorer=fuzz.ratio, score_cutoff=ALIKE_FROM, limit=8)
    return [each for each, _, _ in near]


def missing_stems(stems: Collection[str], there: Collection[str]) -> set[str]:
    """List the stems that a text has neither letter for letter nor misspelt."""
    missing = set(stems).difference(there)
    return missing - spelt_alike(sorted(missing), there).keys()
