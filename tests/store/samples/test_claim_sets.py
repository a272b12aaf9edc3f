"""Claim sets: what a version keeps, when there is a new one, and what deletion leaves of it."""

from dataclasses import replace

import pytest

from faithtui.agreement.labelled_units import DesignKind, UnitSettings
from faithtui.agreement.sampling.draw import SampleKind, SamplePlan, SamplingDesign
from faithtui.domain.claims.claim_set import ClaimSetBundle, hash_set_version
from faithtui.domain.claims.verdicts import Claim
from faithtui.domain.ids import ClaimSetId, RunId, SampleId
from faithtui.errors import StoreError
from faithtui.store.deletion_records import DeletionKind
from faithtui.store.records import ItemState
from faithtui.store.samples.claim_sets import ClaimSetRow
from faithtui.store.store import Store
from tests.store.building import SPEC, assess, import_conversations, make_conversation, windows_of
from tests.store.runs.test_run_designs import FIVE, drawn, judged_all, label, sampled

STRATIFIED = SamplePlan(SamplingDesign.STRATIFIED, 7, 8)


@pytest.fixture
def run(store: Store) -> RunId:
    return judged_all(store, "abcd")


@pytest.fixture
def made(store: Store, run: RunId) -> ClaimSetRow:
    """Version 1 of a set of 8 labelled claims of 20."""
    row = sampled(store, run, STRATIFIED, "verdict")
    label(store, run, drawn(store, row))
    found, is_new = store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
    assert is_new
    return found


def digest_of(found: ClaimSetBundle) -> str:
    return hash_set_version(
        found.metric, found.window_size, found.design, found.strata, found.claims
    )


def test_a_set_keeps_claims_strata_and_order_of_its_sample(
    store: Store, run: RunId, made: ClaimSetRow
) -> None:
    assert (made.title, made.frame, made.drawn, made.metric) == (
        *("shop version 1", 20, 8),
        "turn-faithfulness",
    )
    found = store.claim_sets.read_claim_set_bundle(made.id)
    assert digest_of(found) == made.digest
    assert sorted(each.place for each in found.claims if each.place is not None) == [*range(8)]
    assert {each.stratum for each in found.claims} == {"judge yes", "judge no", "judge idk"}
    assert len(found.labels.acts) == 8
    assert found.labels.samples == ()
    assert (
        store.claim_sets.find_version_by_name("shop")
        == store.claim_sets.find_version_by_name("shop@1")
        == made
    )
    conversation = min(store.claim_sets.list_conversation_ids(made.id))
    assert store.claim_sets.list_claims_in_conversation(
        made.id, conversation
    ) == store.run_contents.list_claims(run, conversation)


def test_a_version_is_made_only_where_something_changed(
    store: Store, run: RunId, made: ClaimSetRow
) -> None:
    assert store.claim_sets.make_claim_set_version_if_changed("shop", None, "bo") == (made, False)
    assert store.claim_sets.make_claim_set_version_if_changed("shop", SampleId(1), "bo") == (
        made,
        False,
    )
    first = drawn(store, store.samples.read_sample(SampleId(1), "ann"))[:1]
    label(store, run, first, "no", who="bo")
    assert store.claim_sets.read_version(made.id).has_new_labels
    second, is_new = store.claim_sets.make_claim_set_version_if_changed("shop", None, "bo")
    assert (is_new, second.title, second.digest) == (True, "shop version 2", made.digest)
    assert [each.version for each in store.claim_sets.list_versions()] == [2, 1]
    store.samples.draw_more_claims(SampleId(1), "ann", 3)
    third, _ = store.claim_sets.make_claim_set_version_if_changed("shop", SampleId(1), "bo")
    assert (third.version, third.drawn) == (3, 11)
    assert third.digest != second.digest
    assert store.claim_sets.find_version_by_name("shop@2") == second


@pytest.mark.parametrize(
    ("name", "sample", "message"),
    [
        ("two words", 1, "cannot be called so"),
        ("a/b", 1, "cannot be called so"),
        ("", 1, "cannot be called so"),
        ("x" * 61, 1, "cannot be called so"),
        ("new", None, "there is no claim set new"),
        ("new", 9, "there is no sample 9"),
        ("new", 2, "is a repeat"),
    ],
)
def test_what_cannot_be_a_set_is_refused(
    store: Store, run: RunId, made: ClaimSetRow, name: str, sample: int | None, message: str
) -> None:
    plan = SamplePlan(SamplingDesign.SIMPLE, 1, 3)
    sampled(store, run, plan, kind=SampleKind.REPEAT, name="again")
    with pytest.raises(StoreError, match=message):
        store.claim_sets.make_claim_set_version_if_changed(
            name, None if sample is None else SampleId(sample), "ann"
        )
    assert store.claim_sets.list_versions() == (made,)


def test_what_is_not_there_is_said(store: Store, made: ClaimSetRow) -> None:
    for name in ("shops", "shop@2", "shop@", "shop@x", f"shop@{'9' * 30}"):
        with pytest.raises(StoreError, match="there is no claim set"):
            store.claim_sets.find_version_by_name(name)
    with pytest.raises(StoreError, match="not in this store any more"):
        store.claim_sets.read_version(ClaimSetId(9))
    with pytest.raises(StoreError, match="there is no claim set shops"):
        store.claim_sets.delete_all_versions("shops")
    assert store.claim_sets.delete_all_versions("shop") == 1
    assert store.list_damage() == []


