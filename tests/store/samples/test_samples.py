from collections import Counter
from dataclasses import replace

import pytest

from faithtui.agreement.sampling.draw import (
    SampleKind,
    SamplePlan,
    SamplingDesign,
    SamplingFrame,
    enlarge_plan,
    make_sample_draw,
)
from faithtui.domain.conversation import Conversation
from faithtui.domain.ids import ClaimId, RunId, SampleId
from faithtui.domain.labels.label_events import Action
from faithtui.errors import StoreError
from faithtui.store.records import RunSpec
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.samples.sampling_frames import STRATA
from faithtui.store.store import Store
from tests.store.building import SPEC, Labels, assess, imported, make_conversation, windows_of

TWO = {1: ("yes", "no"), 3: ("idk", "yes", None)}
LONG = {2 * n + 1: ("yes",) for n in range(7)}


def run_over(store: Store, told: list[tuple[Conversation, Labels]], spec: RunSpec = SPEC) -> RunId:
    """Run over several conversations."""
    run = store.runs.create(spec, [imported(store, each) for each, _ in told])
    for item, (each, labels) in zip(store.runs.list_item_ids(run), told, strict=True):
        for window in windows_of(each):
            store.runs.save_window(item, assess(window, labels, rule=spec.rule))
    return run


@pytest.fixture
def run(store: Store) -> RunId:
    """A run over four conversations of five claims and one of seven."""
    told: list[tuple[Conversation, Labels]] = [(make_conversation(key), TWO) for key in "abcd"]
    return run_over(store, [*told, (make_conversation("long", answers=7), LONG)])


def sampled(store: Store, run: RunId, plan: SamplePlan, *by: str, **changes: object) -> SampleRow:
    drawn = make_sample_draw(store.samples.read_frame(run, by), plan)
    return store.samples.save_draw_as_sample(
        run,
        "ann",
        drawn,
        plan,
        stratified_by=by,
        **{"name": "first", **changes},  # type: ignore[arg-type]  # tests
    )


def say(
    store: Store, run: RunId, claim: ClaimId, verdict: str, sample: SampleId | None, **more: object
) -> None:
    store.label_log.record_verdict(
        claim,
        "ann",
        verdict,
        run=run,
        saw_judge=False,
        sample=sample,
        **more,  # type: ignore[arg-type]  # tests
    )


def test_the_frame_lists_every_claim_once_in_the_order_of_the_text(
    store: Store, run: RunId
) -> None:
    frame = store.samples.read_frame(run)
    assert [each.claim for each in frame] == [
        each.claim for each in store.labelled_units.read_claim_units(run)
    ]
    assert len(frame) == len({each.claim for each in frame}) == 27
    assert frame.conversation_count == 5
    assert frame.claim_counts_by_stratum == {"": 27}


def test_strata_of_verdicts_and_turns(store: Store, run: RunId) -> None:
    assert store.samples.read_frame(run, ["verdict"]).claim_counts_by_stratum == {
        "judge idk": 4,
        "judge no": 4,
        "judge without a verdict": 4,
        "judge yes": 15,
    }
    assert store.samples.read_frame(run, ["turn"]).claim_counts_by_stratum == {
        "turns 1-2": 22,
        "turns 3-5": 3,
        "turns 6+": 2,
    }
    both = store.samples.read_frame(run, ["verdict", "turn"]).claim_counts_by_stratum
    assert both["judge yes · turns 6+"] == 2
    assert sum(both.values()) == 27


def test_strata_of_models_and_of_words_that_changed(store: Store) -> None:
    one = replace(make_conversation("one"), metadata={"model": "m-1\x1b[1m"})
    two = make_conversation("two", answers=1)
    run = store.runs.create(SPEC, [imported(store, one), imported(store, two)])
    first, second = store.runs.list_item_ids(run)
    early, late = windows_of(one)
    store.runs.save_window(first, assess(early, {1: ("yes", "no")}))
    store.runs.save_window(first, assess(late, {1: ("yes", "yes"), 3: ("no",)}))
    store.runs.save_window(second, assess(windows_of(two)[0], {1: ("idk",)}))
    # A name of a stratum is typed, and written into tables.
    found = store.samples.read_frame(run, ["model"]).claim_counts_by_stratum
    assert found == {"m-1␛[1m": 3, "model unknown": 1}
    assert store.samples.read_frame(run, ["flip"]).claim_counts_by_stratum == {
        "word changed": 1,
        "word steady": 3,
    }


