"""Imported conversations: in by batches, out one by one.

Texts are stored as they came but for what `texts` names. Documents and images are kept once, by
hash.
Ratings become claims with human labels, so that a label weighs the same wherever it was
given.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from faithtui.domain.claims.verdicts import Claim
from faithtui.domain.conversation import Conversation, Document, Passage, Rating, Turn
from faithtui.domain.ids import ConversationId
from faithtui.domain.labels.label_events import Action
from faithtui.errors import StoreError
from faithtui.store.annotations.label_replay import IS_IMPORTED_LABEL
from faithtui.store.annotations.ratings import (
    IS_KNOWN_LABEL_WITH_RECORD,
    MisreadLabels,
    list_misread_labels,
)
from faithtui.store.claim_text_order import read_claims_in_text_order
from faithtui.store.conversation_import import import_batch, leave_out_merged
from faithtui.store.database import Database
from faithtui.store.records import ImportCounts, SourceRow
from faithtui.store.schema.json_columns import images_from_json, span_from_row
from faithtui.store.schema.statements import split_into_chunks
from faithtui.store.schema.storable_text import (
    hash_passage_with_images,
    replace_unstorable_characters,
)
from faithtui.store.schema.tables import (
    claim,
    conversation,
    document,
    human_label,
    turn,
    turn_document,
)

IMPORTED_TOGETHER = 100
"""Conversations that are written before a look whether a label waits."""

_MOST_COMPARED = 2_000
"""Conversations that are compared turn by turn with one."""


def _read_document_ids_by_turn(
    connection: Connection, conversations: Sequence[int], position: int | None = None
) -> dict[tuple[int, int], tuple[int, ...]]:
    """Read which documents turns have, in order, by conversation and position."""
    found: dict[tuple[int, int], tuple[int, ...]] = {}
    for some in split_into_chunks(conversations):
        statement = (
            select(
                turn_document.c.conversation_id, turn_document.c.turn, turn_document.c.document_id
            )
            .where(turn_document.c.conversation_id.in_(some))
            .order_by(
                turn_document.c.conversation_id, turn_document.c.turn, turn_document.c.position
            )
        )
        if position is not None:
            statement = statement.where(turn_document.c.turn == position)
        for number, place, document_id in connection.execute(statement):
            found[number, place] = (*found.get((number, place), ()), document_id)
    return found


def _list_conversations_with_turn(
    connection: Connection,
    conversations: Sequence[int],
    wanted: tuple[int, str, str],
    documents: tuple[int, ...] | None,
) -> list[int]:
    """List those that have a turn of this position, role and text, with these documents."""
    position, role, content = wanted
    kept: list[int] = []
    for some in split_into_chunks(conversations):
        found = connection.execute(
            select(turn.c.conversation_id).where(
                turn.c.conversation_id.in_(some),
                turn.c.position == position,
                turn.c.role == role,
                turn.c.content == content,
            )
        )
        kept += found.scalars()
    theirs = _read_document_ids_by_turn(connection, kept, position)
    return [each for each in kept if theirs.get((each, position)) == documents]


class Conversations:
    """Imported conversations of a store."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def import_batch(
        self,
        conversations: Sequence[Conversation],
        images: Mapping[str, bytes] = MappingProxyType({}),
        *,
        merge_equal: bool = False,
        index_words: bool = True,
    ) -> ImportCounts:
        """Store conversations with their images and ratings, in one transaction.

        It ends early when something urgent waits, such as a label: that goes first, and the rest
        is another transaction.

        Source and key are the identity. The same turns again change nothing, but ratings that
        are new are added, and the scores they correct are brought up to date. Other turns under
        a stored identity are reported and left out, ratings included. Lone surrogates and NULs
        become U+FFFD. Ratings equal in turn, claim, annotator, scale, label and note are one.

        Args:
            conversations: In the order they should be listed in; another process that writes
                waits for all of them.
            images: Bytes of the conversations' images by SHA-256. Images that are known by their
                address alone, and those the store has already, need not be there.
            merge_equal: A conversation whose turns are those of another one of its source is not
                stored; its ratings are added to the other one's.
            index_words: Take up the words too, unless others wait for that already; False: they
                wait for `WordIndex`.

        Raises:
            StoreError: The bytes of an image are missing, or it cannot be written; nothing of the
                transaction was.
        """
        now = self._clock()
        counts = ImportCounts()
        done = 0

        def write_until_urgent(connection: Connection) -> tuple[int, ImportCounts]:
            end, written = done, ImportCounts()
            while True:
                some = conversations[end : end + IMPORTED_TOGETHER]
                written += import_batch(
                    connection, now, some, images, merge_equal=merge_equal, index_words=index_words
                )
                end += len(some)
                if end >= len(conversations) or self._database.is_urgent_work_at_hand:
                    return end, written

        while True:
            done, written = self._database.run_in_write_transaction(write_until_urgent)
            counts += written
            if done >= len(conversations):
                return counts

    def map_unchanged_keys_to_ids(
        self, source: str, keys: Mapping[str, str]
    ) -> dict[str, ConversationId]:
        """Find conversations of a data set by their keys, as far as their turns are the same.

        Args:
            source: Name of the data set.
            keys: Content hash of each, by key.

        Returns:
            Ids by key; those that are not there are left out.
        """
        found: dict[str, ConversationId] = {}
        with self._database.open_reader() as connection:
            for some in split_into_chunks([replace_unstorable_characters(each) for each in keys]):
                for row in connection.execute(
                    select(
                        conversation.c.id, conversation.c.key, conversation.c.content_hash
                    ).where(
                        conversation.c.source == replace_unstorable_characters(source),
                        conversation.c.key.in_(some),
                    )
                ):
                    if keys.get(row.key) == row.content_hash:
                        found[row.key] = ConversationId(row.id)
        return found

    def list_keys_with_other_metadata(
        self, source: str, metadata: Mapping[str, Mapping[str, object]]
    ) -> list[str]:
        """List the conversations of a data set whose stored metadata is not the one given.

        Args:
            source: Name of the data set.
            metadata: Metadata by key, JSON values.
        """
        found: list[str] = []
        with self._database.open_reader() as connection:
            for some in split_into_chunks(list(metadata)):
                for row in connection.execute(
                    select(conversation.c.key, conversation.c.details).where(
                        conversation.c.source == replace_unstorable_characters(source),
                        conversation.c.key.in_(some),
                    )
                ):
                    given = metadata.get(row.key)
                    if given is None:
                        continue
                    given = json.loads(json.dumps(given))
                    if leave_out_merged(row.details, given) != given:
                        found.append(row.key)
        return found

    def list_misread_labels(self) -> tuple[MisreadLabels, ...]:
        """List labels of imports that an earlier version read in another way than this one."""
        with self._database.open_reader() as connection:
            return list_misread_labels(connection)

    def list_sources(self) -> tuple[SourceRow, ...]:
        """List the imported data sets in the order of their first import; () when there is none."""
        ratings = (
            select(conversation.c.source, func.count().label("ratings"))
            .select_from(human_label)
            .join(claim, claim.c.id == human_label.c.claim_id)
            .join(conversation, conversation.c.id == claim.c.conversation_id)
            .where(
                IS_IMPORTED_LABEL,
                human_label.c.action != Action.SKIPPED.value,
                ~IS_KNOWN_LABEL_WITH_RECORD,
            )
            .group_by(conversation.c.source)
        )
        with self._database.open_reader() as connection:
            rated = {row.source: row.ratings for row in connection.execute(ratings)}
            rows = connection.execute(
                select(conversation.c.source, func.count().label("conversations"))
                .group_by(conversation.c.source)
                .order_by(func.min(conversation.c.id))
            ).all()
        return tuple(
            SourceRow(row.source, row.conversations, rated.get(row.source, 0)) for row in rows
        )

    def count(self, sources: Sequence[str] = ()) -> int:
        """Count conversations.

        Args:
            sources: Only of these data sets; () means all.
        """
        with self._database.open_reader() as connection:
            number: int = connection.execute(
                _filter_by_sources(select(func.count()), sources)
            ).scalar_one()
        return number

    def list_ids(
        self, sources: Sequence[str] = (), limit: int | None = None
    ) -> tuple[ConversationId, ...]:
        """List conversations in the order of import.

        Args:
            sources: Only of these data sets; () means all.
            limit: At most so many; None: all.
        """
        found = self._database.read_ids(
            _filter_by_sources(select(conversation.c.id), sources)
            .order_by(conversation.c.id)
            .limit(limit)
        )
        return tuple(map(ConversationId, found))

    def read_content_hashes_by_key(self, source: str) -> dict[str, str]:
        """Give what the turns of every conversation of a data set hash to, by key."""
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(conversation.c.key, conversation.c.content_hash).where(
                    conversation.c.source == source
                )
            )
            return {row.key: row.content_hash for row in rows}

    def list_conversations_with_document(self, text: str) -> tuple[ConversationId, ...]:
        """List the conversations that have a document of this text without images, by id."""
        with self._database.open_reader() as connection:
            found = connection.execute(
                select(turn_document.c.conversation_id)
                .distinct()
                .join(document, document.c.id == turn_document.c.document_id)
                .where(document.c.hash == hash_passage_with_images(Passage(text)))
                .order_by(turn_document.c.conversation_id)
            )
            return tuple(map(ConversationId, found.scalars()))

    def count_same_beginnings_by_turn(
        self, conversation_id: ConversationId, among: Collection[ConversationId]
    ) -> tuple[int, ...]:
        """Count the conversations that begin with the same turns as one of them.

        Args:
            conversation_id: The one.
            among: Which count.

        Returns:
            For each of its turns how many have the same texts and documents up to it, itself
            included: at least 1. Of very many with the same first message some are looked at.
        """
        with self._database.open_reader() as connection:
            opening = select(conversation.c.opening).where(conversation.c.id == conversation_id)
            found = connection.execute(
                select(conversation.c.id).where(
                    conversation.c.opening == opening.scalar_subquery(),
                    conversation.c.id != conversation_id,
                )
            )
            alike = [each for each in found.scalars() if each in among]
            step = len(alike) // _MOST_COMPARED + 1
            alike = alike[::step]
            documents = _read_document_ids_by_turn(connection, [conversation_id])
            counts = []
            for row in connection.execute(
                select(turn.c.position, turn.c.role, turn.c.content)
                .where(turn.c.conversation_id == conversation_id)
                .order_by(turn.c.position)
            ).all():
                alike = _list_conversations_with_turn(
                    connection,
                    alike,
                    (row.position, row.role, row.content),
                    documents.get((conversation_id, row.position)),
                )
                counts.append(1 + len(alike) * step)
            return tuple(counts)

    def get(self, conversation_id: ConversationId) -> Conversation:
        """Read a conversation with its documents and its imported ratings.

        A rating's claim comes in the words it was first stored with.

        Raises:
            StoreError: There is none with this id.
        """
        with self._database.open_reader() as connection:
            row = connection.execute(
                select(
                    conversation.c.source,
                    conversation.c.key,
                    conversation.c.group,
                    conversation.c.details,
                ).where(conversation.c.id == conversation_id)
            ).one_or_none()
            if row is None:
                raise StoreError(
                    f"there is no conversation {conversation_id} in {self._database.path}; "
                    "import it first"
                )
            return Conversation(
                source=row.source,
                key=row.key,
                turns=_read_turns(connection, conversation_id),
                group=row.group,
                metadata=row.details,
                ratings=tuple(
                    rating
                    for _, rating in _read_ratings_with_keys(
                        connection, claim.c.conversation_id == conversation_id
                    )
                ),
            )

    def read_ratings_with_keys(
        self, source: str, keys: Collection[str]
    ) -> list[tuple[str, Rating]]:
        """Read the imported ratings of conversations of a data set, each with its key."""
        found: list[tuple[str, Rating]] = []
        with self._database.open_reader() as connection:
            for some in split_into_chunks(list(keys)):
                found += _read_ratings_with_keys(
                    connection, conversation.c.source == source, conversation.c.key.in_(some)
                )
        return found

    def list_imported_claims(self, conversation_id: ConversationId) -> tuple[Claim, ...]:
        """List the statements that came labelled with a conversation, in the order of its text.

        Within a turn by span; claims without one come last, in the order of import.
        """
        with self._database.open_reader() as connection:
            return read_claims_in_text_order(
                connection,
                select(claim.c.id).where(
                    claim.c.conversation_id == conversation_id,
                    claim.c.kind == "claim",
                    claim.c.imported,
                ),
            )


