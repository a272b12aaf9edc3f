"""The log of label events of a store: appended, never changed, and replayed by the domain.

Each event is on the disk before the call returns, together with the scores it changes.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, insert, select, true

from faithtui.domain.ids import ClaimId, ItemId, LabelId, RunId, SampleId
from faithtui.domain.labels.label_events import (
    Action,
    Event,
    EventFilter,
    HumanVerdict,
    LabelEvent,
    LabelMark,
    MarkedPassage,
    NewEvent,
    Step,
    choose_action_of_verdict_event,
    find_redo_in_log_tail,
    find_undo_in_log_tail,
    list_events_to_redo,
    list_events_to_undo,
    merge_overlapping_evidence_marks,
)
from faithtui.domain.limits import NOTE, REVIEWER
from faithtui.errors import StoreError
from faithtui.store.annotations.exposures import has_exposure
from faithtui.store.annotations.guidelines import find_current_digest_storing_default
from faithtui.store.annotations.label_replay import (
    IS_IMPORTED_LABEL,
    compute_next_clock,
    make_event_columns,
    read_events,
    replay_verdicts,
    store_marked_passages,
)
from faithtui.store.annotations.labelled_units import (
    read_newest_event_id,
)
from faithtui.store.annotations.session_counts import SessionCounts, read_session_counts
from faithtui.store.database import Database
from faithtui.store.runs.rollups import (
    list_items_with_verdict_on_claim,
    update_human_columns_of_items,
)
from faithtui.store.schema.statements import insert_returning_id, split_into_chunks
from faithtui.store.schema.storable_text import replace_unstorable_characters
from faithtui.store.schema.tables import (
    claim,
    human_label,
    run_item,
    sample_claim,
    verdict,
)

_UNDO_WINDOW = 256
"""Steps of the log's clock that undo looks at before it reads all."""

FindInTail = Callable[[list[LabelEvent], str, EventFilter | None], Step | None]
FindInLog = Callable[[list[LabelEvent], str, EventFilter | None], Step]

_BEFORE_ALL = LabelId(0)


