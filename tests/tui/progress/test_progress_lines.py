"""What the run screen says, without a screen: every state, every event, money and pace."""

import inspect
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui import errors
from faithtui.domain.ids import ItemId, RunId
from faithtui.domain.judging.error_sentences import ERRORS
from faithtui.engine.runs.events import (
    CallRetried,
    Draining,
    ItemFinished,
    ParameterRefused,
    RunEnded,
    RunEvent,
    RunSnapshot,
    StepCount,
    StoreTroubled,
    WayChanged,
    WindowAssessed,
    WindowFailed,
)
from faithtui.metrics.registry import find_metric
from faithtui.store.records import ItemState, RunHistory, RunRow, RunState
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.progress.event_lines import (
    error_words,
    event_lines,
    event_words_and_look,
    failed_conversation_lines,
    group_events,
)
from faithtui.tui.progress.history_lines import history_lines
from faithtui.tui.progress.pace import (
    LOOK_BACK_S,
    MIN_SPAN_S,
    NO_RATES,
    PaceMeter,
    RunRates,
    count_received_replies,
    count_replies_in_flight,
)
from faithtui.tui.progress.progress_lines import (
    RunStatus,
    RunView,
    make_run_state_and_time_pieces,
    total_lines,
)
from faithtui.tui.progress.stage_lines import stage_lines, stage_title
from faithtui.tui.runs.run_details import run_detail_lines
from faithtui.tui.runs.run_lines import get_run_status_and_look
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import Line, count_cells_of_pieces
from tests.tui import staged_runs
from tests.tui.building import NOON, SPEC
from tests.tui.staged_runs import EVENTS, ON, RUN, SOME

NAMES = {ItemId(1): "conv-0147", ItemId(3): "conv-0112"}


def row(state: RunState = RunState.RUNNING, **changes: object) -> RunRow:
    made = RunRow(
        id=RUN, spec=SPEC, state=state, reason=None, created_at=NOON, finished_at=None,
        conversations=40, pending=25, done=12, failed=2, skipped=1, windows=121, failed_windows=2,
        claims=430, missing_verdicts=3, labelled=0, score=0.8, corrected=0.8, calls=478,
        tokens_in=610_000, tokens_out=42_000,
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]  # named by the tests


def capped(nusd: int | None, tokens: int | None) -> RunRow:
    return row(spec=replace(SPEC, budget_nusd=nusd, budget_tokens=tokens))


def text(lines: list[Line]) -> str:
    return " ".join(" ".join(each.text for each in lines).split())


def totals(run: RunView, width: int = 78) -> str:
    return text(total_lines(run, width))


STATES: list[tuple[RunView, RunStatus, str]] = [
    (RunView(row(), ON), RunStatus.RUNNING, "8 workers · 3 in flight"),
    (
        RunView(row(), staged_runs.PAUSED),
        RunStatus.PAUSED,
        "nothing new is asked; 3 replies in flight",
    ),
    (RunView(row(), staged_runs.TROUBLED), RunStatus.TROUBLED, "only 3 MB left"),
    (RunView(row(), staged_runs.DRAINING), RunStatus.DRAINING, "ctrl+x again gives them up"),
    (RunView(row()), RunStatus.ELSEWHERE, "Another process judges this run"),
    (RunView(row(RunState.PLANNED)), RunStatus.PLANNED, "r begins"),
    (
        RunView(row(RunState.PLANNED), waits_for="run #3"),
        RunStatus.WAITING,
        "when run #3 is through",
    ),
    (RunView(row(), staged_runs.STOPPED), RunStatus.STOPPED, "does not hold another question"),
    (RunView(row(RunState.CANCELLED)), RunStatus.CANCELLED, "r resumes"),
    (RunView(row(RunState.INTERRUPTED)), RunStatus.INTERRUPTED, "What is stored stays"),
    (RunView(row(), staged_runs.HANDED_OVER), RunStatus.HANDED_OVER, "r fetches answers"),
    (RunView(row(), staged_runs.DONE), RunStatus.DONE, "R asks again what failed (2)"),
]


