"""faithtui's own shape of a conversation with human labels: one JSON object becomes values.

The shape is described in docs/data-model.md. Strict where a wrong value would change a figure,
lenient where it would not: keys nobody reads are kept in the metadata or passed over.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from faithtui.domain.conversation import (
    Conversation,
    Document,
    Image,
    Rating,
    Role,
    Span,
    Turn,
    content_hash,
)
from faithtui.domain.judging.image_addresses import format_address_without_secrets
from faithtui.domain.limits import KEY, NOTE, REVIEWER
from faithtui.errors import InputError
from faithtui.formats.image_reader import ImageCollector, find_image_folder
from faithtui.formats.json_lines import describe_json
from faithtui.formats.readers.values.cells import parse_list_or_object_cell
from faithtui.formats.readers.values.key_spellings import ShapeError

GROUP_KEYS = ("conversation_id", "passage_group", "knowledge_group")
"""Metadata that says what belongs together; the first that is there counts."""

_EXPECTED = {
    "id": "a string that is not empty, or no `id` at all",
    "turns": "a list with at least one turn",
    "turns[]": "an object with `role` and `content`",
    "role": "`user` or `assistant`",
    "content": "a string",
    "retrieval_context": "a list of strings, [] when nothing was retrieved, or no such key",
    "retrieval_context[]": "a string or an object with `text`, `images` or both",
    "images": "a list of images",
    "images[]": "an object with one of `path`, `url` and `base64`",
    "path": "a path inside the folder of the file",
    "url": "an `http` or `https` address, or a `data:` URI",
    "base64": "the image's bytes as base64",
    "media_type": "what the image is, such as `image/png`",
    "text": "a string that is not empty",
    "source": "a string",
    "metadata": "an object",
    "human_labels": "a list of labels",
    "human_labels[]": "an object with `turn`, `annotator`, `label` and `scale`",
    "turn": "the position of a turn, counted from 0",
    "annotator": "a string that is not empty",
    "label": "a string that is not empty, a number, or true or false",
    "scale": "a string that is not empty",
    "span": "an object with `text`, and `start` and `end` when it is a piece of the answer",
    "start": "a position in the turn's content, in characters",
    "end": "a position in the turn's content, in characters",
    "note": "a string",
    "origin": "`human`, or `model` for a label that no annotator gave",
    "reference_judges": "an object",
}
"""What each field must hold, by its name; `name[]` is an item of the list `name`."""


def _number_as_text(value: object) -> object:
    """Write numbers and booleans as JSON does, 4.0 as 4; leave anything else to the check."""
    match value:
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case int() | float():
            return str(value)
        case _:
            return value


def _integer_as_text(value: object) -> object:
    """Write whole numbers as text: names and ids often are numbers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_Text = Annotated[str, StringConstraints(min_length=1)]
_Word = Annotated[_Text, StringConstraints(pattern=r"\S")]
_Name = Annotated[_Word, BeforeValidator(_integer_as_text)]
_Label = Annotated[_Word, BeforeValidator(_number_as_text)]