class LabelLog:
    """Human labels of a store."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def append_label_event(
        self,
        claim: ClaimId,
        reviewer: str,
        action: Action,
        verdict: str | None = None,
        note: str | None = None,
        *,
        run: RunId | None,
        judge_verdict: str | None,
        saw_judge: bool,
        seconds: float | None = None,
        code: str | None = None,
        mark: LabelMark | None = None,
        sample: SampleId | None = None,
        evidence: Iterable[MarkedPassage] = (),
    ) -> LabelEvent:
        """Append one event; on return the disk has it and every score it corrects is up to date.

        The guideline in force, and the claim's stratum and probability in the sample, are written
        beside it.

        Args:
            claim: What it is about.
            reviewer: Who says it.
            action: What kind of event it is.
            verdict: A label of the metric or `x`; None for events without one.
            note: A remark; None leaves an earlier one, "" removes it.
            run: The run under review.
            judge_verdict: What the judge had said.
            saw_judge: Whether the reviewer knew that.
            seconds: Time the reviewer took.
            code: Name of a reason code.
            mark: What a `MARKED` event says.
            sample: The sample the claim was served from.
            evidence: All that an `EVIDENCE` event marks.

        Returns:
            The event as it stands in the log.

        Raises:
            InputError: The note or the reviewer's name is too long; nothing was written.
            StoreError: There is no such claim, or it cannot be written; nothing was.
        """
        NOTE.check_length(note or "", field="note")
        given: NewEvent = Event(
            None,
            claim,
            reviewer,
            action,
            verdict,
            note,
            code=code,
            mark=mark,
            saw_judge=saw_judge,
            sample=sample,
            run=run,
            judge_verdict=judge_verdict,
            seconds=seconds,
            evidence=merge_overlapping_evidence_marks(evidence),
        )
        (act,) = self._append_events([given])
        return act

    def record_verdict(
        self,
        claim: ClaimId,
        reviewer: str,
        verdict: str,
        *,
        run: RunId,
        saw_judge: bool,
        repeats: bool = False,
        seconds: float | None = None,
        code: str | None = None,
        sample: SampleId | None = None,
    ) -> LabelEvent:
        """Append a verdict; the event follows from the verdict and who knew it.

        The judge's verdict is looked up here, so that whoever asks need not have it. So is whether
        the reviewer had it in view: a caller may have read the conversation before that was
        written.

        Args:
            claim: What it is about.
            reviewer: Who says it.
            verdict: A label of the metric or `x`.
            run: The run under review.
            saw_judge: Whether the reviewer knew the judge's verdict, as far as the caller knows.
            repeats: The claim is asked a second time.
            seconds: Time the reviewer took.
            code: Name of a reason code.
            sample: The sample the claim was served from.

        Raises:
            StoreError: There is no such claim, or it cannot be written; nothing was.
        """
        (given,) = self._check_reviewers_and_set_times_of_events(
            [
                Event(
                    None,
                    claim,
                    reviewer,
                    Action.BLIND,
                    verdict,
                    code=code,
                    sample=sample,
                    run=run,
                    seconds=seconds,
                )
            ]
        )

        def append_verdict(connection: Connection) -> Step:
            judge = _read_judge_label_of_claim(connection, run, claim)
            knew = saw_judge or has_exposure(connection, given)
            action = choose_action_of_verdict_event(verdict, judge, saw_judge=knew, repeats=repeats)
            act = given._replace(action=action, judge_verdict=judge, saw_judge=knew)
            return _append_events_and_refresh_scores(
                connection, [_add_guideline_and_stratum(connection, act)]
            )

        (act,) = self._database.run_in_write_transaction(append_verdict, durable=True, urgent=True)
        return act

    def append_label_events_as_one_step(self, given: Sequence[NewEvent]) -> Step:
        """Append events that were made at once, as one step: one undo takes all of them back.

        Args:
            given: At least one; what holds when it is written is filled in here, as
                `append_label_event` does.

        Returns:
            The events, in the order given.

        Raises:
            StoreError: There is no such claim, or it cannot be written; nothing was.
        """
        batch = uuid4().hex
        return self._append_events([act._replace(batch=batch) for act in given])

    def _append_events(self, given: Sequence[NewEvent]) -> Step:
        acts = self._check_reviewers_and_set_times_of_events(given)

        def append_acts(connection: Connection) -> Step:
            # Of verdicts alone: a code or a flag says nothing of who is blind.
            guidelines = {
                run: find_current_digest_storing_default(connection, run)
                for run in {act.run for act in acts}
            }
            return _append_events_and_refresh_scores(
                connection,
                [
                    _add_stratum(
                        connection,
                        act._replace(
                            guideline=guidelines[act.run],
                            saw_judge=act.saw_judge
                            or (act.verdict is not None and has_exposure(connection, act)),
                        ),
                    )
                    for act in acts
                ],
            )

        return self._database.run_in_write_transaction(append_acts, durable=True, urgent=True)

    def _check_reviewers_and_set_times_of_events(self, given: Sequence[NewEvent]) -> list[NewEvent]:
        """Check the names of those who act, and write the time beside the events."""
        now = self._clock()
        for act in given:
            REVIEWER.check_length(act.reviewer, field="reviewer")
        return [
            act._replace(reviewer=replace_unstorable_characters(act.reviewer), created_at=now)
            for act in given
        ]

    def undo(
        self,
        reviewer: str,
        judge_not_shown_on: Collection[ClaimId] = (),
        is_concerned: EventFilter | None = None,
    ) -> Step:
        """Withdraw a reviewer's latest standing step, whenever it was made.

        A label that was given blind shows the judge's verdict, so that the next one on its claim
        is not blind, unless the caller knows better.

        Args:
            reviewer: Who takes it back.
            judge_not_shown_on: Claims whose labels have shown the reviewer no judge yet.
            is_concerned: Which events may be taken back, of which the latest is; None: any.

        Returns:
            The events withdrawn; () when nothing is left to undo.
        """
        return self._append_undo_step(
            reviewer,
            find_undo_in_log_tail,
            list_events_to_undo,
            Action.WITHDRAWN,
            is_concerned,
            frozenset(judge_not_shown_on),
        )

    def redo(self, reviewer: str, is_concerned: EventFilter | None = None) -> Step:
        """Restore the step that a reviewer withdrew last, of events that may be; None: of all.

        Returns:
            The events restored; () when there are none, or something was done since.
        """
        return self._append_undo_step(
            reviewer, find_redo_in_log_tail, list_events_to_redo, Action.RESTORED, is_concerned
        )

    def _append_undo_step(
        self,
        reviewer: str,
        find_from_end: FindInTail,
        find: FindInLog,
        action: Action,
        is_concerned: EventFilter | None,
        judge_not_shown_on: frozenset[ClaimId] = frozenset(),
    ) -> Step:
        now = self._clock()
        reviewer = replace_unstorable_characters(reviewer)

        def append_step(connection: Connection) -> Step:
            targets = _find_step(connection, reviewer, find_from_end, find, is_concerned)
            if targets:
                acts = _make_undo_events(targets, reviewer, action, now, judge_not_shown_on)
                _append_events_and_refresh_scores(connection, acts)
            return targets

        return self._database.run_in_write_transaction(append_step, durable=True, urgent=True)

    def find_item_id_of_claim(self, run_id: RunId, claim: ClaimId) -> ItemId | None:
        """Find the conversation of a run in which a claim got a verdict; None when in none."""
        with self._database.open_reader() as connection:
            found = connection.execute(
                select(run_item.c.id)
                .join(verdict, verdict.c.run_item_id == run_item.c.id)
                .where(run_item.c.run_id == run_id, verdict.c.claim_id == claim)
                .limit(1)
            ).scalar()
        return None if found is None else ItemId(found)

    def read_session_counts(self, reviewer: str, since: datetime) -> SessionCounts:
        """Count what somebody labelled since a moment, and measure the pace of it."""
        with self._database.open_reader() as connection:
            return read_session_counts(connection, reviewer, since)

    def read_newest_event_id(self) -> LabelId:
        """Give the number of the newest event of the log, whoever's; 0 without any.

        It is the same as long as nobody said anything, here or in another process.
        """
        with self._database.open_reader() as connection:
            return read_newest_event_id(connection)

    def find_labels_before_step(
        self, step: Step, since: LabelId = _BEFORE_ALL
    ) -> dict[ClaimId, HumanVerdict]:
        """Find the labels that a reviewer gave before a step, and after an event, by claim."""
        reviewer, first = step[0].reviewer, min(act.id for act in step)
        which = (human_label.c.id < first) & (human_label.c.id > since)
        return self._find_standing_labels(reviewer, [act.claim for act in step], which)

    def find_label(self, reviewer: str, claim_id: ClaimId) -> HumanVerdict | None:
        """Find the label that a reviewer stands by on a claim; None for none."""
        return self._find_standing_labels(reviewer, [claim_id], true()).get(claim_id)

    def _find_standing_labels(
        self, reviewer: str, claims: Sequence[ClaimId], which: ColumnElement[bool]
    ) -> dict[ClaimId, HumanVerdict]:
        """Replay some of a reviewer's events on some claims; those without a label are left out."""
        found: dict[ClaimId, HumanVerdict] = {}
        with self._database.open_reader() as connection:
            for some in split_into_chunks(claims):
                own = claim.c.id.in_(some) & (human_label.c.reviewer == reviewer)
                verdicts_by_claim = replay_verdicts(read_events(connection, own & which))
                found |= {each: mine for each, (mine,) in verdicts_by_claim.items() if mine.verdict}
        return found

    def list_claims_labelled_after_event(
        self, reviewer: str, claims: Sequence[ClaimId], act: LabelId
    ) -> set[ClaimId]:
        """List the claims, of some, that a reviewer labelled after an event and kept."""
        return set(self._find_standing_labels(reviewer, claims, human_label.c.id > act))