@pytest.mark.parametrize(
    ("run", "standing", "words"), STATES, ids=[each[1].name for each in STATES]
)
def test_every_state_has_its_words_and_the_way_on(
    run: RunView, standing: RunStatus, words: str
) -> None:
    assert run.status is standing
    assert standing.words in text([Line(tuple(make_run_state_and_time_pieces(run)))])
    assert words in totals(run)
    assert "12 done · 2 failed · 1 skipped · 25 to go" in totals(run) or standing is RunStatus.DONE


@pytest.mark.parametrize("run", [each[0] for each in STATES])
@given(width=st.integers(46, 220))
def test_lines_fit_their_pane(run: RunView, width: int) -> None:
    for drawn in (*total_lines(run, width), *stage_lines(run, width)):
        assert count_cells_of_pieces(drawn.pieces) <= width


def test_trouble_goes_before_a_pause_and_draining_before_both() -> None:
    both = replace(staged_runs.PAUSED, trouble="locked")
    assert RunView(row(), both).status is RunStatus.TROUBLED
    assert (
        RunView(row(), replace(staged_runs.DRAINING, trouble="locked")).status is RunStatus.DRAINING
    )


def test_a_budget_is_a_bar_and_says_what_it_does_not_count() -> None:
    told = totals(RunView(capped(5_000_000_000, 2_000_000), ON))
    assert "$1.55 / $5.00" in told
    assert "652k / 2.0M" in told
    unknown = replace(ON, progress=replace(SOME, unpriced_calls=12))
    told = totals(RunView(capped(5_000_000_000, None), unknown))
    assert "$1.55 / $5.00 no price known for 12 calls" in told


@pytest.mark.parametrize(
    ("cost", "unpriced", "words"),
    [
        (0, 0, "cost nothing tokens"),
        (0, 7, "cost no price known for 7 calls tokens"),
        (31_200_000, 1, "cost $0.0312 · no price known for 1 call tokens"),
        (31_200_000, 0, "cost $0.0312 tokens"),
    ],
)
def test_an_unknown_cost_is_never_taken_for_nothing(cost: int, unpriced: int, words: str) -> None:
    progress = replace(SOME, cost_nusd=cost, unpriced_calls=unpriced)
    assert words in totals(RunView(row(), replace(ON, progress=progress)))


def test_the_eta_says_what_it_goes_by() -> None:
    assert "7 min left, if the rest goes like what was judged in 5 min" in totals(
        RunView(row(), ON)
    )
    early = replace(ON, eta_s=None)
    assert "the time left is known when the first conversation is through" in totals(
        RunView(row(), early)
    )


def test_the_pace_and_the_providers_limits_are_said() -> None:
    told = totals(RunView(row(), ON, RunRates(126.0, 3.25)))
    assert "126 calls/min · 3.2 windows/min · p50 1.9 s · p95 6.0 s · 12 retries" in told
    assert "the provider is given 6 at once, 126 a minute" in told


def test_stages_name_each_step() -> None:
    told = text(stage_lines(RunView(row(), ON), 60))
    assert "truths 121 40 2 3" in told
    assert "claims 120 40 0 0" in told
    assert stage_title(RunView(row(), ON)) == "Stages · 478 calls, 116 from the store"
    assert "478 calls stored, 12 retries" in text(stage_lines(RunView(row(retries=12)), 60))


# Events


def test_events_that_say_the_same_are_told_as_one() -> None:
    entries = group_events(EVENTS)
    lines = [each.text.strip() for each in event_lines(entries, NOON, NAMES, 120)]
    assert [" ".join(each.split()[1:]) for each in lines] == [
        "conv-0112: failed",
        "conv-0112 w1: not judged, the answer was cut off at the limit of tokens",
        "verdicts: asked faster than the provider takes; asked again after 8.0 s · 2 times",
        "conv-0147: done, 3 windows",
        "a schema did not work with this judge; asking by a tool call from now on",
        "run begun",
    ]
    assert [each.item_id for each in entries] == [3, 3, None, 1, None, None]


@given(st.lists(st.sampled_from(EVENTS), max_size=40))
def test_no_event_is_lost_by_telling_some_as_one(events: list[tuple[float, RunEvent]]) -> None:
    entries = group_events(events)
    flat = [event for entry in entries for event in entry.events]
    assert Counter(flat) == Counter(event for _, event in events)


