"""What was retrieved, in the shapes in which tools write it, becomes documents.

A passage is a text or an object with a text under one of many names; retrieved passages are a list
of these, or an object around such a list. What cannot be told apart is one passage as it stands, as
is what else a tool gave around a list: evidence is never thrown away.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from faithtui.domain.conversation import Document
from faithtui.formats.json_lines import describe_json, parse_inner_json
from faithtui.formats.readers.values.cells import parse_list_or_object_or_keep_text
from faithtui.formats.readers.values.key_spellings import (
    AnySpelling,
    ShapeError,
    has_any_key,
    normalise_key_spelling,
)
from faithtui.formats.readers.values.tool_answers import find_counts, split_off_evidence

_TEXT = (
    "text",
    "page_content",
    "content",
    "context",
    "passage",
    "chunk",
    "document",
    "body",
    "snippet",
    "node",
    "value",
    "output",
)
_SOURCE = ("source", "title", "url", "uri", "link", "file", "file_name", "filename", "path")
_ID = ("id", "document_id", "doc_id", "chunk_id", "node_id", "id_", "_id")
_BESIDE = "beside"
"""Detail of the first passage that holds what stood beside its list."""
_EMPTY: Final[tuple[object, ...]] = (None, "", [], {})
_LISTS = (
    "documents",
    "passages",
    "contexts",
    "chunks",
    "results",
    "result",
    "matches",
    "hits",
    "nodes",
    "source_nodes",
    "source_documents",
    "retrieved_contexts",
    "retrieval_context",
    "context",
    "data",
    "items",
    "output",
)


@dataclass(frozen=True, slots=True)
class PassageList:
    """Passages in order, with what else is known of each."""

    documents: tuple[Document, ...] = ()
    details: tuple[Mapping[str, object], ...] = field(default=())
    """Id, score and other fields of each; as many as documents."""

    def __add__(self, other: "PassageList") -> "PassageList":
        """Put other passages behind these."""
        return PassageList(self.documents + other.documents, self.details + other.details)

    def __sub__(self, other: "PassageList") -> "PassageList":
        """Leave out passages whose text others have."""
        texts = {each.text for each in other.documents}
        places = [place for place, each in enumerate(self.documents) if each.text not in texts]
        return PassageList(
            tuple(self.documents[place] for place in places),
            tuple(self.details[place] for place in places),
        )

    def add_detail(self, name: str, value: Mapping[str, object]) -> "PassageList":
        """Keep something that belongs to all of them with the first; nothing without any."""
        if not value or not self.details:
            return self
        return replace(self, details=({**self.details[0], name: value}, *self.details[1:]))

    @property
    def details_if_any(self) -> list[Mapping[str, object]] | None:
        """The details, None where nothing is known of any passage."""
        return list(self.details) if any(self.details) else None


@dataclass(frozen=True, slots=True)
class _ObjectAroundList:
    """An object around a list of passages, taken apart."""

    listed: list[object]
    rest: Mapping[str, object]
    """What it holds besides."""


def read_passage_list(value: object, where: str, source: str | None = None) -> PassageList:
    """Read a list of passages.

    Args:
        value: A list of texts or objects, or an object around one; a text is one passage.
        where: Name of the field, for messages.
        source: What the passages came from, where they do not say.

    Raises:
        ShapeError: It is something else.
    """
    if isinstance(value, str):
        value = [value]
    elif isinstance(value, dict):
        around = _find_passage_list(value)
        if around is not None and around.listed:
            rest = {key: each for key, each in around.rest.items() if each not in _EMPTY}
            return _read_list(around.listed, where, source).add_detail(_BESIDE, rest)
        if around is not None:
            return _read_around(around, where, source)
        value = [value]
    if not isinstance(value, list):
        raise ShapeError(where, f"is {describe_json(value)}; expected a list of passages")
    return _read_list(value, where, source)


def parse_passages_in_text(value: object) -> object:
    """Read a list of passages that a text holds, as JSON or as Python prints it.

    Args:
        value: What is known of passages, as it stands in a file that is no table of texts.

    Returns:
        The list; the value itself where it is anything else, such as one passage.
    """
    found = parse_list_or_object_or_keep_text(value)
    return found if isinstance(found, list) and all(map(_is_passage, found)) else value


def _read_list(value: list[object], where: str, source: str | None) -> PassageList:
    found = PassageList()
    for place, each in enumerate(value):
        if each is not None:
            found += _read_passage(each, f"{where}[{place}]", source)
    return found


def read_tool_output_as_passages(value: object, name: str | None) -> PassageList:
    """Read what a tool gave, whatever it is: a list of passages, or one passage of all of it.

    Args:
        value: A text, which may hold JSON, or any JSON value.
        name: The tool, kept as the source of passages that name none.
    """
    if value is None:
        return PassageList()
    found: object = value
    if isinstance(value, str):
        found = _parse_json_or_none(value)
        if found is None:
            return PassageList((Document(value, name),), ({},)) if value.strip() else PassageList()
    if found == {}:
        return PassageList()
    if isinstance(found, dict):
        given = _read_content_of_tool_message(found, name)
        if given is not None:
            return given
    try:
        given = _read_lists_and_what_is_around(found, name)
    except ShapeError:  # a part of it only looked like a passage
        given = None
    return _read_as_it_stands(value, name) if given is None else given


def _read_as_it_stands(value: object, name: str | None) -> PassageList:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return PassageList((Document(text, name),), ({},))


def _read_lists_and_what_is_around(value: object, name: str | None) -> PassageList | None:
    """Read passages, then as one more what else a tool may have answered; None without any.

    Raises:
        ShapeError: A part of them is no passage.
    """
    around = _find_passage_list(value) if isinstance(value, dict) else None
    if around is not None:
        return _read_around(around, "", name)
    listed = [value] if isinstance(value, dict) else value
    if isinstance(listed, list) and all(map(_is_passage, listed)):
        return _read_list(listed, "", name)
    return None


def _read_around(around: _ObjectAroundList, where: str, source: str | None) -> PassageList:
    evidence, beside = split_off_evidence(around.rest)
    if evidence is None and not around.listed:
        evidence = find_counts(around.rest)
    found = _read_list(around.listed, where, source)
    if evidence is not None:
        found += PassageList((Document(evidence, source),), ({},))
    return found.add_detail(_BESIDE, beside)


def _read_content_of_tool_message(value: dict[str, object], name: str | None) -> PassageList | None:
    """Take apart what a LangChain message of a tool holds as JSON or in parts.

    Returns:
        None where it is no such message, or holds one text.
    """
    within = value.get("kwargs")
    message = within if isinstance(within, dict) else value
    fields = AnySpelling(message)
    kind, content = fields.read_if_text("type"), fields.read_first_value("content")
    if kind is None or normalise_key_spelling(kind) not in ("tool", "toolmessage"):
        return None
    if not isinstance(content, list) and _parse_json_or_none(content) is None:
        return None
    name = fields.read_if_text("name") or name
    found = read_tool_output_as_passages(content, name)
    rest = fields.get_unread_fields()
    if not found.documents and split_off_evidence(rest)[0] is not None:
        found = _read_as_it_stands(content, name)  # what else it holds is not lost
    return found.add_detail("message", rest)


def _parse_json_or_none(text: object) -> object:
    if not isinstance(text, str) or not text.lstrip().startswith(("[", "{")):
        return None
    try:
        return parse_inner_json(text)
    except ValueError:
        return None


def _find_passage_list(value: dict[str, object]) -> _ObjectAroundList | None:
    """Find the list of passages inside an object, the first that is not empty; None without any.

    An object with a text is a passage itself, unless there are objects with texts in a list of it.
    """
    has_text = any(isinstance(value[key], str) for key in _list_keys_in_order(value, _TEXT))
    empty = None
    for key in _list_keys_in_order(value, _LISTS):
        inner = value[key]
        if isinstance(inner, dict) and not has_text:
            within = _find_passage_list(inner)
            found = within and replace(within, rest={**value, key: within.rest})
        elif isinstance(inner, list) and all(map(_is_passage, inner)):
            rest = {name: each for name, each in value.items() if name != key}
            found = _ObjectAroundList(inner, rest)
        else:
            continue
        if found and found.listed and (not has_text or isinstance(found.listed[0], dict)):
            return found
        empty = empty or found
    return None if has_text else empty


def _list_keys_in_order(value: Mapping[str, object], names: Sequence[str]) -> list[str]:
    """List the keys of an object that are among some names in any spelling, in their order."""
    places = {normalise_key_spelling(name): place for place, name in enumerate(names)}
    found = [key for key in value if normalise_key_spelling(key) in places]
    return sorted(found, key=lambda key: places[normalise_key_spelling(key)])


def _is_passage(value: object) -> bool:
    if isinstance(value, str):
        return True
    return isinstance(value, dict) and has_any_key(value, *_TEXT)


def _read_passage(value: object, where: str, source: str | None) -> PassageList:
    if isinstance(value, str):
        return PassageList((Document(value, source),), ({},))
    if not isinstance(value, dict):
        raise ShapeError(
            where, f"is {describe_json(value)}; expected a string or an object with its text"
        )
    fields = AnySpelling(value, where)
    text = next((text for name in _TEXT if (text := fields.read_if_text(name)) is not None), None)
    texts = _read_texts_of_parts(fields) if text is None else [text]
    if not texts:
        inner = fields.read_first_value("document", "node", "passage", "chunk")
        if isinstance(inner, dict):
            nested = _read_passage(inner, where, source)
            rest = fields.get_unread_fields()
            return PassageList(nested.documents, tuple({**rest, **each} for each in nested.details))
        raise ShapeError(where, f"is {describe_json(value)}; expected its text under `text`")
    named = next((each for name in _SOURCE if (each := fields.read_if_text(name))), None)
    metadata = value.get("metadata")
    if named is None and isinstance(metadata, dict):
        within = AnySpelling(metadata)
        named = next((each for name in _SOURCE if (each := within.read_if_text(name))), None)
    details = {}
    number = fields.read_first_value(*_ID)
    if number is not None:
        details["id"] = number
    details |= fields.get_unread_fields()
    documents = tuple(Document(each, named or source) for each in texts)
    return PassageList(documents, tuple(dict(details) for _ in texts))


def _read_texts_of_parts(fields: AnySpelling) -> list[str]:
    """Give the texts of a passage in parts, as Anthropic's search results are; [] of others."""
    parts = fields.read_first_value("content")
    texts = [
        text
        for each in (parts if isinstance(parts, list) else [])
        if isinstance(each, dict) and isinstance(text := each.get("text"), str)
    ]
    if isinstance(parts, list) and len(texts) == len(parts):
        return texts
    fields.mark_as_unread("content")
    return []
