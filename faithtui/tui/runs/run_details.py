"""Lines of what is known of a run: its figures, how its scores lie, and what it was set to."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_sets import LabelSet, format_label_before_count
from faithtui.domain.scores import format_parts_left_out_of_mean
from faithtui.store.runs.run_records import RunRow, RunSpec, RunState
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.metric_words import format_unit_count
from faithtui.tui.runs.next_steps import NextStep
from faithtui.tui.runs.run_lines import MOST_CLAIMS, format_planned_runs_left, integrity_lines
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    Line,
    Piece,
    escape_line,
    escape_text,
    field_lines,
    fit_text,
    make_line,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.engine.review.run_overview import RunCounts, RunTrust
    from faithtui.metrics.base import MetricSpec

_NAME: Final = 10
"""Cells of the names before figures."""
_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
HIDDEN: Final = "hidden while you work blind, as the counts of verdicts are"
_CHART_FROM: Final = 13
"""Rows of the pane from which scores are drawn as a chart of several lines."""
_OPTIONS: Final = {
    ("strict_mode", True): "a conversation passes with 1.00 alone",
    ("include_reason", False): "no reasons asked",
    ("penalize_ambiguous_claims", True): "«idk» counts as failing",
    ("async_mode", False): "one question at a time",
    ("answers_alone", True): "answers without a question are judged",
    ("verbose_mode", True): "steps are told",
}
"""What options mean that are on or off, where they are not as by default."""
_VALUES: Final = {
    "threshold": "threshold {}",
    "truths_extraction_limit": "at most {} truths from an answer's passages",
    "window_size": "windows of {} interactions",
    "model": "judge of its own: {}",
}
"""The same of options with a value."""
_CLAIMS: Final = {
    "imported": "claims of the data",
    "run": "claims of another run",
    "set": "claims of a claim set",
}


def step_lines(
    steps: Sequence[NextStep], width: int, keys: KeyNames, *, is_read: bool
) -> list[Line]:
    """List what can be done next, each with its key.

    Args:
        steps: What can be done.
        width: Cells of a line.
        keys: What keys are called.
        is_read: Labels and figures were read; until then there may be more to do.
    """
    reading = [] if is_read else [make_line(Piece(" … reading labels and figures", "quiet"))]
    if not steps:
        return reading or [make_line(Piece(" nothing is left to do here", "quiet"))]
    room = max(len(keys(each.key)) for each in steps)
    lines: list[Line] = []
    for number, step in enumerate(steps):
        key = [Piece(" "), Piece(fit_text(keys(step.key), room), "key"), Piece("  ")]
        words = Piece(step.words, "warn" if step.is_urgent else "")
        lines += wrap([words], width - 1, first=key, row=number)
    return lines + reading


def run_detail_lines(
    row: RunRow | None,
    metric: "MetricSpec | None",
    width: int,
    keys: KeyNames,
    *,
    height: int = 0,
    counts: "RunCounts | None" = None,
    trust: "RunTrust | None" = None,
    changed_options: Mapping[str, object] | None = None,
    started_at: datetime | None = None,
    planned_runs: Sequence[RunId] = (),
    blind: bool = False,
    failure: str | None = None,
) -> list[Line]:
    """Say what is known of a run.

    Args:
        row: The run; None: none is chosen.
        metric: Its metric; None while that is being read.
        width: Cells of a line.
        keys: What keys are called.
        height: Rows there are.
        counts: Its verdicts and scores; None: not read yet.
        trust: How far its judge can be trusted; None: not read yet.
        changed_options: Its options that are not as by default; None: not known yet.
        started_at: When the first came of it; None: nothing did, or that was not read yet.
        planned_runs: Other runs that were planned and that nobody starts.
        blind: Leave out scores and counts of verdicts: in a small run, or one that is nearly
            labelled, they reveal what the judge says of a claim.
        failure: Why figures could not be read; None: they were, or that is under way.
    """
    if row is not None and metric is None:
        return [make_line(Piece(" … reading", "quiet"))]
    if row is None or metric is None:
        return [make_line(Piece(" no run chosen", "quiet"))]
    lines = wrap(
        [
            Piece(metric.title, "strong"),
            Piece(" · judge ", "quiet"),
            escape_line(row.spec.judge_title, limit=200),
            Piece(" · ", "quiet"),
            *keys.fill_in_keys_as_pieces("{screen.judge} about it", "quiet"),
        ],
        width - 1,
        first=[Piece(" ")],
    )
    if failure is not None:
        words = [Piece("! no kappa, as not all of it could be read: ", "warn strong")]
        lines += wrap([*words, escape_text(failure, "warn")], width - 1, first=[Piece(" ")])
    left = format_planned_runs_left(planned_runs)
    if left:
        words = keys.fill_in_keys_as_pieces(f"! {left}. {{runs.continue}} on one starts it", "warn")
        lines += wrap(words, width - 1, first=[Piece(" ")])
    for pieces in _list_troubles(row, metric, keys):
        lines += wrap(pieces, width - 1, first=[Piece(" ")])
    lines += integrity_lines(row.integrity, metric, width)
    named: list[tuple[str, list[Piece]]] = [
        ("judged", _make_pieces_of_judging_counts(row, metric)),
        ("score", [Piece(HIDDEN, "quiet")] if blind else _score_pieces(row, metric)),
    ]
    if counts is not None and not blind:
        named += _list_score_fields(row, counts, metric, width, chart=height >= _CHART_FROM)
    named += _list_label_fields(row, metric, trust, width)
    for name, pieces in named:
        lines += field_lines(name, pieces, width, _NAME)
        if name == "scores" and counts is not None and height >= _CHART_FROM:
            rows = 3 if height < 2 * _CHART_FROM else 6
            lines += _score_histogram_lines(counts.score_bins, width, rows)
    for name, pieces in _list_setting_fields(row, metric, changed_options, started_at):
        lines += field_lines(name, pieces, width, _NAME)
    return lines


def _list_troubles(row: RunRow, metric: "MetricSpec", keys: KeyNames) -> Iterator[list[Piece]]:
    """Say what stands against the run's figures, or in its way."""
    if row.archived_at is not None:
        yield [Piece(f"archived {fmt.format_datetime(row.archived_at)}", "warn")]
    if row.state is RunState.INTERRUPTED:
        words = "! the process that judged it is gone: {runs.continue} resumes, "
        yield keys.fill_in_keys_as_pieces(f"{words}nothing is asked twice", "warn")
    if row.reason:
        yield [Piece("! ", "warn"), escape_text(row.reason, "warn")]
    if row.missing_verdicts:
        words = (
            f"! {format_unit_count(row.missing_verdicts, metric)} without a verdict: never a pass"
        )
        way = " · {runs.retry} asks again" if row.incomplete else ""
        yield [Piece(words, "warn"), *keys.fill_in_keys_as_pieces(way, "warn")]
    if row.failed_windows:
        yield [Piece(f"! {fmt.format_count_with_noun(row.failed_windows, 'window')} failed", "bad")]
    if row.undefined:
        words = (
            f"! {fmt.format_count_with_noun(row.undefined, 'conversation')} undefined: in no mean"
        )
        yield [Piece(words, "warn")]
    left_out = format_parts_left_out_of_mean(
        row.undefined_windows, row.skipped_windows, row.windows
    )
    if left_out:
        yield [Piece(f"! {left_out}: in no mean", "warn")]


