import math
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign
from faithtui.agreement.sampling.stopping_rules import (
    KAPPA_TARGET,
    USUAL_PACE_S,
    SpotCheckDecision,
    estimate_labels_needed,
)
from faithtui.domain.conversation import Conversation
from faithtui.domain.ids import RunId
from faithtui.engine.review.reports.agreement_report import compute_run_agreement
from faithtui.engine.review.samples.sample_queues import (
    MEASURED_FROM,
    SampleRequest,
    draw_and_save_run_sample,
    estimate_seconds_per_claim,
    find_unused_seed,
    make_repeat_labels_request,
    make_spot_check_request,
    read_outcome_and_close_finished_spot_check,
    read_queue_progress,
    read_sampling_frame,
)
from faithtui.errors import StoreError
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.store import Store
from faithtui.tui.samples.sample_lines import (
    describe_labels_needed,
    queue_end_lines,
    queue_status,
)
from tests.store.building import SPEC, assess, import_conversations, make_conversation, windows_of

PEOPLE = "ann"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.db")


@pytest.fixture
def run(store: Store) -> RunId:
    """Twenty conversations of two claims."""
    return judge_conversations(store, 20)


def judge_conversations(store: Store, count: int, *, flagged_every: int = 1) -> RunId:
    """Make conversations of two claims: the judge says yes, and no to one of each so many."""
    chats: list[Conversation] = [
        make_conversation(f"t{number:02}", answers=1) for number in range(count)
    ]
    run = store.runs.create(SPEC, import_conversations(store, chats))
    for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
        second = "no" if chats.index(each) % flagged_every == 0 else "yes"
        store.runs.save_window(item, assess(windows_of(each)[0], {1: ("yes", second)}))
    return run


def say(store: Store, row: SampleRow, differ: int, *, most: int = 1000, saw: bool = False) -> None:
    """Answer a sample; the first `differ` claims otherwise than the judge."""
    judge = {each.claim: each.judge for each in store.labelled_units.read_claim_units(row.run)}
    for number, entry in enumerate(
        store.samples.list_claims_in_served_order(row.id, PEOPLE)[:most]
    ):
        same = judge[entry.claim]
        other = "no" if same == "yes" else "yes"
        store.label_log.record_verdict(
            entry.claim,
            PEOPLE,
            other if number < differ else str(same),
            run=row.run,
            saw_judge=saw,
            sample=row.id,
            seconds=6.0,
        )


@pytest.mark.parametrize("design", list(SamplingDesign))
def test_a_request_becomes_a_queue(store: Store, run: RunId, design: SamplingDesign) -> None:
    request = SampleRequest(
        "mine", design=design, stratified_by=("verdict",), size=4, seed=3, shown_share=0.5
    )
    row = draw_and_save_run_sample(store, run, PEOPLE, request)
    stratified = design is SamplingDesign.STRATIFIED
    assert row.stratified_by == (("verdict",) if stratified else ())
    assert (row.name, row.design, row.seed, row.shown_share) == ("mine", design, 3, 0.5)
    assert row.size == (8 if design is SamplingDesign.CONVERSATIONS else 4)
    assert draw_and_save_run_sample(
        store, run, PEOPLE, request, read_sampling_frame(store, run, PEOPLE, request)
    ).size


def test_a_sample_that_is_not_blind_has_no_share_to_show(store: Store, run: RunId) -> None:
    request = SampleRequest("open", size=4, blind=False, shown_share=0.5)
    assert draw_and_save_run_sample(store, run, PEOPLE, request).shown_share == 0


def test_samples_that_nobody_named_are_told_apart(store: Store, run: RunId) -> None:
    requests = [SampleRequest("", size=4), SampleRequest("", size=4), SampleRequest("", size=4)]
    requests.append(SampleRequest("", design=SamplingDesign.CONVERSATIONS, size=1))
    names = [draw_and_save_run_sample(store, run, PEOPLE, each).name for each in requests]
    assert names == [
        "simple random",
        "simple random 2",
        "simple random 3",
        "whole conversations",
    ]


def test_until_ten_labels_the_plan_says_how_many_are_needed(store: Store, run: RunId) -> None:
    row = draw_and_save_run_sample(store, run, PEOPLE, SampleRequest("plan", size=40))
    first = read_queue_progress(store, row.id, PEOPLE)
    assert (first.needed, first.left, first.planned, first.compared) == (97, 40, True, 0)
    say(store, row, 1, most=MEASURED_FROM - 1)
    few = read_queue_progress(store, row.id, PEOPLE)
    assert (few.compared, few.differ, few.planned) == (9, 1, True)
    assert (few.needed, few.left) == (88, 31)
    assert (first.until_measured, few.until_measured) == (10, 1)


