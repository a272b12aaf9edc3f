"""Read the input of a case into a conversation."""

import re
from collections.abc import Mapping
from typing import Any, get_args

from faithtui.domain.conversation import Conversation, Document, Image, Role, Turn
from faithtui.errors import InputError

Json = Any

IMAGE_MARK = re.compile(r"\[DEEPEVAL:(?:IMAGE|PDF):(.*?)\]")
"""How a case writes an image into a text; the conversation gets the image beside the text."""
ANSWER_KEYS = frozenset({"question", "answer", "contexts", "retrieval_context", "context"})


def conversation_of(given: Mapping[str, Json]) -> Conversation:
    """Read a case's turns.

    Raises:
        InputError: The peer cannot build a conversation of them.
    """
    turns = tuple(_turn(each) for each in _list(given.get("turns"), "turns"))
    if not turns:
        raise InputError("turns is empty; expected at least one turn", field="turns")
    return Conversation(source="case", key="case", turns=turns, group="case")


def answer_of(given: Mapping[str, Json]) -> Conversation:
    """Read a case's question, answer and contexts; what was not given makes no turn.

    Raises:
        InputError: A value of the wrong kind.
    """
    turns = []
    if given.get("question") is not None:
        turns.append(Turn("user", _text(given["question"], "question")))
    if given.get("answer") is not None:
        contexts = _contexts(given)
        turns.append(
            Turn(
                "assistant",
                _text(given["answer"], "answer"),
                None if contexts is None else tuple(map(Document, contexts)),
            )
        )
    return Conversation(source="case", key="case", turns=tuple(turns), group="case")


def _contexts(given: Mapping[str, Json]) -> list[str] | None:
    own = given.get("contexts", given.get("retrieval_context"))
    alias = given.get("context")
    if own is None and alias is None:
        return None
    if own == [] and alias:
        # The peer finds the alias when it checks and then reads the empty list: it judges the
        # answer on nothing, as it does on one empty document.
        return [""]
    listed = _list(own if own is not None else alias, "contexts")
    return [_words(each) if isinstance(each, dict) else _text(each, "contexts") for each in listed]


def _words(given: Mapping[str, Json]) -> str:
    """Spell out a long context: numbered words, with a marker among them."""
    words = [f"{given.get('prefix', 'w')}{n}" for n in range(given["words"])]
    if given.get("marker") is not None:
        words.insert(given.get("at", len(words)), given["marker"])
    return " ".join(words)


def _turn(given: Json) -> Turn:
    if not isinstance(given, dict):
        raise InputError("expected an object", field="turns")
    role: Json = given.get("role")
    content = _text(given.get("content"), "content")
    if role not in get_args(Role):
        raise InputError(f"the role is {role!r}; expected `user` or `assistant`", field="role")
    context = given.get("retrieval_context")
    return Turn(
        role=role,
        content=content,
        retrieval_context=None
        if context is None
        else tuple(_document(each) for each in _list(context, "retrieval_context")),
        images=_images(content),
    )


def _document(given: Json) -> Document:
    if not isinstance(given, dict):
        text = _text(given, "retrieval_context")
        return Document(text, images=_images(text))
    text = _text(given.get("context"), "context")
    return Document(text, source=_text(given.get("source"), "source"), images=_images(text))


def _list(given: Json, field: str) -> list[Json]:
    if not isinstance(given, list):
        raise InputError("expected a list", field=field)
    return given


def _text(given: Json, field: str) -> str:
    if not isinstance(given, str):
        raise InputError("expected a text", field=field)
    return given


def _images(text: str) -> tuple[Image, ...]:
    return tuple(Image(name, media_type="image/png") for name in IMAGE_MARK.findall(text))
