"""What is read for the comparison of judges and people."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from faithtui.agreement.report.figures.rater_comparison import ClaimOpinions
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.labels.label_events import Action, LabelMark
from faithtui.errors import StoreError
from faithtui.store.store import Store
from tests.store.building import FACTS, INFERRED, Labels, judged, make_conversation, spec_of

LABELS: Labels = {1: ["yes", "no"], 3: ["idk", None]}
FIRST = spec_of("turn-faithfulness", FACTS)
SECOND = spec_of("turn-faithfulness", FACTS, "openai:gpt")


def say(
    store: Store,
    claim: ClaimId,
    reviewer: str,
    verdict: str | None,
    action: Action = Action.BLIND,
    note: str | None = None,
    mark: LabelMark | None = None,
) -> None:
    store.label_log.append_label_event(
        claim,
        reviewer,
        action,
        verdict,
        note,
        run=None,
        judge_verdict=None,
        saw_judge=False,
        mark=mark,
    )


def claims_of(store: Store, item: ItemId) -> Sequence[ClaimId]:
    return [each.id for each in store.runs.read_conversation_for_review(item, "ann").claims]


def one(claims: Sequence[ClaimOpinions], claim: ClaimId) -> ClaimOpinions:
    (found,) = [each for each in claims if each.claim == claim]
    return found


def test_a_final_word_leaves_what_its_giver_had_said(store: Store) -> None:
    run, item = judged(store, make_conversation(), LABELS, spec=FIRST)
    claim = claims_of(store, item)[1]
    say(store, claim, "ann", "yes", note="it does")
    say(store, claim, "bo", "no")
    say(store, claim, "ann", "no", Action.ADJUDICATED, note="bo is right")
    (found,) = store.raters.read_rater_records(run).claims
    assert [(each.reviewer, each.verdict, each.note) for each in found.opinions] == [
        ("ann", "yes", "it does"),
        ("bo", "no", None),
    ]
    assert found.final is not None
    assert (found.final.reviewer, found.final.verdict, found.final.note) == (
        "ann",
        "no",
        "bo is right",
    )
    assert store.runs.read_conversation_for_review(item, "ann").claims[1].human == "no"
    store.label_log.undo("ann")
    (again,) = store.raters.read_rater_records(run).claims
    assert again.is_undecided


def test_judges_are_runs_of_the_same_metric_on_the_same_claims(store: Store) -> None:
    first, item = judged(store, make_conversation(), LABELS, spec=FIRST)
    second, _ = judged(store, make_conversation(), {1: ["no", "no"], 3: ["idk"]}, spec=SECOND)
    judged(
        store, make_conversation(), {1: ["1", "0"]}, spec=spec_of("ragas-faithfulness", INFERRED)
    )
    claims = claims_of(store, item)
    say(store, claims[0], "ann", "yes")
    say(store, claims[3], "ann", "no")
    say(store, claims[2], "ann", None, Action.MARKED, mark=LabelMark.FLAG)
    found = store.raters.read_rater_records(first)
    assert [each.id for each in found.runs] == [first, second]
    assert [each.claim for each in found.claims] == [claims[0], claims[2], claims[3]]
    assert one(found.claims, claims[0]).judges == {first: "yes", second: "no"}
    assert one(found.claims, claims[3]).judges == {first: None}
    assert one(found.claims, claims[2]).flagged
    (differing,) = store.raters.read_judge_disagreements(first)
    assert differing.claim == claims[0]


def test_of_archived_runs_only_the_one_that_is_looked_at_is_compared(store: Store) -> None:
    first, item = judged(store, make_conversation(), LABELS, spec=FIRST)
    second, _ = judged(store, make_conversation(), {1: ["no", "no"], 3: ["idk"]}, spec=SECOND)
    claim = claims_of(store, item)[0]
    say(store, claim, "ann", "yes")
    store.runs.archive([first])
    assert one(store.raters.read_rater_records(first).claims, claim).judges == {
        first: "yes",
        second: "no",
    }
    assert one(store.raters.read_rater_records(second).claims, claim).judges == {second: "no"}
    assert [each.claim for each in store.raters.read_judge_disagreements(first)] == [claim]
    assert store.raters.read_judge_disagreements(second) == ()


def test_words_are_those_of_the_run(store: Store) -> None:
    _, item = judged(store, make_conversation(), LABELS, spec=FIRST)
    run, _ = judged(
        store, make_conversation(), {1: ["1", "0"]}, spec=spec_of("ragas-faithfulness", INFERRED)
    )
    claim = claims_of(store, item)[0]
    say(store, claim, "ann", "no")
    say(store, claim, "bo", "idk")
    (found,) = store.raters.read_rater_records(run).claims
    assert [each.verdict for each in found.opinions] == ["0", "0"]
    assert not found.has_disagreement


def test_own_repeats_come_with_the_time_between(store: Store) -> None:
    run, item = judged(store, make_conversation(), LABELS, spec=FIRST)
    claim = claims_of(store, item)[0]
    say(store, claim, "ann", "yes")
    say(store, claim, "bo", "yes")
    say(store, claim, "ann", "no", Action.REPEATED)
    (found,) = store.raters.read_rater_records(run).repeats
    assert (found.reviewer, found.first, found.second, found.gap_s) == ("ann", "yes", "no", 2.0)


def test_rows_show_what_a_claim_says(store: Store) -> None:
    _, item = judged(store, make_conversation(), LABELS, spec=FIRST)
    claims = claims_of(store, item)
    rows = {row.id: row for row in store.raters.read_claim_rows([*claims, ClaimId(999)])}
    assert (rows[claims[2]].key, rows[claims[2]].turn, rows[claims[2]].text) == (
        "one",
        3,
        "Claim 3.0",
    )
    assert len(rows) == 4


def test_there_must_be_such_a_run(store: Store) -> None:
    with pytest.raises(StoreError, match="there is no run 9"):
        store.raters.read_rater_records(RunId(9))
    with pytest.raises(StoreError, match="there is no run 9"):
        store.raters.read_judge_disagreements(RunId(9))


def test_nothing_said_is_nothing_compared(store: Store) -> None:
    run, _ = judged(store, replace(make_conversation(), ratings=()), LABELS, spec=FIRST)
    found = store.raters.read_rater_records(run)
    assert (found.claims, found.repeats) == ((), ())
    assert [each.id for each in found.runs] == [run]
