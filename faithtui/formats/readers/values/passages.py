"""What was retrieved, in the shapes in which tools write it, becomes documents.

A passage is a text or an object with a text under one of many names; retrieved passages are a list
of these, or an object around such a list. What cannot be told apart is one passage as it stands:
evidence is never thrown away.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from faithtui.domain.conversation import Document
from faithtui.formats.json_lines import describe_json, parse_inner_json
from faithtui.formats.readers.values.any_spelling import (
    AnySpelling,
    ShapeError,
    has_any_key,
    normalise_key_spelling,
)

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

    @property
    def details_if_any(self) -> list[Mapping[str, object]] | None:
        """The details, None where nothing is known of any passage."""
        return list(self.details) if any(self.details) else None


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
        inner = _find_passage_list(value)
        value = [value] if inner is None else inner
    if not isinstance(value, list):
        raise ShapeError(where, f"is {describe_json(value)}; expected a list of passages")
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
        inner = _find_passage_list(found)
        found = [found] if inner is None else inner
    if isinstance(found, list) and all(map(_is_passage, found)):
        try:
            return read_passage_list(found, "", name)
        except ShapeError:
            pass  # a part of it only looked like a passage
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return PassageList((Document(text, name),), ({},))


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
    found = read_tool_output_as_passages(content, fields.read_if_text("name") or name)
    rest = fields.get_unread_fields()
    if not rest or not found.details:
        return found
    return replace(found, details=({**found.details[0], "message": rest}, *found.details[1:]))


def _parse_json_or_none(text: object) -> object:
    if not isinstance(text, str) or not text.lstrip().startswith(("[", "{")):
        return None
    try:
        return parse_inner_json(text)
    except ValueError:
        return None


def _find_passage_list(value: dict[str, object]) -> list[object] | None:
    """Find the list of passages inside an object; None when there is none."""
    if any(isinstance(each, str) for each in _iterate_text_fields(value)):
        return None
    fields = AnySpelling(value)
    for name in _LISTS:
        inner = fields.read_first_value(name)
        if isinstance(inner, dict):
            inner = _find_passage_list(inner)
        if isinstance(inner, list) and all(map(_is_passage, inner)):
            return inner
    return None


def _iterate_text_fields(value: dict[str, object]) -> Iterator[object]:
    fields = AnySpelling(value)
    for name in _TEXT:
        yield fields.read_first_value(name)


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
