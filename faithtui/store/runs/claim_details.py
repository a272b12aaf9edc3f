"""What stands beside the claims of a run: passages, remarks, evidence, and second labels."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Select, and_, select

from faithtui.agreement.report.figures.rater_comparison import RepeatedLabel
from faithtui.domain.ids import ClaimId, ConversationId, RunId
from faithtui.domain.labels.label_events import Action, HumanVerdict, MarkedText
from faithtui.domain.scores import ScoringRule
from faithtui.store.annotations.label_replay import read_events, replay_verdicts
from faithtui.store.annotations.raters import read_repeated_labels
from faithtui.store.database import Database
from faithtui.store.runs.judge_verdicts import read_scoring_rule
from faithtui.store.schema.statements import make_unindexed_key_expression, split_into_chunks
from faithtui.store.schema.tables import (
    claim,
    conversation,
    document,
    human_label,
    run_item,
    turn,
    turn_document,
    verdict,
    window,
)

Passages = dict[ClaimId, tuple[str, ...]]


class ClaimDetails:
    """Reads what lists and figures do without."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read_passages(self, run_id: RunId, claims: Sequence[ClaimId]) -> Passages:
        """Read what claims of a run were judged against.

        Args:
            run_id: The run.
            claims: Of the run; best those of a few conversations at a time, as texts are long.

        Returns:
            The documents in view of each claim's home window, in reading order, without repeats; of
            a statement the document it was drawn from. Claims that the run did not judge are left
            out.
        """
        with self._database.open_reader() as connection:
            found: Passages = {}
            for some in split_into_chunks(list(claims)):
                found |= _read_passages(connection, run_id, some)
            return found

    def read_answer_texts(
        self, conversations: Iterable[ConversationId]
    ) -> dict[tuple[ConversationId, int], str]:
        """Read what the assistant said in conversations, by conversation and turn."""
        found: dict[tuple[ConversationId, int], str] = {}
        with self._database.open_reader() as connection:
            for some in split_into_chunks(sorted(conversations)):
                rows = connection.execute(
                    select(turn.c.conversation_id, turn.c.position, turn.c.content).where(
                        turn.c.conversation_id.in_(some), turn.c.role == "assistant"
                    )
                )
                found |= {(ConversationId(row[0]), row[1]): row[2] for row in rows}
        return found

    def read_notes(self, run_id: RunId) -> dict[ClaimId, tuple[str, ...]]:
        """Read the annotators' notes on the claims of a run; claims without one are left out."""
        with self._database.open_reader() as connection:
            noted = connection.execute(
                _select_labelled_claims(run_id).where(human_label.c.note.is_not(None))
            ).scalars()
            found: dict[ClaimId, tuple[str, ...]] = {}
            for some in split_into_chunks(sorted(noted)):
                verdicts_by_claim = replay_verdicts(read_events(connection, claim.c.id.in_(some)))
                for claim_id, people in verdicts_by_claim.items():
                    remarks = tuple(dict.fromkeys(each.note for each in people if each.note))
                    if remarks:
                        found[claim_id] = remarks
            return found

    def read_marked_evidence(self, run_id: RunId) -> dict[ClaimId, tuple[MarkedText, ...]]:
        """Read what annotators marked as evidence on the claims of a run; others are left out."""
        with self._database.open_reader() as connection:
            marked = connection.execute(
                _select_labelled_claims(run_id).where(human_label.c.action == Action.EVIDENCE.value)
            ).scalars()
            verdicts_by_claim: dict[ClaimId, tuple[HumanVerdict, ...]] = {}
            for some in split_into_chunks(sorted(marked)):
                verdicts_by_claim |= replay_verdicts(read_events(connection, claim.c.id.in_(some)))
            names = {
                mark.document
                for each in verdicts_by_claim.values()
                for one in each
                for mark in one.evidence
            }
            texts = {
                row.hash: row.text
                for some_names in split_into_chunks(sorted(names))
                for row in connection.execute(
                    select(document.c.hash, document.c.text).where(document.c.hash.in_(some_names))
                )
            }
        found = {
            claim_id: tuple(
                MarkedText(one.reviewer, mark, texts.get(mark.document, "")[mark.start : mark.end])
                for one in each
                for mark in one.evidence
            )
            for claim_id, each in verdicts_by_claim.items()
        }
        return {claim_id: marks for claim_id, marks in found.items() if marks}

    def read_second_verdicts(self, run_id: RunId) -> tuple[RepeatedLabel, ...]:
        """Read second human labels on claims of a run, in its words; () without any.

        Raises:
            StoreError: There is no such run.
        """
        with self._database.open_reader() as connection:
            again = connection.execute(
                _select_labelled_claims(run_id).where(human_label.c.action == Action.REPEATED.value)
            ).scalars()
            rule = read_scoring_rule(connection, run_id)
            return tuple(
                each
                for some in split_into_chunks(sorted(again))
                for each in _read_second_verdicts(connection, some, rule)
            )