def test_strata_of_what_another_judge_says(store: Store) -> None:
    one = make_conversation("one", answers=1)
    run = run_over(store, [(one, {1: ("yes", "no", "idk")})])
    assert store.samples.read_frame(run, ["disagreement"]).claim_counts_by_stratum == {
        "one judge": 3
    }
    run_over(store, [(one, {1: ("yes", "yes")})], replace(SPEC, judge="other"))
    assert store.samples.read_frame(run, ["disagreement"]).claim_counts_by_stratum == {
        "judges agree": 1,
        "judges differ": 1,
        "one judge": 1,
    }


def test_other_strata_are_refused_by_name(store: Store, run: RunId) -> None:
    assert len(STRATA) == 5
    with pytest.raises(StoreError, match=r"'colour'.*verdict, turn, model"):
        store.samples.read_frame(run, ["verdict", "colour"])


@pytest.mark.parametrize("design", list(SamplingDesign))
def test_a_sample_comes_back_as_it_was_drawn(
    store: Store, run: RunId, design: SamplingDesign
) -> None:
    by = ("verdict",) if design is SamplingDesign.STRATIFIED else ()
    plan = SamplePlan(design, 7, 4, shown_share=0.5)
    drawn = make_sample_draw(store.samples.read_frame(run, by), plan)
    row = sampled(store, run, plan, *by, name="no\x00 markup [b]")
    assert (
        row == store.samples.read_sample(row.id, "ann") == store.samples.list_samples("ann", run)[0]
    )
    assert (row.design, row.seed, row.shown_share, row.frame) == (design, 7, 0.5, 27)
    assert (row.strata, row.stratified_by, row.blind) == (drawn.strata, by, True)
    assert (row.size, row.answered, row.skipped, row.pace_s) == (len(drawn.claims), 0, 0, None)
    entries = store.samples.list_claims_in_served_order(row.id, "ann")
    assert [(e.item, e.claim, e.stratum, e.probability, e.shown) for e in entries] == [
        (e.unit.item, e.unit.claim, e.stratum, e.probability, e.shown) for e in drawn.claims
    ]
    assert [each.position for each in entries] == list(range(len(entries)))


def test_nothing_drawn_is_no_sample(store: Store, run: RunId) -> None:
    with pytest.raises(StoreError, match="nothing can be drawn"):
        store.samples.save_draw_as_sample(
            run,
            "ann",
            make_sample_draw(SamplingFrame(), SamplePlan(SamplingDesign.SIMPLE, 1, 5)),
            SamplePlan(SamplingDesign.SIMPLE, 1),
            name="x",
        )
    with pytest.raises(StoreError, match="no sample 99"):
        store.samples.read_sample(SampleId(99), "ann")


def test_probability_and_stratum_are_stored_with_each_label(store: Store, run: RunId) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.STRATIFIED, 3, 8), "verdict")
    for entry in store.samples.list_claims_in_served_order(row.id, "ann"):
        say(store, run, entry.claim, "no", row.id)
    with store.samples._database.open_reader() as connection:
        found = connection.exec_driver_sql(
            "SELECT claim_id, stratum, probability, sample_id FROM human_label"
        ).all()
    assert {(each[0], each[1], each[2]) for each in found} == {
        (each.claim, each.stratum, each.probability)
        for each in store.samples.list_claims_in_served_order(row.id, "ann")
    }
    assert {each[3] for each in found} == {row.id}
    probabilities = Counter(round(each[2], 6) for each in found)
    assert probabilities == {0.5: 6, round(2 / 15, 6): 2}


def test_progress_is_a_persons_own_and_of_this_sample(store: Store, run: RunId) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 3, 6))
    first, second, third, *_ = [
        each.claim for each in store.samples.list_claims_in_served_order(row.id, "ann")
    ]
    say(store, run, first, "yes", row.id, seconds=4.0)
    say(store, run, second, "x", row.id, seconds=12.0)
    say(store, run, third, "no", None, seconds=99.0)
    store.label_log.append_label_event(
        third, "ann", Action.SKIPPED, run=run, judge_verdict=None, saw_judge=False, sample=row.id
    )
    now = store.samples.read_sample(row.id, "ann")
    assert (now.answered, now.skipped, now.remaining) == (2, 1, 4)
    assert (now.pace_s, now.eta_s) == (None, None), "two tell no pace"
    assert store.samples.read_sample(row.id, "bo").answered == 0
    marks = [
        (e.answered, e.skipped) for e in store.samples.list_claims_in_served_order(row.id, "ann")
    ]
    assert marks[:4] == [(True, False), (True, False), (False, True), (False, False)]
    store.label_log.undo("ann")
    store.label_log.undo("ann")
    store.label_log.undo("ann")
    now = store.samples.read_sample(row.id, "ann")
    assert (now.answered, now.skipped) == (1, 0)
    for seconds in (8.0, 9.0, 0.5, 3.0, 8.0):
        say(store, run, second, "yes", row.id, seconds=seconds)
    after = store.samples.read_sample(row.id, "ann")
    assert (after.remaining, after.pace_s, after.eta_s) == (4, 8.0, 32.0)


