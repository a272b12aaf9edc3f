"""Conversations, turns and the documents behind the answers.

Values only. Texts are kept exactly as they came; nothing here interprets them.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal

from faithtui.domain.field_types import require_items, require_type
from faithtui.domain.labels.label_events import Action
from faithtui.errors import InputError

Role = Literal["user", "assistant"]

_ROLES = ("user", "assistant")
_TEXT = "a text"
_DOCUMENTS = "a tuple of documents, such as (Document(text),)"
_IMAGES = "a tuple of Image"

_CLAIM_LENGTH: Final = 1_000
"""Characters of a text whose folding is remembered; longer ones would take memory."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image that belongs to a turn or a document, known by its content."""

    sha256: str
    """64 hexadecimal digits of the bytes; of the address, when only that is known."""
    media_type: str
    """Such as `image/png`; empty when only an address is known."""
    url: str | None = None
    """Where it lies, when the data names an address. faithtui never fetches it."""

    def __post_init__(self) -> None:
        """Refuse values of other types with an InputError that names the field."""
        require_type(self.sha256, str, "sha256", "64 hexadecimal digits of its bytes")
        require_type(self.media_type, str, "media_type", "a text such as image/png")
        require_type(self.url, str | None, "url", "an address, or None")

    @property
    def mark(self) -> str:
        """How a question refers to it."""
        return f"[attached image {self.sha256[:12]}]"


@dataclass(frozen=True, slots=True)
class Passage:
    """A text with the images that belong to it, as a judge is shown it."""

    text: str
    images: tuple[Image, ...] = ()

    @property
    def text_with_marks(self) -> str:
        """The text, and one line per image that names it."""
        return "\n".join([*filter(None, [self.text]), *(image.mark for image in self.images)])