def test_a_set_stands_without_the_run_it_was_drawn_from(
    store: Store, run: RunId, made: ClaimSetRow
) -> None:
    before = store.labelled_units.read_report_units(run)
    second = judged_all(store, "abcd", {1: ("no", "no"), 3: ("no", "yes", "yes")})
    store.deletions.delete_run(run, "ann")
    assert store.samples.list_samples("ann") == ()
    found = store.labelled_units.read_report_units(second)
    assert (found.design.kind, found.design.claim_set) == (DesignKind.STRATIFIED, made.id)
    assert found.design.strata == before.design.strata
    assert {each.claim: each.stratum for each in found.claims} == {
        each.claim: each.stratum for each in before.claims
    }
    assert store.claim_sets.read_claim_set_bundle(made.id).claims
    assert store.list_damage() == []


def test_claims_that_are_deleted_leave_a_set_of_the_others(store: Store, made: ClaimSetRow) -> None:
    (gone, *_) = store.conversations.list_ids(("tests",))
    done = store.deletions.delete_conversations(DeletionKind.DATASET, [gone], "ann")
    assert done.counts["claim sets with fewer claims"] == 1
    row = store.claim_sets.read_version(made.id)
    found = store.claim_sets.read_claim_set_bundle(made.id)
    assert (row.frame, len(found.claims)) == (15, 15)
    assert sum(each.population for each in row.strata) == 15
    assert sum(each.drawn for each in row.strata) == row.drawn
    assert digest_of(found) == row.digest != made.digest
    rest = store.conversations.list_ids(("tests",))
    store.deletions.delete_conversations(DeletionKind.DATASET, rest, "ann")
    assert store.claim_sets.list_versions() == ()
    assert store.list_damage() == []


def test_verdicts_on_claims_that_a_judge_worded_itself_are_matched(
    store: Store, made: ClaimSetRow
) -> None:
    """One claim of each answer is worded otherwise, one is new, the rest is left out."""
    chats = [make_conversation(key) for key in "abcd"]
    run = store.runs.create(SPEC, import_conversations(store, chats))
    for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
        for window in windows_of(each):
            plain = assess(window, {1: ("no", "yes"), 3: ("yes", "yes")})
            verdicts = tuple(
                replace(one, claim=Claim(one.claim.turn, worded.get(one.claim.text, "Else here.")))
                for worded in [{"Claim 1.0": "A claim: 1.0", "Claim 3.0": "Claim 3.0"}]
                for one in plain.verdicts
            )
            store.runs.save_window(item, replace(plain, verdicts=verdicts))
        store.runs.score_and_finish_item(item, ItemState.DONE, None)
    by_identity = store.labelled_units.read_report_units(run)
    assert by_identity.design.sample is None, "three of four claims are not of the set"
    found = store.labelled_units.read_report_units(run, UnitSettings(claim_set=made.id))
    assert {each.text for each in found.claims} == {"Claim 1.0", "Claim 3.0"}
    assert {each.judge for each in found.claims if each.text == "Claim 1.0"} == {"no"}
    assert (found.design.frame_units, found.design.unjudged, found.design.beyond) == (8, 12, 8)
    pairs = store.labelled_units.read_paired_units(RunId(1), run, UnitSettings(claim_set=made.id))
    assert len(pairs.claims) == 8
    assert FIVE[1][0] == "yes"
    assert {(each.first, each.second) for each in pairs.claims} == {("yes", "no"), ("idk", "yes")}
    other = judged_all(store, "z")
    with pytest.raises(StoreError, match="judged no claim of the claim set shop version 1"):
        store.labelled_units.read_report_units(other, UnitSettings(claim_set=made.id))


def test_a_run_over_a_set_rests_on_it_and_not_on_the_sample_it_was_made_of(
    store: Store, run: RunId, made: ClaimSetRow
) -> None:
    over = judged_all(store, "abcd", spec=replace(SPEC, claims_from="set", claim_set=made.id))
    found = store.labelled_units.read_report_units(over).design
    assert (found.claim_set, found.drawn_in, found.name) == (made.id, None, "shop version 1")
    beside = store.labelled_units.read_report_units(judged_all(store, "abcd")).design
    assert (beside.claim_set, beside.drawn_in) == (None, run)
    assert beside.strata == found.strata


@pytest.mark.parametrize("names_the_set", [True, False])
def test_a_set_is_taken_until_an_own_sample_was_followed(
    store: Store, run: RunId, *, names_the_set: bool
) -> None:
    pilot = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 3, 4), name="pilot")
    label(store, run, drawn(store, pilot))
    made, _ = store.claim_sets.make_claim_set_version_if_changed("shop", pilot.id, "ann")
    spec = replace(SPEC, claims_from="set", claim_set=made.id) if names_the_set else SPEC
    own_run = judged_all(store, "abcd", spec=spec)
    store.deletions.delete_run(run, "ann")  # as in a store that the set was imported into
    own = sampled(store, own_run, SamplePlan(SamplingDesign.SIMPLE, 7, 16), name="own")
    taken = store.labelled_units.read_report_units(own_run).design
    assert (taken.kind, taken.claim_set) == (DesignKind.SIMPLE, made.id)
    label(store, own_run, drawn(store, own)[:12])
    taken = store.labelled_units.read_report_units(own_run).design
    assert (taken.kind, taken.name) == (DesignKind.SIMPLE, "own")