def test_a_skip_behind_a_label_of_the_sample_leaves_the_claim_answered(
    store: Store, run: RunId
) -> None:
    """Another app gave the label just before."""
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 3, 6))
    claim = store.samples.list_claims_in_served_order(row.id, "ann")[0].claim
    say(store, run, claim, "no", row.id)
    store.label_log.append_label_event(
        claim, "ann", Action.SKIPPED, run=run, judge_verdict=None, saw_judge=False, sample=row.id
    )
    now = store.samples.read_sample(row.id, "ann")
    assert (now.answered, now.skipped) == (1, 0)
    (label,) = store.samples.read_human_and_judge_labels(row.id, "ann")
    assert (label.event.claim, label.event.verdict) == (claim, "no")


def test_what_was_said_is_read_beside_what_the_judge_said(store: Store, run: RunId) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.STRATIFIED, 3, 27), "verdict")
    judge = {each.claim: each.judge for each in store.labelled_units.read_claim_units(run)}
    entries = store.samples.list_claims_in_served_order(row.id, "ann")
    for entry in entries[:5]:
        say(store, run, entry.claim, "no", row.id)
    found = store.samples.read_human_and_judge_labels(row.id, "ann")
    assert [each.event.claim for each in found] == [each.claim for each in entries[:5]]
    assert [each.judge for each in found] == [judge[each.event.claim] for each in found]
    assert {(each.event.verdict, each.event.saw_judge) for each in found} == {("no", False)}
    assert store.samples.read_human_and_judge_labels(row.id, "bo") == ()
    strata = store.samples.read_stratum_progress(row.id, "ann")
    assert sum(each.labelled for each in strata) == 5
    for each in strata:
        assert each.size == each.stratum.drawn == each.stratum.population
        assert each.weight_when_sample_is_done == 1
        assert each.weight_now == (each.size / each.labelled if each.labelled else None)


def test_claims_shown_with_the_verdict_have_no_part_in_weights(store: Store, run: RunId) -> None:
    """They count in no figure; the queue said another weight than `claims.csv`."""
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 3, 20, shown_share=0.4))
    entries = store.samples.list_claims_in_served_order(row.id, "ann")
    for entry in entries[:10]:
        say(store, run, entry.claim, "no", row.id)
    (found,) = store.samples.read_stratum_progress(row.id, "ann")
    blind = sum(not each.shown for each in entries[:10])
    assert 0 < blind < 10
    assert (found.labelled, found.weight_now) == (blind, row.frame / blind)
    counted = sum(not each.shown for each in entries)
    assert found.weight_when_sample_is_done == row.frame / counted


def test_drawn_conversations_weigh_the_same_where_some_claims_are_shown(
    store: Store, run: RunId
) -> None:
    """Claims that are shown were taken off the number of conversations."""
    row = sampled(store, run, SamplePlan(SamplingDesign.CONVERSATIONS, 3, 4, shown_share=0.4))
    (found,) = store.samples.read_stratum_progress(row.id, "ann")
    assert found.shown > 0
    assert found.weight_when_sample_is_done == found.stratum.population / 4