def test_windows_of_conversations_judged_at_once_are_a_line_each_conversation() -> None:
    windows: list[tuple[float, RunEvent]] = [
        (float(at), WindowAssessed(RUN, ItemId(1 + at % 2), at // 2, SOME)) for at in range(20)
    ]
    entries = group_events(windows)
    assert [each.item_id for each in entries] == [2, 1]
    told = [each.text for each in event_lines(entries, NOON, NAMES, 120)]
    assert "conv-0147 w1-10: judged" in told[1]
    ended: list[tuple[float, RunEvent]] = [
        *windows,
        (21.0, ItemFinished(RUN, ItemId(1), ItemState.DONE, SOME)),
    ]
    told = [each.text for each in event_lines(group_events(ended), NOON, NAMES, 120)]
    assert "conv-0147: done, 10 windows" in told[0]


def test_every_kind_of_event_has_words() -> None:
    staged = (
        staged_runs.TROUBLED,
        staged_runs.DRAINING,
        staged_runs.STOPPED,
        staged_runs.HANDED_OVER,
    )
    events = [event for each in staged for _, event in each.recent]
    events.append(ParameterRefused(RUN, "seed", SOME))
    kinds = [type(event) for event in events]
    assert set(kinds) == set(get_args(RunEvent))
    words = [event_words_and_look(event, NAMES)[0] for event in events]
    assert all(words)
    assert len(set(words)) >= len(set(kinds))


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Draining(RUN, SOME), "nothing more is asked; 3 replies in flight will be kept"),
        (StoreTroubled(RUN, "it is locked", SOME), "held in memory: it is locked"),
        (StoreTroubled(RUN, None, SOME), "can be written again"),
        (WayChanged(RUN, "json", "text", SOME), "JSON mode did not work"),
        (ParameterRefused(RUN, "seed", SOME), "the model does not take seed"),
        (RunEnded(RUN, RunState.STOPPED, "no key", SOME), "run stopped: no key"),
        (ItemFinished(RUN, ItemId(1), ItemState.SKIPPED, SOME), "conv-0147: skipped"),
        (WindowFailed(RUN, ItemId(9), 2, "JudgeRefused", SOME), "conversation 9 w3: not judged"),
        (
            WindowFailed(
                RUN, ItemId(9), 2, "JudgeRequestRejected", SOME, "HTTP 400: no such model"
            ),
            ": HTTP 400: no such model",
        ),
        (WindowAssessed(RUN, ItemId(1), 0, SOME), "conv-0147 w1: judged"),
    ],
)
def test_an_event_is_told_in_plain_words(event: RunEvent, words: str) -> None:
    assert words in event_words_and_look(event, NAMES)[0]


def test_every_error_of_a_judge_or_a_metric_has_words_of_its_own() -> None:
    bases = (errors.JudgeError, errors.MetricError)
    names = {
        name for name, each in inspect.getmembers(errors, inspect.isclass)
        if issubclass(each, bases)
    }  # fmt: skip
    assert set(ERRORS) == names
    assert len(set(ERRORS.values())) == len(ERRORS)
    assert error_words("ValueError: x") == "ValueError: x"
    assert error_words("JudgeTimeout: 60 s") == "no whole answer in time: 60 s"


def test_missing_verdicts_are_no_done_run() -> None:
    over = row(RunState.DONE, done=39, failed=0, skipped=1, pending=0, incomplete=2)
    run = RunView(over)
    assert run.status is RunStatus.INCOMPLETE
    assert "incomplete" in text([Line(tuple(make_run_state_and_time_pieces(run)))])
    assert "37 done · 2 incomplete" in totals(run)
    assert "R asks again what lacks a verdict (2)" in totals(run)
    both = RunView(replace(over, done=37, failed=2))
    assert "R asks again what failed or lacks a verdict (4)" in totals(both)
    assert get_run_status_and_look(over) == ("incomplete", "bad")
    assert get_run_status_and_look(replace(over, incomplete=0)) == ("1 skipped", "warn")
    assert get_run_status_and_look(row(RunState.INTERRUPTED)) == ("interrupted", "warn")


