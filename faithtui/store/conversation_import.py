"""Writing one batch of imported conversations.

A batch is looked up as a whole, one query per table, and written as a whole.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from faithtui.domain.conversation import (
    Conversation,
    Document,
    Image,
    Turn,
    content_hash,
)
from faithtui.errors import StoreError
from faithtui.store.annotations.ratings import add_missing_ratings
from faithtui.store.records import ImportCounts
from faithtui.store.schema.json_columns import images_to_json
from faithtui.store.schema.statements import (
    get_driver_connection,
    get_driver_value_maker,
    insert_rows,
    split_into_chunks,
)
from faithtui.store.schema.storable_text import (
    hash_passage_with_images,
    replace_unstorable_characters,
    replace_unstorable_in_json,
)
from faithtui.store.schema.tables import (
    conversation,
    document,
    image,
    turn,
    turn_document,
)
from faithtui.store.search.word_index import count_unindexed_texts, index_all_texts

_OPENING = 200
"""Characters of the first user message kept for lists."""

MERGED = "merged"
"""Key of the metadata of a conversation that lists the ids of others that were merged into it, and
what their metadata has that its own does not."""
MERGED_BESIDE_OWN = "merged (2)"
"""The same where its data came with something else under `merged`."""

Identity = tuple[str, str]
"""Source and key."""


def import_batch(
    connection: Connection,
    now: datetime,
    conversations: Sequence[Conversation],
    images: Mapping[str, bytes],
    *,
    merge_equal: bool,
    index_words: bool,
) -> ImportCounts:
    """Write a batch; see `Conversations.import_batch`."""
    # Words that were left to a search are many, and whoever writes a few rows does not wait.
    index_words = index_words and not count_unindexed_texts(connection)
    batch = [_make_conversation_storable(each) for each in conversations]
    hashes = [content_hash(each.turns) for each in batch]
    stored = _find_stored_ids_and_hashes(connection, batch)
    known: dict[Identity, str] = {identity: hashed for identity, (_, hashed) in stored.items()}
    by_content, twin_ids = _find_keys_by_content(connection, batch, hashes)
    new: list[tuple[Conversation, str]] = []
    accepted: list[Conversation] = []
    conflicting: list[str] = []
    unchanged: list[str] = []
    same_content: list[tuple[str, str]] = []
    merged: list[tuple[Conversation, str]] = []
    for each, hashed in zip(batch, hashes, strict=True):
        identity = (each.source, each.key)
        if known.get(identity, hashed) != hashed:
            conflicting.append(each.key)
            continue
        twin = by_content.setdefault((each.source, hashed), each.key)
        if identity not in known and twin != each.key:
            same_content.append((each.key, twin))
            if merge_equal:
                merged.append((each, twin))
                continue
        accepted.append(each)
        if identity in known:
            unchanged.append(each.key)
            continue
        known[identity] = hashed
        new.append((each, hashed))
    ids = twin_ids | {identity: number for identity, (number, _) in stored.items()}
    _insert_images(
        connection, dict.fromkeys(image_ for each, _ in new for image_ in each.images), images
    )
    ids |= _insert_conversations(connection, now, new)
    _insert_turns(connection, [(ids[each.source, each.key], each.turns) for each, _ in new])
    _keep_ids_and_metadata_of_merged(
        connection, [(ids[each.source, twin], each) for each, twin in merged]
    )
    if index_words:
        index_all_texts(connection)
    ratings = add_missing_ratings(
        connection,
        now,
        [
            *((ids[each.source, each.key], each.ratings) for each in accepted if each.ratings),
            *((ids[each.source, twin], each.ratings) for each, twin in merged if each.ratings),
        ],
        before=set(ids.values()) - {ids[each.source, each.key] for each, _ in new},
    )
    return ImportCounts(
        new=len(new),
        unchanged=len(unchanged),
        new_ratings=ratings.new,
        ratings_left_out=ratings.left_out,
        same_content=tuple(same_content),
        merged=tuple((each.key, twin) for each, twin in merged),
        conflicting=tuple(conflicting),
        unchanged_keys=tuple(unchanged),
    )


def _keep_ids_and_metadata_of_merged(
    connection: Connection, merged: Sequence[tuple[int, Conversation]]
) -> None:
    """Keep what a conversation with equal turns is called, and what else is known of it.

    Args:
        connection: The store.
        merged: Each, behind the id of the one that it was merged into.
    """
    by_id: dict[int, list[Conversation]] = {}
    for number, each in merged:
        by_id.setdefault(number, []).append(each)
    for number, others in by_id.items():
        found = select(conversation.c.details).where(conversation.c.id == number)
        details = dict(connection.execute(found).scalar_one())
        key = _find_key_of_merged(details)
        listed = details.get(key)
        kept = list(listed) if isinstance(listed, list) else []
        known = {json.dumps(each, sort_keys=True) for each in kept}
        for each in others:
            metadata = json.loads(json.dumps(replace_unstorable_in_json(dict(each.metadata))))
            own = leave_out_merged(details, metadata)
            other = {
                name: value
                for name, value in metadata.items()
                if name not in own or own[name] != value
            }
            entry = {"id": each.key, **({"metadata": other} if other else {})}
            if (text := json.dumps(entry, sort_keys=True)) not in known:
                known.add(text)
                kept.append(entry)
        if kept != listed:
            changed = update(conversation).where(conversation.c.id == number)
            connection.execute(changed.values(details={**details, key: kept}))


def leave_out_merged(
    details: Mapping[str, object], given: Mapping[str, object]
) -> dict[str, object]:
    """Give the metadata of a conversation without what was merged into it since its import.

    Args:
        details: Its metadata in the store.
        given: What it is imported with.
    """
    key = _find_key_of_merged(details)
    own = {name: each for name, each in details.items() if name != key}
    if key in details and key in given:
        listed, known = details[key], given[key]
        own[key] = listed
        if isinstance(listed, list) and isinstance(known, list):
            own[key] = known if all(each in listed for each in known) else listed
    return own


def _find_key_of_merged(details: Mapping[str, object]) -> str:
    """Name the key under which merged conversations are; what its data has there stays its own."""
    listed = details.get(MERGED, [])
    is_ours = isinstance(listed, list) and all(
        isinstance(each, dict) and "id" in each and each.keys() <= {"id", "metadata"}
        for each in listed
    )
    return MERGED if is_ours else MERGED_BESIDE_OWN


def _make_conversation_storable(conversation: Conversation) -> Conversation:
    """Make every text that is compared or hashed what it will be in the store.

    What came from a file is that already, and is not built anew.
    """
    if all(replace_unstorable_characters(text) is text for text in _list_texts(conversation)):
        return conversation
    return replace(
        conversation,
        source=replace_unstorable_characters(conversation.source),
        key=replace_unstorable_characters(conversation.key),
        turns=tuple(
            replace(
                turn_,
                content=replace_unstorable_characters(turn_.content),
                retrieval_context=None
                if turn_.retrieval_context is None
                else tuple(map(_make_document_storable, turn_.retrieval_context)),
            )
            for turn_ in conversation.turns
        ),
    )


def _list_texts(conversation: Conversation) -> list[str]:
    texts = [conversation.source, conversation.key]
    for turn_ in conversation.turns:
        texts.append(turn_.content)
        for document_ in turn_.retrieval_context or ():
            texts.append(document_.text)
            if document_.source is not None:
                texts.append(document_.source)
    return texts


def _make_document_storable(document: Document) -> Document:
    return replace(
        document,
        text=replace_unstorable_characters(document.text),
        source=None if document.source is None else replace_unstorable_characters(document.source),
    )


def _find_stored_ids_and_hashes(
    connection: Connection, batch: Sequence[Conversation]
) -> dict[Identity, tuple[int, str]]:
    """Find which of a batch's identities are there, with their ids and content hashes."""
    find = get_driver_connection(connection).execute
    found: dict[Identity, tuple[int, str]] = {}
    for source in {each.source for each in batch}:
        keys = json.dumps([each.key for each in batch if each.source == source])
        for key, number, hashed in find(
            "SELECT key, id, content_hash FROM conversation WHERE source = ? AND key IN "
            "(SELECT value FROM json_each(?))",
            (source, keys),
        ):
            found[source, key] = (number, hashed)
    return found