@pytest.mark.parametrize("design", list(SamplingDesign))
def test_drawing_more_keeps_what_was_served_in_its_place(
    store: Store, run: RunId, design: SamplingDesign
) -> None:
    by = ("verdict",) if design is SamplingDesign.STRATIFIED else ()
    row = sampled(store, run, SamplePlan(design, 7, 2, shown_share=0.5), *by)
    before = store.samples.list_claims_in_served_order(row.id, "ann")
    say(store, run, before[0].claim, "no", row.id)
    longer = store.samples.draw_more_claims(row.id, "ann", 2)
    after = store.samples.list_claims_in_served_order(row.id, "ann")
    served = [(each.position, each.claim, each.shown) for each in before]
    assert [(each.position, each.claim, each.shown) for each in after[: len(before)]] == served
    assert len(after) == longer.size > len(before)
    assert longer.answered == 1
    assert len({each.claim for each in after}) == len(after)
    probability = {each.name: each.draw_probability for each in longer.strata}
    assert all(each.probability == probability[each.stratum] for each in after)
    assert sum(each.drawn for each in longer.strata) == 4
    plan = enlarge_plan(SamplePlan(design, 7), row.strata, 2)
    whole = make_sample_draw(store.samples.read_frame(run, by), plan)
    assert {each.claim for each in after} == {each.unit.claim for each in whole.claims}


def test_drawing_more_than_there_is_takes_the_rest_and_then_nothing(
    store: Store, run: RunId
) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 20))
    assert store.samples.draw_more_claims(row.id, "ann", 100).size == 27
    with pytest.raises(StoreError, match="every claim"):
        store.samples.draw_more_claims(row.id, "ann", 1)


def test_a_sample_of_another_frame_is_not_extended(store: Store, run: RunId) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 5))
    item = store.runs.list_item_ids(run)[0]
    late = windows_of(make_conversation("a"))[1]
    store.runs.save_window(
        item,
        replace(assess(late, {1: ("no",), 3: ("yes",) * 4}), window=replace(late, position=2)),
    )
    assert len(store.samples.read_frame(run)) > row.frame
    with pytest.raises(StoreError, match="not what this sample was drawn from"):
        store.samples.draw_more_claims(row.id, "ann", 5)
    assert store.samples.read_sample(row.id, "ann") == row


@pytest.mark.parametrize("kind", [SampleKind.SPOT_CHECK, SampleKind.REPEAT])
def test_fixed_samples_are_not_extended(store: Store, run: RunId, kind: SampleKind) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 5), kind=kind)
    with pytest.raises(StoreError, match=f"a {kind} is not extended"):
        store.samples.draw_more_claims(row.id, "ann", 5)


def test_closing_keeps_the_decision(store: Store, run: RunId) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 5), kind=SampleKind.SPOT_CHECK)
    store.samples.close_sample(row.id, "calm")
    closed = store.samples.read_sample(row.id, "ann")
    assert closed.decision == "calm"
    assert closed.closed_at is not None


def test_own_repeats_are_drawn_from_own_counted_labels_and_change_no_verdict(
    store: Store, run: RunId
) -> None:
    frame = store.samples.read_frame(run)
    mine = [each.claim for each in frame[:6]]
    for claim in mine:
        say(store, run, claim, "yes", None)
    store.label_log.append_label_event(
        frame[7].claim, "ann", Action.SKIPPED, run=run, judge_verdict=None, saw_judge=False
    )
    own = store.samples.read_frame_for_blind_repeats(run, "ann")
    assert [each.claim for each in own] == mine
    assert len(store.samples.read_frame_for_blind_repeats(run, "bo")) == 0
    plan = SamplePlan(SamplingDesign.SIMPLE, 1, 3)
    row = store.samples.save_draw_as_sample(
        run, "ann", make_sample_draw(own, plan), plan, name="again", kind=SampleKind.REPEAT
    )
    claim = store.samples.list_claims_in_served_order(row.id, "ann")[0].claim
    say(store, run, claim, "no", row.id, repeats=True)
    assert store.samples.read_sample(row.id, "ann").answered == 1
    (reading,) = store.samples.read_human_and_judge_labels(row.id, "ann")
    assert reading.event.verdict == "no"
    after = {each.claim: each.human for each in store.labelled_units.read_claim_units(run)}
    assert after[claim] == "yes"


def test_samples_of_all_runs_are_listed_newest_first(store: Store, run: RunId) -> None:
    other = run_over(store, [(make_conversation("z"), TWO)], replace(SPEC, judge="other"))
    rows = [
        sampled(store, each, SamplePlan(SamplingDesign.SIMPLE, seed, 2))
        for seed, each in enumerate((run, other, run))
    ]
    assert [row.id for row in store.samples.list_samples("ann")] == [
        row.id for row in reversed(rows)
    ]
    assert [row.id for row in store.samples.list_samples("ann", run)] == [rows[2].id, rows[0].id]