def _find_step(
    connection: Connection,
    reviewer: str,
    find_from_end: FindInTail,
    find: FindInLog,
    is_concerned: EventFilter | None,
) -> Step:
    """Find what an annotator undoes or redoes, in the end of the log where that is enough."""
    # An annotator may have given a hundred thousand labels, and undo is about the last of them.
    end = _read_reviewer_events_without_imports(connection, reviewer, last=_UNDO_WINDOW)
    found = find_from_end(end, reviewer, is_concerned)
    if found is not None:
        return found
    log = _read_reviewer_events_without_imports(connection, reviewer)
    return find(log, reviewer, is_concerned)


def _read_reviewer_events_without_imports(
    connection: Connection, reviewer: str, last: int | None = None
) -> list[LabelEvent]:
    """Read an annotator's events, imports left out; only the last steps of the clock if asked."""
    own = (human_label.c.reviewer == reviewer) & ~IS_IMPORTED_LABEL
    if last is not None:
        # The name goes without an index here, or SQLite would take it before the clock's.
        own = (
            (human_label.c.reviewer.concat("") == reviewer)
            & ~IS_IMPORTED_LABEL
            & (human_label.c.clock >= compute_next_clock(connection) - last)
        )
    return read_events(connection, own)


def _make_undo_events(
    targets: Step,
    reviewer: str,
    action: Action,
    at: datetime,
    judge_not_shown_on: Collection[ClaimId],
) -> list[NewEvent]:
    """Make the events that withdraw or restore a step, its last event first."""
    return [
        Event(
            None,
            target.claim,
            reviewer,
            action,
            saw_judge=action is Action.WITHDRAWN
            and target.verdict is not None
            and target.claim not in judge_not_shown_on,
            target=target.id,
            batch=target.batch,
            created_at=at,
        )
        for target in reversed(targets)
    ]


