"""Bundles of several people, taken in as one log."""

import json
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.cli.commands.store.merge import _format_result as format_merge
from faithtui.domain.labels.label_bundle import BundleClaim, BundleEvent, LabelBundle
from faithtui.domain.labels.label_events import Action, MarkedPassage
from faithtui.engine.review.label_bundles import merge_bundles_into_store, write_bundle_file
from faithtui.engine.runs import runner
from faithtui.formats.label_bundles import format_bundle_lines, read_bundle
from faithtui.store.schema.storable_text import hash_normalised_claim
from faithtui.store.store import Store
from tests.engine.building import conversation, planned, store_with

Copies = Callable[[], Store]


@pytest.fixture
async def copies(tmp_path: Path) -> AsyncIterator[Copies]:
    """A judged conversation, of which everybody gets a copy."""
    with store_with(tmp_path / "base.db", [conversation("a", 1)]) as store:
        await runner.execute_run(store, planned(store), lambda event: None)
    content = (tmp_path / "base.db").read_bytes()
    with ExitStack() as stack:
        made: list[Path] = []

        def copy() -> Store:
            made.append(tmp_path / f"copy-{len(made)}.db")
            made[-1].write_bytes(content)
            return stack.enter_context(Store.open(made[-1]))

        yield copy


def say(store: Store, reviewer: str, verdict: str) -> None:
    run = store.runs.find_newest_run_id()
    assert run is not None
    claim = store.runs.read_conversation_for_review(
        store.runs.list_item_ids(run)[0], reviewer
    ).claims[0]
    store.label_log.append_label_event(
        claim.id, reviewer, Action.BLIND, verdict, run=run, judge_verdict="yes", saw_judge=False
    )


def arrived(store: Store) -> list[tuple[int, str]]:
    """Clock and name of each act, in the order in which they were stored."""
    with store._database.open_reader() as connection:
        rows = connection.exec_driver_sql("SELECT clock, uid FROM human_label ORDER BY id").all()
    return [(clock, uid) for clock, uid in rows]


async def test_acts_of_several_files_are_stored_in_the_order_of_one_log(
    copies: Copies, tmp_path: Path
) -> None:
    files = []
    for number, (person, verdicts) in enumerate({"ann": "nyn", "bo": "y", "cy": "nn"}.items()):
        store = copies()
        for verdict in verdicts:
            say(store, person, {"y": "yes", "n": "no"}[verdict])
        files.append(tmp_path / f"{number}.jsonl")
        write_bundle_file(store, files[-1], force=False)
    orders = []
    for order in permutations(files):
        target = copies()
        assert merge_bundles_into_store(target, order).is_complete
        orders.append(arrived(target))
    assert len(orders[0]) == 6
    assert orders == [sorted(orders[0])] * len(orders)


async def test_an_act_of_several_files_has_its_earliest_clock(
    copies: Copies, tmp_path: Path
) -> None:
    store = copies()
    say(store, "ann", "no")
    early, late = tmp_path / "early.jsonl", tmp_path / "late.jsonl"
    write_bundle_file(store, early, force=False)
    bundle = read_bundle(early).bundle
    assert [act.clock for act in bundle.acts] == [1]
    later = replace(bundle, acts=(bundle.acts[0]._replace(clock=5),))
    late.write_text("".join(format_bundle_lines(later)), encoding="utf-8")
    for order in ([early, late], [late, early]):
        target = copies()
        assert merge_bundles_into_store(target, order).is_complete
        assert [clock for clock, _ in arrived(target)] == [1]


def list_unverified(store: Store) -> list[bool]:
    return [act.unverified for act in store.bundles.make_label_bundle().acts]


