"""What agreement is computed from."""

from dataclasses import replace
from functools import partial

import pytest

from faithtui.agreement.labelled_units import ClaimUnit, LabelState, Opinion
from faithtui.domain.conversation import Conversation, Rating
from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.scores import ScoreState, make_empty_score, make_score
from faithtui.store.records import ItemState
from faithtui.store.store import Store
from tests.store.building import RULE, SPEC, Labels, assess, judged, make_conversation, windows_of

MTRAG = "mtrag-faithfulness-1-4"


def test_every_unique_claim_is_read_once_in_the_order_of_the_text(store: Store) -> None:
    conversation = replace(make_conversation(answers=3), group="together")
    store.conversations.import_batch([make_conversation("other"), conversation])
    run = store.runs.create(SPEC, store.conversations.list_ids())
    other, item = store.runs.list_item_ids(run)
    said: list[Labels] = [
        {1: ["yes", "no"]},
        {1: ["yes", "idk"], 3: [None]},
        {1: ["yes", None], 3: [None], 5: ["idk"]},
    ]
    for window, labels in zip(windows_of(conversation), said, strict=True):
        store.runs.save_window(item, assess(window, labels))
    store.runs.save_window(other, assess(windows_of(conversation)[0], {1: ["no"]}))
    claims = store.runs.read_conversation_for_review(item, "me").claims
    for reviewer, action, verdict in (
        ("me", Action.OVERRIDDEN, "no"),
        ("bob", Action.BLIND, "no"),
        ("cyd", Action.BULK, "yes"),
    ):
        store.label_log.append_label_event(
            claims[0].id, reviewer, action, verdict, run=run, judge_verdict="yes", saw_judge=False
        )
    first, *readings = store.labelled_units.read_claim_units(run)
    assert (first.key, first.group, first.judge) == ("other", "other", "no")
    about = partial(
        ClaimUnit, conversation=store.conversations.list_ids()[1], key="one", group="together"
    )
    assert readings == [
        about(
            claims[0].id,
            turn=1,
            text="Claim 1.0",
            judge="yes",
            human="no",
            reviewers=2,
            windows=3,
            steady=True,
            blind=False,
            state=LabelState.LABELLED,
            opinions=(
                Opinion("me", "no", Action.OVERRIDDEN, blind=False, order=0),
                Opinion("bob", "no", Action.BLIND, blind=True, order=1),
            ),
        ),
        about(
            claims[1].id,
            turn=1,
            text="Claim 1.1",
            judge="no",
            human=None,
            reviewers=0,
            windows=3,
            steady=False,
        ),
        about(
            claims[2].id,
            turn=3,
            text="Claim 3.0",
            judge=None,
            human=None,
            reviewers=0,
            windows=2,
            steady=True,
        ),
        about(
            claims[3].id,
            turn=5,
            text="Claim 5.0",
            judge="idk",
            human=None,
            reviewers=0,
            windows=1,
            steady=True,
        ),
    ]


def test_imported_claims_that_the_judge_never_saw_are_no_readings(store: Store) -> None:
    rating = Rating(1, "ann", "faithbench-span", "Unwanted", "Marked by hand")
    run, _ = judged(store, make_conversation(ratings=[rating]), {1: ["yes"]})
    assert [each.text for each in store.labelled_units.read_claim_units(run)] == ["Claim 1.0"]


@pytest.mark.parametrize(
    ("actions", "blind"),
    [
        ([], None),
        ([Action.BLIND], True),
        ([Action.BLIND, Action.IMPORTED], True),
        ([Action.BLIND, Action.AGREED], False),
        ([Action.OVERRIDDEN], False),
        ([Action.SKIPPED], None),
    ],
)
def test_a_reading_says_whether_people_had_seen_the_verdict(
    store: Store, actions: list[Action], blind: bool | None
) -> None:
    run, item = judged(store, make_conversation(), {1: ["yes"]})
    (claim,) = store.runs.read_conversation_for_review(item, "me").claims
    for number, action in enumerate(actions):
        store.label_log.append_label_event(
            claim.id,
            f"p{number}",
            action,
            "yes",
            run=run,
            judge_verdict="yes",
            saw_judge=action is not Action.IMPORTED,
        )
    (reading,) = store.labelled_units.read_claim_units(run)
    assert reading.blind is blind


def test_windows_without_a_claim_are_counted_apart_from_failed_ones(store: Store) -> None:
    conversation = make_conversation(answers=3)
    store.conversations.import_batch([conversation])
    run = store.runs.create(SPEC, store.conversations.list_ids())
    (item,) = store.runs.list_item_ids(run)
    first, second, third = windows_of(conversation)
    store.runs.save_window(item, assess(first, {}))
    store.runs.save_window(item, assess(second, {1: ["yes"]}))
    failed = replace(
        assess(third, {}),
        score=make_empty_score(ScoreState.FAILED, "JudgeTimeout: late"),
    )
    store.runs.save_window(item, failed)
    assert store.run_contents.count_windows_without_claims(run) == 1


def test_readings_belong_to_their_run(store: Store) -> None:
    first, _ = judged(store, make_conversation(), {1: ["yes"]})
    second, _ = judged(store, make_conversation(), {1: ["no"]})
    empty = store.runs.create(SPEC, [])
    judge = [
        [each.judge for each in store.labelled_units.read_claim_units(run)]
        for run in (first, second)
    ]
    assert judge == [["yes"], ["no"]]
    assert store.labelled_units.read_claim_units(empty) == ()
    assert store.labelled_units.read_rated_answer_units(empty) == ()


def rated(*ratings: Rating) -> Conversation:
    return make_conversation(answers=3, ratings=ratings)