@dataclass(frozen=True, slots=True)
class Document:
    """One piece of retrieved context."""

    text: str
    source: str | None = None
    """File, address or title the text came from, None when unknown."""
    images: tuple[Image, ...] = ()

    def __post_init__(self) -> None:
        """Refuse values of other types with an InputError that names the field."""
        if type(self.text) is not str:
            require_type(self.text, str, "text", _TEXT)
        if self.source is not None and type(self.source) is not str:
            require_type(self.source, str, "source", "a text, or None")
        if self.images != ():
            require_items(self.images, tuple, Image, "images", _IMAGES)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message."""

    role: Role
    content: str
    retrieval_context: tuple[Document, ...] | None = None
    """Documents shown to the assistant. () means retrieval returned nothing, None means unknown."""
    images: tuple[Image, ...] = ()

    def __post_init__(self) -> None:
        """Refuse other roles and values of other types with an InputError that names the field."""
        if self.role not in _ROLES:
            require_type(self.role, str, "role", "`user` or `assistant`")
            raise InputError(f"is {self.role!r}; expected `user` or `assistant`", field="role")
        if type(self.content) is not str:
            require_type(self.content, str, "content", _TEXT)
        if self.retrieval_context is not None:
            context = self.retrieval_context
            require_items(context, tuple, Document, "retrieval_context", _DOCUMENTS)
        if self.images != ():
            require_items(self.images, tuple, Image, "images", _IMAGES)


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of characters, `text[start:end]`, `0 <= start < end`."""

    start: int
    end: int

    def slice_text(self, text: str) -> str:
        """Give the characters of a text in this range."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """How a label was given, as the store that exported it had recorded it."""

    action: Action
    saw_judge: bool = False
    judge_verdict: str | None = None
    seconds: float | None = None
    code: str | None = None
    guideline: str | None = None
    """Digest of the guideline that was in force."""


@dataclass(frozen=True, slots=True)
class Rating:
    """What one person said about an answer, or about a piece of it, before it came to faithtui."""

    turn: int
    """Position of the assistant turn."""
    annotator: str
    scale: str
    label: str
    """The label as the file has it, numbers as text; "" of a claim that was skipped."""
    claim: str | None = None
    """The statement that was labelled, None when the whole answer was."""
    span: Span | None = None
    """Where the claim stands in the turn, None when it is not a literal piece of it."""
    note: str | None = None
    record: LabelRecord | None = None
    """None: nothing says how it was given."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as imported.

    `source` and `key` together are its identity. `group` names what must stay together when
    conversations are resampled or left out: lines that share a history, a passage or a snippet.
    """

    source: str
    key: str
    turns: tuple[Turn, ...]
    group: str
    metadata: Mapping[str, object] = field(default_factory=dict)
    ratings: tuple[Rating, ...] = ()

    def __post_init__(self) -> None:
        """Refuse values of other types with an InputError that names the field."""
        if not (type(self.source) is type(self.key) is type(self.group) is str):
            for name in ("source", "key", "group"):
                require_type(getattr(self, name), str, name, _TEXT)
        expected = "a tuple of Turn; Conversation.of(turn, turn, …) makes one of turns alone"
        require_items(self.turns, tuple, Turn, "turns", expected)
        if type(self.metadata) is not dict:
            require_type(self.metadata, Mapping, "metadata", "a mapping")
        if self.ratings != ():
            require_items(self.ratings, tuple, Rating, "ratings", "a tuple of Rating")

    @classmethod
    def of(cls, *turns: Turn, key: str = "conversation", source: str = "library") -> "Conversation":
        """Make a conversation of turns alone, for use as a library.

        Example:
            >>> Conversation.of(Turn("user", "Hi"), Turn("assistant", "Hello")).group
            'library/conversation'
        """
        return cls(source=source, key=key, turns=turns, group=f"{source}/{key}")

    @property
    def images(self) -> tuple[Image, ...]:
        """All images of its turns and their documents, in order, without repeats."""
        found: dict[Image, None] = {}
        for turn in self.turns:
            if turn.images:
                found |= dict.fromkeys(turn.images)
            for document in turn.retrieval_context or ():
                if document.images:
                    found |= dict.fromkeys(document.images)
        return tuple(found)


def single_turn(
    question: str | None,
    answer: str | None,
    retrieval_context: Sequence[str | Document] | None = None,
    *,
    context: Sequence[str | Document] | None = None,
    key: str = "conversation",
) -> Conversation:
    """Make a conversation of one question and one answer, as single-turn metrics take it.

    Args:
        question: None when there is none.
        answer: None when there is none.
        retrieval_context: Documents; [] when retrieval returned nothing, None when nobody knows.
        context: Another name for `retrieval_context`, read when that is None.
        key: What to call it.

    Raises:
        InputError: Something is of another type. A text alone is refused as documents: it would be
            one of each letter.

    Example:
        >>> talk = single_turn("When?", "On Monday.", ["It happens on Monday."])
        >>> [turn.role for turn in talk.turns]
        ['user', 'assistant']
    """
    for name, text in (("question", question), ("answer", answer)):
        require_type(text, str | None, name, "a text, or None")
    named = "context" if retrieval_context is None else "retrieval_context"
    given = context if retrieval_context is None else retrieval_context
    if given is not None:
        expected = "a list of texts or of Document, such as [text]"
        require_items(given, Sequence, (str, Document), named, expected)
    documents = (
        None
        if given is None
        else tuple(each if isinstance(each, Document) else Document(each) for each in given)
    )
    turns = [Turn("user", question)] if question is not None else []
    if answer is not None:
        turns.append(Turn("assistant", answer, documents))
    return Conversation.of(*turns, key=key)


def content_hash(turns: Sequence[Turn]) -> str:
    """Give equal turns (roles, texts, documents, images) the same 64 hexadecimal digits."""
    shape = [
        [
            turn.role,
            turn.content,
            None
            if turn.retrieval_context is None
            else [
                [document.text, document.source, *[image.sha256 for image in document.images]]
                for document in turn.retrieval_context
            ],
            [image.sha256 for image in turn.images],
        ]
        for turn in turns
    ]
    if sum(len(turn.content) for turn in turns) < _PIECE and all(
        len(document.text) < _PIECE for turn in turns for document in turn.retrieval_context or ()
    ):
        # The same text in one piece.
        return hashlib.sha256(_ENCODER.encode(shape).encode("ascii")).hexdigest()
    digest = hashlib.sha256()
    for piece in _iterate_compact_json(shape):
        digest.update(piece.encode("ascii"))
    return digest.hexdigest()


_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)
_PIECE = 1 << 16
"""Characters that are written at a time: a text may be as long as a file of data lets it be."""


def _iterate_compact_json(value: Any) -> Iterator[str]:
    """Write texts, nulls and lists of them as compact ASCII JSON, without holding all of it."""
    if isinstance(value, list):
        yield "["
        for place, each in enumerate(value):
            if place:
                yield ","
            yield from _iterate_compact_json(each)
        yield "]"
    elif isinstance(value, str) and len(value) > _PIECE:
        yield '"'
        for start in range(0, len(value), _PIECE):
            yield json.dumps(value[start : start + _PIECE])[1:-1]
        yield '"'
    else:
        yield json.dumps(value)


def normalise_text(text: str) -> str:
    """Fold what does not make a different statement: case, compatibility forms and white space.

    Two claims of the same turn are the same claim when their normalised texts are equal.
    """
    return _fold_claim(text) if len(text) <= _CLAIM_LENGTH else _fold_text(text)


def _fold_text(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


# Windows of a conversation share their claims, and scores, checks and rows name each of them.
_fold_claim = lru_cache(maxsize=1 << 10)(_fold_text)


def normalise_claim(text: str) -> str:
    """Fold a claim for comparing what annotators write with what a judge extracted.

    Besides what `normalise_text` folds, the punctuation that ends a sentence: a judge writes the
    full stop, and a person who selects or types the same claim may not.
    """
    return normalise_text(text).rstrip(".!?。… ")