def _find_keys_by_content(
    connection: Connection, batch: Sequence[Conversation], hashes: Sequence[str]
) -> tuple[dict[tuple[str, str], str], dict[Identity, int]]:
    """Find the first stored key of each content of a batch, and the ids of these.

    Returns:
        Keys by source and content hash, and ids by source and key.
    """
    find = get_driver_connection(connection).execute
    found: dict[tuple[str, str], str] = {}
    ids: dict[Identity, int] = {}
    for source in {each.source for each in batch}:
        wanted = [
            hashed for each, hashed in zip(batch, hashes, strict=True) if each.source == source
        ]
        for hashed, key, number in find(
            "SELECT content_hash, key, id FROM conversation WHERE source = ? AND content_hash IN "
            "(SELECT value FROM json_each(?)) ORDER BY id",
            (source, json.dumps(wanted)),
        ):
            if found.setdefault((source, hashed), key) == key:
                ids[source, key] = number
    return found, ids


def _next_id(connection: Connection, name: str) -> int:
    """Give the id that the next row of a table gets; nobody else writes meanwhile."""
    found: int = (
        get_driver_connection(connection)
        .execute(f"SELECT coalesce(max(id), 0) + 1 FROM {name}")
        .fetchone()[0]
    )
    return found


def _insert_conversations(
    connection: Connection, now: datetime, new: Sequence[tuple[Conversation, str]]
) -> dict[Identity, int]:
    if not new:
        return {}
    first = _next_id(connection, "conversation")
    make_details = get_driver_value_maker(conversation.c.details)
    no_details = make_details({})
    imported_at = get_driver_value_maker(conversation.c.imported_at)(now)
    insert_rows(
        connection,
        conversation,
        (
            "id",
            "source",
            "key",
            "group",
            "content_hash",
            "opening",
            "turns",
            "details",
            "imported_at",
        ),
        (
            (
                number,
                each.source,
                each.key,
                replace_unstorable_characters(each.group),
                hashed,
                _take_first_user_words(each.turns),
                len(each.turns),
                make_details(replace_unstorable_in_json(dict(each.metadata)))
                if each.metadata
                else no_details,
                imported_at,
            )
            for number, (each, hashed) in enumerate(new, start=first)
        ),
    )
    return {(each.source, each.key): number for number, (each, _) in enumerate(new, start=first)}


