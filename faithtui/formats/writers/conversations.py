"""Conversations in faithtui's own shape that `faithtui import` reads, without human labels."""

import base64
from collections.abc import Mapping

from faithtui.domain.conversation import Conversation, Document, Image, Turn


def conversation_to_json(
    conversation: Conversation, images: Mapping[str, bytes]
) -> dict[str, object]:
    """Write a conversation; read again it has the same identity, turns and metadata.

    Args:
        conversation: What to write; its name of a data set and its group stand elsewhere.
        images: Bytes of its images by SHA-256; one that is not there is written by its address.
    """
    return {
        "id": conversation.key,
        "turns": [_turn_to_json(each, images) for each in conversation.turns],
        "metadata": dict(conversation.metadata),
    }


def _turn_to_json(turn: Turn, images: Mapping[str, bytes]) -> dict[str, object]:
    found: dict[str, object] = {"role": turn.role, "content": turn.content}
    if turn.retrieval_context is not None:
        found["retrieval_context"] = [
            _document_to_json(each, images) for each in turn.retrieval_context
        ]
    if turn.images:
        found["images"] = [_image_to_json(each, images) for each in turn.images]
    return found


def _document_to_json(document: Document, images: Mapping[str, bytes]) -> dict[str, object]:
    found: dict[str, object] = {"text": document.text}
    if document.source is not None:
        found["source"] = document.source
    if document.images:
        found["images"] = [_image_to_json(each, images) for each in document.images]
    return found


def _image_to_json(image: Image, images: Mapping[str, bytes]) -> dict[str, object]:
    data = images.get(image.sha256)
    if data is None:
        return {"url": image.url}
    return {"base64": base64.b64encode(data).decode("ascii"), "media_type": image.media_type}