async def test_labels_of_a_file_without_a_digest_are_unverified_until_one_vouches_for_them(
    copies: Copies, tmp_path: Path
) -> None:
    store, target = copies(), copies()
    say(store, "ann", "no")
    say(store, "bo", "no")
    whole, bare, edited = (tmp_path / f"{name}.jsonl" for name in ("whole", "bare", "edited"))
    write_bundle_file(store, whole, force=False)
    header, *lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
    plain = {**json.loads(header), "digest": None}
    bare.write_text("".join([json.dumps(plain) + "\n", *lines]), encoding="utf-8")
    merged = merge_bundles_into_store(target, [bare]).merged
    assert (merged.new, merged.unverified, list_unverified(target)) == (2, 2, [True, True])
    # It goes on with them, whatever the digest of the file they are exported into.
    write_bundle_file(target, tmp_path / "again.jsonl", force=False)
    third = copies()
    assert merge_bundles_into_store(third, [tmp_path / "again.jsonl"]).is_complete
    assert list_unverified(third) == [True, True]
    assert merge_bundles_into_store(target, [whole]).merged.known == 2
    assert list_unverified(target) == [False, False]
    # Files that say the same at once, one of which vouches for it.
    for order in ([whole, bare], [bare, whole]):
        assert not any(list_unverified(merged_into(copies(), order)))
    # Which of two times of looking is true nobody knows.
    text = bare.read_text(encoding="utf-8")
    assert '"saw_judge":false' in text
    edited.write_text(text.replace('"saw_judge":false', '"saw_judge":true', 1), encoding="utf-8")
    doubted = merged_into(copies(), [edited])
    merge_bundles_into_store(doubted, [whole])
    assert list_unverified(doubted) == [True, False]


async def test_a_mark_or_an_undo_that_was_edited_stays_unverified(
    copies: Copies, tmp_path: Path
) -> None:
    store = copies()
    say(store, "ann", "no")
    say(store, "ann", "yes")
    run = store.runs.find_newest_run_id()
    assert run is not None
    view = store.runs.read_conversation_for_review(store.runs.list_item_ids(run)[0], "ann")
    passage = next(each for turn in view.turns for each in turn.documents or ())
    store.label_log.append_label_event(
        view.claims[0].id,
        "bo",
        Action.EVIDENCE,
        run=run,
        judge_verdict=None,
        saw_judge=False,
        evidence=[MarkedPassage(passage.hash, 0, 3)],
    )
    store.label_log.undo("ann")
    write_bundle_file(store, tmp_path / "whole.jsonl", force=False)
    header, *lines = (tmp_path / "whole.jsonl").read_text(encoding="utf-8").splitlines()
    first, _, marking, undoing = read_bundle(tmp_path / "whole.jsonl").bundle.acts
    assert (marking.action, undoing.action) == (Action.EVIDENCE, Action.WITHDRAWN)
    assert undoing.target not in (None, first.id)
    edits = {marking.id: ('"end":3', '"end":2'), undoing.id: (str(undoing.target), first.id)}
    for edited, (old, new) in edits.items():
        text = [
            each.replace(old, new) if json.loads(each).get("uid") == edited else each
            for each in lines
        ]
        assert text != lines
        bare = {**json.loads(header), "digest": None}
        (tmp_path / "bare.jsonl").write_text("\n".join([json.dumps(bare), *text]), "utf-8")
        target = merged_into(copies(), [tmp_path / "bare.jsonl"])
        merge_bundles_into_store(target, [tmp_path / "whole.jsonl"])
        acts = target.bundles.make_label_bundle().acts
        assert [act.id for act in acts if act.unverified] == [edited]


def merged_into(store: Store, files: Sequence[Path]) -> Store:
    merge_bundles_into_store(store, files)
    return store


def write_without_digest(bundle: LabelBundle, path: Path) -> Path:
    header, *lines = "".join(format_bundle_lines(bundle)).splitlines(keepends=True)
    bare = json.dumps({**json.loads(header), "digest": None}) + "\n"
    path.write_text("".join([bare, *lines]), encoding="utf-8")
    return path


def change_act_of_bo(bundle: LabelBundle, **fields: Any) -> LabelBundle:
    acts = [each._replace(**fields) if each.reviewer == "bo" else each for each in bundle.acts]
    return replace(bundle, acts=tuple(acts))


def change_sample(bundle: LabelBundle, **fields: Any) -> LabelBundle:
    (sample,) = bundle.samples
    return replace(bundle, samples=(replace(sample, **fields),))