def _add_guideline_and_stratum(connection: Connection, act: NewEvent) -> NewEvent:
    """Write the guideline in force beside an event, and stratum and probability in its sample."""
    guideline = find_current_digest_storing_default(connection, act.run)
    return _add_stratum(connection, act._replace(guideline=guideline))


def _add_stratum(connection: Connection, act: NewEvent) -> NewEvent:
    """Write stratum and probability in its sample beside an event."""
    if act.sample is None:
        return act
    found = connection.execute(
        select(sample_claim.c.stratum, sample_claim.c.probability).where(
            sample_claim.c.sample_id == act.sample, sample_claim.c.claim_id == act.claim
        )
    ).one_or_none()
    if found is None:
        return act
    return act._replace(stratum=found.stratum, probability=found.probability)


def _read_judge_label_of_claim(
    connection: Connection, run_id: RunId, claim_id: ClaimId
) -> str | None:
    """Read what the judge of a run said of a claim; None when it said nothing."""
    found: str | None = connection.execute(
        select(verdict.c.label)
        .join(run_item, run_item.c.id == verdict.c.run_item_id)
        .where(run_item.c.run_id == run_id, verdict.c.claim_id == claim_id, verdict.c.is_home)
        .limit(1)
    ).scalar()
    return found


def _append_events_and_refresh_scores(connection: Connection, acts: Sequence[NewEvent]) -> Step:
    """Write rows of the log and what follows from them."""
    clock = compute_next_clock(connection)
    numbers: list[LabelId] = []
    touched: dict[int, set[int]] = {}
    for place, act in enumerate(acts):
        conversation_id = connection.execute(
            select(claim.c.conversation_id).where(claim.c.id == act.claim)
        ).scalar()
        if conversation_id is None:
            raise StoreError(f"there is no claim {act.claim}; reload the conversation")
        columns = make_event_columns(act._replace(clock=clock + place))
        number = insert_returning_id(
            connection, insert(human_label).values(**columns, uid=uuid4().hex)
        )
        numbers.append(LabelId(number))
        store_marked_passages(connection, {number: act.evidence})
        touched.setdefault(conversation_id, set()).update(
            list_items_with_verdict_on_claim(connection, act.claim)
        )
    for conversation_id, items in touched.items():
        update_human_columns_of_items(connection, conversation_id, sorted(items))
    return tuple(read_events(connection, human_label.c.id.in_(numbers)))
