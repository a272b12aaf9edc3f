"""Human verdicts: what is recorded, undone and redone, and the scores that follow."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faithtui.domain.conversation import Rating
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.labels.label_events import (
    TIE,
    Action,
    Event,
    HumanVerdict,
    LabelEvent,
    list_events_to_redo,
    list_events_to_undo,
    list_top_verdicts,
    replay_log_into_verdicts,
)
from faithtui.domain.scores import ScoreState, make_score
from faithtui.errors import StoreError
from faithtui.store.records import ClaimView, ItemRow, ItemState
from faithtui.store.store import Store
from tests.store.building import SPEC, Labels, assess, judged, make_conversation, windows_of

LABELS: Labels = {1: ["yes", "no"], 3: ["idk", None]}


def say(
    store: Store,
    claim: ClaimId,
    verdict: str | None,
    reviewer: str = "me",
    action: Action = Action.OVERRIDDEN,
    note: str | None = None,
    run: RunId | None = None,
) -> LabelEvent:
    return store.label_log.append_label_event(
        claim, reviewer, action, verdict, note, run=run, judge_verdict=None, saw_judge=True
    )


def claims_of(store: Store, item: ItemId, reviewer: str = "me") -> tuple[ClaimView, ...]:
    return store.runs.read_conversation_for_review(item, reviewer).claims


def row_of(store: Store, item: ItemId) -> ItemRow:
    (row,) = store.runs.read_item_rows([item])
    return row


def test_a_verdict_corrects_the_scores_at_once(store: Store) -> None:
    run, item = judged(store, make_conversation(), {1: ["yes", "no"], 3: ["yes"]})
    claims = claims_of(store, item)
    act = say(store, claims[1].id, "yes", run=run, note="it does say so")
    assert (act.claim, act.reviewer, act.action, act.verdict, act.note) == (
        (claims[1].id, "me", Action.OVERRIDDEN, "yes", "it does say so")
    )
    row = row_of(store, item)
    assert row.scores is not None
    assert row.corrected is not None
    assert row.scores.windowed == make_score((1 / 2 + 2 / 3) / 2)
    assert (row.corrected.windowed, row.corrected.pooled) == (make_score(1.0), make_score(1.0))
    assert (row.labelled, row.overridden) == (1, 1)
    totals = store.runs.read_run(run)
    assert (totals.labelled, totals.corrected) == (1, 1.0)
    assert totals.score == pytest.approx(7 / 12, abs=1e-12)
    view = store.runs.read_conversation_for_review(item, "me")
    assert [window.corrected for window in view.windows] == [make_score(1.0), make_score(1.0)]
    assert [window.score for window in view.windows] == [make_score(0.5), make_score(2 / 3)]
    assert view.claims[1].mine == HumanVerdict(
        claims[1].id, "me", "yes", Action.OVERRIDDEN, "it does say so"
    )
    assert view.claims[1].human == "yes"
    assert view.claims[1].first_window_verdict.label == "no"


def test_a_person_can_fill_in_a_missing_verdict(store: Store) -> None:
    _, item = judged(store, make_conversation(), LABELS)
    before = row_of(store, item)
    assert before.corrected is not None
    assert before.corrected.windowed.state is ScoreState.INCOMPLETE
    say(store, claims_of(store, item)[3].id, "no")
    after = row_of(store, item)
    assert after.scores == before.scores
    assert after.corrected is not None
    assert after.corrected.pooled == make_score(0.5)


def test_an_unfair_claim_leaves_the_corrected_score(store: Store) -> None:
    _, item = judged(store, make_conversation(), {1: ["yes", "no"]})
    say(store, claims_of(store, item)[1].id, "x")
    corrected = row_of(store, item).corrected
    assert corrected is not None
    assert corrected.pooled == make_score(1.0)


def test_agreeing_is_labelled_and_not_overridden(store: Store) -> None:
    run, item = judged(store, make_conversation(), {1: ["yes"]})
    say(store, claims_of(store, item)[0].id, "yes", action=Action.AGREED)
    row = row_of(store, item)
    assert (row.labelled, row.overridden) == (1, 0)
    assert store.runs.read_run(run).labelled == 1


def test_what_was_in_view_is_not_blind_whatever_the_caller_knew(store: Store) -> None:
    run, item = judged(store, make_conversation(), {1: ["yes", "no"], 3: ["yes", "no"]})
    other, _ = judged(store, make_conversation(), {1: ["no", "no"]})
    seen, marked, ranged, unseen = (each.id for each in claims_of(store, item))
    label_log = store.label_log
    before = label_log.record_verdict(unseen, "me", "yes", run=run, saw_judge=False)
    assert (before.action, before.saw_judge) == (Action.BLIND, False)
    store.exposures.record(item, "me")
    mine = label_log.record_verdict(seen, "me", "yes", run=run, saw_judge=False)
    assert (mine.action, mine.saw_judge) == (Action.AGREED, True)
    for reviewer, where in (("you", run), ("me", other)):
        act = label_log.record_verdict(seen, reviewer, "yes", run=where, saw_judge=False)
        assert (act.action, act.saw_judge) == (Action.BLIND, False), (reviewer, where)
    # It is no word of this judge that was in view; the gate asks about such labels.
    assert store.provenance.list_claims_labelled_blind_after_other_run([seen, marked]) == {seen}
    act = label_log.append_label_event(
        marked, "me", Action.ADJUDICATED, "yes", run=run, judge_verdict=None, saw_judge=False
    )
    assert act.saw_judge
    coded = label_log.append_label_event(
        unseen, "me", Action.CODED, run=run, judge_verdict=None, saw_judge=False, code="judge"
    )
    assert not coded.saw_judge, "the label that was blind stays so in every run"
    (act,) = label_log.append_label_events_as_one_step(
        [Event(None, ranged, "me", Action.BULK, "no", run=run)]
    )
    assert act.saw_judge


def test_a_verdict_reaches_every_run_that_holds_the_claim(store: Store) -> None:
    first, one = judged(store, make_conversation(), {1: ["yes"]})
    second, two = judged(store, make_conversation(), {1: ["no"]})
    say(store, claims_of(store, one)[0].id, "no", run=first)
    assert [row_of(store, item).overridden for item in (one, two)] == [1, 0]
    assert [store.runs.read_run(run).corrected for run in (first, second)] == [0.0, 0.0]
    third, three = judged(store, make_conversation(), {1: ["yes"]})
    assert row_of(store, three).overridden == 1
    assert store.runs.read_run(third).labelled == 1


def test_labels_on_an_unfinished_conversation_count_and_score_when_it_is_done(
    store: Store,
) -> None:
    run, item = judged(store, make_conversation(), {1: ["yes"]}, finish=None)
    say(store, claims_of(store, item)[0].id, "no")
    assert (row_of(store, item).labelled, row_of(store, item).corrected) == (1, None)
    store.runs.score_and_finish_item(item, ItemState.DONE, None)
    corrected = row_of(store, item).corrected
    assert corrected is not None
    assert corrected.pooled == make_score(0.0)
    assert store.runs.read_run(run).labelled == 1


def test_others_are_told_apart_and_the_majority_corrects(store: Store) -> None:
    rating = Rating(1, "ann", "faithbench-span", "Benign", "Claim 1.0")
    conversation = make_conversation(ratings=[rating])
    _, item = judged(store, conversation, {1: ["no"]})
    assert row_of(store, item).overridden == 1
    claim = claims_of(store, item)[0].id
    say(store, claim, "no", "bob")
    say(store, claim, "no", "me")
    (seen,) = claims_of(store, item)
    assert seen.mine is not None
    assert (seen.mine.verdict, seen.human) == ("no", "no")
    assert [(each.reviewer, each.verdict) for each in seen.others] == [
        ("ann", "yes"),
        ("bob", "no"),
    ]
    assert row_of(store, item).overridden == 0


def test_an_imported_label_without_a_verdict_leaves_the_same_persons_verdict_alone(
    store: Store,
) -> None:
    ratings = [
        Rating(1, "ann", "faithbench-span", "Unwanted", "Claim 1.0"),
        Rating(1, "ann", "faithbench-span", "unlabelled", "Claim 1.0", note="unsure why"),
    ]
    _, item = judged(store, make_conversation(ratings=ratings), {1: ["yes"]})
    (claim,) = claims_of(store, item)
    assert claim.human == "no"
    assert claim.others[0].note == "unsure why"


def test_undo_and_redo_walk_through_the_log_and_survive_a_restart(path: Path) -> None:
    with Store.open(path) as store:
        _, item = judged(store, make_conversation(), LABELS)
        first, second, *_ = (claim.id for claim in claims_of(store, item))
        acts = [say(store, first, "no"), say(store, second, "yes"), say(store, first, "idk")]
        say(store, first, "x", "somebody else")
    with Store.open(path) as store:
        assert store.label_log.redo("me") == ()
        assert store.label_log.undo("me") == (acts[2],)
        assert store.label_log.undo("me") == (acts[1],)
    with Store.open(path) as store:
        assert store.label_log.redo("me") == (acts[1],)
        assert [claim.mine and claim.mine.verdict for claim in claims_of(store, item)[:2]] == (
            ["no", "yes"]
        )
        assert store.label_log.undo("me") == (acts[1],)
        assert store.label_log.undo("me") == (acts[0],)
        assert store.label_log.undo("me") == ()
        assert [claim.mine for claim in claims_of(store, item)] == [None] * 4
        say(store, second, "no")
        assert store.label_log.redo("me") == ()


def test_imported_labels_are_not_undone(store: Store) -> None:
    rating = Rating(1, "me", "faithbench-span", "Unwanted", "Claim 1.0")
    judged(store, make_conversation(ratings=[rating]), {1: ["yes"]})
    assert store.label_log.undo("me") == ()


def test_undo_brings_every_number_back(store: Store) -> None:
    run, item = judged(store, make_conversation(), LABELS)
    before = (row_of(store, item), replace(store.runs.read_run(run), calls=0))
    for claim in claims_of(store, item):
        say(store, claim.id, "no")
    assert row_of(store, item).labelled == 4
    while store.label_log.undo("me"):
        pass
    assert (row_of(store, item), store.runs.read_run(run)) == before


def test_a_claim_that_is_not_there_is_named_and_nothing_written(store: Store) -> None:
    with pytest.raises(StoreError, match="there is no claim 4; reload the conversation"):
        say(store, ClaimId(4), "no")


def test_a_claim_is_found_in_its_run(store: Store) -> None:
    run, item = judged(store, make_conversation(), {1: ["yes"]})
    other, _ = judged(store, make_conversation("two"), {1: ["yes"]})
    claim = claims_of(store, item)[0].id
    assert store.label_log.find_item_id_of_claim(run, claim) == item
    assert store.label_log.find_item_id_of_claim(other, claim) is None


steps = st.lists(
    st.one_of(
        st.tuples(
            st.integers(0, 3),
            st.sampled_from(["me", "bob"]),
            st.sampled_from(
                [
                    (Action.BLIND, "yes"),
                    (Action.OVERRIDDEN, "no"),
                    (Action.AGREED, "idk"),
                    (Action.ADJUDICATED, "x"),
                    (Action.BULK, "no"),
                    (Action.SKIPPED, None),
                    (Action.NOTED, None),
                ]
            ),
            st.none() | st.sampled_from(["", "a note"]),
        ),
        st.tuples(st.sampled_from(["undo", "redo"]), st.sampled_from(["me", "bob"])),
    ),
    max_size=12,
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_the_store_stands_where_a_replay_of_the_log_stands(
    store: Store, script: list[tuple[object, ...]]
) -> None:
    key = f"chat {store.conversations.count()}"
    run, item = judged(store, make_conversation(key), LABELS)
    claims = [claim.id for claim in claims_of(store, item)]
    reviewers = {"me": f"me {key}", "bob": f"bob {key}"}
    log: list[LabelEvent] = []

    def remember(act: LabelEvent) -> None:
        log.append(act)

    for step in script:
        match step:
            case ("undo", str(who)):
                expected = list_events_to_undo(log, reviewers[who])
                assert store.label_log.undo(reviewers[who]) == expected
                action = Action.WITHDRAWN
            case ("redo", str(who)):
                expected = list_events_to_redo(log, reviewers[who])
                assert store.label_log.redo(reviewers[who]) == expected
                action = Action.RESTORED
            case (
                int(place),
                str(who),
                (Action() as said, (str() | None) as verdict),
                (str() | None) as note,
            ):
                remember(say(store, claims[place], verdict, reviewers[who], said, note))
                continue
            case _:
                raise AssertionError(step)
        for each in reversed(expected):
            # The store numbers rows without gaps, so the row it wrote is the next one.
            number = type(each.id)(max(act.id for act in log) + 1)
            remember(LabelEvent(number, each.claim, reviewers[who], action, target=each.id))
    state = replay_log_into_verdicts(log)
    view = store.runs.read_conversation_for_review(item, reviewers["me"])
    for claim in view.claims:
        said_of = tuple(found for (about, _), found in state.items() if about == claim.id)
        mine = state.get((claim.id, reviewers["me"]))
        assert claim.mine == mine
        assert Counter(claim.others) == Counter(each for each in said_of if each != mine)
        top = list_top_verdicts(said_of)
        assert claim.human == (TIE if len(top) > 1 else next(iter(top), None))
    human = {claim.id: claim.human for claim in view.claims if claim.human is not None}
    assert view.item.labelled == len(human) == store.runs.read_run(run).labelled
    assert view.item.overridden == sum(
        claim.human not in (None, TIE, claim.first_window_verdict.label) for claim in view.claims
    )
    rebuilt, fresh = judged(store, make_conversation(key), LABELS)
    assert row_of(store, fresh).corrected == view.item.corrected
    assert store.runs.read_run(rebuilt).corrected == store.runs.read_run(run).corrected


def test_a_label_is_recorded_between_the_windows_of_a_running_judge(store: Store) -> None:
    conversation = make_conversation(answers=3)
    store.conversations.import_batch([conversation])
    run = store.runs.create(SPEC, store.conversations.list_ids())
    (item,) = store.runs.list_item_ids(run)
    labels: Labels = {1: ["yes"], 3: ["yes"], 5: ["yes"]}
    first, second, third = windows_of(conversation)
    store.runs.save_window(item, assess(first, labels))
    say(store, claims_of(store, item)[0].id, "no", run=run)
    store.runs.save_window(item, assess(second, labels))
    store.runs.save_window(item, assess(third, labels))
    store.runs.score_and_finish_item(item, ItemState.DONE, None)
    row = row_of(store, item)
    assert row.corrected is not None
    assert row.corrected.pooled.value == pytest.approx(2 / 3)


def test_undo_far_back_reads_what_the_end_of_the_log_does_not_tell(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faithtui.store.annotations.label_log._UNDO_WINDOW", 3)
    _, item = judged(store, make_conversation(), LABELS)
    (claim, *_) = claims_of(store, item)
    said = [say(store, claim.id, verdict) for verdict in ("yes", "no", "idk", "x", "no")]
    assert [store.label_log.undo("me") for _ in range(6)] == [
        *((act,) for act in reversed(said)),
        (),
    ]
    assert [store.label_log.redo("me") for _ in range(6)] == [*((act,) for act in said), ()]


def test_acts_given_at_once_stand_in_the_log_in_their_order(store: Store) -> None:
    run, item = judged(
        store, make_conversation(), {1: ["yes", "no", "yes", "no"], 3: ["yes", "no", "yes"]}
    )
    claims = [each.id for each in claims_of(store, item)][::-1]
    acts = store.label_log.append_label_events_as_one_step(
        [Event(None, claim, "me", Action.BULK, "yes", run=run) for claim in claims]
    )
    assert [act.claim for act in acts] == claims
    assert [act.claim for act in store.label_log.undo("me")] == claims
