"""Imported conversations: in by batches, out one by one.

Texts are stored as they came but for what `texts` names. Documents are kept once, by hash.
Ratings become claims with human labels, so that a person's word weighs the same wherever it was
given.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select

from faithtui.domain.assessment import Claim
from faithtui.domain.conversation import Conversation, Document, Rating, Turn
from faithtui.domain.ids import ConversationId
from faithtui.domain.review import Action
from faithtui.errors import StoreError
from faithtui.store.codecs import images_from_json, span_from_row
from faithtui.store.database import Database
from faithtui.store.importing import import_batch
from faithtui.store.records import ImportCounts, SourceRow
from faithtui.store.tables import claim, conversation, document, human_label, turn, turn_document


class Conversations:
    """Imported conversations of a store."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def import_batch(self, conversations: Sequence[Conversation]) -> ImportCounts:
        """Store conversations and their ratings, all of them in one transaction.

        Source and key are the identity. The same turns again change nothing, but ratings that
        are new are added, and the scores they correct are brought up to date. Other turns under
        a stored identity are reported and left out, ratings included. Lone surrogates and NULs
        become U+FFFD. Ratings equal in turn, claim, annotator, scale, label and note are one.

        Args:
            conversations: In the order they should be listed in; keep batches to what can be
                written in 20 ms or so, since labels wait meanwhile.

        Raises:
            StoreError: It cannot be written; nothing of the batch was.
        """
        now = self._clock()
        return self._database.write(lambda connection: import_batch(connection, now, conversations))

    def sources(self) -> tuple[SourceRow, ...]:
        """List the imported data sets in the order of their first import; () when there is none."""
        ratings = (
            select(conversation.c.source, func.count().label("ratings"))
            .select_from(human_label)
            .join(claim, claim.c.id == human_label.c.claim_id)
            .join(conversation, conversation.c.id == claim.c.conversation_id)
            .where(human_label.c.action == Action.IMPORTED.value)
            .group_by(conversation.c.source)
        )
        with self._database.reading() as connection:
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
        with self._database.reading() as connection:
            number: int = connection.execute(
                _of_sources(select(func.count()), sources)
            ).scalar_one()
        return number

    def ids(
        self, sources: Sequence[str] = (), limit: int | None = None
    ) -> tuple[ConversationId, ...]:
        """List conversations in the order of import.

        Args:
            sources: Only of these data sets; () means all.
            limit: At most so many; None: all.
        """
        found = self._database.ids(
            _of_sources(select(conversation.c.id), sources).order_by(conversation.c.id).limit(limit)
        )
        return tuple(map(ConversationId, found))

    def get(self, conversation_id: ConversationId) -> Conversation:
        """Read a conversation with its documents and its imported ratings.

        A rating's claim comes in the words it was first stored with.

        Raises:
            StoreError: There is none with this id.
        """
        with self._database.reading() as connection:
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
                turns=_turns(connection, conversation_id),
                group=row.group,
                metadata=row.details,
                ratings=_ratings(connection, conversation_id),
            )

    def imported_claims(self, conversation_id: ConversationId) -> tuple[Claim, ...]:
        """List the statements that came labelled with a conversation, in the order of its text.

        Within a turn by span; claims without one come last, in the order of import.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                select(claim.c.turn, claim.c.text, claim.c.span_start, claim.c.span_end)
                .where(
                    claim.c.conversation_id == conversation_id,
                    claim.c.kind == "claim",
                    claim.c.imported,
                )
                .order_by(
                    claim.c.turn,
                    claim.c.span_start.is_(None),
                    claim.c.span_start,
                    claim.c.span_end,
                    claim.c.id,
                )
            ).all()
        return tuple(Claim(row.turn, row.text, span_from_row(row)) for row in rows)


def _of_sources(statement: Select[Any], sources: Sequence[str]) -> Select[Any]:
    statement = statement.select_from(conversation)
    return statement.where(conversation.c.source.in_(sources)) if sources else statement


def _turns(connection: Connection, conversation_id: int) -> tuple[Turn, ...]:
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


def _ratings(connection: Connection, conversation_id: int) -> tuple[Rating, ...]:
    rows = connection.execute(
        select(
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
        .join(claim, claim.c.id == human_label.c.claim_id)
        .where(
            claim.c.conversation_id == conversation_id,
            human_label.c.action == Action.IMPORTED.value,
        )
        .order_by(human_label.c.id)
    )
    return tuple(
        Rating(
            turn=row.turn,
            annotator=row.reviewer,
            scale=row.scale,
            label=row.raw_label,
            claim=row.text if row.kind == "claim" else None,
            span=span_from_row(row),
            note=row.note,
        )
        for row in rows
    )
