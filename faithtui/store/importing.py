"""Writing one batch of imported conversations.

A batch is looked up as a whole, one query per table, and written as a whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from faithtui.domain.conversation import Conversation, Document, Rating, Turn, content_hash
from faithtui.domain.review import Action
from faithtui.domain.scales import verdict_of
from faithtui.store.codecs import images_to_json, span_columns
from faithtui.store.database import chunks
from faithtui.store.records import ImportCounts
from faithtui.store.rollups import items_holding, refresh_conversation
from faithtui.store.tables import claim, conversation, document, human_label, turn, turn_document
from faithtui.store.texts import claim_digest, storable, storable_json, text_hash

_OPENING = 200
"""Characters of the first user message kept for lists."""

Identity = tuple[str, str]
"""Source and key."""


@dataclass(frozen=True, slots=True)
class _ClaimKey:
    """Identity of a claim."""

    conversation_id: int
    kind: str
    turn: int
    digest: str


def import_batch(
    connection: Connection, now: datetime, conversations: Sequence[Conversation]
) -> ImportCounts:
    """Write a batch; see `Conversations.import_batch`."""
    batch = [_storable(each) for each in conversations]
    hashes = [content_hash(each.turns) for each in batch]
    stored = _stored(connection, batch)
    known: dict[Identity, str] = {identity: hashed for identity, (_, hashed) in stored.items()}
    by_content = _by_content(connection, batch, hashes)
    new: list[tuple[Conversation, str]] = []
    accepted: list[Conversation] = []
    conflicting: list[str] = []
    same_content: list[tuple[str, str]] = []
    for each, hashed in zip(batch, hashes, strict=True):
        identity = (each.source, each.key)
        if known.get(identity, hashed) != hashed:
            conflicting.append(each.key)
            continue
        accepted.append(each)
        if identity in known:
            continue
        known[identity] = hashed
        new.append((each, hashed))
        twin = by_content.setdefault((each.source, hashed), each.key)
        if twin != each.key:
            same_content.append((each.key, twin))
    ids = {identity: number for identity, (number, _) in stored.items()}
    ids |= _insert_conversations(connection, now, new)
    _insert_turns(connection, [(ids[each.source, each.key], each.turns) for each, _ in new])
    return ImportCounts(
        new=len(new),
        unchanged=len(accepted) - len(new),
        new_ratings=_add_ratings(
            connection,
            now,
            [(ids[each.source, each.key], each.ratings) for each in accepted if each.ratings],
            before={number for number, _ in stored.values()},
        ),
        same_content=tuple(same_content),
        conflicting=tuple(conflicting),
    )


def _storable(each: Conversation) -> Conversation:
    """Make every text that is compared or hashed what it will be in the store."""
    return replace(
        each,
        source=storable(each.source),
        key=storable(each.key),
        turns=tuple(
            replace(
                turn_,
                content=storable(turn_.content),
                retrieval_context=None
                if turn_.retrieval_context is None
                else tuple(map(_storable_document, turn_.retrieval_context)),
            )
            for turn_ in each.turns
        ),
    )


def _storable_document(each: Document) -> Document:
    return replace(
        each,
        text=storable(each.text),
        source=None if each.source is None else storable(each.source),
    )


def _stored(
    connection: Connection, batch: Sequence[Conversation]
) -> dict[Identity, tuple[int, str]]:
    """Find which of a batch's identities are there, with their ids and content hashes."""
    found: dict[Identity, tuple[int, str]] = {}
    for source in {each.source for each in batch}:
        keys = sorted({each.key for each in batch if each.source == source})
        for some in chunks(keys):
            for row in connection.execute(
                select(conversation.c.key, conversation.c.id, conversation.c.content_hash).where(
                    conversation.c.source == source, conversation.c.key.in_(some)
                )
            ):
                found[source, row.key] = (row.id, row.content_hash)
    return found


