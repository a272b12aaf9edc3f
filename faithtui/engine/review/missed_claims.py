"""Claims that a judge missed, and complete answers: what annotators mark on an answer."""

from faithtui.domain.conversation import Span
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.labels.label_events import Action, LabelEvent, LabelMark
from faithtui.store.store import Store


def add_missed_claim(
    store: Store,
    run: RunId,
    item: ItemId,
    turn: int,
    text: str,
    *,
    reviewer: str,
    span: Span | None = None,
) -> LabelEvent:
    """Say that an answer makes a claim which the judge of the run did not extract.

    Args:
        store: Open store.
        run: The run under review.
        item: Conversation of it.
        turn: The answer.
        text: The claim.
        reviewer: Who says so.
        span: Where it stands in the answer; None: in other words.

    Raises:
        InputError: It has no words or too many, or the judge extracted it.
        StoreError: There is no such answer, or it cannot be written.
    """
    claim = store.missed_claims.find_or_add_missed_claim(item, turn, text, span)
    return _record_answer_event(store, run, claim, reviewer, LabelMark.MISSED)


def remove_missed_claim(
    store: Store, run: RunId, item: ItemId, turn: int, text: str, *, reviewer: str
) -> LabelEvent:
    """Say that a claim which this reviewer added is none after all.

    Raises:
        StoreError: There is no such answer or claim, or it cannot be written.
    """
    claim = store.missed_claims.find_missed_claim(item, turn, text)
    return _record_answer_event(store, run, claim, reviewer, LabelMark.NOT_MISSED)


def mark_answer_complete(
    store: Store, run: RunId, item: ItemId, turn: int, *, reviewer: str, complete: bool
) -> LabelEvent:
    """Say that all claims of an answer are known, extracted and missed ones, or no longer.

    Raises:
        StoreError: There is no such answer, or it cannot be written.
    """
    claim = store.missed_claims.find_or_add_answer_claim(item, turn)
    mark = LabelMark.COMPLETE if complete else LabelMark.INCOMPLETE
    return _record_answer_event(store, run, claim, reviewer, mark)


def _record_answer_event(
    store: Store, run: RunId, claim: ClaimId, reviewer: str, mark: LabelMark
) -> LabelEvent:
    return store.label_log.append_label_event(
        claim, reviewer, Action.MARKED, run=run, judge_verdict=None, saw_judge=False, mark=mark
    )
