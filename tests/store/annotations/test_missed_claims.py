"""Claims that a judge missed, complete answers, marked evidence: recorded, undone, counted."""

import pytest
from sqlalchemy import update

from faithtui.agreement.labelled_units import EvidenceUnit, ExtractionUnit
from faithtui.domain.conversation import Span
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.labels.label_events import Action, LabelMark, MarkedPassage
from faithtui.engine.review.missed_claims import remove_missed_claim
from faithtui.errors import InputError, StoreError
from faithtui.store.annotations.blind_view import hide_judge_verdicts
from faithtui.store.schema.tables import truth
from faithtui.store.store import Store
from tests.store.building import FACTS, judged, make_conversation, spec_of

LABELS = {1: ("yes", "no"), 3: ("yes",)}
SPEC = spec_of("turn-faithfulness", FACTS)


def mark(store: Store, claim: ClaimId, run: RunId, which: LabelMark, reviewer: str = "ann") -> None:
    store.label_log.append_label_event(
        claim, reviewer, Action.MARKED, run=run, judge_verdict=None, saw_judge=False, mark=which
    )


def miss(store: Store, run: RunId, item: ItemId, turn: int, text: str, who: str = "ann") -> ClaimId:
    claim = store.missed_claims.find_or_add_missed_claim(item, turn, text)
    mark(store, claim, run, LabelMark.MISSED, who)
    return claim


def extraction(store: Store, run: RunId) -> tuple[ExtractionUnit, ...]:
    return store.labelled_units.read_report_units(run).extraction


def test_a_missed_claim_is_seen_and_taken_back(store: Store) -> None:
    run, item = judged(store, make_conversation(), LABELS, spec=SPEC)
    claim = store.missed_claims.find_or_add_missed_claim(
        item, 1, "  The fee is\n nothing. ", Span(0, 3)
    )
    assert store.missed_claims.find_or_add_missed_claim(item, 1, "the fee is nothing.") == claim
    mark(store, claim, run, LabelMark.MISSED)
    (missed,) = store.runs.read_conversation_for_review(item, "ann").missed
    assert (missed.text, missed.turn, missed.span) == ("The fee is nothing.", 1, Span(0, 3))
    assert (missed.reviewers, missed.is_mine) == (("ann",), True)
    (theirs,) = store.runs.read_conversation_for_review(item, "bo").missed
    assert not theirs.is_mine
    store.label_log.undo("ann")
    assert store.runs.read_conversation_for_review(item, "ann").missed == ()
    store.label_log.redo("ann")
    mark(store, claim, run, LabelMark.NOT_MISSED)
    assert store.runs.read_conversation_for_review(item, "ann").missed == ()


def test_what_is_no_missed_claim_is_refused(store: Store) -> None:
    _, item = judged(store, make_conversation(), LABELS, spec=SPEC)
    with pytest.raises(InputError, match="the judge extracted this"):
        store.missed_claims.find_or_add_missed_claim(item, 1, "claim 1.0")
    with pytest.raises(InputError, match="the judge extracted this"):
        store.missed_claims.find_or_add_missed_claim(item, 1, "Claim 1.0.")
    with pytest.raises(InputError, match="has no words"):
        store.missed_claims.find_or_add_missed_claim(item, 1, " … ")
    with pytest.raises(InputError, match="4,000"):
        store.missed_claims.find_or_add_missed_claim(item, 1, "x" * 4_001)
    with pytest.raises(StoreError, match="no answer at turn 1"):
        store.missed_claims.find_or_add_missed_claim(item, 0, "The user says so.")


def test_a_claim_that_nobody_added_is_not_made_by_removing_it(store: Store) -> None:
    run, item = judged(store, make_conversation(), LABELS, spec=SPEC)
    with pytest.raises(StoreError, match="no such claim at turn 2; reload the conversation"):
        remove_missed_claim(store, run, item, 1, "Nobody said this.", reviewer="ann")
    with pytest.raises(StoreError, match="no answer at turn 1"):
        remove_missed_claim(store, run, item, 0, "Nobody said this.", reviewer="ann")
    assert store.label_log.read_newest_event_id() == 0
    claim = miss(store, run, item, 1, "The fee is nothing.")
    assert store.missed_claims.find_missed_claim(item, 1, "the fee is\nnothing.") == claim
    remove_missed_claim(store, run, item, 1, "The fee is nothing.", reviewer="ann")
    assert store.runs.read_conversation_for_review(item, "ann").missed == ()