def _insert_images(
    connection: Connection, wanted: Collection[Image], data: Mapping[str, bytes]
) -> None:
    """Store the images that are not there yet.

    Raises:
        StoreError: An image has neither an address nor bytes.
    """
    known: set[str] = set()
    for some in split_into_chunks([each.sha256 for each in wanted]):
        known |= set(
            connection.execute(select(image.c.sha256).where(image.c.sha256.in_(some))).scalars()
        )
    new = {each.sha256: each for each in wanted if each.sha256 not in known}
    for sha256, each in new.items():
        if each.url is None and sha256 not in data:
            raise StoreError(
                f"the bytes of the image {sha256[:12]} did not come with its conversation; "
                "hand them to the import"
            )
    if new:
        connection.execute(
            insert(image),
            [
                {
                    "sha256": sha256,
                    "media_type": each.media_type,
                    "url": each.url,
                    "data": data.get(sha256),
                    "length": len(data[sha256]) if sha256 in data else None,
                }
                for sha256, each in new.items()
            ],
        )


def _take_first_user_words(turns: Sequence[Turn]) -> str:
    """Take the first words of the user, or of anybody where no user speaks."""
    texts = [each.content for each in turns if each.role == "user"] or [
        each.content for each in turns
    ]
    return texts[0][:_OPENING] if texts else ""


def _insert_turns(
    connection: Connection, conversations: Sequence[tuple[int, Sequence[Turn]]]
) -> None:
    make_images = get_driver_value_maker(turn.c.images)
    no_images = make_images([])
    insert_rows(
        connection,
        turn,
        ("conversation_id", "position", "role", "content", "has_context", "images"),
        (
            (
                number,
                position,
                each.role,
                each.content,
                each.retrieval_context is not None,
                make_images(images_to_json(each.images)) if each.images else no_images,
            )
            for number, turns in conversations
            for position, each in enumerate(turns)
        ),
    )
    retrieved = [
        (number, position, place, each)
        for number, turns in conversations
        for position, turn_ in enumerate(turns)
        for place, each in enumerate(turn_.retrieval_context or ())
    ]
    if not retrieved:
        return
    different = {(each.text, each.images): each for *_, each in retrieved}
    hash_of = {passage: hash_passage_with_images(each) for passage, each in different.items()}
    ids = _find_or_make_documents(
        connection, {hashed: text for (text, _), hashed in hash_of.items()}
    )
    insert_rows(
        connection,
        turn_document,
        ("conversation_id", "turn", "position", "document_id", "source", "images"),
        (
            (
                number,
                position,
                place,
                ids[hash_of[each.text, each.images]],
                each.source,
                make_images(images_to_json(each.images)) if each.images else no_images,
            )
            for number, position, place, each in retrieved
        ),
    )


def _find_or_make_documents(connection: Connection, texts: dict[str, str]) -> dict[str, int]:
    """Find or make a document for each hash."""
    find = get_driver_connection(connection).execute
    found: dict[str, int] = dict(
        find(
            "SELECT hash, id FROM document WHERE hash IN (SELECT value FROM json_each(?))",
            (json.dumps(list(texts)),),
        )
    )
    missing = [hashed for hashed in texts if hashed not in found]
    if missing:
        first = _next_id(connection, "document")
        rows = [(number, hashed, texts[hashed]) for number, hashed in enumerate(missing, first)]
        columns = ("id", "hash", "text")
        insert_rows(connection, document, columns, rows)
        found |= {hashed: number for number, hashed, _ in rows}
    return found
