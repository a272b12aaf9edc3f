"""What a queue says that holds at every look."""

from pathlib import Path

import pytest

from faithtui.agreement.sampling.draw import SamplingDesign
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_events import Action
from faithtui.engine.review.reports.agreement_report import compute_run_agreement, iter_report_text
from faithtui.engine.review.samples.queue_intervals import (
    FEWEST_LEFT_WHILE_BLIND,
    read_confidence_sequences,
)
from faithtui.engine.review.samples.sample_queues import (
    SampleRequest,
    draw_and_save_run_sample,
    make_repeat_labels_request,
    make_spot_check_request,
    read_outcome_and_close_finished_spot_check,
)
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.store import Store
from faithtui.tui.agreement.figure_lines import format_labels_needed_lines
from faithtui.tui.samples.sample_lines import (
    describe_confidence_sequences,
    queue_detail_lines,
    queue_end_lines,
)
from tests.store.building import SPEC, assess, import_conversations, make_conversation, windows_of

ANN = "ann"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store.db")


@pytest.fixture
def run(store: Store) -> RunId:
    """Twenty conversations of four claims: the judge supports two, and says no and idk."""
    chats = [make_conversation(f"t{number:02}", answers=1) for number in range(20)]
    run = store.runs.create(SPEC, import_conversations(store, chats))
    for item, each in zip(store.runs.list_item_ids(run), chats, strict=True):
        labels = ("yes", "no", "yes", "idk")
        store.runs.save_window(item, assess(windows_of(each)[0], {1: labels}))
    return run


def drawn(
    store: Store, run: RunId, design: SamplingDesign, *by: str, size: int = 30, shown: float = 0.0
) -> SampleRow:
    request = SampleRequest("s", design=design, stratified_by=by, size=size, shown_share=shown)
    return draw_and_save_run_sample(store, run, ANN, request)


def say(store: Store, row: SampleRow, most: int) -> None:
    """Answer the first claims of a queue; every fourth otherwise than the judge."""
    judge = {each.claim: each.judge for each in store.labelled_units.read_claim_units(row.run)}
    for number, entry in enumerate(store.samples.list_claims_in_served_order(row.id, ANN)[:most]):
        word = "no" if number % 4 == 0 else "x" if number % 9 == 5 else str(judge[entry.claim])
        store.label_log.record_verdict(
            entry.claim, ANN, word, run=row.run, saw_judge=False, sample=row.id
        )


@pytest.mark.parametrize(
    ("design", "by"),
    [
        (SamplingDesign.SIMPLE, ()),
        (SamplingDesign.STRATIFIED, ("verdict",)),
        (SamplingDesign.STRATIFIED, ("turn", "verdict")),
    ],
)
@pytest.mark.parametrize("shown", [0.0, 0.4])
def test_they_are_those_of_the_report_while_one_person_labels(
    store: Store, run: RunId, design: SamplingDesign, by: tuple[str, ...], shown: float
) -> None:
    row = drawn(store, run, design, *by, shown=shown)
    assert read_confidence_sequences(store, row.id, ANN) is None
    say(store, row, 20)
    found = read_confidence_sequences(store, row.id, ANN)
    assert found is not None
    # Claims that show the judge are in no figure.
    labels = sum(
        not each.shown for each in store.samples.list_claims_in_served_order(row.id, ANN)[:20]
    )
    assert found.labels == labels
    assert 0 < found.rate[0] < found.rate[1] < 1
    assert found.recall[0] < found.recall[1]
    agreement = compute_run_agreement(store, run)
    assert agreement.report.progress.sequences == found
    page, values = ("".join(iter_report_text(store, agreement, form)) for form in ("md", "json"))
    low, high = found.rate
    assert f"(95%, this run): the share that passes is {low:.1%} to {high:.1%}" in page
    # Not of all that fail in the run, where `idk` may: of the label that says so.
    assert f", and the recall of no is {found.recall[0]:.1%} to {found.recall[1]:.1%}." in page
    assert f"This rests on {labels} labels in the drawn order." in page
    assert "sequences" not in values
    outcome = read_outcome_and_close_finished_spot_check(store, row.id, ANN)
    assert outcome.sequences == found
    words = describe_confidence_sequences(found)
    progress = outcome.progress
    for lines in (
        queue_detail_lines(
            progress.row, store.samples.read_stratum_progress(row.id, ANN), progress, 100, found
        ),
        queue_end_lines(outcome, 100),
        format_labels_needed_lines(agreement.report, 100, 12),
    ):
        assert words in " ".join(each.text for each in lines)


def skip(store: Store, row: SampleRow, place: int) -> None:
    """Skip a claim of a queue."""
    entry = store.samples.list_claims_in_served_order(row.id, ANN)[place]
    store.label_log.append_label_event(
        entry.claim,
        ANN,
        Action.SKIPPED,
        run=row.run,
        judge_verdict=None,
        saw_judge=False,
        sample=row.id,
    )