@pytest.fixture
async def sampled(tmp_path: Path) -> tuple[Path, Path]:
    """A store with two runs alike, and a bundle of labels of both, the last of a sample."""
    base, whole = tmp_path / "sampled.db", tmp_path / "whole.jsonl"
    with store_with(base, [conversation("a", 2)]) as store:
        first, run = planned(store), planned(store)
        await runner.execute_run(store, first, lambda event: None)
        await runner.execute_run(store, run, lambda event: None)
    shutil.copy(base, tmp_path / "labelled.db")
    with Store.open(tmp_path / "labelled.db") as store:
        plan = SamplePlan(SamplingDesign.STRATIFIED, 3, 2)
        drawn = make_sample_draw(store.samples.read_frame(run, ("verdict",)), plan)
        row = store.samples.save_draw_as_sample(
            run, "ann", drawn, plan, name="s", stratified_by=("verdict",)
        )
        claim, other = (
            each.claim for each in store.samples.list_claims_in_served_order(row.id, "ann")
        )
        # Bundles hold claims that somebody acted on, and drawn ones.
        assert claim != other
        for reviewer, of, sample in (("cy", first, None), ("bo", run, None), ("ann", run, row.id)):
            store.label_log.record_verdict(
                claim, reviewer, "no", run=of, saw_judge=False, sample=sample
            )
        write_bundle_file(store, whole, force=False)
    return base, whole


EDITS: dict[str, tuple[str, Callable[[LabelBundle], LabelBundle]]] = {
    "clock": ("bo", lambda bundle: change_act_of_bo(bundle, clock=1)),
    "run": ("bo", lambda bundle: change_act_of_bo(bundle, run=bundle.acts[0].run)),
    "sample": ("bo", lambda bundle: change_act_of_bo(bundle, sample=bundle.samples[0].uid)),
    "seed": ("ann", lambda bundle: change_sample(bundle, seed=77)),
    "strata": (
        "ann",
        lambda bundle: change_sample(
            bundle, strata=tuple((name, 9 * n, k) for name, n, k in bundle.samples[0].strata)
        ),
    ),
    "drawn": (
        "ann",
        lambda bundle: change_sample(
            bundle,
            claims=tuple(replace(each, probability=0.01) for each in bundle.samples[0].claims),
        ),
    ),
}


@pytest.mark.parametrize("edit", EDITS)
async def test_what_a_label_refers_to_is_vouched_for_as_well(
    sampled: tuple[Path, Path], tmp_path: Path, edit: str
) -> None:
    """Its run, its place in the log, and the sample with the weights that it gives."""
    base, whole = sampled
    bundle = read_bundle(whole).bundle
    reviewer, change = EDITS[edit]
    assert change(bundle) != bundle
    bare = write_without_digest(bundle, tmp_path / "bare.jsonl")
    edited = write_without_digest(change(bundle), tmp_path / "edited.jsonl")

    def list_doubted(*merges: Sequence[Path]) -> list[str]:
        shutil.copy(base, tmp_path / "target.db")
        with Store.open(tmp_path / "target.db") as store:
            for paths in merges:
                assert merge_bundles_into_store(store, paths).is_complete
            acts = store.bundles.make_label_bundle().acts
            return sorted(act.reviewer for act in acts if act.unverified)

    assert list_doubted([bare]) == ["ann", "bo", "cy"]
    assert list_doubted([bare], [whole]) == []
    # A sample that its run cannot have given is not made, and comes with the file that vouches.
    assert list_doubted([edited], [whole]) == ([] if reviewer == "ann" else [reviewer])
    # What is here already stays, but for an earlier clock and a sample that was not named.
    changed = [reviewer] if edit in {"clock", "sample"} else []
    assert list_doubted([whole], [edited]) == changed
    # At once only the earlier clock comes from the file that nothing vouches for.
    together = ["bo"] if edit == "clock" else []
    assert list_doubted([edited, whole]) == list_doubted([whole, edited]) == together


@pytest.mark.parametrize("is_last", [False, True])
async def test_a_longer_sample_that_nothing_vouches_for_leaves_its_labels_in_doubt(
    sampled: tuple[Path, Path], tmp_path: Path, is_last: bool
) -> None:
    """Of two files that draw more and less under one name the longer sample stays."""
    base, whole = sampled
    bundle = read_bundle(whole).bundle
    assert len(bundle.samples[0].claims) == 2
    short = tmp_path / "short.jsonl"
    less = change_sample(bundle, claims=bundle.samples[0].claims[:1])
    short.write_text("".join(format_bundle_lines(less)), encoding="utf-8")
    bare = write_without_digest(bundle, tmp_path / "bare.jsonl")
    shutil.copy(base, tmp_path / "target.db")
    with Store.open(tmp_path / "target.db") as store:
        files = [short, bare] if is_last else [bare, short]
        assert merge_bundles_into_store(store, files).is_complete
        made = store.bundles.make_label_bundle()
    assert len(made.samples[0].claims) == 2
    assert [act.reviewer for act in made.acts if act.unverified] == ["ann"]