def _by_content(
    connection: Connection, batch: Sequence[Conversation], hashes: Sequence[str]
) -> dict[tuple[str, str], str]:
    """Find the first stored key of each content of a batch, by source and content hash."""
    found: dict[tuple[str, str], str] = {}
    for source in {each.source for each in batch}:
        wanted = sorted(
            {hashed for each, hashed in zip(batch, hashes, strict=True) if each.source == source}
        )
        for some in chunks(wanted):
            for row in connection.execute(
                select(conversation.c.content_hash, conversation.c.key)
                .where(conversation.c.source == source, conversation.c.content_hash.in_(some))
                .order_by(conversation.c.id)
            ):
                found.setdefault((source, row.content_hash), row.key)
    return found


def _insert_conversations(
    connection: Connection, now: datetime, new: Sequence[tuple[Conversation, str]]
) -> dict[Identity, int]:
    if not new:
        return {}
    rows = connection.execute(
        insert(conversation).returning(
            conversation.c.source, conversation.c.key, conversation.c.id
        ),
        [
            {
                "source": each.source,
                "key": each.key,
                "group": each.group,
                "content_hash": hashed,
                "opening": _opening(each.turns),
                "turns": len(each.turns),
                "details": storable_json(dict(each.metadata)),
                "imported_at": now,
            }
            for each, hashed in new
        ],
    )
    return {(row.source, row.key): row.id for row in rows}


def _opening(turns: Sequence[Turn]) -> str:
    """Take the first words of the user, or of anybody where no user speaks."""
    texts = [each.content for each in turns if each.role == "user"] or [
        each.content for each in turns
    ]
    return texts[0][:_OPENING] if texts else ""


def _insert_turns(
    connection: Connection, conversations: Sequence[tuple[int, Sequence[Turn]]]
) -> None:
    rows = [
        {
            "conversation_id": number,
            "position": position,
            "role": each.role,
            "content": each.content,
            "has_context": each.retrieval_context is not None,
            "images": images_to_json(each.images),
        }
        for number, turns in conversations
        for position, each in enumerate(turns)
    ]
    if rows:
        connection.execute(insert(turn), rows)
    retrieved = [
        (number, position, place, each)
        for number, turns in conversations
        for position, turn_ in enumerate(turns)
        for place, each in enumerate(turn_.retrieval_context or ())
    ]
    if not retrieved:
        return
    hash_of = {text: text_hash(text) for text in {each.text for *_, each in retrieved}}
    ids = _documents(connection, {hashed: text for text, hashed in hash_of.items()})
    connection.execute(
        insert(turn_document),
        [
            {
                "conversation_id": number,
                "turn": position,
                "position": place,
                "document_id": ids[hash_of[each.text]],
                "source": each.source,
                "images": images_to_json(each.images),
            }
            for number, position, place, each in retrieved
        ],
    )


def _documents(connection: Connection, texts: dict[str, str]) -> dict[str, int]:
    """Find or make a document for each hash."""
    found: dict[str, int] = {}
    for some in chunks(list(texts)):
        found |= {
            row.hash: row.id
            for row in connection.execute(
                select(document.c.hash, document.c.id).where(document.c.hash.in_(some))
            )
        }
    missing = [hashed for hashed in texts if hashed not in found]
    if missing:
        found |= {
            row.hash: row.id
            for row in connection.execute(
                insert(document).returning(document.c.hash, document.c.id),
                [{"hash": hashed, "text": texts[hashed]} for hashed in missing],
            )
        }
    return found