def test_a_rated_answer_is_scored_by_its_own_claims(store: Store) -> None:
    conversation = rated(
        Rating(1, "ann", MTRAG, "4"),
        Rating(1, "bob", MTRAG, "2"),
        Rating(1, "cyd", MTRAG, "3"),
        Rating(3, "ann", MTRAG, "1"),
        Rating(5, "ann", "made up", "Weird"),
    )
    labels: Labels = {1: ["yes", "no", "idk", "no"], 3: ["no"]}
    run, _ = judged(store, conversation, labels)
    one, two, three = store.labelled_units.read_rated_answer_units(run)
    assert (one.turn, one.score, one.claims, one.passes) == (1, make_score(0.5), 4, True)
    assert (one.human, one.raters) == ("yes", 3)
    assert one.rating == pytest.approx(2 / 3)
    assert (two.turn, two.score, two.claims, two.passes) == (3, make_score(0.0), 1, False)
    assert (two.human, two.raters, two.rating) == ("no", 1, 0.0)
    assert (three.turn, three.score, three.claims, three.passes) == (5, make_score(1.0), 0, True)
    assert (three.human, three.raters, three.rating) == (None, 1, None)
    assert {each.key for each in (one, two, three)} == {"one"}


def test_people_correcting_claims_do_not_change_what_the_judge_said_of_the_answer(
    store: Store,
) -> None:
    run, item = judged(store, rated(Rating(1, "ann", MTRAG, "4")), {1: ["no"]})
    claim = store.runs.read_conversation_for_review(item, "me").claims[0].id
    store.label_log.append_label_event(
        claim, "me", Action.OVERRIDDEN, "yes", run=run, judge_verdict="no", saw_judge=True
    )
    (answer,) = store.labelled_units.read_rated_answer_units(run)
    assert answer.score == make_score(0.0)


def test_an_answer_with_a_missing_verdict_has_no_score_even_under_a_peers_rule(
    store: Store,
) -> None:
    spec = replace(SPEC, rule=replace(RULE, as_peer=True))
    run, _ = judged(store, rated(Rating(1, "ann", MTRAG, "4")), {1: ["yes", None]}, spec=spec)
    (answer,) = store.labelled_units.read_rated_answer_units(run)
    assert answer.score == make_empty_score(ScoreState.INCOMPLETE, "1 of 2 claims have no verdict")
    assert answer.passes is None


def test_answers_that_nobody_rated_are_read_beside_the_rated_ones(store: Store) -> None:
    one = make_conversation(answers=4, ratings=[Rating(1, "ann", MTRAG, "4")])
    store.conversations.import_batch(
        [one, make_conversation("two", answers=1), make_conversation("failed", answers=1)]
    )
    run = store.runs.create(SPEC, store.conversations.list_ids())
    first, second, third = store.runs.list_item_ids(run)
    for window in windows_of(one):
        store.runs.save_window(first, assess(window, {1: ["yes"], 3: ["no"], 5: ["yes", None]}))
    store.runs.save_window(
        second, assess(windows_of(make_conversation("two", answers=1))[0], {1: ["yes"]})
    )
    for item, state in ((first, ItemState.DONE), (second, ItemState.DONE)):
        store.runs.score_and_finish_item(item, state, None)
    store.runs.score_and_finish_item(third, ItemState.FAILED, "no answer")
    found = store.labelled_units.read_report_units(run)
    assert [each.turn for each in found.answers] == [1]
    # Turn 5 has a claim without a verdict, and nothing was judged in turn 7.
    assert [(each.group, each.passes) for each in found.unrated] == [
        ("one", False),
        ("one", None),
        ("one", None),
        ("two", True),
    ]


def test_where_nobody_rated_anything_no_answer_is_read(store: Store) -> None:
    run, _ = judged(store, make_conversation(), {1: ["yes"]})
    assert store.labelled_units.read_report_units(run).unrated == ()


def planned(store: Store, conversation: Conversation) -> tuple[RunId, ItemId]:
    store.conversations.import_batch([conversation])
    run = store.runs.create(SPEC, store.conversations.list_ids())
    (item,) = store.runs.list_item_ids(run)
    return run, item


def test_an_answer_whose_window_failed_has_no_score(store: Store) -> None:
    conversation = rated(Rating(1, "ann", MTRAG, "4"), Rating(3, "ann", MTRAG, "4"))
    run, item = planned(store, conversation)
    failed = make_empty_score(ScoreState.FAILED, "timeout")
    first, second, _ = windows_of(conversation)
    store.runs.save_window(item, assess(first, {}, score=failed))
    store.runs.save_window(item, assess(second, {3: ["yes"]}))
    store.runs.score_and_finish_item(item, ItemState.DONE, None)
    one, two = store.labelled_units.read_rated_answer_units(run)
    assert (one.score, one.passes) == (failed, None)
    assert (two.score, two.passes) == (make_score(1.0), True)


def test_an_answer_in_no_window_has_no_score(store: Store) -> None:
    conversation = rated(Rating(5, "ann", MTRAG, "4"))
    run, item = planned(store, conversation)
    store.runs.save_window(item, assess(windows_of(conversation)[0], {1: ["yes"]}))
    store.runs.score_and_finish_item(item, ItemState.DONE, None)
    (answer,) = store.labelled_units.read_rated_answer_units(run)
    assert answer.score == make_empty_score(ScoreState.SKIPPED, "the answer is in no window")


@pytest.mark.parametrize("state", [ItemState.FAILED, ItemState.SKIPPED, None])
def test_answers_of_conversations_that_are_not_done_are_left_out(
    store: Store, state: ItemState | None
) -> None:
    run, _ = judged(store, rated(Rating(1, "ann", MTRAG, "4")), {1: ["yes"]}, finish=state)
    assert store.labelled_units.read_rated_answer_units(run) == ()