@pytest.mark.parametrize("is_withdrawn", [False, True])
async def test_labels_that_nothing_vouches_for_bring_no_sample_that_its_seed_does_not_draw(
    sampled: tuple[Path, Path], tmp_path: Path, is_withdrawn: bool
) -> None:
    """Labels that come later would have its weights, also where those were withdrawn."""
    base, whole = sampled
    bundle = read_bundle(whole).bundle
    (act,) = (each for each in bundle.acts if each.sample is not None)
    undone = act._replace(
        id="b" * 32, clock=act.clock + 1, action=Action.WITHDRAWN, verdict=None, target=act.id
    )
    later = act._replace(id="a" * 32, reviewer="dan", clock=act.clock + 2)
    more = tmp_path / "more.jsonl"
    text = "".join(format_bundle_lines(replace(bundle, acts=(*bundle.acts, later))))
    more.write_text(text, encoding="utf-8")
    forged = EDITS["strata"][1](bundle)
    if is_withdrawn:
        forged = replace(forged, acts=(*forged.acts, undone))
    first = write_without_digest(forged, tmp_path / "forged.jsonl")
    shutil.copy(base, tmp_path / "target.db")
    with Store.open(tmp_path / "target.db") as store:
        assert merge_bundles_into_store(store, [first]).merged.new_samples == 0
        assert merge_bundles_into_store(store, [more]).merged.new_samples == 1
        made = store.bundles.make_label_bundle()
    assert made.samples == bundle.samples
    assert "dan" not in {each.reviewer for each in made.acts if each.unverified}


FORGED: dict[str, dict[str, Any]] = {
    "design": {"design": "simple"},
    "frame": {"frame": 900},
    "kind": {"kind": "spot-check"},
    "stratified_by": {"stratified_by": ("turn",)},
    "seed": {"seed": 77},
    "claims": {"claims": ()},
}


CAN_BE_DRAWN = ("kind", "run")
"""Forgeries that say what their seed draws of the run that they name."""


@pytest.mark.parametrize("forgery", [*FORGED, "run", "stratum", "invented"])
async def test_a_forged_sample_without_a_label_leaves_labels_that_come_later_in_doubt(
    sampled: tuple[Path, Path], tmp_path: Path, forgery: str
) -> None:
    base, whole = sampled
    bundle = read_bundle(whole).bundle
    drawn = bundle.samples[0]
    fields = FORGED.get(forgery, {})
    if forgery == "run":
        fields = {"run": next(each.run for each in bundle.acts if each.run != drawn.run)}
    elif forgery == "stratum":
        # In a stratum of which the true sample has nothing, so that no order contradicts it.
        strata = (*drawn.strata, ("other", 5, 0))
        bundle = change_sample(bundle, strata=strata)
        fields = {"claims": (replace(drawn.claims[0], stratum="other"),)}
    elif forgery == "invented":
        # Beyond those that are shared: a claim that somebody named, and no run judged.
        text = "Nobody said this."
        name = replace(drawn.claims[0].claim, digest=hash_normalised_claim(text))
        fields = {"claims": (*drawn.claims, replace(drawn.claims[0], claim=name))}
    true = tmp_path / "true.jsonl"
    true.write_text("".join(format_bundle_lines(bundle)), encoding="utf-8")
    acts: tuple[BundleEvent, ...] = ()
    if forgery == "invented":
        said = bundle.acts[0]._replace(id="e" * 32, reviewer="eve", claim=name)
        acts = (said._replace(sample=drawn.uid, run=drawn.run),)
        bundle = replace(bundle, claims={**bundle.claims, name: BundleClaim(text, None, False)})
    forged = write_without_digest(
        replace(change_sample(bundle, **fields), acts=acts), tmp_path / "forged.jsonl"
    )
    shutil.copy(base, tmp_path / "target.db")
    with Store.open(tmp_path / "target.db") as store:
        assert merge_bundles_into_store(store, [forged]).is_complete
        is_made = forgery in CAN_BE_DRAWN
        assert len(store.samples.list_samples("ann")) == is_made
        assert merge_bundles_into_store(store, [true]).is_complete
        assert len(store.samples.list_samples("ann")) == 1
        made = store.bundles.make_label_bundle()
    doubted = [each.reviewer for each in made.acts if each.unverified]
    assert doubted == (["ann"] if is_made else ["eve"] if acts else [])
    if not is_made:
        assert made.samples == read_bundle(true).bundle.samples