class _Line(BaseModel):
    """Base of everything in a line: no value is bent into another type."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class _Image(_Line):
    path: str | None = None
    url: str | None = None
    base64: str | None = None
    media_type: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _require_exactly_one_source(cls, value: object) -> object:
        if isinstance(value, dict):
            names = [name for name in ("path", "url", "base64") if value.get(name) is not None]
            if len(names) != 1:
                raise PydanticCustomError(
                    "image",
                    "has {names}; expected exactly one of `path`, `url` and `base64`",
                    {"names": _format_names(names)},
                )
        return value


class _Context(_Line):
    text: str
    source: str | None = None
    images: list[_Image] | None = None

    @model_validator(mode="before")
    @classmethod
    def _accept_text_or_key_alias(cls, value: object) -> object:
        if isinstance(value, str):
            return {"text": value}
        if not isinstance(value, dict):
            return value
        names = [name for name in ("text", "context", "content") if name in value]
        if not names and value.get("images"):
            return {**value, "text": ""}
        if len(names) != 1:
            raise PydanticCustomError(
                "context",
                "has {names}; expected exactly one of `text`, `context` and `content`",
                {"names": _format_names(names)},
            )
        return {**value, "text": value[names[0]]}


class _Turn(_Line):
    role: Role
    content: str
    retrieval_context: list[_Context] | None = None
    images: list[_Image] | None = None

    @model_validator(mode="before")
    @classmethod
    def _accept_context_as_alias(cls, value: object) -> object:
        if not isinstance(value, dict) or value.get("context") is None:
            return value
        if value.get("retrieval_context") is not None:
            raise PydanticCustomError(
                "context", "has both `retrieval_context` and `context`; expected one of them"
            )
        return {**value, "retrieval_context": value["context"]}


class _Span(_Line):
    text: _Text
    start: int | None = None
    end: int | None = None

    @model_validator(mode="after")
    def _require_both_ends_or_neither(self) -> Self:
        if (self.start is None) != (self.end is None):
            raise PydanticCustomError(
                "span", "has only one of `start` and `end`; expected both or neither"
            )
        return self


class _HumanLabel(_Line):
    turn: int
    annotator: _Name
    label: _Label
    scale: _Text
    span: _Span | None = None
    note: str | None = None
    origin: Literal["human", "model"] = "human"

    @model_validator(mode="before")
    @classmethod
    def _set_origin_from_annotator_kind(cls, value: object) -> object:
        """Read other tools' word for the origin; any word but one for humans is a machine's."""
        if not isinstance(value, dict) or value.get("origin") is not None:
            return value
        kind = value.get("annotator_kind")
        if kind is None:
            return {name: each for name, each in value.items() if name != "origin"}
        is_person = isinstance(kind, str) and kind.strip().casefold() == "human"
        return {**value, "origin": "human" if is_person else "model"}


class _Conversation(_Line):
    model_config = ConfigDict(extra="allow")

    id: _Name | None = None
    turns: Annotated[list[_Turn], Field(min_length=1)]
    metadata: dict[str, object] | None = None
    human_labels: list[_HumanLabel] | None = None
    reference_judges: dict[str, object] | None = None


@dataclass(frozen=True, slots=True)
class ParsedConversation:
    """A conversation, and the bytes of its images."""

    conversation: Conversation
    images: Mapping[str, bytes]
    """By SHA-256; images known by their address alone are not there."""


def conversation_from_json(
    found: Mapping[str, object],
    *,
    source: str,
    path: Path | None = None,
    line: int | None = None,
    record: int | None = None,
) -> ParsedConversation:
    """Build a conversation from a JSON object in faithtui's own shape.

    Without an `id`, the key is the hash of the turns. `context` is read as `retrieval_context`,
    numbers among labels, annotators and ids become text. Unknown keys of the object are kept in
    the metadata under `extra`, automatic scores under `reference_judges`, labels that a machine
    gave under `model_labels`; none of these is ever read.

    Args:
        found: The object, free of lone surrogates and NULs.
        source: Name of the data set.
        path: The file, for messages; images that are named by a path lie in its folder.
        line: The line number from 1, for messages.
        record: Its place in an array from 1, for messages; None: it is a line.

    Raises:
        InputError: A field is missing or wrong, or an image cannot be had; the first is named.
    """
    try:
        found = _parse_metadata_text(found)
        plain = build_plain_conversation(found, source)
        if plain is not None:
            return ParsedConversation(plain, {})
        collector = ImageCollector(find_image_folder(path))
        read = _Conversation.model_validate(found)
        turns = tuple(
            _make_turn(turn, f"turns[{position}]", collector)
            for position, turn in enumerate(read.turns)
        )
        if read.id is not None:
            check_name_length(read.id, "id")
        key = content_hash(turns) if read.id is None else read.id
        conversation = Conversation(
            source=source,
            key=key,
            turns=turns,
            group=choose_group_from_metadata(read.metadata or {}, source, key),
            metadata=_add_unread_fields_to_metadata(read),
            ratings=tuple(_make_human_ratings(read.human_labels or (), turns)),
        )
        return ParsedConversation(conversation, collector.data)
    except ValidationError as error:
        field, reason = _describe_validation_error(error.errors(include_url=False)[0], found)
    except ShapeError as error:
        field, reason = error.field, error.reason
    raise InputError(reason, path=path, line=line, record=record, field=field or None)


def _parse_metadata_text(found: Mapping[str, object]) -> Mapping[str, object]:
    """Read metadata that are an object written as text, as columns of Parquet have them."""
    metadata = found.get("metadata")
    if not isinstance(metadata, str):
        return found
    return {**found, "metadata": parse_list_or_object_cell(metadata, "metadata")}


_PLAIN_LINE = frozenset(("id", "turns", "metadata", "reference_judges"))
_PLAIN_TURN = frozenset(("role", "content", "retrieval_context"))
_PLAIN_DOCUMENT = frozenset(("text", "source"))


def build_plain_conversation(found: Mapping[str, object], source: str) -> Conversation | None:
    """Build a conversation of the commonest shape without its models.

    None where anything is out of the ordinary: an error, an image, a label, another key. Then
    `conversation_from_json` decides by its models, so that there is one place that says what is
    wrong. They take ten times as long.
    """
    if not _PLAIN_LINE.issuperset(found):
        return None
    identity, given, metadata = found.get("id"), found.get("turns"), found.get("metadata")
    judges = found.get("reference_judges")
    if type(given) is not list or not given or (identity is not None and type(identity) is not str):
        return None
    if identity == "" or judges or (metadata is not None and type(metadata) is not dict):
        return None
    turns = []
    for each in given:
        turn = _build_turn_without_pydantic(each)
        if turn is None:
            return None
        turns.append(turn)
    key = content_hash(turns) if identity is None else identity
    known = metadata or {}
    try:
        check_name_length(key, "id")
        group = choose_group_from_metadata(known, source, key)
    except ShapeError:
        return None
    return Conversation(source, key, tuple(turns), group, known)


def _build_turn_without_pydantic(value: object) -> Turn | None:
    if type(value) is not dict or not _PLAIN_TURN.issuperset(value):
        return None
    role, content = value.get("role"), value.get("content")
    if role not in ("user", "assistant") or type(content) is not str:
        return None
    context = value.get("retrieval_context")
    if context is None:
        return Turn(role, content)
    if type(context) is not list:
        return None
    documents = []
    for each in context:
        if type(each) is str:
            documents.append(Document(each))
            continue
        if type(each) is not dict or not _PLAIN_DOCUMENT.issuperset(each):
            return None
        text, named = each.get("text"), each.get("source")
        if type(text) is not str or (named is not None and type(named) is not str):
            return None
        documents.append(Document(text, named))
    return Turn(role, content, tuple(documents))


def _make_turn(read: _Turn, field: str, collector: ImageCollector) -> Turn:
    images = _read_images(read.images, field, collector)
    if read.retrieval_context is None:
        return Turn(read.role, read.content, images=images)
    documents = tuple(
        Document(
            item.text,
            item.source,
            _read_images(item.images, f"{field}.retrieval_context[{place}]", collector),
        )
        for place, item in enumerate(read.retrieval_context)
    )
    return Turn(read.role, read.content, documents, images)


def _read_images(
    read: Sequence[_Image] | None, field: str, collector: ImageCollector
) -> tuple[Image, ...]:
    """Read the images of a turn or of a document, in order."""
    return tuple(
        _read_image(each, f"{field}.images[{place}]", collector)
        for place, each in enumerate(read or ())
    )


def _read_image(read: _Image, field: str, collector: ImageCollector) -> Image:
    """Read one image.

    Raises:
        _Refused: It cannot be had, or is no image; `field` and what was named in it are reported.
    """
    try:
        if read.base64 is not None:
            name, shown = "base64", ""
            return collector.add_base64(read.base64, read.media_type)
        if read.path is not None:
            name, shown = "path", f"is {describe_json(read.path)}, which "
            return collector.add_path(read.path, read.media_type)
        # Nothing that may be a secret: messages end up in logs.
        name, shown = (
            "url",
            f"is {describe_json(format_address_without_secrets(read.url or ''))}, which ",
        )
        return collector.add_url(read.url or "", read.media_type)
    except InputError as error:
        raise ShapeError(f"{field}.{name}", f"{shown}{error.reason}") from error


def check_name_length(name: str, field: str) -> None:
    """Refuse a name that no list could show.

    Raises:
        ShapeError: It is too long.
    """
    problem = KEY.find_size_problem(len(name))
    if problem is not None:
        raise ShapeError(field, problem)


def choose_group_from_metadata(metadata: Mapping[str, object], source: str, key: str) -> str:
    """Name what the conversation must stay together with; the kind keeps equal numbers apart.

    Raises:
        ShapeError: What the metadata names is no text or number, or too long.
    """
    for kind in GROUP_KEYS:
        value = metadata.get(kind)
        if value is None or (isinstance(value, str) and not value.strip()):
            continue
        if isinstance(value, bool | dict | list):
            raise ShapeError(
                f"metadata.{kind}", f"is {describe_json(value)}; expected a string or a number"
            )
        check_name_length(str(value), f"metadata.{kind}")
        return f"{kind}:{value}"
    return f"{source}/{key}"


def _add_unread_fields_to_metadata(read: _Conversation) -> dict[str, object]:
    """Add to the metadata what the line says elsewhere and nobody reads."""
    added: dict[str, object] = {}
    if read.reference_judges:
        added["reference_judges"] = read.reference_judges
    machine_made = [each.model_dump() for each in read.human_labels or () if _is_machine_made(each)]
    if machine_made:
        added["model_labels"] = machine_made
    if read.model_extra:
        added["extra"] = read.model_extra
    given = read.metadata or {}
    for name in added:
        if name in given:
            raise ShapeError(f"metadata.{name}", "is a name faithtui needs here; rename it")
    return {**given, **added}


def _make_human_ratings(labels: Sequence[_HumanLabel], turns: Sequence[Turn]) -> Iterator[Rating]:
    """Turn human labels into ratings; those a machine gave are no person's and are left out.

    Raises:
        _Refused: A label points at no answer, or its span is not what it says.
    """
    for number, label in enumerate(labels):
        if _is_machine_made(label):
            continue
        field = f"human_labels[{number}]"
        if not 0 <= label.turn < len(turns):
            raise ShapeError(
                f"{field}.turn",
                f"is {label.turn}; expected 0 to {len(turns) - 1}, the positions of the turns",
            )
        turn = turns[label.turn]
        if turn.role != "assistant":
            raise ShapeError(
                f"{field}.turn", f"is {label.turn}, a {turn.role} turn; expected an assistant turn"
            )
        for name, text, limit in (
            ("annotator", label.annotator, REVIEWER),
            ("note", label.note or "", NOTE),
        ):
            problem = limit.find_size_problem(len(text))
            if problem is not None:
                raise ShapeError(f"{field}.{name}", problem)
        yield Rating(
            turn=label.turn,
            annotator=label.annotator,
            scale=label.scale,
            label=label.label,
            claim=label.span.text if label.span else None,
            span=_find_and_check_claim_span(label.span, label.turn, turn.content, field)
            if label.span
            else None,
            note=label.note,
        )


def _is_machine_made(label: _HumanLabel) -> bool:
    return label.origin == "model"


def _find_and_check_claim_span(read: _Span, position: int, content: str, field: str) -> Span | None:
    """Give the place of a claim in its answer; None when it is not a literal piece."""
    if not read.text.strip():
        raise ShapeError(f"{field}.span.text", "is blank; expected the statement that was labelled")
    if read.start is None or read.end is None:
        return None
    where = f"turns[{position}].content"
    if not 0 <= read.start < read.end <= len(content):
        raise ShapeError(
            f"{field}.span",
            f"is {read.start} to {read.end}; expected a range inside the {len(content)} "
            f"characters of {where}",
        )
    piece = content[read.start : read.end]
    if piece != read.text:
        raise ShapeError(
            f"{field}.span.text",
            f"is {describe_json(read.text)}, but {where} has {describe_json(piece)} at "
            f"{read.start} to "
            f"{read.end}; offsets count Unicode characters",
        )
    return Span(read.start, read.end)


def _describe_validation_error(error: ErrorDetails, found: Mapping[str, object]) -> tuple[str, str]:
    """Say where and what is wrong, in our words."""
    loc = error["loc"]
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    field = field.removeprefix(".")
    if error["type"] in ("context", "image", "span"):
        return field, error["msg"]
    name = f"{loc[-2]}[]" if isinstance(loc[-1], int) else str(loc[-1])
    match error["type"]:
        case "missing" if len(loc) == 1:
            state = f"is missing (found {_format_names(found)})"
        case "missing":
            state = "is missing"
        case "string_too_short" | "too_short":
            state = "is empty"
        case "string_pattern_mismatch":
            state = "is blank"
        case _:
            state = f"is {describe_json(error['input'])}"
    return field, f"{state}; expected {_EXPECTED[name]}"


def _format_names(names: Collection[str]) -> str:
    """Write up to five names for a message."""
    if not names:
        return "none"
    first = [f"`{name[:40]}`" for name in list(names)[:5]]
    return ", ".join(first) + (", …" if len(names) > 5 else "")