def _make_pieces_of_judging_counts(row: RunRow, metric: "MetricSpec") -> list[Piece]:
    return [
        Piece(
            f"{fmt.format_count_with_noun(row.conversations, 'conversation')}: "
            f"{row.done - row.incomplete} done"
        ),
        Piece(f", {row.incomplete} incomplete" if row.incomplete else "", "bad"),
        Piece(f", {row.pending} pending" if row.pending else ""),
        Piece(f", {row.failed} failed" if row.failed else "", "bad"),
        Piece(f", {row.skipped} skipped" if row.skipped else "", "warn"),
        Piece(
            f" · {fmt.format_count_with_noun(row.windows, 'window')}"
            f" · {format_unit_count(row.claims, metric)}",
            "quiet",
        ),
    ]


def _score_pieces(row: RunRow, metric: "MetricSpec") -> list[Piece]:
    pieces = [
        Piece(fmt.format_number(row.score), "strong"),
        Piece(
            f" (mean of {fmt.format_count_with_noun(row.scored, 'conversation')}, "
            "each the mean of its windows)",
            "quiet",
        ),
    ]
    if row.labelled:
        pieces += [
            Piece(" · "),
            Piece(fmt.format_number(row.corrected), "human strong"),
            Piece(
                f" with overrides, {fmt.format_count(row.labelled)} of "
                f"{format_unit_count(row.claims, metric)} reviewed",
                "quiet",
            ),
        ]
    return pieces