@pytest.mark.parametrize(
    ("status", "said", "words"),
    [
        (500, "upstream connect error", "HTTP 500: upstream connect error"),
        (429, "", "HTTP 429: the judge's server failed"),
        (200, "without complete JSON: <html>", "HTTP 200 without complete JSON: <html>"),
        (None, "no answer: nothing listens there", "no answer: nothing listens there"),
        (None, "", "the judge's server failed, or the connection was cut"),
        (500, "\x1b[2J[red]x[/red]", "HTTP 500: ␛[2J[red]x[/red]"),
    ],
)
def test_an_attempt_that_failed_is_told_with_what_was_answered(
    status: int | None, said: str, words: str
) -> None:
    event = CallRetried(RUN, "truths", "JudgeUnavailable", 1.0, SOME, status, said)
    assert words in event_words_and_look(event, {})[0]


def test_different_answers_are_different_entries() -> None:
    first = CallRetried(RUN, "truths", "JudgeUnavailable", 1.0, SOME, 500, "busy")
    events = [(1.0, first), (2.0, first), (3.0, replace(first, status=503))]
    assert [len(each.events) for each in group_events(events)] == [1, 2]


def test_nothing_is_said_to_cost_nothing_before_its_price_is_known() -> None:
    """A call that was just answered is counted here and in no event yet."""
    begun = replace(SOME, cost_nusd=0, unpriced_calls=0)
    gauges = replace(staged_runs.GAUGES, unpriced_calls=3)
    run = RunView(row(cost_nusd=0), replace(ON, progress=begun, gauges=gauges))
    assert "no price known for 3 calls" in totals(run)
    free = RunView(row(cost_nusd=0), replace(ON, progress=begun))
    assert "cost nothing" in totals(free)


def test_names_and_errors_are_made_visible() -> None:
    evil = "\x1b]0;owned\x07"
    event = CallRetried(RUN, evil, evil, 1.0, SOME)
    assert "\x1b" not in event_words_and_look(event, {})[0]
    item = ItemFinished(RUN, ItemId(1), ItemState.DONE, SOME)
    assert "\x1b" not in event_words_and_look(item, {ItemId(1): evil})[0]


def test_what_failed_is_counted_beyond_what_is_listed() -> None:
    assert "nothing failed" in text(failed_conversation_lines((), 0, 60))
    assert "and 3 more" not in text(failed_conversation_lines((), 3, 60))


# Pace and amounts


def at(elapsed_s: float, calls: int, windows: int = 0) -> RunSnapshot:
    progress = replace(SOME, calls=calls, windows=windows)
    return replace(ON, elapsed_s=elapsed_s, progress=progress, gauges=None)


def test_what_arrived_since_the_last_event_counts() -> None:
    steps = (StepCount("truths", 500, 0, 1, 0),)
    now = replace(ON, gauges=replace(staged_runs.GAUGES, steps=steps))
    assert (count_received_replies(now), count_replies_in_flight(now)) == (500, 1)
    assert (count_received_replies(at(1.0, 7)), count_replies_in_flight(at(1.0, 7))) == (
        7,
        SOME.in_flight,
    )
    later = row(cost_nusd=2_000_000_000, tokens_in=700_000, tokens_out=42_000)
    told = totals(RunView(later, now))
    assert "cost $2.00" in told
    assert "700k in" in told
    assert "1 in flight" in told


def test_a_pace_needs_a_moment_and_then_is_that_of_the_last_minute() -> None:
    pace = PaceMeter()
    assert pace.measure_pace(at(0.0, 100)) == NO_RATES
    assert pace.measure_pace(at(MIN_SPAN_S / 2, 150)) == NO_RATES
    assert pace.measure_pace(at(10.0, 110, 5)) == RunRates(60.0, 30.0)
    for second in range(11, 200):
        rates = pace.measure_pace(at(second, 110 + 2 * (second - 10)))
    assert rates.calls == pytest.approx(120.0, rel=0.02)


def test_another_attempt_of_a_run_begins_a_new_pace() -> None:
    pace = PaceMeter()
    pace.measure_pace(at(0.0, 0))
    pace.measure_pace(at(50.0, 500))
    assert pace.measure_pace(at(1.0, 3)) == NO_RATES
    assert pace.measure_pace(at(4.0, 6)).calls == pytest.approx(60.0)