def test_recall_counts_complete_answers_alone(store: Store) -> None:
    run, item = judged(store, make_conversation(), LABELS, spec=SPEC)
    miss(store, run, item, 1, "The fee is nothing.")
    miss(store, run, item, 1, "The fee is nothing.", "bo")
    miss(store, run, item, 3, "It rains.")
    assert extraction(store, run) == (), "nobody said that these are all"
    answer = store.missed_claims.find_or_add_answer_claim(item, 1)
    mark(store, answer, run, LabelMark.COMPLETE)
    first, second, _ = store.runs.read_conversation_for_review(item, "ann").claims
    for claim, verdict in ((first, "yes"), (second, "x")):
        store.label_log.record_verdict(claim.id, "ann", verdict, run=run, saw_judge=True)
    (found,) = extraction(store, run)
    assert (found.turn, found.fair, found.unfair, found.unlabelled, found.missed) == (1, 1, 1, 0, 1)
    assert found.reviewers == ("ann",)
    (complete,) = store.runs.read_conversation_for_review(item, "ann").complete
    assert (complete.turn, complete.is_mine) == (1, True)
    mark(store, answer, run, LabelMark.INCOMPLETE)
    assert extraction(store, run) == ()


def test_what_is_said_of_one_run_says_nothing_of_another(store: Store) -> None:
    run, item = judged(store, make_conversation(), LABELS, spec=SPEC)
    other, other_item = judged(store, make_conversation(), LABELS, spec=SPEC)
    miss(store, run, item, 1, "The fee is nothing.")
    mark(store, store.missed_claims.find_or_add_answer_claim(item, 1), run, LabelMark.COMPLETE)
    assert len(extraction(store, run)) == 1
    assert extraction(store, other) == ()
    assert store.runs.read_conversation_for_review(other_item, "ann").missed == ()
    mark(
        store,
        store.missed_claims.find_or_add_answer_claim(other_item, 1),
        other,
        LabelMark.COMPLETE,
    )
    (found,) = extraction(store, other)
    assert (found.fair, found.missed) == (2, 0)
    assert len(extraction(store, run)) == 1, "the first run keeps its own"


def test_marks_change_no_score_and_no_count_of_labels(store: Store) -> None:
    run, item = judged(store, make_conversation(), LABELS, spec=SPEC)
    before = store.runs.read_item_rows([item]), store.runs.read_run(run).labelled
    units = store.labelled_units.read_report_units(run)
    miss(store, run, item, 1, "The fee is nothing.")
    mark(store, store.missed_claims.find_or_add_answer_claim(item, 1), run, LabelMark.COMPLETE)
    assert (store.runs.read_item_rows([item]), store.runs.read_run(run).labelled) == before
    after = store.labelled_units.read_report_units(run)
    assert (after.claims, after.answers, after.unrated) == (
        units.claims,
        units.answers,
        units.unrated,
    )


def test_a_blind_reviewer_sees_own_marks_alone(store: Store) -> None:
    run, item = judged(store, make_conversation(), LABELS, spec=SPEC)
    miss(store, run, item, 1, "The fee is nothing.", "bo")
    miss(store, run, item, 1, "It rains.")
    mark(
        store, store.missed_claims.find_or_add_answer_claim(item, 1), run, LabelMark.COMPLETE, "bo"
    )
    view = hide_judge_verdicts(store.runs.read_conversation_for_review(item, "ann"))
    assert [each.text for each in view.missed] == ["It rains."]
    assert view.complete == ()


def evidence(store: Store, run: RunId) -> tuple[EvidenceUnit, ...]:
    return store.labelled_units.read_report_units(run).evidence


def test_marked_words_stand_beside_those_of_the_truths_the_judge_named(store: Store) -> None:
    run, item = judged(store, make_conversation(), LABELS, spec=SPEC)
    view = store.runs.read_conversation_for_review(item, "ann")
    passage = next(each for turn in view.turns for each in turn.documents or ())
    assert passage.text == "Fact 0."
    told = update(truth).where(truth.c.text == "Truth 1").values(text="It is fact 0.")
    store._database.run_in_write_transaction(lambda connection: connection.execute(told))
    for place, end in ((0, 4), (1, 7)):
        store.label_log.append_label_event(
            view.claims[place].id,
            "ann",
            Action.EVIDENCE,
            run=run,
            judge_verdict=None,
            saw_judge=False,
            evidence=[MarkedPassage(passage.hash, 0, end)],
        )
    supported, contradicted = evidence(store, run)
    assert supported.marked == {(passage.hash, 0)}
    assert supported.cited == {(passage.hash, 0), (passage.hash, 1)}, "the truth is found by words"
    assert contradicted.marked == {(passage.hash, 0), (passage.hash, 1)}
    assert contradicted.cited == frozenset(), "no truth contradicts it"
    details = store.claim_details.read_marked_evidence(run)
    assert [each.text for each in details[view.claims[0].id]] == ["Fact"]
    store.label_log.undo("ann")
    assert [each.claim for each in evidence(store, run)] == [view.claims[0].id]