def _select_labelled_claims(run_id: RunId) -> Select[Any]:
    """Select the claims of a run that somebody acted on, each once."""
    return (
        select(human_label.c.claim_id)
        .join(verdict, verdict.c.claim_id == human_label.c.claim_id)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .where(verdict.c.is_home, run_item.c.run_id == run_id)
        .distinct()
    )


def _read_passages(connection: Connection, run_id: RunId, claims: Sequence[ClaimId]) -> Passages:
    homes = connection.execute(
        select(
            verdict.c.claim_id,
            claim.c.conversation_id,
            claim.c.document_id,
            window.c.turns,
        )
        .join(window, window.c.id == verdict.c.window_id)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .join(claim, claim.c.id == verdict.c.claim_id)
        .where(
            verdict.c.is_home,
            make_unindexed_key_expression(run_item.c.run_id) == run_id,
            verdict.c.claim_id.in_(claims),
        )
    ).all()
    retrieved = _read_retrieved_documents(
        connection, sorted({home.conversation_id for home in homes})
    )
    found: Passages = {}
    for home in homes:
        shown = {
            document_id: text
            for position in home.turns
            for document_id, text in retrieved[home.conversation_id].get(position, ())
        }
        if home.document_id is None:
            found[ClaimId(home.claim_id)] = tuple(dict.fromkeys(shown.values()))
        else:
            every = dict(
                part for parts in retrieved[home.conversation_id].values() for part in parts
            )
            found[ClaimId(home.claim_id)] = (every[home.document_id],)
    return found


def _read_retrieved_documents(
    connection: Connection, conversations: Sequence[int]
) -> dict[int, dict[int, list[tuple[int, str]]]]:
    """Read ids and texts of the documents of assistant turns, by conversation and turn."""
    found: dict[int, dict[int, list[tuple[int, str]]]] = defaultdict(lambda: defaultdict(list))
    for some in split_into_chunks(conversations):
        rows = connection.execute(
            select(
                turn_document.c.conversation_id,
                turn_document.c.turn,
                turn_document.c.document_id,
                document.c.text,
            )
            .join(document, document.c.id == turn_document.c.document_id)
            .join(
                turn,
                and_(
                    turn.c.conversation_id == turn_document.c.conversation_id,
                    turn.c.position == turn_document.c.turn,
                ),
            )
            .where(turn_document.c.conversation_id.in_(some), turn.c.role == "assistant")
            .order_by(turn_document.c.turn, turn_document.c.position)
        )
        for conversation_id, at_turn, document_id, text in rows:
            found[conversation_id][at_turn].append((document_id, text))
    return found


def _read_second_verdicts(
    connection: Connection, claims: Sequence[int], rule: ScoringRule
) -> tuple[RepeatedLabel, ...]:
    about = claim.c.id.in_(claims)
    groups = {
        ClaimId(row.id): row.group
        for row in connection.execute(
            select(claim.c.id, conversation.c.group)
            .join(conversation, conversation.c.id == claim.c.conversation_id)
            .where(about)
        )
    }
    return read_repeated_labels(connection, read_events(connection, about), groups, rule)
