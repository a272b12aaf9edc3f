"""Claims that a judge did not extract, and answers whose claims are all known: who said so.

Each is a mark on a claim of the store: on the missed claim itself, or on the answer as a whole. It
holds for the run under review, because another judge may have extracted something else.
"""

from collections.abc import Collection, Mapping

from sqlalchemy import Connection, insert, select

from faithtui.domain.claims.verdicts import ClaimKind
from faithtui.domain.conversation import Span, normalise_claim
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.labels.label_events import HumanVerdict
from faithtui.domain.limits import CLAIM
from faithtui.domain.text.word_spans import find_word_spans
from faithtui.errors import InputError, StoreError
from faithtui.store.database import Database
from faithtui.store.records import CompleteAnswer, MissedClaim
from faithtui.store.schema.json_columns import AnyRow, span_from_row, span_to_columns
from faithtui.store.schema.statements import insert_returning_id, split_into_chunks
from faithtui.store.schema.storable_text import hash_normalised_claim, replace_unstorable_characters
from faithtui.store.schema.tables import claim, run_item, turn, verdict
from faithtui.store.search.word_index import index_claims


class MissedClaims:
    """Finds or makes the claims that marks are set on."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find_or_add_missed_claim(
        self, item: ItemId, turn_position: int, text: str, span: Span | None = None
    ) -> ClaimId:
        """Find or make a claim of an answer that the judge of a run did not extract.

        Args:
            item: Conversation of the run.
            turn_position: The answer.
            text: What it claims.
            span: Where it stands in the answer; None: it is in other words there.

        Raises:
            InputError: It is empty or too long, or the judge extracted it.
            StoreError: There is no such answer, or it cannot be written.
        """
        text = " ".join(replace_unstorable_characters(text).split())
        CLAIM.check_length(text, field="claim")
        if not find_word_spans(text):
            raise InputError("a claim has no words; write what the answer says")

        def find_or_insert(connection: Connection) -> ClaimId:
            found = _find_or_insert_claim(connection, item, turn_position, "claim", text, span)
            extracted = connection.execute(
                select(claim.c.text)
                .join(verdict, verdict.c.claim_id == claim.c.id)
                .where(
                    verdict.c.run_item_id == item,
                    claim.c.kind == "claim",
                    claim.c.turn == turn_position,
                )
                .distinct()
            ).scalars()
            same = normalise_claim(text)
            if any(normalise_claim(each) == same for each in extracted):
                raise InputError("the judge extracted this claim; it is in the list")
            return found

        return self._database.run_in_write_transaction(find_or_insert, durable=True, urgent=True)

    def find_missed_claim(self, item: ItemId, turn_position: int, text: str) -> ClaimId:
        """Find a claim that an annotator added to an answer, in the order of what is written.

        Raises:
            StoreError: There is no such answer or claim, or the store cannot be written.
        """

        def find(connection: Connection) -> ClaimId:
            answer = _read_answer(connection, item, turn_position)
            digest = hash_normalised_claim(" ".join(text.split()))
            known = _find_claim_id(
                connection, answer.conversation_id, "claim", turn_position, digest
            )
            if known is None:
                raise StoreError(
                    f"there is no such claim at turn {turn_position + 1}; reload the conversation"
                )
            return known

        return self._database.run_in_write_transaction(find, urgent=True)

    def find_or_add_answer_claim(self, item: ItemId, turn_position: int) -> ClaimId:
        """Find or make what stands for an answer as a whole.

        Raises:
            StoreError: There is no such answer, or it cannot be written.
        """
        return self._database.run_in_write_transaction(
            lambda connection: _find_or_insert_claim(
                connection, item, turn_position, "answer", "", None
            ),
            durable=True,
            urgent=True,
        )


def _find_or_insert_claim(
    connection: Connection,
    item: ItemId,
    turn_position: int,
    kind: ClaimKind,
    text: str,
    span: Span | None,
) -> ClaimId:
    answer = _read_answer(connection, item, turn_position)
    digest = hash_normalised_claim(text)
    known = _find_claim_id(connection, answer.conversation_id, kind, turn_position, digest)
    if known is not None:
        return known
    inside = span is not None and span.end <= len(answer.content)
    number = insert_returning_id(
        connection,
        insert(claim).values(
            conversation_id=answer.conversation_id,
            kind=kind,
            turn=turn_position,
            digest=digest,
            text=text,
            **span_to_columns(span if inside else None),
            imported=False,
        ),
    )
    index_claims(connection, [number])
    return ClaimId(number)


def read_missed_claims_and_complete_answers(
    connection: Connection,
    run_id: RunId,
    reviewer: str,
    human: Mapping[ClaimId, Collection[HumanVerdict]],
    judged: Collection[ClaimId],
) -> tuple[tuple[MissedClaim, ...], tuple[CompleteAnswer, ...]]:
    """Read what a run's judge missed in a conversation, and which answers are complete.

    Args:
        connection: Where to read.
        run_id: The run.
        reviewer: Who looks.
        human: The label of each annotator, per claim of the conversation.
        judged: Claims that the judge did extract.

    Returns:
        In the order of the answers, then in that in which they were made.
    """
    missed = {
        claim_id: tuple(sorted(each.reviewer for each in verdicts if run_id in each.missed_in))
        for claim_id, verdicts in human.items()
        if claim_id not in judged
    }
    complete = {
        claim_id: tuple(sorted(each.reviewer for each in verdicts if run_id in each.complete_in))
        for claim_id, verdicts in human.items()
    }
    wanted = sorted({each for each in (*missed, *complete) if missed.get(each) or complete[each]})
    rows = [
        row
        for some in split_into_chunks(wanted)
        for row in connection.execute(select(claim).where(claim.c.id.in_(some)))
    ]
    rows.sort(key=lambda row: (row.turn, row.id))
    return (
        tuple(
            MissedClaim(
                row.id,
                row.turn,
                row.text,
                span_from_row(row),
                missed[row.id],
                reviewer in missed[row.id],
            )
            for row in rows
            if missed.get(row.id)
        ),
        tuple(
            CompleteAnswer(row.id, row.turn, complete[row.id], reviewer in complete[row.id])
            for row in rows
            if complete[row.id]
        ),
    )


def _read_answer(connection: Connection, item: ItemId, turn_position: int) -> AnyRow:
    """Read the conversation and the text of an answer; `StoreError` where there is none."""
    answer = connection.execute(
        select(turn.c.conversation_id, turn.c.content)
        .join(run_item, run_item.c.conversation_id == turn.c.conversation_id)
        .where(run_item.c.id == item, turn.c.position == turn_position, turn.c.role == "assistant")
    ).one_or_none()
    if answer is None:
        raise StoreError(f"there is no answer at turn {turn_position + 1}; reload the conversation")
    return answer


def _find_claim_id(
    connection: Connection, conversation: int, kind: ClaimKind, turn_position: int, digest: str
) -> ClaimId | None:
    known: int | None = connection.execute(
        select(claim.c.id).where(
            claim.c.conversation_id == conversation,
            claim.c.kind == kind,
            claim.c.turn == turn_position,
            claim.c.digest == digest,
        )
    ).scalar()
    return None if known is None else ClaimId(known)