def _add_ratings(
    connection: Connection,
    now: datetime,
    rated: Sequence[tuple[int, Sequence[Rating]]],
    before: set[int],
) -> int:
    """Append the ratings that are not there yet.

    Args:
        connection: In the write.
        now: Time of the import.
        rated: Ratings by id of their conversation.
        before: Ids of the conversations that were there before this batch.

    Returns:
        How many were appended.
    """
    if not rated:
        return 0
    old = sorted({number for number, _ in rated} & before)
    claims = _rated_claims(connection, rated, old)
    seen = _stored_labels(connection, old)
    rows: list[dict[str, Any]] = []
    touched: set[tuple[int, int]] = set()
    for number, ratings in rated:
        for rating in ratings:
            row = {
                "claim_id": claims[_claim_key(number, rating)],
                "reviewer": storable(rating.annotator),
                "scale": storable(rating.scale),
                "raw_label": storable(rating.label),
                "note": None if rating.note is None else storable(rating.note),
            }
            same = tuple(row.values())
            if same in seen:
                continue
            seen.add(same)
            touched.add((number, claims[_claim_key(number, rating)]))
            rows.append(
                {
                    **row,
                    "action": Action.IMPORTED.value,
                    "verdict": verdict_of(rating.scale, rating.label),
                    "saw_judge": False,
                    "created_at": now,
                }
            )
    if rows:
        connection.execute(insert(human_label), rows)
    items: dict[int, set[int]] = {}
    for number, claim_id in touched:
        if number in before:
            items.setdefault(number, set()).update(items_holding(connection, claim_id))
    for number, held in items.items():
        refresh_conversation(connection, number, sorted(held))
    return len(rows)


def _claim_key(number: int, rating: Rating) -> _ClaimKey:
    kind = "answer" if rating.claim is None else "claim"
    return _ClaimKey(number, kind, rating.turn, claim_digest(rating.claim or ""))


def _rated_claims(
    connection: Connection, rated: Sequence[tuple[int, Sequence[Rating]]], old: Sequence[int]
) -> dict[_ClaimKey, int]:
    """Find or make the claims that ratings are about."""
    wanted: dict[_ClaimKey, Rating] = {}
    for number, ratings in rated:
        for rating in ratings:
            wanted.setdefault(_claim_key(number, rating), rating)
    found: dict[_ClaimKey, int] = {}
    for some in chunks(old):
        for row in connection.execute(
            select(
                claim.c.id,
                claim.c.conversation_id,
                claim.c.kind,
                claim.c.turn,
                claim.c.digest,
                claim.c.span_start,
                claim.c.imported,
            ).where(claim.c.conversation_id.in_(some))
        ):
            key = _ClaimKey(row.conversation_id, row.kind, row.turn, row.digest)
            found[key] = row.id
            if key in wanted and not row.imported:
                # A judge drew the claim before its label came with the data.
                _mark_imported(connection, row.id, wanted[key], has_span=row.span_start is not None)
    missing = [key for key in wanted if key not in found]
    if missing:
        for row in connection.execute(
            insert(claim).returning(
                claim.c.id, claim.c.conversation_id, claim.c.kind, claim.c.turn, claim.c.digest
            ),
            [
                {
                    "conversation_id": key.conversation_id,
                    "kind": key.kind,
                    "turn": key.turn,
                    "digest": key.digest,
                    "text": wanted[key].claim or "",
                    **_span_columns(wanted[key]),
                    "imported": True,
                }
                for key in missing
            ],
        ):
            found[_ClaimKey(row.conversation_id, row.kind, row.turn, row.digest)] = row.id
    return found


def _mark_imported(
    connection: Connection, claim_id: int, rating: Rating, *, has_span: bool
) -> None:
    columns: dict[str, Any] = {"imported": True}
    if not has_span:
        columns |= _span_columns(rating)
    connection.execute(update(claim).where(claim.c.id == claim_id).values(columns))


def _span_columns(rating: Rating) -> dict[str, int | None]:
    return span_columns(rating.span if rating.claim is not None else None)


def _stored_labels(connection: Connection, conversations: Sequence[int]) -> set[tuple[object, ...]]:
    """Read what identifies the imported labels of some conversations."""
    seen: set[tuple[object, ...]] = set()
    for some in chunks(conversations):
        seen |= {
            tuple(row)
            for row in connection.execute(
                select(
                    human_label.c.claim_id,
                    human_label.c.reviewer,
                    human_label.c.scale,
                    human_label.c.raw_label,
                    human_label.c.note,
                )
                .join(claim, claim.c.id == human_label.c.claim_id)
                .where(
                    claim.c.conversation_id.in_(some),
                    human_label.c.action == Action.IMPORTED.value,
                )
            )
        }
    return seen
