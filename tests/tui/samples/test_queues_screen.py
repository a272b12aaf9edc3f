"""The screen of drawn queues: draw, draw more, work through, decide."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select

from faithtui.agreement.report.model import ConfidenceSequences
from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign, SamplingFrame, Stratum
from faithtui.agreement.sampling.label_plan import (
    PlanStratum,
    PlanTarget,
    plan_fewest_labels_for_target,
    plan_labels_for_budget,
    predict_half_widths,
)
from faithtui.agreement.sampling.stopping_rules import predict_half_width
from faithtui.domain.ids import RunId
from faithtui.engine.review.samples.label_plans import PlanBasis, read_plan_strata
from faithtui.engine.review.samples.sample_queues import (
    SampleRequest,
    draw_and_save_run_sample,
    read_outcome_and_close_finished_spot_check,
    read_queue_progress,
)
from faithtui.errors import ConfigError
from faithtui.store.annotations.session_counts import SessionCounts
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.store import Store
from faithtui.tui.app import FaithApp
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.review.lines.session_lines import SessionFacts, describe_session_progress
from faithtui.tui.review.review_screen import ReviewScreen
from faithtui.tui.samples import sample_lines
from faithtui.tui.samples.queue import ClaimQueue
from faithtui.tui.samples.queue_end_dialog import QueueEndDialog
from faithtui.tui.samples.queues_screen import QueuesScreen
from faithtui.tui.samples.sample_fields import (
    parse_number,
    parse_plan_as_stratum_sizes,
    parse_share,
    parse_stratum_sizes,
)
from faithtui.tui.samples.sample_form import DrawSampleScreen, ExtendSampleScreen
from faithtui.tui.theme.lines import Piece, count_cells_of_pieces
from faithtui.tui.widgets.bars import StatusLine
from tests.tui.driving import calm, opened, press, screen_text, status, text_of

SIZES = [(80, 24), (120, 40), (200, 60)]


async def at_queues(pilot: Pilot[None]) -> QueuesScreen:
    """Go to the queues of the newest run."""
    await opened(pilot)
    await press(pilot, "g", "u")
    assert isinstance(pilot.app.screen, QueuesScreen)
    return pilot.app.screen


def rows_of(app: FaithApp) -> tuple[SampleRow, ...]:
    return app.session.store.samples.list_samples("ann")


@pytest.mark.parametrize("size", SIZES)
async def test_an_empty_list_says_what_to_do(app: FaithApp, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await at_queues(pilot)
        painted = screen_text(app)
        assert "Nothing is drawn from this run yet" in painted
        assert "? help" in painted


@pytest.mark.parametrize(("run", "offered"), [(True, True), (False, False)])
def test_no_key_is_offered_that_needs_a_run_there_is_not(run: bool, offered: bool) -> None:
    words = " ".join(each.text for each in sample_lines.no_queues_lines(60, run, KeyNames({})))
    assert ("spot-check" in words) is offered
    assert ("g r" in words) is not offered


@pytest.mark.thorough
@pytest.mark.parametrize("size", SIZES)
async def test_the_form_says_what_will_be_drawn_before_it_is(
    app: FaithApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await at_queues(pilot)
        await press(pilot, "n")
        assert isinstance(app.screen, DrawSampleScreen)
        frame = len(app.session.store.samples.read_frame(app.session.run or RunId(1)))
        assert f"all {frame} claims" in text_of(app, "preview")
        app.screen.query_one("#size", Input).value = "3"
        await calm(pilot)
        told = text_of(app, "preview")
        assert f"3 of {frame} claims · about 1 min at 15 s a claim" in told
        assert f"probability {3 / frame:.3f}" in told
        assert "ctrl+s draw" in screen_text(app)
        assert not rows_of(app)


async def test_drawing_and_working_through_from_the_first_open_claim(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await at_queues(pilot)
        await press(pilot, "n")
        app.screen.query_one("#size", Input).value = "4"
        app.screen.query_one("#share", Input).value = "0"
        await press(pilot, "ctrl+s")
        (row,) = rows_of(app)
        assert (row.size, row.blind, row.kind) == (4, True, SampleKind.SAMPLE)
        assert " 0/4" in text_of(app, "detail")
        assert status(app) == "", "left to what keys say"
        first = app.session.store.samples.list_claims_in_served_order(row.id, "ann")[0]
        app.session.store.label_log.record_verdict(
            first.claim, "ann", "yes", run=row.run, saw_judge=False, sample=row.id
        )
        await press(pilot, "enter")
        assert isinstance(app.screen, ReviewScreen)
        queue = app.session.claim_queue
        assert queue is not None
        entries = app.session.store.samples.list_claims_in_served_order(row.id, "ann")
        assert queue.entries == tuple((each.item, each.claim) for each in entries)
        assert app.screen.review_position.claim == entries[1].claim


@pytest.mark.thorough
async def test_stratified_numbers_are_given_per_stratum(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await at_queues(pilot)
        await press(pilot, "n")
        app.screen.query_one("#design", Select).value = "stratified"
        await calm(pilot)
        populations = app.session.store.samples.read_frame(
            RunId(1), ["verdict"]
        ).claim_counts_by_stratum
        assert all(name in text_of(app, "preview") for name in populations)
        app.screen.query_one("#sizes", Input).value = "1"
        await calm(pilot)
        assert f"{len(populations)} numbers are expected" in text_of(app, "preview")
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, DrawSampleScreen)
        app.screen.query_one("#sizes", Input).value = "all " * (len(populations) - 1) + "1"
        await press(pilot, "ctrl+s")
        (row,) = rows_of(app)
        *full, last = row.strata
        assert all(each.drawn == each.population for each in full)
        assert last.drawn == 1
        assert "judge no" in text_of(app, "detail")
        assert "1.00" in text_of(app, "detail")


@pytest.mark.thorough
async def test_what_strata_are_made_of_is_said_in_full_at_80_columns(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await at_queues(pilot)
        await press(pilot, "n")
        app.screen.query_one("#design", Select).value = "stratified"
        await calm(pilot)
        assert "changed between windows" in text_of(app, "strata")
        assert "…" not in text_of(app, "strata")


@pytest.mark.thorough
async def test_what_cannot_be_drawn_is_said_in_the_form(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await at_queues(pilot)
        await press(pilot, "n")
        for field, value in (("size", "many"), ("share", "2"), ("seed", "-1")):
            box = app.screen.query_one(f"#{field}", Input)
            before, box.value = box.value, value
            await press(pilot, "ctrl+s")
            assert isinstance(app.screen, DrawSampleScreen)
            box.value = before
        await press(pilot, "escape")
        assert not rows_of(app)


@pytest.mark.thorough
async def test_drawing_more_of_a_sample(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        run = app.session.store.runs.find_newest_run_id()
        assert run is not None
        draw_and_save_run_sample(app.session.store, run, "ann", SampleRequest("mine", size=2))
        await press(pilot, "g", "u", "plus")
        assert isinstance(app.screen, ExtendSampleScreen)
        app.screen.query_one("#size", Input).value = "none"
        await press(pilot, "enter")
        assert isinstance(app.screen, ExtendSampleScreen)
        app.screen.query_one("#size", Input).value = "2"
        await press(pilot, "enter")
        assert rows_of(app)[0].size == 4
        assert "0/4" in screen_text(app)
        title = str(app.screen.query_one("#detail").border_title).strip()
        assert title == "Queue", "its id is no number in the list"


@pytest.mark.thorough
async def test_a_spot_check_asks_first_and_begins_at_once(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await at_queues(pilot)
        await press(pilot, "c", "n")
        assert not rows_of(app)
        await press(pilot, "c", "y")
        (row,) = rows_of(app)
        assert row.kind is SampleKind.SPOT_CHECK
        assert isinstance(app.screen, ReviewScreen)
        await press(pilot, "g", "u", "c")
        assert len(rows_of(app)) == 1
        assert isinstance(app.screen, ReviewScreen)


@pytest.mark.thorough
async def test_repeats_without_own_labels_say_why_not(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await at_queues(pilot)
        await press(pilot, "R", "y")
        assert not rows_of(app)
        assert any("nothing can be drawn" in each.message for each in app._notifications)


def test_numbers_shares_and_sizes_are_read_or_refused() -> None:
    assert [parse_number(each, "size") for each in (" 1 000 ", "1,000", "1000")] == [1000] * 3
    assert (parse_share("0,2"), parse_share("1")) == (0.2, 1.0)
    have = {"judge no": 5, "judge yes": 9}
    assert parse_stratum_sizes("", have) == {}
    assert parse_stratum_sizes("1,000 2,500", {"a": 5000, "b": 3000}) == {"a": 1000, "b": 2500}
    assert parse_stratum_sizes("all, 3", have) == {"judge no": 5, "judge yes": 3}
    for wrong in ("0", "x", "1.5", "1,5", ""):
        with pytest.raises(ConfigError):
            parse_number(wrong, "size")
    for wrong in ("-0.1", "1.1", "half", "nan"):
        with pytest.raises(ConfigError):
            parse_share(wrong)
    for wrong in ("1", "1 2 3", "1 two", "1 -2", "1,000"):
        with pytest.raises(ConfigError):
            parse_stratum_sizes(wrong, have)


@pytest.fixture
def samples(store_path: Path) -> list[SampleRow]:
    """One sample of each design and kind, with a hostile name."""
    name = "[b]\x1b[31m\u202enasty\n" + "long " * 50
    with Store.open(store_path) as store:
        run = store.runs.find_newest_run_id()
        assert run is not None
        rows = [
            draw_and_save_run_sample(
                store,
                run,
                "ann",
                SampleRequest(name, design=each, stratified_by=("verdict",), size=2),
            )
            for each in SamplingDesign
        ]
        rows.append(
            draw_and_save_run_sample(
                store, run, "ann", SampleRequest(name, SampleKind.SPOT_CHECK, size=20, blind=False)
            )
        )
        return rows


@pytest.mark.parametrize("width", [24, 58, 78, 118, 198])
def test_lines_fit_and_hold_no_control(
    samples: list[SampleRow], store_path: Path, width: int
) -> None:
    with Store.open(store_path) as store:
        for row in samples:
            strata = store.samples.read_stratum_progress(row.id, "ann")
            progress = read_queue_progress(store, row.id, "ann")
            lines = [
                sample_lines.queue_header_line(width),
                sample_lines.queue_line(row, width, True),
                *sample_lines.queue_detail_lines(row, strata, progress, width),
                *sample_lines.queue_end_lines(
                    read_outcome_and_close_finished_spot_check(store, row.id, "ann"), width
                ),
                *sample_lines.no_queues_lines(width, True, KeyNames({})),
                *sample_lines.no_queues_lines(width, False, KeyNames({})),
                *sample_lines.format_sample_preview_lines(
                    row.strata, row.design, row.frame, 15.0, width, shown=0.2
                ),
            ]
            for each in lines:
                assert "\x1b" not in each.text
                assert "\u202e" not in each.text
                assert count_cells_of_pieces(each.pieces) <= width or width < 58


def test_who_works_blind_sees_of_a_queue_that_shows_the_judge_what_a_blind_one_shows(
    store_path: Path,
) -> None:
    """By the labels of each stratum the verdicts of the last claims can be told."""
    with Store.open(store_path) as store:
        request = SampleRequest(
            "s",
            design=SamplingDesign.STRATIFIED,
            stratified_by=("verdict",),
            size=6,
            blind=False,
        )
        row = draw_and_save_run_sample(store, RunId(1), "ann", request)
        strata = store.samples.read_stratum_progress(row.id, "ann")
        for works_blind in (False, True):
            lines = sample_lines.queue_detail_lines(row, strata, None, 100, works_blind=works_blind)
            is_hidden = "hidden until all is" in " ".join(each.text for each in lines)
            assert is_hidden is works_blind


def test_the_status_line_says_where_a_queue_is(samples: list[SampleRow], store_path: Path) -> None:
    with Store.open(store_path) as store:
        row = next(each for each in samples if each.design is SamplingDesign.SIMPLE)
        claim = store.samples.list_claims_in_served_order(row.id, "ann")[0].claim
        store.label_log.record_verdict(
            claim, "ann", "yes", run=row.run, saw_judge=False, sample=row.id, seconds=11.2
        )
        progress = read_queue_progress(store, row.id, "ann")
    detail = sample_lines.queue_detail_lines(progress.row, (), progress, 80)
    assert " pace    known after 5 claims that took 2 s or more each" in [
        each.text for each in detail
    ]
    progress = replace(progress, row=replace(progress.row, pace_s=11.2))
    words = sample_lines.queue_status(progress)
    left = row.frame - 1
    assert words == (
        f"blind sample 1/2 · 11 s a claim · 1 min to go · up to {left} more label"
        f"{'s' * (left > 1)} for a pass rate ±0.10"
    ), "ten labels are not there to come"
    progress = replace(progress, needed=90, left=5_000)
    assert sample_lines.describe_labels_needed(progress) == (
        "up to 90 more labels for a pass rate ±0.10 (better known after 9 of them)"
    )
    words = sample_lines.describe_labels_needed(
        replace(progress, needed=91, planned=False), has_room=True
    )
    assert words == "91 more for kappa ±0.10, by your labels in this queue"
    other_labels_too = SessionFacts(SessionCounts(3, 1.0), progress)
    session = describe_session_progress(other_labels_too, 0, "here", has_timer=True)
    assert session.startswith("blind sample 1/2 · 1 min to go · up to "), "the timer of the sample"
    assert session.endswith(" · 11 s a claim · 3 today"), "one pace for one sample"
    line = StatusLine()
    line.right, line.who = (Piece(session),), (Piece("kap"),)
    assert line.lay_out_line(80).text.strip() == "blind sample 1/2 · 1 min to go · kap"
    measured = replace(progress, needed=1_100, planned=False, until_measured=0)
    other_labels_too = replace(other_labels_too, progress=measured)
    line.right = (Piece(describe_session_progress(other_labels_too, 0, "here", has_timer=True)),)
    assert line.lay_out_line(80).text.strip() == (
        "blind sample 1/2 · 1 min to go · 1,100 more for kappa ±0.10 · kap"
    ), "labels today and the pace give way"
    no_interval = replace(progress, until_measured=0)
    words = sample_lines.describe_labels_needed(no_interval)
    assert words == "up to 90 more labels for a pass rate ±0.10", "ten are there, kappa is not"


@pytest.mark.parametrize(
    ("asked", "drawn", "said"),
    [
        (100, 100, ["100 of 3,922 claims"]),
        (3_922, 3_922, ["all 3,922 claims"]),
        (9_999, 3_922, ["all 3,922 claims", "size: larger than the 3,922 claims there are"]),
    ],
)
def test_a_size_above_all_claims_is_told(asked: int, drawn: int, said: list[str]) -> None:
    strata = (Stratum("", 3_922, drawn),)
    lines = sample_lines.format_sample_preview_lines(
        strata, SamplingDesign.SIMPLE, 3_922, 15.0, 78, asked=asked
    )
    text = "\n".join(each.text for each in lines)
    assert all(each in text for each in said)
    assert text.count("size: larger") == len(said) - 1


def test_a_share_shown_on_purpose_counts_in_no_width() -> None:
    strata = (Stratum("", 1_000, 50),)

    def preview(share: float) -> str:
        lines = sample_lines.format_sample_preview_lines(
            strata, SamplingDesign.SIMPLE, 1_000, 15.0, 300, shown=share
        )
        return "\n".join(each.text for each in lines)

    assert (
        "1 in 5 shown with the judge's verdict, to measure its influence; they count in no figure: "
        "about 40 of 50 count"
    ) in preview(0.2)
    assert "a pass rate will be known to ±" in preview(0.2)
    assert f"±{predict_half_width(40, 0.5):.3f} at 50%" in preview(0.2)
    assert f"±{predict_half_width(50, 0.5):.3f} at 50%" in preview(0)
    assert "shown" not in preview(0)
    assert "35% shown" in preview(0.35)


def test_spans_are_told_as_people_plan_them() -> None:
    told = [sample_lines.format_minutes(each) for each in (None, 0, 1, 60, 61, 900, 7500)]
    assert told == ["—", "0 min", "1 min", "1 min", "2 min", "15 min", "2 h 5 min"]


def test_a_queue_that_nobody_named_is_named_once_at_its_end(
    store_path: Path, samples: list[SampleRow]
) -> None:
    with Store.open(store_path) as store:
        end = read_outcome_and_close_finished_spot_check(store, samples[0].id, "ann")
    assert end is not None
    for name, said in (("spot-check", "spot-check"), ("May", "spot-check May")):
        row = replace(end.progress.row, kind=SampleKind.SPOT_CHECK, name=name)
        lines = sample_lines.queue_end_lines(
            replace(end, progress=replace(end.progress, row=row)), 60
        )
        assert next(each.text.strip() for each in lines if each.text.strip()) == said


@pytest.mark.thorough
async def test_the_end_of_a_queue_leads_on(app: FaithApp, samples: list[SampleRow]) -> None:
    answers: list[str | None] = []
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        store = app.session.store
        row = samples[0]
        queue = ClaimQueue(row.name, row.run, (), sample=row.id)
        app.push_screen(
            QueueEndDialog(queue, read_outcome_and_close_finished_spot_check(store, row.id, "ann")),
            answers.append,
        )
        await calm(pilot)
        painted = screen_text(app)
        assert "This queue is through" in painted
        assert "u undo  a agreement  + draw more" in painted
        assert f"0 of {row.size} claims answered" in painted
        await press(pilot, "plus")
        app.push_screen(QueueEndDialog(ClaimQueue("found", row.run, ()), None), answers.append)
        await calm(pilot)
        assert "nothing more is open in it" in screen_text(app)
        await press(pilot, "enter")
    assert answers == ["queues", None]


@pytest.mark.thorough
async def test_plan_typed_as_numbers_shares_the_size_and_says_what_it_gives(app: FaithApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await at_queues(pilot)
        await press(pilot, "n")
        app.screen.query_one("#design", Select).value = "stratified"
        app.screen.query_one("#size", Input).value = "4"
        await calm(pilot)
        assert "of this run: share that passes ±" in text_of(app, "preview")
        assert "(assumed)" in text_of(app, "preview")
        await pilot.resize_terminal(120, 40)
        await calm(pilot)
        assert app.screen.query_one("#preview").max_scroll_y == 0
        app.screen.query_one("#sizes", Input).value = "plan wide"
        await calm(pilot)
        assert "a half width is expected, such as plan 0.05" in text_of(app, "preview")
        app.screen.query_one("#sizes", Input).value = "plan"
        await calm(pilot)
        basis = read_plan_strata(app.session.store, RunId(1), ["verdict"])
        planned = plan_labels_for_budget(basis.strata, 4).sizes
        await press(pilot, "ctrl+s")
        (row,) = rows_of(app)
        assert {each.name: each.drawn for each in row.strata} == planned
        assert row.size == 4


def test_a_plan_from_labels_says_what_reports_show() -> None:
    strata = (PlanStratum("judge no", 100, True, 0.5, 8), PlanStratum("judge yes", 900, False, 0.1))
    basis = PlanBasis(SamplingFrame(), strata, ("no",), is_broad=False, measured_recall=0.4)
    found = predict_half_widths(strata, {"judge no": 20, "judge yes": 40})
    drawn = [Stratum("judge no", 100, 20), Stratum("judge yes", 900, 40)]
    for width in (76, 120):
        lines = sample_lines.format_sample_preview_lines(
            drawn, SamplingDesign.STRATIFIED, 1000, 10.0, width, found=found, basis=basis
        )
        assert all(count_cells_of_pieces(each.pieces) <= width for each in lines)
        text = " ".join(" ".join(each.text for each in lines).split())
        assert "(by 8 labels and two more assumed for each)" in text
        assert "recall 36% then; reports show 40%, of labels alone" in text


def test_a_plan_of_few_conversations_says_what_has_no_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    strata = (PlanStratum("judge no", 10, True, 0.5), PlanStratum("judge yes", 90, False, 0.1))
    basis = PlanBasis(SamplingFrame(), strata, ("no",), is_broad=False)
    found = predict_half_widths(strata, {"judge no": 5, "judge yes": 40})
    drawn = [Stratum("judge no", 10, 5), Stratum("judge yes", 90, 40)]
    words = "of {} conversations: below 5 reports give recall, kappa and new data no interval"
    for count in (4, 5):
        monkeypatch.setattr(PlanBasis, "conversation_count", count)
        lines = sample_lines.format_sample_preview_lines(
            drawn, SamplingDesign.STRATIFIED, 100, 10.0, 120, found=found, basis=basis
        )
        text = " ".join(" ".join(each.text for each in lines).split())
        assert (words.format(count) in text) is (count < 5)


def test_a_plan_for_a_half_width_takes_as_many_as_it_needs() -> None:
    strata = (PlanStratum("judge no", 100, True, 0.5), PlanStratum("judge yes", 900, False, 0.1))
    wanted = plan_fewest_labels_for_target(strata, PlanTarget(rate=0.05)).sizes
    assert parse_plan_as_stratum_sizes("plan 0,05", 7, strata) == wanted
    assert sum(parse_plan_as_stratum_sizes(" plan ", 7, strata).values()) == 7
    # A fifth of the claims shows the judge: 20 and 180 labels are never there.
    with pytest.raises(ConfigError, match=r"plan 0\.001 cannot be reached: .* give ±0\.0"):
        parse_plan_as_stratum_sizes("plan 0.001", 7, strata, 0.2)
    assert parse_plan_as_stratum_sizes("plan 0.015", 7, strata, 0.2)["judge no"] == 100
    with pytest.raises(ConfigError, match="no label counts"):
        parse_plan_as_stratum_sizes("plan", 7, strata, 1.0)
    for wrong in ("plan 0", "plan 3"):
        with pytest.raises(ConfigError, match=r"above 0, up to 0\.5"):
            parse_plan_as_stratum_sizes(wrong, 7, strata)


def test_a_queue_says_what_holds_however_often_one_looks() -> None:
    found = ConfidenceSequences(40, 0, (0.72, 0.961), (0.1, 0.9), ("no",))
    words = (
        "passing 72% to 96%, recall of no 10% to 90% in this run: 95% sure however often you look"
    )
    assert sample_lines.describe_confidence_sequences(found) == words


@pytest.mark.thorough
async def test_a_focused_list_to_unfold_is_told_from_the_others(app: FaithApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot)
        await press(pilot, "g", "u", "n")
        design = app.screen.query_one("#design", Select)
        judge = next(each for each in app.screen.query(Select) if each is not design)
        assert design.has_focus
        focused, other = (each.query_one("#label").styles for each in (design, judge))
        assert focused.color != other.color
        assert focused.text_style.bold
        assert not other.text_style.bold
