"""Contexts cut and packed, so that as few questions as possible show all of them to a judge.

Tokens are estimated: the vocabularies of real tokenizers are large downloads, and every model has
its own. Nothing is ever dropped but white space at the ends of a chunk.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

GAP = "\n\n"
"""Between two contexts of one chunk."""

OVERLAP = 0.1
"""Part of a chunk that the next one repeats, where a context is cut."""

NODE_TOKENS = 1024
NODE_OVERLAP_TOKENS = 200
"""The peer's first cut of every context, and how much of a node the next one repeats at most."""

_TENTHS = 10
"""Sizes are sums over words, in tenths of a token, so that rounding does not add up."""

_WORD = re.compile(
    r"[^\r\n\w]?([^\W\d_]+)|\d{1,3}| ?((?:[^\s\w]|_)+)[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+|."
)
"""Groups: letters, marks. Digits, white space and single other characters have none."""

_LOWER = (0, 10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 14, 14)
_MIXED = (0, 10, 11, 11, 12, 12, 14, 14, 14, 16)
"""Sizes of words of so many letters: common words are one token, long and rare ones several."""

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+(?=\S)")
_PHRASE_END = re.compile(r"(?<=[,.;。？！])")


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a text has; 0 when it is empty.

    Source:
        Words as cl100k_base cuts them; the size of a word from its length and case, fitted to its
        counts. docs/metrics/llamaindex-faithfulness.md says how close it comes.
    """
    return (_estimate_tenths_of_tokens(text) + _TENTHS // 2) // _TENTHS


def pack_contexts(contexts: Sequence[str], limit: int) -> tuple[str, ...]:
    """Pack contexts into chunks, in order and whole where they fit.

    A context larger than a chunk is cut, at the ends of sentences where that is possible; each of
    its parts repeats the end of the part before, up to a tenth of a chunk. Nothing else is shown
    twice.

    Args:
        contexts: Texts; blank ones are left out.
        limit: Tokens of a chunk at most, 1 or more. Only a single character may be larger.

    Returns:
        Chunks, none of them blank; () when there is nothing to show.
    """
    chunks: list[list[str]] = []
    used = 0
    for context in filter(None, map(str.strip, contexts)):
        first, *others = _split_text(context, limit, int(limit * OVERLAP), _AT_SENTENCES)
        with_it = used + _estimate_tenths_of_tokens(GAP) + _estimate_tenths_of_tokens(first)
        if chunks and with_it <= limit * _TENTHS:
            chunks[-1].append(first)
            used = with_it
        else:
            chunks.append([first])
            used = _estimate_tenths_of_tokens(first)
        for part in others:
            chunks.append([part])
            used = _estimate_tenths_of_tokens(part)
    return tuple(GAP.join(parts) for parts in chunks)


def pack_contexts_as_llamaindex(contexts: Sequence[str], limit: int) -> tuple[str, ...]:
    """Pack contexts as the peer does: cut into nodes that overlap, join all, cut again at words.

    Args:
        contexts: Texts; not empty.
        limit: Tokens of a chunk at most, 1 or more. Only a single character may be larger.

    Returns:
        Chunks, in order; one empty chunk when all contexts are blank.

    Source:
        llama-index-core 0.14.25, SentenceSplitter and PromptHelper.repack, as measured.
    """
    nodes = [
        node
        for context in contexts
        for node in _split_text(context, NODE_TOKENS, NODE_OVERLAP_TOKENS, _AT_SENTENCES)
    ]
    return split_with_overlap(GAP.join(filter(None, map(str.strip, nodes))), limit)


def split_with_overlap(text: str, limit: int) -> tuple[str, ...]:
    """Cut one text at words where it is larger than a chunk, each part repeating a tenth.

    Returns:
        Parts, in order; the text itself when it fits, also an empty one.
    """
    return tuple(_split_text(text, limit, int(limit * OVERLAP), _AT_WORDS))


class _Piece(NamedTuple):
    text: str
    size: int
    """Tenths of a token."""


def _estimate_tenths_of_tokens(text: str) -> int:
    """Estimate the size of a text in tenths of a token."""
    return sum(_estimate_word_tenths_of_tokens(word) for word in _WORD.finditer(text))


def _estimate_word_tenths_of_tokens(word: re.Match[str]) -> int:
    letters, marks = word.groups()
    if letters is None:
        if marks is None:
            return _TENTHS
        # Marks of four bytes are emoji and the like: two to three tokens each.
        size = len(marks.encode("utf-8", "surrogatepass"))
        return max(_TENTHS, 4 * size if marks.isascii() else 6 * size)
    length = len(letters)
    if not letters.isascii():
        return max(_TENTHS, 4 * len(letters.encode("utf-8", "surrogatepass")))
    if letters.islower():
        return _LOWER[length] if length < len(_LOWER) else length * 5 // 2
    if letters.isupper() and length > 3:
        return 4 * length
    return _MIXED[length] if length < len(_MIXED) else 2 * length


Cut = Callable[[str], list[str]]
"""Divides a text into parts that give the text when joined."""


def _split_text(text: str, limit: int, overlap: int, cuts: Sequence[Cut]) -> list[str]:
    """Divide a text into overlapping parts of so many tokens at most; itself when it fits."""
    room = limit * _TENTHS
    if _estimate_tenths_of_tokens(text) <= room:
        return [text]
    return _join_pieces_into_overlapping_parts(
        _cut_pieces(text, room, cuts), room, overlap * _TENTHS
    )


def _cut_pieces(text: str, room: int, cuts: Sequence[Cut]) -> Iterator[_Piece]:
    """Divide a text until each piece fits, by the first cut that divides it at all."""
    parts = next((parts for cut in cuts if len(parts := cut(text)) > 1), [text])
    for part in parts:
        size = _estimate_tenths_of_tokens(part)
        if size > room and len(parts) > 1:
            yield from _cut_pieces(part, room, cuts)
        else:
            yield _Piece(part, size)


def _join_pieces_into_overlapping_parts(
    pieces: Iterable[_Piece], room: int, overlap: int
) -> list[str]:
    """Put pieces into parts as long as they fit; a part begins with the last ones of the former.

    Returns:
        Parts without white space at their ends, none empty.
    """
    parts = []
    held: deque[_Piece] = deque()
    used = 0
    for piece in pieces:
        if held and used + piece.size > room:
            parts.append(_join_pieces(held))
            while held and (used > overlap or used + piece.size > room):
                used -= held.popleft().size
        held.append(piece)
        used += piece.size
    parts.append(_join_pieces(held))
    return [part for part in parts if part]


def _join_pieces(pieces: Iterable[_Piece]) -> str:
    return "".join(piece.text for piece in pieces).strip()


def _make_splitter_before_separator(separator: str) -> Cut:
    """Cut before every separator."""

    def cut_text(text: str) -> list[str]:
        first, *others = text.split(separator)
        return [part for part in (first, *(separator + each for each in others)) if part]

    return cut_text


def _make_splitter_after_match(end: re.Pattern[str]) -> Cut:
    """Cut after every match."""

    def cut_text(text: str) -> list[str]:
        edges = [0, *(found.end() for found in end.finditer(text)), len(text)]
        return [text[here:there] for here, there in pairwise(edges) if here < there]

    return cut_text


_AT_SENTENCES: tuple[Cut, ...] = (
    _make_splitter_before_separator("\n\n\n"),
    _make_splitter_after_match(_SENTENCE_END),
    _make_splitter_after_match(_PHRASE_END),
    _make_splitter_before_separator(" "),
    list,
)
_AT_WORDS: tuple[Cut, ...] = (
    _make_splitter_before_separator(" "),
    _make_splitter_before_separator("\n"),
    list,
)