@given(st.lists(st.tuples(st.floats(0.1, 30.0), st.integers(0, 50)), min_size=2, max_size=60))
def test_a_pace_is_never_negative_nor_above_the_fastest_moment(
    steps: list[tuple[float, int]],
) -> None:
    pace, now, calls = PaceMeter(), 0.0, 0
    fastest = max(count / passed for passed, count in steps) * 60
    pace.measure_pace(at(now, calls))
    for passed, count in steps:
        now, calls = now + passed, calls + count
        rate = pace.measure_pace(at(now, calls)).calls
        assert rate is None or -1e-9 <= rate <= fastest * (1 + 1e-9)
    assert LOOK_BACK_S >= MIN_SPAN_S


@pytest.mark.parametrize(
    ("nusd", "words"),
    [
        (0, "$0"),
        (40_000, "below $0.0001"),
        (31_200_000, "$0.0312"),
        (1_550_000_000, "$1.55"),
        (12_345_000_000_000, "$12,345.00"),
    ],
)
def test_money_is_written_with_the_figures_that_matter(nusd: int, words: str) -> None:
    assert fmt.format_money(nusd) == words


@pytest.mark.parametrize(
    ("ms", "words"), [(None, "—"), (340, "340 ms"), (1_900, "1.9 s"), (75_200, "75 s")]
)
def test_times_of_answers_are_short(ms: int | None, words: str) -> None:
    assert fmt.format_latency(ms) == words


def test_a_conversation_that_lacks_a_verdict_is_told_as_such() -> None:
    progress = replace(SOME, incomplete=1)
    lacking = ItemFinished(RUN, ItemId(1), ItemState.DONE, progress, lacks_verdict=True)
    assert event_words_and_look(lacking, NAMES) == ("conv-0147: a verdict is missing", "bad")
    ended = RunEnded(RUN, RunState.DONE, None, progress)
    assert event_words_and_look(ended, {}) == (
        "run done; 1 conversation lacks a verdict",
        "warn strong",
    )


def test_a_list_says_what_a_run_lacks_and_which_key_goes_on() -> None:
    spec = find_metric(SPEC.metric).spec
    keys = KeyNames({})
    lacking = row(RunState.DONE, done=40, failed=0, incomplete=1, missing_verdicts=1)
    said = text(run_detail_lines(lacking, spec, 100, keys))
    assert "40 conversations: 39 done, 1 incomplete" in said
    assert "1 claim without a verdict: never a pass · R asks again" in said
    gone = text(run_detail_lines(row(RunState.INTERRUPTED), spec, 100, keys))
    assert "the process that judged it is gone: r resumes" in gone


@pytest.mark.parametrize(
    ("started", "told", "happened"),
    [
        (
            NOON + timedelta(minutes=15, seconds=49),
            "started 2026-11-20 12:20, ended after 00:15",
            ("12:20 started: 40 conversations", "12:20 run done after 00:15, 160 conversations"),
        ),
        (
            None,
            "planned 2026-11-20 12:04, ended 2026-11-20 12:20",
            ("12:04 planned: 40 conversations", "12:20 run done"),
        ),
    ],
)
def test_a_run_took_as_long_as_it_was_judged_not_as_it_was_planned(
    started: datetime | None, told: str, happened: tuple[str, str]
) -> None:
    ended = row(RunState.DONE, finished_at=NOON + timedelta(minutes=16, seconds=4))
    spec = find_metric(SPEC.metric).spec
    details = run_detail_lines(ended, spec, 200, KeyNames({}), started_at=started)
    assert told in text(details)
    history = history_lines(ended, RunHistory(started_at=started), 90, blind=True)
    said = text(history)
    assert all(words in said for words in happened)
    assert started is not None or "after" not in said


def test_planned_runs_that_nobody_starts_are_named_where_another_run_is_looked_at() -> None:
    resumed = RunView(row(RunState.DONE), planned_runs=[RunId(8), RunId(9)])
    words = "! 2 planned runs wait: #8 #9. g r, then r on one starts it"
    assert words in totals(resumed)
    assert "planned run" not in totals(RunView(row(RunState.DONE)))
    spec = find_metric(SPEC.metric).spec
    detail = run_detail_lines(row(), spec, 100, KeyNames({}), planned_runs=[RunId(8)])
    assert "! 1 planned run waits: #8. r on one starts it" in text(detail)
    many = RunView(row(), planned_runs=[RunId(each) for each in range(1, 20)])
    assert "19 planned runs wait: #1 #2 #3 #4 #5 #6 #7 #8 …. g r" in totals(many)
