"""Texts of a judge that repeat its instructions: it copied the prompt, not what it was to read.

Weak models hand back what stands nearest: a sentence of the instructions, the example of a reply,
its `"..."`, the name of a field. Lexical: runs of words, equal up to case and punctuation.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

RUN_WORDS: Final = 4
"""Words in a row that must stand in the prompt: shorter runs are everybody's."""
_COVERED_FROM: Final = 0.8
"""Share of a text's words that such runs must cover."""
_REASON_RUN: Final = 8
"""The same in a reason, which may well be put in the words of the instructions ("the truths support
all of the claim")."""
_LONGEST_FIELD: Final = 3
"""Words of what is looked for as the name of a field, or as what stands for its content."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’_][^\W_]+)*")
_HOLE: Final = re.compile(r"\$\{?\w+\}?")
_QUOTED: Final = re.compile(r'"([^"\n]{1,40})"')
_DOTS: Final = re.compile(r"[.…]+")
_KEY: Final = re.compile(r"[a-z]\d{1,4}")
"""Keys of replies and numbers of what was shown: `a0`, `c12`, `t3`."""
_FIELD_WORDS: Final = frozenset({"string", "text", "null", "none", "object", "array", "list"})
"""Types and empty values of JSON, which stand in the schema of a reply and not in its prompt."""


@dataclass(frozen=True, slots=True)
class PromptWords:
    """What the prompts of a metric say themselves, without the material that is put into them."""

    runs: frozenset[tuple[str, ...]]
    """Every `RUN_WORDS` words in a row."""
    fields: frozenset[tuple[str, ...]]
    """What stands between quotation marks there: names of fields, examples of their content."""

    @classmethod
    def from_prompts(cls, texts: Iterable[str]) -> "PromptWords":
        """Read prompts, with holes such as `$claims` where material is put in."""
        runs: set[tuple[str, ...]] = set()
        fields: set[tuple[str, ...]] = set()
        for text in texts:
            for part in _HOLE.split(text):
                runs.update(_list_ngrams(split_lowercase_words(part)))
                fields.update(split_lowercase_words(found) for found in _QUOTED.findall(part))
        short = {field for field in fields if 0 < len(field) <= _LONGEST_FIELD}
        return cls(frozenset(runs), frozenset(short | {(word,) for word in _FIELD_WORDS}))

    def are_repeated_by(self, text: str, material: "ShownMaterial") -> bool:
        """Say whether a claim or a truth says nothing but what the prompt says.

        Args:
            text: What the judge wrote.
            material: What it was shown; what stands there is no echo of the prompt.
        """
        words = split_lowercase_words(text)
        if len(words) < RUN_WORDS:
            return self._is_field_name_or_example(text) and not material.contains_word_sequence(
                words
            )
        return self._covers_most(words, material, RUN_WORDS)

    def are_repeated_by_reason(
        self, reason: str, material: "ShownMaterial", verdicts: Collection[str]
    ) -> bool:
        """Say whether a reason says nothing but what the prompt says.

        Args:
            reason: What the judge wrote.
            material: What it was shown.
            verdicts: Labels of the metric: a reason that is one says little, and is no echo.
        """
        words = split_lowercase_words(reason)
        if len(words) >= RUN_WORDS:
            return self._covers_most(words, material, _REASON_RUN)
        return (
            self._is_field_name_or_example(reason)
            and " ".join(words) not in verdicts
            and not material.contains_word_sequence(words)
        )

    def _is_field_name_or_example(self, text: str) -> bool:
        """Whether a text is the name of a field or its example; the example may be `...`."""
        words = split_lowercase_words(text)
        if not words:
            return bool(self.runs) and bool(_DOTS.fullmatch(text.strip()))
        is_key = bool(self.runs) and len(words) == 1 and bool(_KEY.fullmatch(words[0]))
        return is_key or words in self.fields

    def _covers_most(self, words: Sequence[str], material: "ShownMaterial", least: int) -> bool:
        """Whether stretches of the prompt, of so many words at least, are most of a text."""
        runs = _list_ngrams(words)
        if self.runs.isdisjoint(runs):
            return False
        known = [False] * len(words)
        for at, run in enumerate(runs):
            if run in self.runs and not material.contains_word_sequence(run):
                known[at : at + RUN_WORDS] = [True] * RUN_WORDS
        stretches = (len(list(group)) for is_known, group in groupby(known) if is_known)
        covered = sum(length for length in stretches if length >= least)
        return covered >= _COVERED_FROM * len(words)


class ShownMaterial:
    """What a judge was shown of a conversation, read when it is first needed."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._joined: str | None = None

    def contains_word_sequence(self, words: Sequence[str]) -> bool:
        """Say whether words stand in a row in one of the texts."""
        if not words:
            return False
        if self._joined is None:
            self._joined = " \n ".join(
                f" {' '.join(split_lowercase_words(text))} " for text in self._texts
            )
        return f" {' '.join(words)} " in self._joined


NO_PROMPTS: Final = PromptWords(frozenset(), frozenset())
"""Of a metric whose prompts are not known: nothing repeats them."""


def split_lowercase_words(text: str) -> tuple[str, ...]:
    """Cut a text into its words, in small letters."""
    return tuple(_WORD.findall(text.casefold()))


def _list_ngrams(words: Sequence[str]) -> list[tuple[str, ...]]:
    # Of unequal length: the shortest begins with the last run.
    return list(zip(*(words[at:] for at in range(RUN_WORDS)), strict=False))
