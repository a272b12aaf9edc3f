"""Claims of other stores: found here by what they are, or made from what they say."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from faithtui.domain.conversation import Passage, Span
from faithtui.domain.labels.label_bundle import BundleClaim, ClaimName, ConversationName
from faithtui.store.schema.json_columns import images_from_json, span_to_columns
from faithtui.store.schema.statements import split_into_chunks
from faithtui.store.schema.storable_text import hash_normalised_claim, hash_normalised_statement
from faithtui.store.schema.tables import claim, document, turn, turn_document
from faithtui.store.search.word_index import index_claims

ClaimKey = tuple[int, str, int, str]
"""Id of the conversation, kind, turn and digest."""


def make_claim_key(name: ClaimName, conversation_ids: Mapping[ConversationName, int]) -> ClaimKey:
    """Give what a claim is known by here."""
    return (conversation_ids[name.conversation], name.kind, name.turn, name.digest)


def read_stored_claims(
    connection: Connection, conversations: Sequence[int]
) -> dict[ClaimKey, tuple[int, bool]]:
    """Read id and `imported` of all claims of some conversations."""
    found: dict[ClaimKey, tuple[int, bool]] = {}
    for some in split_into_chunks(conversations):
        for row in connection.execute(
            select(
                claim.c.id,
                claim.c.conversation_id,
                claim.c.kind,
                claim.c.turn,
                claim.c.digest,
                claim.c.imported,
            ).where(claim.c.conversation_id.in_(some))
        ):
            key = (row.conversation_id, row.kind, row.turn, row.digest)
            found[key] = (row.id, row.imported)
    return found


def find_or_add_claims(
    connection: Connection,
    names: Sequence[ClaimName],
    texts: Mapping[ClaimName, BundleClaim],
    conversation_ids: Mapping[ConversationName, int],
) -> tuple[dict[ClaimName, int], int]:
    """Find or make claims; those that cannot be what they say they are are left out.

    Args:
        connection: In a write.
        names: The claims, in conversations that are here.
        texts: What they say.
        conversation_ids: Ids of their conversations.

    Returns:
        Ids by name, and how many were made.
    """
    fresh = 0
    conversations = sorted({conversation_ids[name.conversation] for name in names})
    stored = read_stored_claims(connection, conversations)
    now_imported = [
        stored[key][0]
        for name in names
        if (key := make_claim_key(name, conversation_ids)) in stored
        and texts[name].imported
        and not stored[key][1]
    ]
    for some in split_into_chunks(now_imported):
        connection.execute(update(claim).where(claim.c.id.in_(some)).values(imported=True))
    missing = [name for name in names if make_claim_key(name, conversation_ids) not in stored]
    if missing:
        lengths = _read_turn_lengths(connection, conversations)
        documents = _read_documents(connection, conversations)
        rows: dict[ClaimKey, dict[str, Any]] = {}
        for name in missing:
            row = _make_claim_row(
                name, texts[name], conversation_ids[name.conversation], lengths, documents
            )
            if row is not None:
                rows[make_claim_key(name, conversation_ids)] = row
        if rows:
            made = connection.execute(
                insert(claim).returning(
                    claim.c.id, claim.c.conversation_id, claim.c.kind, claim.c.turn, claim.c.digest
                ),
                list(rows.values()),
            ).all()
            for each in made:
                stored[each.conversation_id, each.kind, each.turn, each.digest] = (each.id, False)
            index_claims(connection, [each.id for each in made])
            fresh = len(made)
    keys = {name: make_claim_key(name, conversation_ids) for name in names}
    return {name: stored[key][0] for name, key in keys.items() if key in stored}, fresh


def _make_claim_row(
    name: ClaimName,
    text: BundleClaim,
    conversation_id: int,
    lengths: Mapping[tuple[int, int], int],
    documents: Mapping[tuple[int, str], tuple[int, Passage]],
) -> dict[str, Any] | None:
    """Make the row of a claim that is not here; None when its name does not fit its text."""
    room = lengths.get((conversation_id, name.turn))
    if room is None:
        return None
    document_id: int | None = None
    match name.kind:
        case "claim":
            digest = hash_normalised_claim(text.text)
        case "answer":
            digest, text = hash_normalised_claim(""), BundleClaim("", None, text.imported)
        case "statement":
            found = documents.get((conversation_id, name.document or ""))
            if found is None:
                return None
            document_id, passage = found
            digest, room = (
                hash_normalised_statement(passage.text_with_marks, text.text),
                len(passage.text),
            )
    if digest != name.digest:
        return None
    return {
        "conversation_id": conversation_id,
        "kind": name.kind,
        "turn": name.turn,
        "digest": name.digest,
        "text": text.text,
        **span_to_columns(_drop_span_outside(text.span, room)),
        "imported": text.imported,
        "document_id": document_id,
    }


def _drop_span_outside(span: Span | None, room: int) -> Span | None:
    """Drop a span that goes beyond its text."""
    return span if span is not None and span.end <= room else None


def _read_turn_lengths(
    connection: Connection, conversations: Sequence[int]
) -> dict[tuple[int, int], int]:
    """Read how long the turns of some conversations are, in characters."""
    return {
        (row.conversation_id, row.position): row.length
        for some in split_into_chunks(conversations)
        for row in connection.execute(
            select(
                turn.c.conversation_id,
                turn.c.position,
                func.length(turn.c.content).label("length"),
            ).where(turn.c.conversation_id.in_(some))
        )
    }


def read_document_lengths(
    connection: Connection, conversations: Sequence[int]
) -> dict[tuple[int, str], int]:
    """Read how long the documents of some conversations are, by conversation and hash."""
    found = _read_documents(connection, conversations)
    return {key: len(passage.text) for key, (_, passage) in found.items()}


def _read_documents(
    connection: Connection, conversations: Sequence[int]
) -> dict[tuple[int, str], tuple[int, Passage]]:
    """Read the documents of some conversations, by conversation and hash."""
    return {
        (row.conversation_id, row.hash): (row.id, Passage(row.text, images_from_json(row.images)))
        for some in split_into_chunks(conversations)
        for row in connection.execute(
            select(
                turn_document.c.conversation_id,
                turn_document.c.images,
                document.c.id,
                document.c.hash,
                document.c.text,
            )
            .join(document, document.c.id == turn_document.c.document_id)
            .where(turn_document.c.conversation_id.in_(some))
        )
    }
