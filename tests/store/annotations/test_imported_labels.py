"""Labels that came with data and how they were given: each counts once, final ones as final."""

import sqlite3
from dataclasses import replace

import pytest

from faithtui.agreement.labelled_units import UnitSettings
from faithtui.domain.conversation import LabelRecord, Rating
from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.labels.label_events import Action
from faithtui.store.records import ImportCounts
from faithtui.store.runs.run_records import IMPORTED_FINGERPRINT
from faithtui.store.store import Store
from tests.store.building import SPEC, judged, make_conversation

FINAL = LabelRecord(Action.ADJUDICATED)
SEEN = LabelRecord(Action.IMPORTED, saw_judge=True, judge_verdict="yes", seconds=4.0)
SKIPPED = LabelRecord(Action.SKIPPED)


def rate(
    who: str, word: str, record: LabelRecord | None = None, claim: str | None = None
) -> Rating:
    return Rating(1, who, "faithtui", word, claim, record=record)


def bring(store: Store, *ratings: Rating) -> ImportCounts:
    return store.conversations.import_batch([make_conversation(answers=1, ratings=ratings)])


def judge(store: Store, *ratings: Rating) -> tuple[RunId, ItemId]:
    return judged(store, make_conversation(answers=1, ratings=ratings), {1: ["yes"]})


def read_answer_labels(store: Store, item: ItemId) -> dict[str, int]:
    (row,) = store.runs.read_items_with_list_marks([item], "me")
    return dict(row.answer_labels)


def count_labels(store: Store) -> int:
    (source,) = store.conversations.list_sources()
    return source.ratings


def test_a_final_label_of_an_answer_wins_and_is_counted(store: Store) -> None:
    ratings = (rate("ann", "no"), rate("ben", "no"), rate("lead", "yes", FINAL))
    run, item = judge(store, *ratings)
    assert read_answer_labels(store, item) == {"yes": 1}
    assert count_labels(store) == 3
    assert len(store.conversations.get(store.conversations.list_ids()[0]).ratings) == 3
    (answer,) = store.labelled_units.read_report_units(run, UnitSettings()).answers
    assert (answer.rating, answer.raters, answer.human) == (1.0, 3, "yes")


def test_an_answer_with_a_final_label_alone_is_rated(store: Store) -> None:
    run, item = judge(store, rate("lead", "no", FINAL))
    assert read_answer_labels(store, item) == {"no": 1}
    assert store.run_contents.count_imported_answer_labels(run) == 1
    (answer,) = store.labelled_units.read_report_units(run, UnitSettings()).answers
    assert (answer.rating, answer.raters) == (0.0, 1)


def test_skips_are_no_labels_of_answers_or_of_a_source(store: Store) -> None:
    run, item = judge(store, rate("ann", "", SKIPPED), rate("ben", "no", LabelRecord(Action.BULK)))
    assert read_answer_labels(store, item) == {}
    assert store.run_contents.count_imported_answer_labels(run) == 0
    assert not store.labelled_units.read_report_units(run, UnitSettings()).answers
    assert count_labels(store) == 1


@pytest.mark.parametrize("action", [Action.SKIPPED, Action.BULK, Action.ADJUDICATED])
def test_imported_labels_are_not_labelled_last(store: Store, action: Action) -> None:
    came = Rating(1, "ann", "faithtui", "yes", record=LabelRecord(action))
    store.conversations.import_batch(
        [make_conversation("plain"), make_conversation("labelled", ratings=(came,))]
    )
    run = store.runs.create(SPEC, store.conversations.list_ids())
    assert store.runs.list_item_ids(run, "recent") == store.runs.list_item_ids(run)


def test_how_known_labels_were_given_is_added_and_nothing_counts_twice(store: Store) -> None:
    plain = (rate("ann", "yes"), rate("ben", "no"))
    run, item = judge(store, *plain)
    told = (rate("ann", "yes", SEEN), rate("ben", "no"))
    assert bring(store, *told) == ImportCounts(unchanged=1)
    assert read_answer_labels(store, item) == {"tie": 1}
    assert count_labels(store) == 2
    assert store.conversations.get(store.conversations.list_ids()[0]).ratings == plain
    (answer,) = store.labelled_units.read_report_units(run, UnitSettings()).answers
    assert (answer.rating, answer.raters) == (0.5, 2)
    assert [(each.reviewer, each.blind) for each in answer.opinions] == [
        ("ben", True),
        ("ann", False),
    ]