def test_a_skipped_claim_of_a_blind_queue_changes_nothing(store: Store, run: RunId) -> None:
    """The lower end of the rate fell where the judge passes it, else the upper one rose."""
    row = drawn(store, run, SamplingDesign.SIMPLE)
    say(store, row, 20)
    before = read_confidence_sequences(store, row.id, ANN)
    assert before is not None
    skip(store, row, 20)
    assert read_confidence_sequences(store, row.id, ANN) == before
    entry = store.samples.list_claims_in_served_order(row.id, ANN)[21]
    store.label_log.record_verdict(entry.claim, ANN, "no", run=run, saw_judge=False, sample=row.id)
    after = read_confidence_sequences(store, row.id, ANN)
    assert after is not None
    assert (after.rate, after.recall, after.later) == (before.rate, before.recall, 1)
    assert "1 label behind the first claim that is skipped" in describe_confidence_sequences(after)
    # Leaving blind work to look at the report's told what the skipped claim is.
    report = compute_run_agreement(store, run).report
    assert report.progress.sequences == after
    hidden, shown = (
        " ".join(each.text for each in format_labels_needed_lines(report, 100, 12, blind=blind))
        for blind in (True, False)
    )
    assert "however" not in hidden
    assert "however" in shown


def test_a_skipped_claim_of_a_queue_that_shows_the_judge_may_be_anything(
    store: Store, run: RunId
) -> None:
    request = SampleRequest("s", design=SamplingDesign.SIMPLE, size=30, blind=False)
    row = draw_and_save_run_sample(store, run, ANN, request)
    say(store, row, 20)
    before = read_confidence_sequences(store, row.id, ANN)
    skip(store, row, 20)
    after = read_confidence_sequences(store, row.id, ANN)
    assert before is not None
    assert after is not None
    assert after.rate[1] - after.rate[0] > before.rate[1] - before.rate[0]
    # Who works blind in it does not learn from this what the judge says of the skipped claim.
    assert read_confidence_sequences(store, row.id, ANN, works_blind=True) == before
    assert compute_run_agreement(store, run).report.progress.sequences == before
    say(store, row, 20)
    for place in range(21, 30):
        skip(store, row, place)
    assert read_confidence_sequences(store, row.id, ANN, works_blind=True) == before


def test_skipped_claims_count_in_a_report_once_the_sample_is_through(
    store: Store, run: RunId
) -> None:
    row = drawn(store, run, SamplingDesign.SIMPLE)
    say(store, row, 20)
    skip(store, row, 20)
    open_claims = compute_run_agreement(store, run).report.progress.sequences
    for place in range(21, 30):
        skip(store, row, place)
    through = compute_run_agreement(store, run).report.progress.sequences
    assert open_claims is not None
    assert through is not None
    assert through.rate[1] - through.rate[0] > open_claims.rate[1] - open_claims.rate[0]


def test_a_blind_queue_says_nothing_where_few_claims_are_left(store: Store, run: RunId) -> None:
    row = drawn(store, run, SamplingDesign.SIMPLE, size=70)
    say(store, row, 60)
    assert read_confidence_sequences(store, row.id, ANN) is not None
    say(store, row, 62)
    assert read_confidence_sequences(store, row.id, ANN) is None


def test_a_blind_queue_that_is_through_says_nothing_of_few_claims_outside_it(
    store: Store, run: RunId
) -> None:
    """Recall was [1.00, 1.00] or [.75, 1.00], as the judge flags the last claim or passes it."""
    everything = len(store.samples.read_frame(run))
    for outside, is_said in ((FEWEST_LEFT_WHILE_BLIND, True), (1, False), (0, True)):
        request = SampleRequest(f"but {outside}", size=everything - outside, seed=outside)
        row = draw_and_save_run_sample(store, run, ANN, request)
        say(store, row, everything)
        assert (read_confidence_sequences(store, row.id, ANN) is not None) is is_said


def test_whole_conversations_and_repeats_have_none(store: Store, run: RunId) -> None:
    whole = drawn(store, run, SamplingDesign.CONVERSATIONS, size=5)
    say(store, whole, 20)
    assert read_confidence_sequences(store, whole.id, ANN) is None
    again = draw_and_save_run_sample(store, run, ANN, make_repeat_labels_request(9, 5))
    assert read_confidence_sequences(store, again.id, ANN) is None


def test_a_spot_check_has_them_and_a_run_that_went_on_has_not(store: Store) -> None:
    chats = [make_conversation(f"t{number:02}", answers=1) for number in range(21)]
    run = store.runs.create(SPEC, import_conversations(store, chats))
    items = store.runs.list_item_ids(run)
    windows = [assess(windows_of(each)[0], {1: ("yes", "no")}) for each in chats]
    for item, window in zip(items[:20], windows, strict=False):
        store.runs.save_window(item, window)
    row = draw_and_save_run_sample(store, run, ANN, make_spot_check_request(3))
    say(store, row, 20)
    found = read_confidence_sequences(store, row.id, ANN)
    assert found is not None
    assert (found.labels, found.later) == (20, 0)
    store.runs.save_window(items[20], windows[20])
    assert read_confidence_sequences(store, row.id, ANN) is None
    assert compute_run_agreement(store, run).report.progress.sequences is None