def test_no_plan_is_made_of_how_many_labels_of_whole_conversations_are_needed(
    store: Store, run: RunId
) -> None:
    """It said 66 more for ± 0.10 where 38 claims of three conversations gave ± 0.43."""
    request = SampleRequest("whole", design=SamplingDesign.CONVERSATIONS, size=3)
    row = draw_and_save_run_sample(store, run, PEOPLE, request)
    found = read_queue_progress(store, row.id, PEOPLE)
    assert (found.needed, found.planned) == (None, False)
    end = read_outcome_and_close_finished_spot_check(store, row.id, PEOPLE)
    said = " ".join(each.text.strip() for each in queue_end_lines(end, 200))
    assert "compared claims have the label of the judge" in said
    assert "kappa" not in said, "it called none enough"


def test_from_ten_labels_on_the_width_of_kappa_says_it(store: Store, run: RunId) -> None:
    row = draw_and_save_run_sample(store, run, PEOPLE, SampleRequest("all", size=40, seed=2))
    say(store, row, 4, most=30)
    found = read_queue_progress(store, row.id, PEOPLE)
    assert (found.planned, found.compared, found.differ) == (False, 30, 4)
    assert found.needed is not None
    assert found.needed > found.left == 10
    assert not found.is_finished
    words = "kappa ±0.10 needs more than the 10 unlabelled claims of the run"
    assert describe_labels_needed(found) == words


@pytest.mark.parametrize(
    ("conversations", "said", "status"),
    [
        (
            20,
            "all claims of the run are labelled: kappa ±0.10 needs labels of other conversations",
            "kappa ±0.10 needs other conversations",
        ),
        (80, "enough for kappa ±0.10", "enough for kappa ±0.10"),
    ],
)
def test_a_run_that_is_labelled_is_not_called_enough_for_a_wider_interval(
    store: Store, conversations: int, said: str, status: str
) -> None:
    """It said so of ±0.23, as no claim without a label was left."""
    run = judge_conversations(store, conversations)
    request = SampleRequest("all", size=2 * conversations, seed=2)
    row = draw_and_save_run_sample(store, run, PEOPLE, request)
    say(store, row, 4)
    end = read_outcome_and_close_finished_spot_check(store, row.id, PEOPLE)
    assert (end.progress.left, end.progress.is_finished) == (0, True)
    assert said in " ".join(each.text.strip() for each in queue_end_lines(end, 200))
    assert queue_status(end.progress).endswith(f" · {status}")


def test_labels_of_a_sample_by_strata_weigh_in_what_is_needed(store: Store) -> None:
    """Eight samples of 60 to 300 by verdict of the demo: each label counted once, 0 to 508 more
    were needed where the report wanted 158 to 862; one was called enough at ±0.18."""
    run = judge_conversations(store, 200, flagged_every=10)
    request = SampleRequest(
        "by verdict", design=SamplingDesign.STRATIFIED, stratified_by=("verdict",), size=60
    )
    row = draw_and_save_run_sample(store, run, PEOPLE, request)
    assert {(each.population, each.drawn) for each in row.strata} == {(20, 20), (380, 40)}
    first = read_queue_progress(store, row.id, PEOPLE)
    inverse = (380 / 400) ** 2 / 40 + (20 / 400) ** 2 / 20
    assert (first.needed, first.planned) == (math.ceil(96.04 * 60 * inverse), True)
    say(store, row, 6)
    found = read_queue_progress(store, row.id, PEOPLE)
    wanted = compute_run_agreement(store, run, ReportSettings(sample=row.id)).report.progress
    assert wanted.half_width is not None
    report_needs = estimate_labels_needed(60, wanted.half_width, KAPPA_TARGET)
    assert found.needed is not None
    assert report_needs / 1.5 < found.needed < report_needs * 1.5, "each label counted once: 258"