@pytest.mark.parametrize("change", [{"action": Action.MARKED, "verdict": None}, {"clock": 2**40}])
async def test_acts_that_are_no_labels_here_bring_no_sample_that_its_run_cannot_have_given(
    sampled: tuple[Path, Path], tmp_path: Path, change: dict[str, Any]
) -> None:
    """Labels that are given here later would have its weights, and nothing would ask about them."""
    base, labelled = sampled
    bundle = read_bundle(labelled).bundle
    act = next(each for each in bundle.acts if each.sample is not None)
    bundle = replace(change_sample(bundle, frame=900), acts=(act._replace(**change),))
    shutil.copy(base, tmp_path / "target.db")
    with Store.open(tmp_path / "target.db") as store:
        forged = write_without_digest(bundle, tmp_path / "forged.jsonl")
        result = merge_bundles_into_store(store, [forged])
        assert not store.samples.list_samples("ann")
        assert result.merged.samples_not_drawn == 1
        assert "1 sample not taken (not what the seed draws of the run)" in format_merge(result)


@pytest.mark.parametrize("is_extended", [False, True])
@pytest.mark.parametrize("design", SamplingDesign)
async def test_a_sample_without_labels_is_made_where_its_seed_draws_it(
    tmp_path: Path, design: SamplingDesign, is_extended: bool
) -> None:
    """Also where more was drawn later, as strata take turns in another order."""
    base = tmp_path / "base.db"
    with store_with(base, [conversation("a", 5), conversation("b", 5)]) as store:
        run = planned(store)
        await runner.execute_run(store, run, lambda event: None)
    shutil.copy(base, tmp_path / "ann.db")
    strata = ("verdict", "turn") if design is SamplingDesign.STRATIFIED else ()
    with Store.open(tmp_path / "ann.db") as store:
        size = 1 if design is SamplingDesign.CONVERSATIONS else 4
        plan = SamplePlan(design, 3, size, shown_share=0.4)
        drawn = make_sample_draw(store.samples.read_frame(run, strata), plan)
        row = store.samples.save_draw_as_sample(
            run, "ann", drawn, plan, name="s", stratified_by=strata
        )
        claim = store.samples.list_claims_in_served_order(row.id, "ann")[0].claim
        store.label_log.record_verdict(claim, "ann", "no", run=run, saw_judge=False, sample=row.id)
        if is_extended:
            store.samples.draw_more_claims(row.id, "ann", size)
        bundle = store.bundles.make_label_bundle()
    empty = write_without_digest(replace(bundle, acts=()), tmp_path / "empty.jsonl")
    with Store.open(base) as store:
        assert merge_bundles_into_store(store, [empty]).merged.new_samples == 1


async def test_labels_of_a_stratified_sample_that_both_copies_extended_are_not_in_doubt(
    tmp_path: Path,
) -> None:
    base = tmp_path / "base.db"
    with store_with(base, [conversation("a", 12)]) as store:
        run = planned(store)
        await runner.execute_run(store, run, lambda event: None)
        plan = SamplePlan(SamplingDesign.STRATIFIED, 3, 4)
        drawn = make_sample_draw(store.samples.read_frame(run, ("turn",)), plan)
        sample = store.samples.save_draw_as_sample(
            run, "ann", drawn, plan, name="s", stratified_by=("turn",)
        ).id
    shutil.copy(base, tmp_path / "ann.db")
    with Store.open(tmp_path / "ann.db") as store:
        store.samples.draw_more_claims(sample, "ann", 6)
        theirs = store.samples.list_claims_in_served_order(sample, "ann")
        for each in theirs[:5]:
            store.label_log.record_verdict(
                each.claim, "ann", "no", run=run, saw_judge=False, sample=sample
            )
        write_bundle_file(store, tmp_path / "ann.jsonl", force=False)
    with Store.open(base) as store:
        store.samples.draw_more_claims(sample, "bo", 3)
        mine = store.samples.list_claims_in_served_order(sample, "bo")
        # Strata take turns in another order: neither is the beginning of the other.
        assert [each.claim for each in mine] != [each.claim for each in theirs[: len(mine)]]
        assert merge_bundles_into_store(store, [tmp_path / "ann.jsonl"]).merged.unverified == 0
        assert list_unverified(store) == [False] * 5
