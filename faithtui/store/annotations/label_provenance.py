"""When, and under which guideline, the labels behind a run's figures were given."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, false, func, or_, select, true

from faithtui.domain.ids import ClaimId, ConversationId, RunId
from faithtui.domain.labels.label_events import COUNTED_ACTIONS, Action
from faithtui.store.annotations.label_replay import (
    IS_IMPORTED_LABEL,
    LOG_ORDER,
    read_events,
    replay_verdicts,
)
from faithtui.store.annotations.ratings import HAS_LABEL_RECORD
from faithtui.store.database import Database
from faithtui.store.deletion_records import DeletionKind
from faithtui.store.runs.run_records import IMPORTED_FINGERPRINT
from faithtui.store.schema.statements import make_in_condition
from faithtui.store.schema.tables import (
    claim,
    conversation,
    deletion,
    exposure,
    human_label,
    run,
    run_item,
    sample,
    sample_claim,
    verdict,
    window,
)

USUAL_SHOWN = 0.2
"""Share of a blind queue that shows the judge, unless `audit_share` is set."""


@dataclass(frozen=True, slots=True)
class LabelOrigins:
    """What is known of the human labels of what a run judged."""

    newest_at: datetime | None
    """UTC; None without any. A label that came with data is as old as its import."""
    newest_of_judged: datetime | None
    """The same of verdicts on what the run judged."""
    newest_of_answers: datetime | None
    """The same of verdicts on answers as a whole."""
    guidelines: Mapping[str | None, int]
    """Verdicts by digest of the guideline that was in force; None: there was none. Labels that came
    with data which names no guideline were given under rules of their own, and are left out."""


class LabelMoment(NamedTuple):
    """When, and under which guideline, one label event was stored."""

    at: datetime
    """UTC."""
    guideline: str | None
    """Digest of the guideline that was in force; None: there was none."""


class Provenance:
    """Where the labels of a store come from."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read_label_times_and_guidelines(self, run_id: RunId) -> tuple[LabelMoment, ...]:
        """Read when each event on the conversations of a run was stored.

        Returns:
            In the order of the log, so that `Opinion.order` is the place of a verdict here.
        """
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(human_label.c.created_at, human_label.c.guideline_version)
                .join(claim, claim.c.id == human_label.c.claim_id)
                .where(
                    claim.c.conversation_id.in_(
                        select(run_item.c.conversation_id).where(run_item.c.run_id == run_id)
                    )
                )
                .order_by(*LOG_ORDER)
            )
            return tuple(LabelMoment(*row) for row in rows)

    def list_claims_labelled_before(
        self, claims: Collection[ClaimId], at: datetime
    ) -> set[ClaimId]:
        """List the claims that anybody had labelled by then, withdrawn since or not.

        Args:
            claims: Of which.
            at: UTC.
        """
        with self._database.open_reader() as connection:
            found = connection.execute(
                select(human_label.c.claim_id)
                .distinct()
                .where(
                    make_in_condition(human_label.c.claim_id, claims),
                    human_label.c.verdict.is_not(None),
                    human_label.c.created_at < at,
                )
            )
            return {ClaimId(each) for each in found.scalars()}

    def map_claims_to_counted_verdicts_ever_given(
        self, claims: Collection[ClaimId]
    ) -> dict[ClaimId, set[str]]:
        """List every verdict that anybody ever gave on some claims, withdrawn since or not.

        Those in bulk and those that accept the judge's are left out, as they never counted.
        """
        found: dict[ClaimId, set[str]] = defaultdict(set)
        with self._database.open_reader() as connection:
            for number, word in connection.execute(
                select(human_label.c.claim_id, human_label.c.verdict)
                .distinct()
                .where(
                    make_in_condition(human_label.c.claim_id, claims),
                    human_label.c.verdict.is_not(None),
                    human_label.c.action.in_([each.value for each in COUNTED_ACTIONS]),
                )
            ):
                found[ClaimId(number)].add(word)
        return found

    def list_claims_labelled_blind_after_other_run(
        self, claims: Collection[ClaimId]
    ) -> set[ClaimId]:
        """List the claims that somebody labelled blind with another run's judge seen before.

        Seen is what it said of the conversation, or, hidden, of one of its claims: `v` in a queue,
        or a queue that shows more of them than is usual. A judge that is asked again says much the
        same, also of claims that it words anew. What the usual share of a blind queue shows is not
        counted: nearly every annotator of an earlier run has seen that much of a conversation.

        Args:
            claims: Of which.
        """
        was_in_view = (
            select(exposure.c.at)
            .join(run_item, run_item.c.id == exposure.c.run_item_id)
            .where(
                run_item.c.conversation_id == claim.c.conversation_id,
                run_item.c.run_id != human_label.c.run_id,
                exposure.c.reviewer == human_label.c.reviewer,
                exposure.c.at <= human_label.c.created_at,
            )
            .exists()
        )
        is_blind = human_label.c.action == Action.BLIND.value
        found = self._list_claims_with_label(claims, is_blind & was_in_view)
        with self._database.open_reader() as connection:
            return found | _list_claims_labelled_blind_after_reveal(connection, claims)

    def list_claims_labelled_after_deletion(
        self,
        claims: Collection[ClaimId],
        at: datetime,
        *,
        imported_before: datetime | None,
        imported_since: datetime | None = None,
        are_imported: bool = False,
    ) -> set[ClaimId]:
        """List the claims with a blind label of after a deletion that they may have to do with.

        Args:
            claims: Of which.
            at: When it was, UTC.
            imported_before: Ask about conversations that were here by then, UTC: their run was
                deleted, and they may be judged again.
            imported_since: Ask about conversations that were imported from then on, UTC: they may
                be those that were deleted.
            are_imported: List claims with labels that came with data, instead of blind ones.
        """
        is_asked = or_(
            false() if imported_before is None else conversation.c.imported_at < imported_before,
            false() if imported_since is None else conversation.c.imported_at >= imported_since,
        )
        is_blind = human_label.c.action == Action.BLIND.value
        is_meant = IS_IMPORTED_LABEL if are_imported else is_blind
        return self._list_claims_with_label(
            claims, is_meant & (human_label.c.created_at >= at) & is_asked
        )

    def _list_claims_with_label(
        self, claims: Collection[ClaimId], condition: ColumnElement[bool]
    ) -> set[ClaimId]:
        """List the claims with a label that fulfils a condition on it or its conversation."""
        with self._database.open_reader() as connection:
            found = connection.execute(
                select(human_label.c.claim_id)
                .distinct()
                .join(claim, claim.c.id == human_label.c.claim_id)
                .join(conversation, conversation.c.id == claim.c.conversation_id)
                .where(
                    make_in_condition(human_label.c.claim_id, claims),
                    condition,
                )
            )
            return {ClaimId(each) for each in found.scalars()}

    def list_claims_imported_after_judging(
        self, claims: Collection[ClaimId], *, are_answers: bool = False
    ) -> set[ClaimId]:
        """List the claims with a label that came with data and may be of after their judging.

        Either a run had judged them by then, or the judge of one was asked elsewhere, and nobody
        knows when; then labels are left out of which the data say how they were given.

        Args:
            claims: Of which.
            are_answers: They are answers as a whole, which are judged with their conversation.
        """
        judged = _select_items_that_judge_claim(are_answers=are_answers).join(
            run,
            (run.c.id == run_item.c.run_id)
            & or_(
                run.c.created_at < human_label.c.created_at,
                run.c.judge_fingerprint.startswith(IMPORTED_FINGERPRINT) & ~HAS_LABEL_RECORD,
            ),
        )
        with self._database.open_reader() as connection:
            found = connection.execute(
                select(human_label.c.claim_id)
                .distinct()
                .join(claim, claim.c.id == human_label.c.claim_id)
                .where(
                    make_in_condition(human_label.c.claim_id, claims),
                    IS_IMPORTED_LABEL,
                    judged.exists(),
                )
            )
            return {ClaimId(each) for each in found.scalars()}

    def read_earliest_import_time(self, run_id: RunId) -> datetime | None:
        """Read since when the first conversation of a run is here, UTC; None without any."""
        with self._database.open_reader() as connection:
            return connection.scalar(
                select(conversation.c.imported_at)
                .join(run_item, run_item.c.conversation_id == conversation.c.id)
                .where(run_item.c.run_id == run_id)
                .order_by(conversation.c.imported_at)
                .limit(1)
            )

    def count_labelled_claims_left_out_of_run(
        self, run_id: RunId, *, are_answers: bool = False
    ) -> dict[ConversationId, int]:
        """Count what could have been left out of a run because of its labels.

        Args:
            run_id: The run.
            are_answers: Count answers that are labelled as a whole, instead of claims in them.

        Returns:
            Labelled claims by conversation: of the data sets of the run, in conversations that it
            did not judge and an earlier run did, with a label from before it was made.
        """
        inside = select(run_item.c.conversation_id).where(run_item.c.run_id == run_id)
        sources = select(conversation.c.source).where(conversation.c.id.in_(inside))
        made_at = select(run.c.created_at).where(run.c.id == run_id).scalar_subquery()
        earlier = run.alias()
        judged_before = (
            _select_items_that_judge_claim(are_answers=are_answers)
            .join(earlier, earlier.c.id == run_item.c.run_id)
            .where(earlier.c.created_at < made_at)
        )
        with self._database.open_reader() as connection:
            rows = connection.execute(
                select(claim.c.conversation_id, func.count(claim.c.id.distinct()))
                .join(human_label, human_label.c.claim_id == claim.c.id)
                .join(conversation, conversation.c.id == claim.c.conversation_id)
                .where(
                    claim.c.kind == "answer" if are_answers else true(),
                    conversation.c.source.in_(sources),
                    conversation.c.id.not_in(inside),
                    human_label.c.action.in_([each.value for each in COUNTED_ACTIONS]),
                    human_label.c.created_at < made_at,
                    judged_before.exists(),
                )
                .group_by(claim.c.conversation_id)
            )
            return {ConversationId(number): count for number, count in rows}

    def read_label_origins(self, run_id: RunId, matched: Collection[ClaimId] = ()) -> LabelOrigins:
        """Read it for the verdicts that stand on what a run judged, and on its answers as a whole.

        What was withdrawn, skipped, labelled in bulk or replaced is left out.

        Args:
            run_id: The run.
            matched: Claims of a claim set that stand for claims which its judge worded itself.
        """
        conversations = select(run_item.c.conversation_id).where(run_item.c.run_id == run_id)
        judged = (
            select(verdict.c.claim_id)
            .join(window, window.c.id == verdict.c.window_id)
            .join(run_item, run_item.c.id == window.c.run_item_id)
            .where(run_item.c.run_id == run_id)
        )
        is_judged: ColumnElement[bool] = claim.c.id.in_(judged)
        if matched:
            is_judged = or_(is_judged, make_in_condition(claim.c.id, matched))
        about = claim.c.conversation_id.in_(conversations) & (
            is_judged | (claim.c.kind == "answer")
        )
        with self._database.open_reader() as connection:
            log = read_events(connection, about)
            standing = {
                each.event.id
                for verdicts in replay_verdicts(log).values()
                for each in verdicts
                if each.is_counted and each.event is not None
            }
            rows = [
                row
                for row in connection.execute(
                    select(
                        human_label.c.id,
                        IS_IMPORTED_LABEL.label("imported"),
                        human_label.c.created_at,
                        human_label.c.guideline_version,
                        claim.c.kind,
                        is_judged.label("judged"),
                    )
                    .join(claim, claim.c.id == human_label.c.claim_id)
                    .where(about)
                )
                if row.id in standing
            ]
        return LabelOrigins(
            max((row.created_at for row in rows), default=None),
            max((row.created_at for row in rows if row.judged), default=None),
            max((row.created_at for row in rows if row.kind == "answer"), default=None),
            Counter(
                row.guideline_version
                for row in rows
                if not row.imported or row.guideline_version is not None
            ),
        )