@pytest.mark.parametrize(
    ("drawn_no", "is_planned", "is_measured"),
    [(0, False, False), (1, True, False), (4, True, False), (5, True, True)],
)
def test_nothing_is_measured_where_a_stratum_may_have_no_label(
    store: Store, drawn_no: int, is_planned: bool, is_measured: bool
) -> None:
    """It was "enough for kappa" where the report has none, as it knows nothing of a stratum."""
    run = judge_conversations(store, 100, flagged_every=10)
    sizes = {"judge yes": 60, "judge no": drawn_no}
    request = SampleRequest(
        "sizes", design=SamplingDesign.STRATIFIED, stratified_by=("verdict",), sizes=sizes
    )
    row = draw_and_save_run_sample(store, run, PEOPLE, request)
    assert (read_queue_progress(store, row.id, PEOPLE).needed is not None) is is_planned

    entries = store.samples.list_claims_in_served_order(row.id, PEOPLE)
    last = max(entries, key=lambda each: (each.stratum == "judge no", each.position))
    for entry in (*(each for each in entries if each != last), last):
        if entry == last:
            found = read_queue_progress(store, row.id, PEOPLE)
            # By its design alone: that the last stratum has a label would tell of the open claim.
            assert (found.needed is not None and not found.planned) is is_measured
        verdict = "no" if entry.position % 5 else "yes"
        store.label_log.record_verdict(
            entry.claim, PEOPLE, verdict, run=run, saw_judge=False, sample=row.id
        )
    found = read_queue_progress(store, row.id, PEOPLE)
    assert (found.needed is not None) is (drawn_no > 0)
    assert found.planned is (drawn_no == 0)


@pytest.mark.parametrize(("size", "shown_share"), [(5, 0.0), (1, 0.8)])
def test_a_stratum_whose_labels_do_not_count_is_not_measured(
    store: Store, size: int, shown_share: float
) -> None:
    """Of 165 by turn, five open, it said "enough for kappa"; so of the one drawn to be shown."""
    chats = [make_conversation(f"t{number:02}", answers=3) for number in range(60)]
    run = store.runs.create(SPEC, import_conversations(store, chats))
    for number, item in enumerate(store.runs.list_item_ids(run)):
        labels = {1: ("yes", "no")} | ({5: ("yes",)} if number < 6 else {})
        store.runs.save_window(item, assess(windows_of(chats[number])[-1], labels))
    request = SampleRequest(
        "by turn",
        design=SamplingDesign.STRATIFIED,
        stratified_by=("turn",),
        sizes={"turns 1-2": 120, "turns 3-5": size},
        shown_share=shown_share,
    )
    row = draw_and_save_run_sample(store, run, PEOPLE, request)
    assert sorted(each.drawn for each in row.strata) == [size, 120]
    judge = {each.claim: each.judge for each in store.labelled_units.read_claim_units(run)}
    entries = store.samples.list_claims_in_served_order(row.id, PEOPLE)
    for turn in ("turns 1-2", "turns 3-5"):
        for entry in entries:
            if entry.stratum == turn:
                store.label_log.record_verdict(
                    entry.claim,
                    PEOPLE,
                    str(judge[entry.claim]) if entry.position % 7 else "idk",
                    run=run,
                    saw_judge=entry.shown,
                    sample=row.id,
                )
        found = read_queue_progress(store, row.id, PEOPLE)
        assert found.planned is not (turn == "turns 3-5" and not shown_share)
        if found.planned:
            assert found.needed != 0, "of a stratum no label counts: a report gives no rate"
    assert all(each.shown for each in entries if each.stratum == "turns 3-5") is (size == 1)


def test_nothing_is_said_of_a_rate_that_is_known(store: Store, run: RunId) -> None:
    """Of a run whose claims are all labelled it wanted labels of other conversations."""
    row = draw_and_save_run_sample(store, run, PEOPLE, SampleRequest("all", size=40))
    say(store, row, 0, most=39)
    assert (read_queue_progress(store, row.id, PEOPLE).left) == 1
    say(store, row, 0)
    found = read_queue_progress(store, row.id, PEOPLE)
    assert (found.needed, found.left) == (None, 0), "kappa of all alike has no interval"


def test_claims_whose_labels_count_in_no_figure_are_not_left_to_be_labelled(
    store: Store, run: RunId
) -> None:
    row = draw_and_save_run_sample(
        store, run, PEOPLE, SampleRequest("arm", size=12, seed=2, shown_share=0.25)
    )
    shown = sum(each.shown for each in store.samples.list_claims_in_served_order(row.id, PEOPLE))
    assert read_queue_progress(store, row.id, PEOPLE).left == 40 - shown
    say(store, row, 4)
    assert read_queue_progress(store, row.id, PEOPLE).left == 28


def test_claims_drawn_to_be_shown_with_the_judge_are_not_compared(store: Store, run: RunId) -> None:
    row = draw_and_save_run_sample(
        store, run, PEOPLE, SampleRequest("arm", size=12, seed=2, shown_share=0.25)
    )
    entries = store.samples.list_claims_in_served_order(row.id, PEOPLE)
    shown = [each.shown for each in entries]
    assert 0 < sum(shown) < 12
    say(store, row, 12)
    end = read_outcome_and_close_finished_spot_check(store, row.id, PEOPLE)
    assert (end.progress.compared, end.progress.differ) == (12 - sum(shown), 12 - sum(shown))
    said = " ".join(each.text.strip() for each in queue_end_lines(end, 200))
    assert f"0 of {12 - sum(shown)} compared claims have the label of the judge; those" in said


