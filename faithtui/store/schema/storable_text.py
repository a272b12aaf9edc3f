"""How texts and times enter the database, and what two equal texts have in common.

Texts are stored exactly, but for what no database stores as text: a lone surrogate (half of a
character, which JSON may hold) and NUL. Both become U+FFFD, one character for one, so that spans
keep pointing at the same words. The type of every text column does it, so nothing gets past.
"""

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

from faithtui.domain.conversation import Document, Passage, normalise_text

_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")


def replace_unstorable_characters(text: str) -> str:
    """Replace each lone surrogate and each NUL by U+FFFD; equal length, idempotent."""
    if text.isascii() and "\x00" not in text:
        return text
    return _NOT_STORABLE.sub("\ufffd", text)


def replace_unstorable_in_json(value: object) -> object:
    """Do the same to every text inside a JSON value, keys included. Tuples become lists."""
    match value:
        case str():
            return replace_unstorable_characters(value)
        case dict():
            return {
                replace_unstorable_characters(str(key)): replace_unstorable_in_json(part)
                for key, part in value.items()
            }
        case list() | tuple():
            return [replace_unstorable_in_json(part) for part in value]
        case _:
            return value


def text_hash(text: str) -> str:
    """Give equal texts, as stored, the same 64 hexadecimal digits."""
    return hashlib.sha256(replace_unstorable_characters(text).encode("utf-8")).hexdigest()


def hash_passage_with_images(passage: Passage | Document) -> str:
    """Give equal texts with equal images the same 64 hexadecimal digits; as `text_hash` without.

    A text that spells out the mark of an image is not the same as a text with that image.
    """
    if not passage.images:
        return text_hash(passage.text)
    marks = "".join(f"\n{image.mark}" for image in passage.images)
    return text_hash(f"{text_hash(passage.text)}{marks}")


@lru_cache(maxsize=1 << 14)
def hash_normalised_claim(text: str) -> str:
    """Give claims that `normalise_text` makes equal the same 64 hexadecimal digits."""
    return text_hash(normalise_text(replace_unstorable_characters(text)))


def hash_normalised_statement(document: str, text: str) -> str:
    """Give statements of one document that `normalise_text` makes equal the same digits.

    Args:
        document: The document, as `Passage.text_with_marks` has it.
        text: The statement.

    Returns:
        64 hexadecimal digits; equal statements of different documents have different ones.
    """
    return text_hash(text_hash(document) + normalise_text(replace_unstorable_characters(text)))


class StoredText(TypeDecorator[str]):
    """Text of any length, made storable as it is written."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Make it storable."""
        return None if value is None else replace_unstorable_characters(value)


def make_imported_label_uid(parts: Sequence[str | None]) -> str:
    """Name an imported label by what it says: the same file gives the same names in every store.

    Args:
        parts: Source and key of the conversation; kind, turn and digest of the claim; reviewer,
            scale, word and note of the label.

    Returns:
        32 hexadecimal digits.
    """
    identifying_parts = [*parts[:5], *("" if each is None else f"={each}" for each in parts[5:])]
    text = "\x1f".join(each or "" for each in identifying_parts)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]