def test_a_known_final_label_is_no_second_opinion_of_its_annotator(store: Store) -> None:
    run, item = judge(store, rate("ann", "yes"), rate("ben", "yes"), rate("lead", "no"))
    assert bring(store, rate("lead", "no", FINAL)).new_ratings == 0
    assert read_answer_labels(store, item) == {"no": 1}
    (answer,) = store.labelled_units.read_report_units(run, UnitSettings()).answers
    assert [each.action for each in answer.opinions if each.reviewer == "lead"] == [
        Action.ADJUDICATED
    ]


def test_what_says_less_of_a_known_label_changes_nothing(store: Store) -> None:
    run, _ = judge(store, rate("ann", "yes", SEEN))
    assert bring(store, rate("ann", "yes")).new_ratings == 0
    (answer,) = store.labelled_units.read_report_units(run, UnitSettings()).answers
    assert [each.blind for each in answer.opinions] == [False]


def test_a_label_given_here_since_stands(store: Store) -> None:
    run, _ = judge(store, rate("ann", "yes", claim="Claim 1.0"))
    (unit,) = store.labelled_units.read_claim_units(run)
    store.label_log.record_verdict(unit.claim, "ann", "no", run=run, saw_judge=False)
    bring(store, rate("ann", "yes", SEEN, "Claim 1.0"))
    (unit,) = store.labelled_units.read_claim_units(run)
    assert unit.human == "no"


def test_uncounted_labels_of_known_conversations_are_counted_as_left_out(store: Store) -> None:
    judge(store, rate("ann", "", SKIPPED))
    more = (
        rate("ann", "", SKIPPED),
        *(rate("ben", "yes", LabelRecord(each)) for each in (Action.BULK, Action.ACCEPTED)),
        rate("cyd", "", SKIPPED),
    )
    assert bring(store, *more) == ImportCounts(unchanged=1, ratings_left_out=3)


def test_misread_labels_are_told_however_they_were_given(store: Store) -> None:
    bring(store, rate("ann", "yes"), rate("lead", "no", FINAL), rate("ben", "", SKIPPED))
    with sqlite3.connect(store.path) as file:
        file.execute("UPDATE human_label SET verdict = 'idk' WHERE verdict IS NOT NULL")
    (misread,) = store.conversations.list_misread_labels()
    assert misread.count == 2


def test_a_rating_given_in_view_of_the_judge_is_no_blind_one(store: Store) -> None:
    run, _ = judge(store, rate("ann", "yes", SEEN), rate("ben", "no"))
    (answer,) = store.labelled_units.read_report_units(run, UnitSettings(blind_only=True)).answers
    assert (answer.rating, answer.raters) == (0.0, 1)


@pytest.mark.parametrize(
    ("record", "is_asked"),
    [
        (None, True),
        (LabelRecord(Action.IMPORTED), True),
        (FINAL, True),
        (LabelRecord(Action.BLIND, judge_verdict="yes", seconds=4.0), False),
        (SEEN, False),
    ],
)
def test_labels_beside_verdicts_of_a_judge_asked_elsewhere_may_be_of_after_them(
    store: Store, record: LabelRecord | None, is_asked: bool
) -> None:
    """What saw the judge is asked about as such; a run that is made here is younger than them."""
    chat = make_conversation(answers=1, ratings=[rate("ann", "yes", record, "Claim 1.0")])
    run, _ = judged(store, chat, {1: ["yes"]})
    (claim,) = [
        each.claim for each in store.labelled_units.read_report_units(run, UnitSettings()).claims
    ]
    assert store.provenance.list_claims_imported_after_judging([claim]) == set()
    judged(
        store,
        chat,
        {1: ["yes"]},
        spec=replace(SPEC, judge_fingerprint=f"{IMPORTED_FINGERPRINT}1 0"),
    )
    found = store.provenance.list_claims_imported_after_judging([claim])
    assert found == ({claim} if is_asked else set())
