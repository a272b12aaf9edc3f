import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.agreement.sampling.draw import SamplingDesign
from faithtui.agreement.statistics.labelled_probabilities import FEWEST_LABELS
from faithtui.agreement.statistics.recalibration import RecalibrationEffect
from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.ids import ClaimId, RunId
from faithtui.domain.labels.label_events import Action, Event, choose_action_of_verdict_event
from faithtui.engine.review import recalibration
from faithtui.engine.review.recalibration import LeftOut
from faithtui.engine.review.samples.sample_queues import (
    SampleRequest,
    draw_and_save_run_sample,
    read_sampling_frame,
)
from faithtui.engine.runs import runner
from faithtui.errors import ConfigError
from faithtui.judges.embedded.embedded_judge import OfflineJudge, make_offline_fingerprint
from faithtui.judges.embedded.weights import Calibration
from faithtui.store.store import Store
from tests.engine.building import CountingJudge, conversation, opened, planned, store_with

RUN = RunId(1)


@pytest.fixture
def helping(monkeypatch: pytest.MonkeyPatch) -> None:
    """These few labels do not help the probabilities."""
    monkeypatch.setattr(RecalibrationEffect, "helps", property(lambda _: True))


def make_conversation(number: int, other: str = "") -> Conversation:
    """One supported and one paraphrased answer, of which the judge is less sure, or another."""
    fact = f"Barge {number} left the harbour of Ostby with {number + 20} crates of salted fish."
    loose = f"Salted fish in crates went out on barge {number}."
    turns: list[Turn] = []
    for answer in (fact, other or loose):
        turns += [Turn("user", "What left?"), Turn("assistant", answer, (Document(fact),))]
    return Conversation("harbour", f"h{number}", tuple(turns), f"harbour/{number}")


async def judged(store: Store) -> RunId:
    run = planned(store)
    await runner.execute_run(store, run, lambda event: None, judge=opened(OfflineJudge()))
    return run


def label(store: Store, run: RunId, verdict: str, most: int | None = None) -> int:
    """Answer the first claims of a run that have a probability; returns how many.

    Every sixth `yes` is a `no`: labels of one kind allow no recalibration.
    """
    readings = store.labelled_units.read_claim_units(run)[:most]
    label_each(
        store,
        run,
        [
            (each.claim, "no" if verdict == "yes" and number % 6 == 5 else verdict)
            for number, each in enumerate(readings)
        ],
        saw_judge=True,
    )
    return len(readings)