@pytest.mark.thorough
def test_a_report_wants_as_many_labels_as_the_queue_says(store: Store) -> None:
    run = judge_conversations(store, 80)
    row = draw_and_save_run_sample(
        store, run, PEOPLE, SampleRequest("some", size=100, seed=4, shown_share=0.1)
    )
    say(store, row, 3)
    found = read_queue_progress(store, row.id, PEOPLE)
    shown = sum(each.shown for each in store.samples.list_claims_in_served_order(row.id, PEOPLE))
    assert shown
    report = compute_run_agreement(store, run, ReportSettings(sample=row.id)).report
    assert found.needed == report.progress.labels_still_needed
    assert found.needed is not None
    assert 0 < found.needed < found.row.frame - found.row.answered
    assert report.claims.agreement.n == 100 - shown


def test_labels_that_cannot_be_compared_are_left_out(store: Store, run: RunId) -> None:
    row = draw_and_save_run_sample(store, run, PEOPLE, SampleRequest("x", size=2))
    first, second = store.samples.list_claims_in_served_order(row.id, PEOPLE)
    for entry, verdict in ((first, "x"), (second, "yes")):
        store.label_log.record_verdict(
            entry.claim, PEOPLE, verdict, run=run, saw_judge=False, sample=row.id
        )
    found = read_queue_progress(store, row.id, PEOPLE)
    assert (found.compared, found.row.answered, found.is_finished) == (1, 2, True)


@pytest.mark.parametrize(
    ("differ", "decision"),
    [(0, SpotCheckDecision.PASS), (3, SpotCheckDecision.UNCLEAR), (6, SpotCheckDecision.FAIL)],
)
def test_a_spot_check_is_closed_with_its_decision(
    store: Store, run: RunId, differ: int, decision: SpotCheckDecision
) -> None:
    row = draw_and_save_run_sample(store, run, PEOPLE, make_spot_check_request(4))
    assert (row.size, row.kind, row.shown_share) == (20, SampleKind.SPOT_CHECK, 0)
    say(store, row, differ)
    end = read_outcome_and_close_finished_spot_check(store, row.id, PEOPLE)
    assert end.check is not None
    assert (end.check.decision, end.progress.needed) == (decision, None)
    assert end.actions == {"blind": 20, "shown": 0}
    closed = store.samples.read_sample(row.id, PEOPLE)
    assert closed.decision == decision.value
    assert read_outcome_and_close_finished_spot_check(store, row.id, PEOPLE).check == end.check
    assert store.samples.read_sample(row.id, PEOPLE).closed_at == closed.closed_at


def test_an_unfinished_spot_check_stays_open(store: Store, run: RunId) -> None:
    row = draw_and_save_run_sample(store, run, PEOPLE, make_spot_check_request(4))
    say(store, row, 0, most=19)
    read_outcome_and_close_finished_spot_check(store, row.id, PEOPLE)
    assert store.samples.read_sample(row.id, PEOPLE).decision is None


def test_repeats_need_labels_of_ones_own(store: Store, run: RunId) -> None:
    with pytest.raises(StoreError, match="nothing can be drawn"):
        draw_and_save_run_sample(store, run, PEOPLE, make_repeat_labels_request(1))
    row = draw_and_save_run_sample(store, run, PEOPLE, SampleRequest("first", size=6))
    say(store, row, 0, saw=True)
    again = draw_and_save_run_sample(store, run, PEOPLE, make_repeat_labels_request(1))
    assert (again.size, again.frame, again.kind) == (6, 6, SampleKind.REPEAT)
    assert read_outcome_and_close_finished_spot_check(store, row.id, PEOPLE).actions == {
        "blind": 0,
        "shown": 6,
    }


def test_pace_and_seed_come_from_what_was_drawn(store: Store, run: RunId) -> None:
    assert (estimate_seconds_per_claim(()), find_unused_seed(())) == (USUAL_PACE_S, 1)
    row = draw_and_save_run_sample(store, run, PEOPLE, SampleRequest("a", size=3, seed=8))
    say(store, row, 0)
    draw_and_save_run_sample(store, run, PEOPLE, SampleRequest("b", size=3, seed=2))
    rows = store.samples.list_samples(PEOPLE, run)
    assert (estimate_seconds_per_claim(rows), find_unused_seed(rows)) == (USUAL_PACE_S, 9)
    timed = [replace(each, pace_s=6.0 if each.id == row.id else None) for each in rows]
    assert estimate_seconds_per_claim(timed) == 6.0
