"""What a reason quotes, and whether the quoted words stand anywhere in what the judge was shown.

Models invent quotations. Letters, spaces and the kinds of quotation marks and dashes do not count;
every word does, and their order.
"""

import re
from collections.abc import Iterable
from typing import Final

from faithtui.domain.conversation import normalise_text

FEWEST_WORDS: Final = 4
"""Words below which marks may stand around anything: a term, an irony, a verdict."""

_QUOTED: Final = re.compile(r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|\"([^\"\n]+)\"")
_LEFT_OUT: Final = re.compile(r"\s*(?:\[?\.\.\.\]?|\[?…\]?|\[[^\]]*\])\s*")
_ALIKE: Final = str.maketrans(
    {each: "'" for each in '‘’‚‛“”„‟"«»'} | {each: "-" for each in "‐‑‒–—―−"}
)
_EDGES: Final = " .,;:!?'-"


def find_quotes(reason: str) -> tuple[str, ...]:
    """List what a reason puts into double quotation marks, each once; too short ones left out."""
    found = ("".join(each.groups(default="")).strip() for each in _QUOTED.finditer(reason))
    return tuple(dict.fromkeys(each for each in found if len(each.split()) >= FEWEST_WORDS))


class QuotableTexts:
    """Texts that may be quoted."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Read the texts.

        Args:
            texts: Everything the judge may quote from.
        """
        self._texts = tuple(map(_fold_text, texts))

    def contains_quote(self, quote: str) -> bool:
        """Say whether one text has all of a quotation, in order; what it leaves out by … may be.

        A part of two words or fewer between two gaps proves nothing and is not looked for.
        """
        parts = [_fold_text(each).strip(_EDGES) for each in _LEFT_OUT.split(quote)]
        parts = [each for each in parts if len(each.split()) > 2]
        return any(_occur_in_order(parts, text) for text in self._texts)


def is_quoted_from(quote: str, text: str) -> bool:
    """Say whether a text has the words that are said to be copied from it, in order.

    Unlike quotations in a reason, which may stand around a single term, every word counts.
    """
    parts = [_fold_text(each).strip(_EDGES) for each in _LEFT_OUT.split(quote)]
    return _occur_in_order([each for each in parts if each], _fold_text(text))


def _fold_text(text: str) -> str:
    return normalise_text(text.translate(_ALIKE))


def _occur_in_order(parts: Iterable[str], text: str) -> bool:
    place = 0
    for part in parts:
        found = text.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return True