def label_each(
    store: Store, run: RunId, given: Sequence[tuple[ClaimId, str]], *, saw_judge: bool
) -> None:
    """Give verdicts in one step, as each would wait for the disk."""
    judge = {each.claim: each.judge for each in store.labelled_units.read_claim_units(run)}
    store.label_log.append_label_events_as_one_step(
        [
            Event(
                None,
                claim,
                "ann",
                choose_action_of_verdict_event(said, judge[claim], saw_judge=saw_judge),
                said,
                saw_judge=saw_judge,
                run=run,
                judge_verdict=judge[claim],
            )
            for claim, said in given
        ]
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store to copy: run 1 of twenty conversations."""
    path = tmp_path_factory.mktemp("recalibration") / "judged.db"
    with store_with(path, [make_conversation(number) for number in range(20)]) as store:
        assert asyncio.run(judged(store)) == RUN
    return path


@pytest.fixture
async def store(made: Path, tmp_path: Path) -> AsyncIterator[Store]:
    with Store.open(Path(shutil.copy(made, tmp_path))) as opened_store:
        yield opened_store


async def test_a_preview_changes_nothing_and_tells_the_effect(store: Store) -> None:
    run = RUN
    count = label(store, run, "yes")
    found = recalibration.preview_recalibration(store, run)
    assert count >= FEWEST_LABELS
    assert (found.effect.labels, found.effect.groups, found.runs) == (count, 20, (run,))
    assert 0 < found.effect.error_after < 1
    assert found.effective_labels == pytest.approx(count)
    assert found.in_force is None
    assert recalibration.find_current_recalibration(store) is None
    assert store.recalibrations.list_all() == ()


async def test_too_few_labels_are_refused_with_their_number(store: Store) -> None:
    run = RUN
    label(store, run, "yes", FEWEST_LABELS - 1)
    with pytest.raises(ConfigError, match=f"{FEWEST_LABELS - 1} claims .* takes {FEWEST_LABELS}"):
        recalibration.preview_recalibration(store)


async def test_corrections_that_nobody_drew_do_not_count(store: Store) -> None:
    """Who looks at verdicts corrects what is wrong; one in ten that is right changes nothing."""
    run = RUN
    claims = store.labelled_units.read_claim_units(run)[:-1]
    wrong = {"yes": "no", "no": "yes"}
    said = [
        str(each.judge) if number % 10 == 0 else wrong.get(str(each.judge), "yes")
        for number, each in enumerate(claims)
    ]
    label_each(
        store,
        run,
        [(each.claim, word) for each, word in zip(claims, said, strict=True)],
        saw_judge=True,
    )
    with pytest.raises(ConfigError, match=rf"^{len(claims)} of {len(claims)} labels were given"):
        recalibration.preview_recalibration(store)
    (last,) = store.labelled_units.read_claim_units(run)[-1:]
    store.label_log.record_verdict(last.claim, "ann", "no", run=run, saw_judge=True)
    # Now every claim of the run is labelled, so that all count, nearly all of one kind.
    with pytest.raises(ConfigError, match="4 claims supported and 36 not"):
        recalibration.preview_recalibration(store)


async def test_labels_given_blind_count_without_a_sample_and_ties_never(store: Store) -> None:
    run = RUN
    claims = store.labelled_units.read_claim_units(run)[:-1]
    given = [(each.claim, "no" if number % 3 == 0 else "yes") for number, each in enumerate(claims)]
    label_each(store, run, given, saw_judge=False)
    assert recalibration.preview_recalibration(store).effect.labels == len(claims)
    store.label_log.record_verdict(claims[0].claim, "bo", "yes", run=run, saw_judge=False)
    assert recalibration.preview_recalibration(store).effect.labels == len(claims) - 1


async def test_words_that_are_no_label_do_not_count(store: Store) -> None:
    run = RUN
    label(store, run, "x")
    with pytest.raises(ConfigError, match="0 claims"):
        recalibration.preview_recalibration(store)


async def test_labels_that_do_not_count_are_counted_by_reason(store: Store) -> None:
    """One of each beside 35 labels that count, and claims that another judge judged alone."""
    run = RUN
    claims = [each.claim for each in store.labelled_units.read_claim_units(run)]
    given = [(each, "no" if number % 3 == 0 else "yes") for number, each in enumerate(claims[:35])]
    label_each(store, run, given, saw_judge=False)
    unfair, tied, skipped, in_bulk, in_view = claims[35:]
    store.label_log.record_verdict(unfair, "ann", "x", run=run, saw_judge=False)
    for reviewer, said in (("ann", "yes"), ("bo", "no")):
        store.label_log.record_verdict(tied, reviewer, said, run=run, saw_judge=False)
    for claim, action, verdict in (
        (skipped, Action.SKIPPED, None),
        (in_bulk, Action.BULK, "yes"),
    ):
        store.label_log.append_label_event(
            claim, "ann", action, verdict, run=run, judge_verdict="yes", saw_judge=False
        )
    store.label_log.record_verdict(in_view, "ann", "yes", run=run, saw_judge=True)
    store.conversations.import_batch([conversation("other")])
    other = planned(store, judge="openai:m", base_url="http://127.0.0.1:1/v1")
    await runner.execute_run(store, other, lambda event: None, judge=opened(CountingJudge()))
    alone = store.labelled_units.read_claim_units(other)[-1].claim
    assert alone not in claims
    store.label_log.record_verdict(alone, "ann", "yes", run=other, saw_judge=False)
    found = recalibration.preview_recalibration(store)
    assert found.effect.labels == 35
    assert found.left_out == {
        LeftOut.NOT_A_CLAIM: 1,
        LeftOut.TIED: 1,
        LeftOut.IN_VIEW: 1,
        LeftOut.SKIPPED: 1,
        LeftOut.BULK: 1,
        LeftOut.OTHER_RUNS: 1,
    }
    named = recalibration.preview_recalibration(store, run)
    assert LeftOut.OTHER_RUNS not in named.left_out


async def test_labels_of_claims_without_a_probability_are_said(store: Store) -> None:
    run = planned(store, metric="turn-contextual-relevancy")
    await runner.execute_run(store, run, lambda event: None, judge=opened(OfflineJudge()))
    statements = store.labelled_units.read_claim_units(run)[:3]
    for each in statements:
        store.label_log.record_verdict(each.claim, "ann", "yes", run=run, saw_judge=False)
    with pytest.raises(ConfigError, match=r"\(left out: 3 the run's metric gives .* probability\)"):
        recalibration.preview_recalibration(store)


async def test_a_run_of_another_judge_is_refused(store: Store) -> None:
    other = planned(store, judge="openai:m", base_url="http://127.0.0.1:1/v1")
    with pytest.raises(ConfigError, match="not by the embedded judge"):
        recalibration.preview_recalibration(store, other)


async def test_a_claim_of_two_runs_counts_once(store: Store) -> None:
    first = RUN
    count = label(store, first, "yes")
    second = await judged(store)
    found = recalibration.preview_recalibration(store)
    assert found.effect.labels == count
    assert found.runs == (second,)


@pytest.mark.usefixtures("helping")
async def test_what_is_applied_is_in_force_until_it_is_withdrawn(store: Store) -> None:
    label(store, RUN, "yes")
    assert recalibration.make_calibration_of_new_run(store, "offline") is None
    wanted = recalibration.preview_recalibration(store)
    recalibration.use_recalibration_in_new_runs(store, wanted, "ann")
    stands = recalibration.find_current_recalibration(store)
    assert stands is not None
    assert stands.fitted == wanted.effect.fitted
    assert (stands.labels, stands.reviewer) == (wanted.effect.labels, "ann")
    assert (stands.error_before, stands.error_after) == (
        wanted.effect.error_before,
        wanted.effect.error_after,
    )
    kept = recalibration.make_calibration_of_new_run(store, "offline")
    assert kept == {
        "slope": stands.fitted.slope,
        "intercept": stands.fitted.intercept,
        "labels": stands.labels,
    }
    assert recalibration.read_run_calibration(kept) == Calibration(
        stands.fitted.slope, stands.fitted.intercept
    )
    assert recalibration.make_calibration_of_new_run(store, "openai:m") is None
    recalibration.use_recalibration_in_new_runs(
        store, recalibration.preview_recalibration(store), "bob"
    )
    assert recalibration.restore_shipped_judge_if_changed(store)
    assert recalibration.find_current_recalibration(store) is None
    assert not recalibration.restore_shipped_judge_if_changed(store)
    assert [each.reviewer for each in store.recalibrations.list_all()] == ["ann", "bob"]
    assert all(each.withdrawn_at is not None for each in store.recalibrations.list_all())


def test_a_recalibration_of_another_version_is_not_in_force(tmp_path: Path) -> None:
    with store_with(tmp_path / "store.db", []) as store:
        assert store.recalibrations.find_used_in_new_runs("offline:overlap-baseline/0") is None
        assert recalibration.read_run_calibration(None) is None
        assert make_offline_fingerprint() != make_offline_fingerprint(Calibration(0.9, 0.1))


@pytest.mark.usefixtures("helping")
async def test_new_runs_use_it_and_say_so_and_older_ones_go_on_as_they_were(store: Store) -> None:
    first = RUN
    label(store, first, "yes")
    begun = planned(store)
    recalibration.use_recalibration_in_new_runs(
        store, recalibration.preview_recalibration(store, first), "ann"
    )
    later = planned(store)
    await runner.execute_run(store, later, lambda event: None)
    await runner.execute_run(store, begun, lambda event: None)
    spec = store.runs.read_run(later).spec
    assert spec.calibration is not None
    assert spec.calibration["labels"] == len(store.labelled_units.read_claim_units(first))
    assert spec.judge_fingerprint != store.runs.read_run(begun).spec.judge_fingerprint
    assert store.runs.read_run(begun).spec.calibration is None
    said = {run: store.labelled_units.read_claim_units(run) for run in (first, begun, later)}
    confidences = {
        run: [reading.confidence or 0.0 for reading in found] for run, found in said.items()
    }
    assert confidences[begun] == confidences[first]
    assert confidences[later] != confidences[first]
    # Probabilities moved, and no verdict with them.
    verdicts = {run: [reading.judge for reading in found] for run, found in said.items()}
    assert verdicts[later] == verdicts[first]
    recalibration.restore_shipped_judge_if_changed(store)
    after = store.runs.read_run(planned(store)).spec
    assert (after.calibration, after.judge_fingerprint) == (None, make_offline_fingerprint())


async def test_probabilities_and_verdicts_are_applied_apart_and_withdrawn_together(
    store: Store,
) -> None:
    first = RUN
    label(store, first, "yes")
    wanted = recalibration.preview_recalibration(store)
    assert wanted.verdicts.helps_enough_to_offer
    recalibration.use_threshold_in_new_runs(store, wanted, "ann")
    assert recalibration.find_current_recalibration(store) is None
    later = planned(store)
    await runner.execute_run(store, later, lambda event: None)
    kept = store.runs.read_run(later).spec.calibration
    assert kept is not None
    assert (kept["slope"], kept["intercept"]) == (1.0, 0.0)
    assert kept["threshold"] == pytest.approx(wanted.verdicts.threshold, abs=1e-5)
    before, after = (store.labelled_units.read_claim_units(run) for run in (first, later))
    assert [each.confidence for each in before] == [each.confidence for each in after]
    gone = sum(a.judge == "yes" != b.judge for a, b in zip(before, after, strict=True))
    assert gone == wanted.verdicts.lowered > 0
    # A run that was judged at another threshold still tells its probabilities as shipped.
    again = recalibration.preview_recalibration(store, later)
    assert again.verdicts.threshold == pytest.approx(wanted.verdicts.threshold)
    assert again.threshold_in_force is not None
    assert recalibration.restore_shipped_judge_if_changed(store)
    assert recalibration.find_current_threshold(store) is None
    assert recalibration.make_calibration_of_new_run(store, "offline") is None


async def test_labels_weigh_what_they_stand_for_in_a_sample(tmp_path: Path) -> None:
    chats = [make_conversation(number, "The mayor resigned on Monday.") for number in range(15)]
    with store_with(tmp_path / "sampled.db", chats) as store:
        run = await judged(store)
        found = preview_sampled_labels(store, run)
    # 15 labels stand for one claim each, 6 for two and a half; the one outside for none.
    assert found.effect.labels == 21
    assert found.effective_labels == pytest.approx(30**2 / (15 + 6 * 2.5**2))
    assert found.left_out == {LeftOut.OUTSIDE_SAMPLE: 1}


@pytest.mark.thorough
async def test_labels_drawn_to_be_given_in_view_are_left_out(tmp_path: Path) -> None:
    with store_with(
        tmp_path / "audited.db", [make_conversation(number) for number in range(40)]
    ) as store:
        run = await judged(store)
        request = SampleRequest("some", size=60, blind=True, shown_share=0.2)
        drawn = draw_and_save_run_sample(store, run, "ann", request)
        entries = store.samples.list_claims_in_served_order(drawn.id, "ann")
        for number, each in enumerate(entries):
            store.label_log.record_verdict(
                each.claim,
                "ann",
                "no" if number % 3 == 2 else "yes",
                run=run,
                saw_judge=each.shown,
                sample=drawn.id,
            )
        found = recalibration.preview_recalibration(store)
    in_view = sum(each.shown for each in entries)
    assert (found.effect.labels, in_view > 5) == (60 - in_view, True)
    assert found.left_out == {LeftOut.AUDIT: in_view}


def preview_sampled_labels(store: Store, run: RunId) -> recalibration.RecalibrationPreview:
    """Label 15 and 6 of two strata of 15 claims, and one claim outside the sample."""
    request = SampleRequest(
        "by verdict", design=SamplingDesign.STRATIFIED, stratified_by=("verdict",), size=30
    )
    frame = read_sampling_frame(store, run, "ann", request)
    names = list(dict.fromkeys(each.stratum for each in frame))
    drawn = draw_and_save_run_sample(
        store, run, "ann", replace(request, sizes=dict(zip(names, (15, 6), strict=True))), frame
    )
    for number, each in enumerate(store.samples.list_claims_in_served_order(drawn.id, "ann")):
        said = "no" if number % 3 == 2 else "yes"
        store.label_log.record_verdict(
            each.claim, "ann", said, run=run, saw_judge=False, sample=drawn.id
        )
    outside = {
        each.claim for each in store.labelled_units.read_claim_units(run) if each.human is None
    }
    store.label_log.record_verdict(min(outside), "ann", "no", run=run, saw_judge=False)
    return recalibration.preview_recalibration(store)