def _list_score_fields(
    row: RunRow, counts: "RunCounts", metric: "MetricSpec", width: int, *, chart: bool
) -> Iterator[tuple[str, list[Piece]]]:
    """Say how the scores lie, how many conversations pass, and how often each verdict was given."""
    if counts.scored_conversation_count:
        drawn = [] if chart else _sparkline_pieces(counts.score_bins)
        yield "scores", [*drawn, *_pass_count_pieces(row, counts)]
    total = sum(each.claims for each in counts.labels.values())
    if total:
        yield "verdicts", _verdict_count_pieces(counts, metric.labels, width - _NAME - 3)


def _sparkline_pieces(bins: Sequence[int]) -> list[Piece]:
    most = max(bins)
    drawn = "".join(_EIGHTHS[-(-8 * each // most) if each else 0] for each in bins)
    return [Piece("0 ", "quiet"), Piece(drawn, "human"), Piece(" 1  ", "quiet")]


def _score_histogram_lines(bins: Sequence[int], width: int, rows: int) -> Iterator[Line]:
    """Draw how many conversations have which score: so many rows of bars above their scale."""
    wide = max(2, min(6, (width - _NAME - 4) // len(bins)))
    most = max(bins)
    heights = [-(-8 * rows * each // most) if each else 0 for each in bins]
    pad = " " * (_NAME + 1)
    for row in reversed(range(rows)):
        cells = (_EIGHTHS[max(0, min(8, each - 8 * row))] * (wide - 1) + " " for each in heights)
        yield make_line(Piece(pad), Piece("".join(cells), "human"))
    scale = "".join(f"{place / len(bins):<{wide}.1f}" for place in range(len(bins)))
    yield make_line(Piece(f"{pad}{scale}1", "quiet"))


def _pass_count_pieces(row: RunRow, counts: "RunCounts") -> list[Piece]:
    bar = row.spec.rule.effective_threshold
    if counts.passed is None or bar is None:
        judged = fmt.format_count_with_noun(counts.scored_conversation_count, "conversation")
        return [Piece(f"{judged}, no threshold")]
    return [
        Piece(fmt.format_share(counts.passed, counts.scored_conversation_count), "strong"),
        Piece(f" pass the threshold {bar:.2f}: "),
        Piece(
            f"{fmt.format_count(counts.passed)} of "
            f"{fmt.format_count(counts.scored_conversation_count)}",
            "quiet",
        ),
    ]


def _verdict_count_pieces(counts: "RunCounts", labels: LabelSet, room: int) -> list[Piece]:
    found = {name: counts.labels[name].claims for name in labels.names if name in counts.labels}
    total = sum(found.values())
    pieces: list[Piece] = []
    for name, count in found.items():
        pieces += [
            Piece(" · " if pieces else "", "quiet"),
            Piece(f"{format_label_before_count(name)} ", fmt.get_label_look(name, labels)),
            Piece(fmt.format_count(count), "strong"),
            Piece(f" {fmt.format_share(count, total)}", "quiet"),
        ]
    left = room - sum(len(each.text) for each in pieces) - 2
    if left >= 10:
        pieces.append(Piece("  "))
        pieces += fmt.format_label_bar(found, labels, min(30, left))
    return pieces


def _list_label_fields(
    row: RunRow, metric: "MetricSpec", trust: "RunTrust | None", width: int
) -> Iterator[tuple[str, list[Piece]]]:
    """Say what annotators looked at, and what that says of the judge."""
    yield (
        "reviewed",
        [
            Piece(
                fmt.format_progress_bar(row.labelled, row.claims, min(20, max(8, width - 50))),
                "human",
            ),
            Piece(f" {fmt.format_share(row.labelled, row.claims)}", "strong"),
            Piece(
                f" · {fmt.format_count(row.labelled)} of {format_unit_count(row.claims, metric)}",
                "quiet",
            ),
        ],
    )
    if row.claims > MOST_CLAIMS:
        words = f"on the agreement screen, as there are more than {fmt.format_count(MOST_CLAIMS)}"
        yield "kappa", [Piece(f"{words} {metric.units[1]}", "quiet")]
    if trust is None or not trust.compared:
        return
    units = f"{fmt.format_count(trust.compared)} {trust.unit[trust.compared != 1]}"
    if trust.labelled > trust.compared:
        units = f"{fmt.format_count(trust.compared)} of {fmt.format_count(trust.labelled)} labelled"
        units += f" {trust.unit[1]}"
    yield (
        "kappa",
        [
            Piece(fmt.format_estimate(trust.kappa), "strong"),
            Piece(f" with human labels, on {units}, {trust.differ} differ", "quiet"),
        ],
    )
    if trust.corrected.value is not None:
        yield "corrected", _make_pieces_of_corrected_rate(trust.corrected, metric.units[1])


def _make_pieces_of_corrected_rate(found: Estimate, units: str) -> list[Piece]:
    interval = ""
    if found.has_interval and found.ci_low is not None and found.ci_high is not None:
        interval = f" [{found.ci_low:.1%}, {found.ci_high:.1%}]"
    return [
        Piece(f"{found.value:.1%}{interval}", "strong"),
        Piece(
            f" of the {units} pass, corrected with "
            f"{fmt.format_count_with_noun(found.n, 'human label')}",
            "quiet",
        ),
    ]


def _list_setting_fields(
    row: RunRow,
    metric: "MetricSpec",
    changed_options: Mapping[str, object] | None,
    started_at: datetime | None,
) -> Iterator[tuple[str, list[Piece]]]:
    """Say what the run was set to where that is not the default, and what it took."""
    spec = row.spec
    if changed_options is not None:
        words = list(describe_changed_settings(spec, changed_options, metric.units[1]))
        yield (
            "set",
            [escape_line(" · ".join(words), limit=600)]
            if words
            else [Piece("all options as by default", "quiet")],
        )
    yield (
        "sources",
        [
            escape_line(", ".join(spec.sources) or "all", "", limit=400),
            Piece(f" · as {metric.peer} does" if spec.rule.as_peer else "", "quiet"),
        ],
    )
    yield (
        "cost",
        [
            Piece(describe_cost(row)),
            Piece(f" · {_describe_start_and_duration(row, started_at)}", "quiet"),
        ],
    )


def describe_changed_settings(
    spec: RunSpec, changed_options: Mapping[str, object], units: str
) -> Iterator[str]:
    """Say in words what a run was set to, where that is not the default."""
    for name, value in changed_options.items():
        if isinstance(value, bool) and (name, value) in _OPTIONS:
            yield _OPTIONS[name, value]
        elif name in _VALUES and value is not None:
            yield _VALUES[name].format(value)
        elif value is None:
            yield f"no {name.replace('_', ' ')}"
        else:
            yield f"{name.replace('_', ' ')} {value}"
    if spec.strategy != "evidence":
        yield f"asked {spec.strategy} by {spec.strategy}"
    if spec.claims_from in _CLAIMS:
        yield _CLAIMS[spec.claims_from].replace("claims", units, 1)
    if spec.prompts_dir is not None:
        yield f"prompts from {spec.prompts_dir}"
    if spec.example_set is not None:
        yield "examples shown to the judge"


def describe_cost(row: RunRow) -> str:
    """Say what a run cost, and what it took."""
    calls = fmt.format_count_with_noun(row.calls, "call")
    if row.spec.judge == "offline":
        return f"nothing, judged on this machine · {calls}"
    tokens = (
        f"{fmt.format_compact_count(row.tokens_in)} tokens in, "
        f"{fmt.format_compact_count(row.tokens_out)} out"
    )
    known = fmt.format_money(row.cost_nusd)
    if row.unpriced_calls:
        unknown = f"no price known for {fmt.format_count_with_noun(row.unpriced_calls, 'call')}"
        known = f"{known} + {unknown}" if row.cost_nusd else unknown
    return f"{known} · {calls} · {tokens}"


def _describe_start_and_duration(row: RunRow, started_at: datetime | None) -> str:
    if started_at is None:
        planned = f"planned {fmt.format_datetime(row.created_at)}"
        ended = "" if row.finished_at is None else f", ended {fmt.format_datetime(row.finished_at)}"
        return planned + ended
    started = f"started {fmt.format_datetime(started_at)}"
    if row.finished_at is None:
        return started
    # A run that was resumed rested in between, so that nobody knows how long it was judged.
    seconds = max(0.0, (row.finished_at - started_at).total_seconds())
    return f"{started}, ended after {fmt.format_duration(seconds)}"
