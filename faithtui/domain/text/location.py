"""Finding a statement in the text it came from. Lexical and exact: it is found or it is not."""

import re
from collections.abc import Sequence

from faithtui.domain.conversation import Span
from faithtui.domain.text.tokens import tokenise_words


def find_span(piece: str, text: str) -> Span | None:
    """Find a piece in a text, letter for letter, else up to case and white space.

    Returns:
        The first place, None when the piece is blank or does not occur.
    """
    piece = piece.strip()
    if not piece:
        return None
    start = text.find(piece)
    if start >= 0:
        return Span(start, start + len(piece))
    pattern = r"\s+".join(re.escape(word) for word in piece.split())
    found = re.search(pattern, text, re.IGNORECASE)
    return Span(*found.span()) if found else None


def find_closest_text_index(piece: str, texts: Sequence[str]) -> int:
    """Choose the text that repeats most of a piece's words.

    Args:
        piece: A statement.
        texts: Candidates; not empty.

    Returns:
        Position of the best candidate: one that holds the piece literally, else the one with the
        largest share of its words; the first of equals.
    """
    for position, text in enumerate(texts):
        if find_span(piece, text) is not None:
            return position
    words = _list_stems(piece)
    shares = [len(words & _list_stems(text)) for text in texts]
    return shares.index(max(shares))


def _list_stems(text: str) -> set[str]:
    return {word.stem for word in tokenise_words(text)}