def _filter_by_sources(statement: Select[Any], sources: Sequence[str]) -> Select[Any]:
    statement = statement.select_from(conversation)
    return statement.where(conversation.c.source.in_(sources)) if sources else statement


def _read_turns(connection: Connection, conversation_id: int) -> tuple[Turn, ...]:
    retrieved: dict[int, list[Document]] = defaultdict(list)
    for row in connection.execute(
        select(
            turn_document.c.turn,
            document.c.text,
            turn_document.c.source,
            turn_document.c.images,
        )
        .join(document, document.c.id == turn_document.c.document_id)
        .where(turn_document.c.conversation_id == conversation_id)
        .order_by(turn_document.c.turn, turn_document.c.position)
    ):
        retrieved[row.turn].append(Document(row.text, row.source, images_from_json(row.images)))
    rows = connection.execute(
        select(turn.c.position, turn.c.role, turn.c.content, turn.c.has_context, turn.c.images)
        .where(turn.c.conversation_id == conversation_id)
        .order_by(turn.c.position)
    )
    return tuple(
        Turn(
            role=row.role,
            content=row.content,
            retrieval_context=tuple(retrieved[row.position]) if row.has_context else None,
            images=images_from_json(row.images),
        )
        for row in rows
    )


def _read_ratings_with_keys(
    connection: Connection, *conditions: ColumnElement[bool]
) -> tuple[tuple[str, Rating], ...]:
    rows = connection.execute(
        select(
            conversation.c.key,
            claim.c.turn,
            claim.c.kind,
            claim.c.text,
            claim.c.span_start,
            claim.c.span_end,
            human_label.c.reviewer,
            human_label.c.scale,
            human_label.c.raw_label,
            human_label.c.note,
        )
        .join_from(human_label, claim, claim.c.id == human_label.c.claim_id)
        .join(conversation, conversation.c.id == claim.c.conversation_id)
        .where(*conditions, IS_IMPORTED_LABEL)
        .order_by(human_label.c.id)
    )
    ratings = (
        (
            row.key,
            Rating(
                turn=row.turn,
                annotator=row.reviewer,
                scale=row.scale,
                label=row.raw_label,
                claim=row.text if row.kind == "claim" else None,
                span=span_from_row(row),
                note=row.note,
            ),
        )
        for row in rows
    )
    return tuple(dict.fromkeys(ratings))