def _select_items_that_judge_claim(*, are_answers: bool) -> Select[Any]:
    """Select the conversations of runs that judged the claim at hand.

    Args:
        are_answers: Claims are answers as a whole, which are judged with their conversation.
    """
    windows = select(run_item.c.id).join_from(
        run_item, window, window.c.run_item_id == run_item.c.id
    )
    if are_answers:
        return windows.where(run_item.c.conversation_id == claim.c.conversation_id)
    return windows.join(verdict, verdict.c.window_id == window.c.id).where(
        verdict.c.claim_id == claim.c.id
    )


def _list_claims_labelled_blind_after_reveal(
    connection: Connection, claims: Collection[ClaimId]
) -> set[ClaimId]:
    """List the claims labelled blind by whoever had revealed one beside them in another run.

    An event of a run that is not here names none: it was deleted, or the event came with a file.
    Where runs were deleted, such events are taken for ones of different runs.
    """
    had_run_deleted = (
        connection.scalar(
            select(deletion.c.id).where(deletion.c.kind == DeletionKind.RUN.value).limit(1)
        )
        is not None
    )
    labels = connection.execute(
        select(
            human_label.c.claim_id,
            claim.c.conversation_id,
            human_label.c.reviewer,
            human_label.c.run_id,
            human_label.c.created_at,
        )
        .join(claim, claim.c.id == human_label.c.claim_id)
        .where(
            make_in_condition(human_label.c.claim_id, claims),
            human_label.c.action == Action.BLIND.value,
        )
    ).all()
    shows_much = sample.c.shown_share > USUAL_SHOWN
    reveals = connection.execute(
        select(
            claim.c.conversation_id,
            human_label.c.reviewer,
            human_label.c.run_id,
            func.min(human_label.c.created_at, type_=human_label.c.created_at.type),
        )
        .join(claim, claim.c.id == human_label.c.claim_id)
        .join(sample, sample.c.id == human_label.c.sample_id, isouter=True)
        .join(
            sample_claim,
            (sample_claim.c.sample_id == human_label.c.sample_id)
            & (sample_claim.c.claim_id == human_label.c.claim_id),
            isouter=True,
        )
        .where(
            make_in_condition(claim.c.conversation_id, {each.conversation_id for each in labels}),
            or_(
                # What a queue showed on purpose is no reveal that somebody asked for.
                (human_label.c.action == Action.REVEALED.value)
                & or_(sample_claim.c.shown.is_(None), ~sample_claim.c.shown),
                human_label.c.saw_judge & shows_much,
            ),
        )
        .group_by(claim.c.conversation_id, human_label.c.reviewer, human_label.c.run_id)
    )
    first_reveals: dict[tuple[int, str], list[tuple[int | None, datetime]]]
    first_reveals = defaultdict(list)
    for conversation_id, reviewer, run_id, at in reveals:
        first_reveals[conversation_id, reviewer].append((run_id, at))
    return {
        ClaimId(each.claim_id)
        for each in labels
        if any(
            at <= each.created_at
            and (run_id != each.run_id or (run_id is None and had_run_deleted))
            for run_id, at in first_reveals.get((each.conversation_id, each.reviewer), ())
        )
    }
