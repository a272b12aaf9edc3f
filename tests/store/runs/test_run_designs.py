"""How the labelled claims of a run were chosen, by samples that are in the store."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from faithtui.agreement.labelled_units import (
    ClaimUnit,
    DesignKind,
    LabelDesign,
    StratumCounts,
    UnitSettings,
)
from faithtui.agreement.sampling.draw import (
    SampleKind,
    SamplePlan,
    SamplingDesign,
    make_sample_draw,
)
from faithtui.domain.ids import ClaimId, RunId, SampleId
from faithtui.domain.labels.label_events import Action
from faithtui.errors import StoreError
from faithtui.store.records import ItemState, RunSpec
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.store import Store
from tests.store.building import (
    SPEC,
    Labels,
    assess,
    import_conversations,
    judged,
    make_conversation,
    windows_of,
)

_KIND_OF = {
    SamplingDesign.SIMPLE: DesignKind.SIMPLE,
    SamplingDesign.CONVERSATIONS: DesignKind.CLUSTER,
}

FIVE: Labels = {1: ("yes", "no"), 3: ("idk", "yes", "yes")}
"""Two windows; three times `yes`, once each of the others."""


@pytest.fixture
def run(store: Store) -> RunId:
    """A run over four conversations of five claims."""
    return judged_all(store, "abcd")


def judged_all(
    store: Store, keys: Iterable[str], labels: Labels = FIVE, spec: RunSpec = SPEC
) -> RunId:
    chats = [make_conversation(key) for key in keys]
    run = store.runs.create(spec, import_conversations(store, chats))
    for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
        for window in windows_of(each):
            store.runs.save_window(item, assess(window, labels))
        store.runs.score_and_finish_item(item, ItemState.DONE, None)
    return run


def sampled(
    store: Store,
    run: RunId,
    plan: SamplePlan,
    *by: str,
    name: str = "first",
    kind: SampleKind = SampleKind.SAMPLE,
) -> SampleRow:
    drawn = make_sample_draw(store.samples.read_frame(run, by), plan)
    return store.samples.save_draw_as_sample(
        run, "ann", drawn, plan, name=name, kind=kind, stratified_by=by
    )


def label(
    store: Store,
    run: RunId,
    claims: Iterable[ClaimId],
    word: str = "yes",
    who: str = "ann",
) -> None:
    for claim in claims:
        store.label_log.record_verdict(claim, who, word, run=run, saw_judge=False)


def skip(store: Store, run: RunId, claim: ClaimId) -> None:
    store.label_log.append_label_event(
        claim, "ann", Action.SKIPPED, run=run, judge_verdict=None, saw_judge=False
    )


def drawn(store: Store, row: SampleRow, stratum: str | None = None) -> list[ClaimId]:
    return [
        each.claim
        for each in store.samples.list_claims_in_served_order(row.id, "ann")
        if stratum is None or each.stratum == stratum
    ]


def claims_of(store: Store, run: RunId) -> tuple[ClaimUnit, ...]:
    return store.labelled_units.read_report_units(run).claims


def claims_of_sample(store: Store, run: RunId, sample: SampleId) -> tuple[ClaimUnit, ...]:
    return store.labelled_units.read_report_units(run, UnitSettings(sample=sample)).claims


def design(store: Store, run: RunId, sample: SampleId | None = None) -> LabelDesign:
    return store.labelled_units.read_report_units(run, UnitSettings(sample=sample)).design


def test_without_a_label_there_is_no_design(store: Store, run: RunId) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 10))
    skip(store, run, drawn(store, row)[0])
    assert design(store, run) == LabelDesign(DesignKind.NONE, 20, conversations=4)
    asked = design(store, run, row.id)
    assert (asked.kind, asked.sample, asked.random_prefix) == (DesignKind.NONE, row.id, True)
    assert asked.strata == (StratumCounts("", 20, 10, 0, 1),)


def test_a_run_that_judged_nothing_is_no_census(store: Store) -> None:
    assert design(store, store.runs.create(SPEC, [])) == LabelDesign(DesignKind.NONE, 0)


def test_every_claim_labelled_is_a_census_whatever_was_drawn(store: Store, run: RunId) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 10))
    claims = [each.claim for each in claims_of(store, run)]
    label(store, run, claims[:-1])
    assert design(store, run).kind is DesignKind.SIMPLE
    label(store, run, claims[-1:], "x")
    for asked in (None, row.id):
        assert design(store, run, asked) == LabelDesign(DesignKind.CENSUS, 20, conversations=4)
    assert {(each.stratum, each.position) for each in claims_of(store, run)} == {(None, None)}


def test_a_sample_of_every_claim_that_shows_some_is_no_census(store: Store, run: RunId) -> None:
    """Labels of claims that show the judge are in no figure, and leave the run open."""
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 20, shown_share=0.3))
    label(store, run, drawn(store, row))
    found = store.labelled_units.read_report_units(run)
    assert found.design.kind is DesignKind.SIMPLE
    assert 0 < sum(each.audit for each in found.claims) < 20
    part = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 19, shown_share=0.3))
    assert design(store, run, part.id).kind is DesignKind.CENSUS


def test_labels_by_hand_are_what_was_convenient(store: Store, run: RunId) -> None:
    first, second, *_ = claims_of(store, run)
    label(store, run, [first.claim, second.claim], "yes")
    assert design(store, run) == LabelDesign(DesignKind.CONVENIENCE, 20, conversations=4)


@pytest.mark.parametrize("word", ["idk", "x"])
def test_where_only_overrides_are_left_nothing_was_drawn(
    store: Store, run: RunId, word: str
) -> None:
    first, second, *_ = claims_of(store, run)
    label(store, run, [first.claim, second.claim], word)
    assert design(store, run).kind is DesignKind.OVERRIDE_ONLY
    assert design(store, run).strata == ()


def test_a_random_sample_is_told_with_its_places(store: Store, run: RunId) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 8), name="spring")
    order = drawn(store, row)
    label(store, run, order[:3])
    skip(store, run, order[3])
    outside = [each.claim for each in claims_of(store, run) if each.claim not in order]
    label(store, run, outside[:2])
    assert design(store, run) == LabelDesign(
        DesignKind.SIMPLE,
        20,
        strata=(StratumCounts("", 20, 8, 3, 1),),
        sample=row.id,
        name="spring",
        seed=7,
        random_prefix=True,
        outside=2,
        conversations=4,
    )
    places = {each.claim: (each.stratum, each.position) for each in claims_of(store, run)}
    assert [places[each] for each in order] == [("", place) for place in range(8)]
    assert {places[each] for each in outside} == {(None, None)}


@pytest.mark.parametrize(
    ("labelled", "skipped", "prefix"),
    [
        ([], [], True),
        ([0, 1, 2], [], True),
        ([0, 2], [1], True),
        ([2, 3], [0, 1], True),
        ([0, 2], [], False),
        ([1], [], False),
        ([0], [2], False),
    ],
)
def test_a_gap_in_the_drawn_order_is_found(
    store: Store, run: RunId, labelled: list[int], skipped: list[int], prefix: bool
) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 8))
    order = drawn(store, row)
    label(store, run, [order[place] for place in labelled])
    for place in skipped:
        skip(store, run, order[place])
    assert design(store, run, row.id).random_prefix is prefix


@pytest.mark.parametrize("size", [20, 19])
def test_labels_that_were_there_before_a_draw_of_most_claims_are_no_sample(
    store: Store, run: RunId, size: int
) -> None:
    """Whoever labels the worst conversation and then draws all claims has chosen those labels."""
    chosen = claims_of(store, run)[-3:]
    label(store, run, [each.claim for each in chosen])
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, size))
    order = drawn(store, row)
    places = [place for place, each in enumerate(order) if each in {it.claim for it in chosen}]
    found = design(store, run)
    assert (found.kind, found.name) == (DesignKind.CONVENIENCE, row.name)
    assert found.passed_over == places[-1] + 1 - len(places) > len(places)
    skip(store, run, order[0])
    assert design(store, run).kind is DesignKind.CONVENIENCE
    label(store, run, order[: places[-1] - 1])
    found = design(store, run)
    assert (found.kind, found.passed_over) == (DesignKind.SIMPLE, 1)


def test_a_pilot_is_taken_until_more_of_a_second_sample_is_labelled(
    store: Store, run: RunId
) -> None:
    pilot = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 3, 4), name="pilot")
    label(store, run, drawn(store, pilot))
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 15), name="second")
    order = drawn(store, row)
    assert sum(each in drawn(store, pilot) for each in order) == 3
    assert (design(store, run).kind, design(store, run).name) == (DesignKind.SIMPLE, "pilot")
    assert design(store, run, row.id).kind is DesignKind.CONVENIENCE
    label(store, run, order[:7])
    assert (design(store, run).kind, design(store, run).name) == (DesignKind.SIMPLE, "second")


def test_a_pilot_of_another_run_is_taken_until_an_own_sample_was_followed(
    store: Store, run: RunId
) -> None:
    pilot = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 3, 4), name="pilot")
    label(store, run, drawn(store, pilot))
    other = judged_all(store, "abcd", spec=replace(SPEC, judge="b", judge_fingerprint="b 1"))
    own = sampled(store, other, SamplePlan(SamplingDesign.SIMPLE, 7, 16), name="own")
    assert (design(store, other).kind, design(store, other).name) == (DesignKind.SIMPLE, "pilot")
    assert design(store, other, own.id).kind is DesignKind.CONVENIENCE
    label(store, other, drawn(store, own)[:12])
    assert (design(store, other).kind, design(store, other).name) == (DesignKind.SIMPLE, "own")


def test_of_claim_sets_a_tiny_one_does_not_hide_a_large_one(store: Store, run: RunId) -> None:
    large = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 16), name="large")
    label(store, run, drawn(store, large))
    tiny = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 8, 3), name="tiny")
    for each in (large, tiny):
        store.claim_sets.make_claim_set_version_if_changed(each.name, each.id, "ann")
    other = judged_all(store, "abcd", spec=replace(SPEC, judge="b", judge_fingerprint="b 1"))
    # As in a store that brought in the sets alone.
    store.deletions.delete_run(run, "ann")
    found = design(store, other)
    assert (found.kind, found.claim_set) == (DesignKind.SIMPLE, 1)


def test_a_small_sample_does_not_take_the_place_of_a_large_one(store: Store, run: RunId) -> None:
    large = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 20), name="large")
    order = drawn(store, large)
    label(store, run, order[11:])
    for seed in range(9):
        row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, seed, 1), name=f"s{seed}")
        assert row.size == 1
    assert (design(store, run).kind, design(store, run).name) == (DesignKind.CONVENIENCE, "large")


def test_a_second_run_takes_the_sample_that_was_followed_of_another(
    store: Store, run: RunId
) -> None:
    pilot = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 3, 4), name="pilot")
    label(store, run, drawn(store, pilot))
    sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 19), name="second")
    other = judged_all(store, "abcd", spec=replace(SPEC, judge="b", judge_fingerprint="b 1"))
    assert (design(store, other).kind, design(store, other).name) == (DesignKind.SIMPLE, "pilot")


def test_a_small_sample_of_another_run_does_not_take_the_place_of_a_large_one(
    store: Store, run: RunId
) -> None:
    large = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 20), name="large")
    label(store, run, drawn(store, large)[11:])
    for seed in range(9):
        sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, seed, 1), name=f"s{seed}")
    other = judged_all(store, "abcd", spec=replace(SPEC, judge="b", judge_fingerprint="b 1"))
    assert (design(store, other).kind, design(store, other).name) == (
        DesignKind.CONVENIENCE,
        "large",
    )


@pytest.mark.parametrize("count", [1, 3])
def test_some_claims_of_each_conversation_are_a_choice_too(
    store: Store, run: RunId, count: int
) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.CONVERSATIONS, 7, 4))
    for claims in by_conversation(store, run, drawn(store, row)):
        label(store, run, claims[:count])
    assert design(store, run).kind is DesignKind.CONVENIENCE


def test_labels_in_view_beside_blind_ones_make_no_choice_a_sample(store: Store, run: RunId) -> None:
    chosen = [each.claim for each in claims_of(store, run)[-3:]]
    label(store, run, chosen)
    sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 19))
    for claim in chosen:
        store.label_log.record_verdict(claim, "bob", "yes", run=run, saw_judge=True)
    blind = store.labelled_units.read_report_units(run, UnitSettings(blind_only=True)).design
    assert blind.kind is DesignKind.CONVENIENCE


def test_one_label_out_of_order_or_one_claim_left_out_chooses_nothing(
    store: Store, run: RunId
) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 20))
    order = drawn(store, row)
    label(store, run, [*order[:4], order[19]])
    found = design(store, run)
    assert (found.kind, found.passed_over, found.random_prefix) == (DesignKind.SIMPLE, 15, False)
    label(store, run, order[5:19])
    found = design(store, run)
    assert (found.kind, found.passed_over) == (DesignKind.SIMPLE, 1)


def test_where_more_is_skipped_than_labelled_what_is_labelled_was_chosen(
    store: Store, run: RunId
) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 19))
    order = drawn(store, row)
    label(store, run, order[:6])
    for each in order[6:13]:
        skip(store, run, each)
    found = design(store, run)
    assert (found.kind, found.passed_over) == (DesignKind.CONVENIENCE, 7)
    label(store, run, order[13:14])
    assert design(store, run).kind is DesignKind.SIMPLE


@pytest.mark.parametrize("plan", [SamplingDesign.SIMPLE, SamplingDesign.CONVERSATIONS])
def test_claims_that_were_served_with_the_judge_shown_are_not_passed_over(
    store: Store, run: RunId, plan: SamplingDesign
) -> None:
    size = 4 if plan is SamplingDesign.CONVERSATIONS else 19
    row = sampled(store, run, SamplePlan(plan, 7, size, {}, 0.4))
    served = store.samples.list_claims_in_served_order(row.id, "ann")
    shown = {each.claim for each in served if each.shown}
    assert len(shown) > 4
    for claim in drawn(store, row):
        store.label_log.record_verdict(claim, "ann", "yes", run=run, saw_judge=claim in shown)
    blind = store.labelled_units.read_report_units(run, UnitSettings(blind_only=True)).design
    assert blind.kind is design(store, run).kind is _KIND_OF[plan]
    assert blind.random_prefix


def test_claims_that_were_labelled_with_the_judge_in_view_are_not_passed_over(
    store: Store, run: RunId
) -> None:
    order = drawn(store, sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 19)))
    for place, claim in enumerate(order):
        store.label_log.record_verdict(claim, "ann", "yes", run=run, saw_judge=place < 12)
    blind = store.labelled_units.read_report_units(run, UnitSettings(blind_only=True)).design
    assert (blind.kind, blind.strata[0].labelled) == (DesignKind.SIMPLE, 7)


def test_conversations_that_were_labelled_before_a_draw_of_all_are_no_sample(
    store: Store, run: RunId
) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.CONVERSATIONS, 7, 4))
    *others, last = by_conversation(store, run, drawn(store, row))
    label(store, run, last)
    found = design(store, run)
    assert (found.kind, found.passed_over) == (DesignKind.CONVENIENCE, 3)
    label(store, run, [each for chat in others[:2] for each in chat])
    found = design(store, run)
    assert (found.kind, found.passed_over) == (DesignKind.CLUSTER, 1)


@pytest.mark.parametrize(
    ("labelled", "prefix"),
    [((5, 2, 0), True), ((5, 5, 1), True), ((3, 5, 0), False), ((1, 1, 1), False)],
)
def test_a_conversation_left_half_done_is_a_gap_before_another(
    store: Store, run: RunId, labelled: tuple[int, ...], prefix: bool
) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.CONVERSATIONS, 7, 3))
    order = drawn(store, row)
    for place, count in enumerate(labelled):
        label(store, run, order[5 * place : 5 * place + count])
    assert design(store, run).random_prefix is prefix


def test_what_was_answered_in_bulk_is_a_gap(store: Store, run: RunId) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 8))
    first, second, *_ = drawn(store, row)
    store.label_log.append_label_event(
        first, "ann", Action.BULK, "yes", run=run, judge_verdict="yes", saw_judge=True
    )
    label(store, run, [second])
    assert not design(store, run).random_prefix


def test_strata_are_counted_and_followed_each_by_itself(store: Store, run: RunId) -> None:
    plan = SamplePlan(SamplingDesign.STRATIFIED, 7, sizes={"judge yes": 4, "judge no": 3})
    row = sampled(store, run, plan, "verdict")
    assert design(store, run).kind is DesignKind.NONE
    label(store, run, drawn(store, row, "judge no"))
    skip(store, run, drawn(store, row, "judge yes")[0])
    found = design(store, run)
    assert (found.kind, found.random_prefix) == (DesignKind.STRATIFIED, True)
    assert found.strata == (
        StratumCounts("judge idk", 4, 0, 0, 0),
        StratumCounts("judge no", 4, 3, 3, 0),
        StratumCounts("judge yes", 12, 4, 0, 1),
    )
    label(store, run, drawn(store, row, "judge yes")[2:3])
    assert not design(store, run).random_prefix


def test_what_is_labelled_of_a_stratum_counts_as_often_as_it_stands_for_others(
    store: Store,
) -> None:
    run = judged_all(store, "abcdefgh")
    plan = SamplePlan(SamplingDesign.STRATIFIED, 7, sizes={"judge yes": 4, "judge no": 8})
    row = sampled(store, run, plan, "verdict")
    label(store, run, drawn(store, row, "judge no"))
    assert design(store, run).kind is DesignKind.STRATIFIED
    last = drawn(store, row, "judge yes")[3:]
    label(store, run, last)  # all that is known of 24 claims of 32
    assert design(store, run).kind is DesignKind.CONVENIENCE
    label(store, run, drawn(store, row, "judge yes")[:2])
    assert design(store, run).kind is DesignKind.STRATIFIED


def test_whoever_labels_counts(store: Store, run: RunId) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 8))
    first, second, *_ = drawn(store, row)
    label(store, run, [first], who="bob")
    label(store, run, [second], who="cyd")
    found = design(store, run)
    assert (found.kind, found.random_prefix) == (DesignKind.SIMPLE, True)
    assert found.strata[0].labelled == 2


def by_conversation(
    store: Store, run: RunId, order: Sequence[ClaimId]
) -> list[tuple[ClaimId, ...]]:
    """Put claims of a sample together, in the drawn order of their conversations."""
    chats = {each.claim: each.conversation for each in claims_of(store, run)}
    met = dict.fromkeys(chats[each] for each in order)
    return [tuple(each for each in order if chats[each] == one) for one in met]


def test_conversations_count_when_their_claims_are_labelled_but_for_a_few(
    store: Store, run: RunId
) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.CONVERSATIONS, 7, 3))
    one, two, three = by_conversation(store, run, drawn(store, row))
    label(store, run, [*one, *two[:2]])
    assert design(store, run).drawn_conversations == 1
    label(store, run, two[2:4])
    found = design(store, run)
    assert (found.kind, found.conversations) == (DesignKind.CLUSTER, 4)
    assert (found.drawn_conversations, found.random_prefix) == (2, True)
    assert found.strata == (StratumCounts("conversations", 20, 15, 9, 0),)
    # Its claims are in the figures, and what is left of the second one is not.
    label(store, run, three[1:2])
    assert not design(store, run).random_prefix
    label(store, run, three)
    assert (design(store, run).drawn_conversations, design(store, run).random_prefix) == (3, False)
    skip(store, run, two[4])
    assert (design(store, run).drawn_conversations, design(store, run).random_prefix) == (3, True)


def test_a_sample_that_was_extended_keeps_its_order(store: Store, run: RunId) -> None:
    plan = SamplePlan(SamplingDesign.STRATIFIED, 7, sizes={"judge yes": 2, "judge no": 1})
    row = sampled(store, run, plan, "verdict")
    label(store, run, drawn(store, row))
    assert design(store, run).random_prefix
    more = store.samples.draw_more_claims(row.id, "ann", 9)
    found = design(store, run)
    assert (found.random_prefix, sum(each.drawn for each in found.strata)) == (True, more.size)
    assert sum(each.labelled for each in found.strata) == 3
    later = [each for each in drawn(store, more, "judge yes")][2:]
    label(store, run, later[:1])
    assert design(store, run).random_prefix
    label(store, run, later[2:3])
    assert not design(store, run).random_prefix


def test_a_spot_check_is_a_random_sample_and_a_repeat_is_none(store: Store, run: RunId) -> None:
    spot = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 3, 4), kind=SampleKind.SPOT_CHECK)
    label(store, run, drawn(store, spot)[:2])
    own = store.samples.read_frame_for_blind_repeats(run, "ann")
    plan = SamplePlan(SamplingDesign.SIMPLE, 5, 2)
    repeat = store.samples.save_draw_as_sample(
        run, "ann", make_sample_draw(own, plan), plan, name="again", kind=SampleKind.REPEAT
    )
    found = design(store, run)
    assert (found.kind, found.sample) == (DesignKind.SIMPLE, spot.id)
    with pytest.raises(StoreError, match=f"sample {repeat.id} is a repeat"):
        design(store, run, repeat.id)


def test_the_sample_with_most_labels_is_taken_unless_one_is_asked_for(
    store: Store, run: RunId
) -> None:
    small = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 1, 3), name="small")
    large = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 2, 10), name="large")
    label(store, run, drawn(store, large)[:6])
    assert design(store, run).name == "large"
    assert design(store, run, small.id).name == "small"
    again = sampled(
        store, run, SamplePlan(SamplingDesign.SIMPLE, 2, 10), name="of equals the newest"
    )
    assert design(store, run).sample == again.id


def test_a_sample_asked_for_may_have_all_labels_outside(store: Store, run: RunId) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 1, 3))
    outside = [each.claim for each in claims_of(store, run) if each.position is None]
    others = [each for each in outside if each not in drawn(store, row)]
    label(store, run, others[:2])
    assert design(store, run).sample is None
    found = design(store, run, row.id)
    assert (found.kind, found.outside, found.strata[0].labelled) == (DesignKind.SIMPLE, 2, 0)


def test_a_sample_of_other_claims_is_refused(store: Store, run: RunId) -> None:
    other, _ = judged(store, make_conversation("z"), FIVE)
    row = sampled(store, other, SamplePlan(SamplingDesign.SIMPLE, 1, 3))
    with pytest.raises(StoreError, match=f"run {run} judged none of its claims"):
        design(store, run, row.id)
    with pytest.raises(StoreError, match=f"run {run} has no sample 99"):
        design(store, run, SampleId(99))
    label(store, other, drawn(store, row))
    assert design(store, run).kind is DesignKind.NONE


@pytest.mark.parametrize("by", [("verdict",), ("disagreement",)])
def test_another_judge_of_the_same_claims_has_the_strata_of_the_drawing(
    store: Store, run: RunId, by: tuple[str, ...]
) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.STRATIFIED, 7, 8), *by)
    label(store, run, drawn(store, row))
    before = design(store, run)
    second = judged_all(store, "abcd", {1: ("no", "no"), 3: ("no", "no", "yes")})
    found = design(store, second)
    assert found == replace(before, drawn_in=run)
    strata = {each.claim: each.stratum for each in claims_of(store, run)}
    assert {each.claim: each.stratum for each in claims_of(store, second)} == strata
    assert {each.judge for each in claims_of(store, second)} == {"yes", "no"}
    assert design(store, run) == before
    assert design(store, second, row.id) == found


def test_a_sample_stands_for_the_claims_that_it_was_drawn_from_alone(
    store: Store, run: RunId
) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.STRATIFIED, 7, 8), "verdict")
    label(store, run, drawn(store, row))
    part = judged_all(store, "abx")
    assert design(store, part).sample is None
    found = design(store, part, row.id)
    assert (found.frame_units, found.unjudged, found.beyond) == (10, 10, 5)
    assert {each.key for each in claims_of_sample(store, part, row.id)} == {"a", "b"}
    assert sum(each.population for each in found.strata) == 10
    inside = [each for each in claims_of_sample(store, part, row.id) if each.position is not None]
    assert sum(each.labelled for each in found.strata) == len(inside)
    # The same conversations, with a fifth of the claims beyond those that could be drawn.
    most = judged_all(store, "abcd", {1: ("yes", "no"), 3: ("idk", "yes", "yes", "yes")})
    assert design(store, most).sample is None
    assert design(store, most, row.id).beyond == 4


def test_drawn_conversations_stand_for_those_that_another_run_judged(
    store: Store, run: RunId
) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.CONVERSATIONS, 7, 2))
    label(store, run, drawn(store, row))
    second = judged_all(store, "abc")
    found = design(store, second)
    judged_keys = {each.key for each in claims_of(store, second) if each.position is not None}
    assert (found.kind, found.conversations) == (DesignKind.CLUSTER, 3)
    assert found.drawn_conversations == len(judged_keys)
    assert found.unjudged == 5


def test_blind_labels_alone_may_be_of_another_design(store: Store, run: RunId) -> None:
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 1, 4))
    first, *rest = drawn(store, row)
    store.label_log.record_verdict(first, "ann", "yes", run=run, saw_judge=True)
    label(store, run, rest)
    blind = store.labelled_units.read_report_units(run, UnitSettings(blind_only=True)).design
    assert design(store, run).random_prefix
    assert (blind.random_prefix, blind.in_view, blind.strata[0].labelled) == (True, 1, 3)


def test_claims_that_were_judged_after_the_draw_are_not_of_the_frame(store: Store) -> None:
    chats = [make_conversation(key) for key in "ab"]
    run = store.runs.create(SPEC, import_conversations(store, chats))
    first, second = store.runs.list_item_ids(run)
    for window in windows_of(chats[0]):
        store.runs.save_window(first, assess(window, FIVE))
    row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 1, 5))
    label(store, run, drawn(store, row))
    assert design(store, run).kind is DesignKind.CENSUS
    for window in windows_of(chats[1]):
        store.runs.save_window(second, assess(window, FIVE))
    found = design(store, run)
    assert (found.kind, found.frame_units, found.conversations) == (DesignKind.SIMPLE, 5, 2)
    assert found.strata == (StratumCounts("", 5, 5, 5, 0),)
