"""Lines of the agreement screen beside matrix and coefficients: rates, annotators, slices."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from faithtui.agreement.labelled_units import DesignKind
from faithtui.agreement.population_text import describe_population, describe_unmeasured_results
from faithtui.agreement.report.headline import (
    choose_unfaithful_detection,
    format_number_with_noun,
)
from faithtui.agreement.report.model import (
    AgreementReport,
    Breakdown,
    Detection,
    LevelReport,
    Slice,
    UnitScoreReport,
)
from faithtui.agreement.report.settings import ReportLevel
from faithtui.domain.estimates import Estimate, make_withheld_estimate
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.tui.agreement.curve_lines import (
    format_interval_curve_lines,
    format_reliability_bin,
    format_share_bar,
)
from faithtui.tui.samples.sample_lines import describe_confidence_sequences
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import BLANK, Line, Piece, escape_line, fit_text, make_line, wrap

PAD = (Piece(" "),)
HIDDEN_WHILE_BLIND = "hidden while you work blind"
_LEADING_ZERO = re.compile(r"(?<!\d)0\.")

DESIGNS = {
    DesignKind.NONE: "nothing is labelled",
    DesignKind.CENSUS: "everything is labelled",
    DesignKind.SIMPLE: "a simple random sample",
    DesignKind.STRATIFIED: "a random sample by strata, weighted",
    DesignKind.CLUSTER: "whole conversations drawn at random",
    DesignKind.OVERRIDE_ONLY: "only where annotators differ from the judge",
    DesignKind.CONVENIENCE: "not a random sample",
}

SLICES = {
    Slice.CONVERSATION: "by conversation",
    Slice.TURN: "by turn",
    Slice.METRIC: "by metric",
    Slice.MODEL: "by judge",
    Slice.VERDICT: "by verdict",
    Slice.RATER: "by annotator",
    Slice.WINDOWS: "by number of windows",
    Slice.CODE: "by reason code",
    Slice.METADATA: "by metadata",
}
_ORDER = (Slice.CODE, Slice.VERDICT, Slice.TURN, Slice.RATER, Slice.WINDOWS, Slice.CONVERSATION)
"""Slices in the order of the screen; those with one part by nature are left to the files."""


def format_estimate_lines(
    name: str, value: Estimate, width: int, *, name_width: int = 11, why: str | None = None
) -> list[Line]:
    """Draw one figure with its interval and its n, or the reason why it has none.

    Args:
        name: Of the figure.
        value: The figure.
        width: In cells.
        name_width: Cells of the name.
        why: What to say instead of its reason.
    """
    number, _, rest = fmt.format_estimate(value, why).partition(" ")
    if value.has_interval and value.ci_low == value.ci_high:
        rest = "counted"
    look = "strong" if value.value is not None else "warn"

    def make_lines(interval: str) -> list[Line]:
        return wrap(
            [
                Piece(number, look),
                Piece(f" {interval}" if interval else "", "" if value.has_interval else "warn"),
                Piece(f" n={value.n}", "quiet"),
            ],
            width - 1,
            first=[Piece(f" {fit_text(name, name_width)} ", "quiet")],
        )

    lines = make_lines(rest)
    # In a narrow pane [.25, .77] leaves room for n on the same line.
    shorter = make_lines(_LEADING_ZERO.sub(".", rest)) if len(lines) > 1 else lines
    return shorter if len(shorter) < len(lines) else lines


def format_percentage_lines(name: str, value: Estimate, width: int) -> list[Line]:
    """Draw a share of units that pass, in percent as in the headline."""
    if value.value is None:
        return format_estimate_lines(name, value, width, name_width=12)
    if value.ci_low is None or value.ci_high is None:
        rest = f"({fmt.describe_missing_reason(value.reason)})" if value.reason is not None else ""
    elif value.ci_low == value.ci_high:
        rest = "counted"
    else:
        rest = f"[{value.ci_low:.1%}, {value.ci_high:.1%}]"
    return wrap(
        [
            Piece(f"{value.value:.1%}", "strong"),
            Piece(f" {rest}" if rest else "", "" if value.has_interval else "warn"),
            Piece(f" n={value.n}", "quiet"),
        ],
        width - 1,
        first=[Piece(f" {fit_text(name, 12)} ", "quiet")],
    )


def drop_judge_pass_rate(level: LevelReport) -> LevelReport:
    """Leave out the share that passes by the judge: in a small run it reveals single verdicts."""
    hidden = make_withheld_estimate(WithheldReason.NO_ITEMS)
    return replace(level, rate=replace(level.rate, judge_raw=hidden))


def format_pass_rate_lines(level: LevelReport, width: int, *, blind: bool = False) -> list[Line]:
    """Draw the share that passes: by the judge, by human labels, and corrected.

    Args:
        level: What is drawn.
        width: Cells of a line.
        blind: Say that the judge's share is hidden.
    """
    if blind:
        level = drop_judge_pass_rate(level)
    rate = level.rate
    name = Piece(f" {fit_text('judge', 12)} ", "quiet")
    lines = [
        *(
            wrap([Piece(HIDDEN_WHILE_BLIND, "quiet")], width - 1, first=[name])
            if blind
            else format_percentage_lines("judge", rate.judge_raw, width)
        ),
        *format_percentage_lines(_name_target_population(level), rate.corrected_this_run, width),
        *format_percentage_lines("new data", rate.corrected_future, width),
        *format_percentage_lines("human labels", rate.label_mean, width),
    ]
    if rate.bounds is not None:
        low, high = rate.bounds
        words = f"{level.design.run_or_population_words} lies between {low:.1%} and {high:.1%}, "
        words += "whatever the other labels are"
        lines += wrap([Piece(words)], width - 1, first=PAD)
    gap = _describe_bias(level)
    if gap:
        lines += wrap([Piece(gap, "warn")], width - 1, first=PAD)
    lines += wrap(
        [Piece(f"human labels: {DESIGNS[level.design.kind]}", "quiet")], width - 1, first=PAD
    )
    for each in rate.assumptions:
        lines += wrap([Piece(f"if {each}", "quiet")], width - 1, first=PAD)
    if level.design.population is not None:
        for sentence in describe_unmeasured_results(level.design.population):
            lines += wrap([Piece(sentence, "warn")], width - 1, first=PAD)
        words = f"all shares are of {describe_population(level.design.population)}"
        lines += wrap([escape_line(words, "quiet", limit=400)], width - 1, first=PAD)
    return lines


def _name_target_population(level: LevelReport) -> str:
    return "this run" if level.design.population is None else "population"


def _describe_bias(level: LevelReport) -> str:
    """Say which way the judge errs, outside the interval of the rate by human labels."""
    judge, people = level.rate.judge_raw.value, level.rate.corrected_this_run
    if judge is None or people.value is None or people.ci_low is None or people.ci_high is None:
        return ""
    if people.ci_low <= judge <= people.ci_high:
        return ""
    word = "lenient" if judge > people.value else "strict"
    return f"the judge is too {word} by {100 * abs(judge - people.value):.1f} points"


def format_annotator_agreement_lines(report: AgreementReport, width: int) -> list[Line]:
    """Draw each annotator against the judge, annotators among themselves, blind against shown."""
    if not report.raters and report.answer_humans is None:
        return wrap([Piece("nobody has labelled anything", "quiet")], width - 1, first=PAD)
    lines: list[Line] = []
    for each in report.raters:
        name = escape_line(each.reviewer, "human strong", limit=30)
        counts = f" {fmt.format_count_with_noun(each.labels, 'label')}"
        counts += f", {fmt.format_count(each.blind)} blind"
        counts += f", {fmt.format_count_with_noun(each.overrides, 'override')}"
        if each.median_seconds is not None:
            counts += f", {each.median_seconds:.0f} s each"
        lines += wrap([name, Piece(counts, "quiet")], width - 1, first=PAD)
        lines += format_estimate_lines("  kappa", each.agreement.cohen_kappa, width, name_width=9)
    for level in report.level_reports:
        humans = report.get_human_agreement_at_level(level.level)
        if humans is None:
            if level.coverage.reviewed:
                words = f"no {level.unit[0]} of the figures has labels of two annotators: how far "
                words += "they agree, the most that can be asked of a judge, is not known"
                lines += [BLANK, *wrap([Piece(words, "quiet")], width - 1, first=PAD)]
            continue
        words = (
            f"{humans.raters} annotators, {fmt.format_count(humans.units)} "
            f"{level.unit[humans.units != 1]} with two or more:"
        )
        lines += [BLANK] if lines else []
        lines += wrap([Piece(words, "strong")], width - 1, first=PAD)
        lines += format_estimate_lines("  alpha", humans.krippendorff_alpha, width, name_width=9)
        lines += format_estimate_lines("  AC1", humans.gwet_ac1, width, name_width=9)
        lines += format_estimate_lines("  same", humans.percent, width, name_width=9)
        for pair in humans.pairs:
            names = [
                escape_line(pair.a, "human", limit=20),
                Piece(" and "),
                escape_line(pair.b, "human", limit=20),
            ]
            lines += wrap(names, width - 1, first=PAD)
            lines += format_estimate_lines(
                "  kappa", pair.agreement.cohen_kappa, width, name_width=9
            )
    if report.anchoring is not None:
        found = report.anchoring
        words = "agreement with the judge"
        words += ", weighted by the sample" if found.blind.weighted is not None else ""
        lines += [BLANK, *wrap([Piece(words, "strong")], width - 1, first=PAD)]
        lines += format_estimate_lines("  blind", found.blind.percent, width, name_width=9)
        lines += format_estimate_lines("  shown", found.shown.percent, width, name_width=9)
        lines += format_estimate_lines("  more", found.difference, width, name_width=9)
    for repeat in report.repeats:
        who = [
            escape_line(repeat.reviewer, "human", limit=30),
            Piece(": self-agreement, test-retest (each claim once)"),
        ]
        lines += [BLANK, *wrap(who, width - 1, first=PAD)]
        lines += format_estimate_lines("  same", repeat.same, width, name_width=9)
        lines += format_estimate_lines("  kappa", repeat.kappa, width, name_width=9)
    return lines


def format_agreement_by_slice_lines(report: AgreementReport, width: int) -> list[Line]:
    """Draw agreement by part, worst parts first."""
    by = {each.by: each for each in report.breakdowns}
    lines: list[Line] = []
    for kind in _ORDER:
        if kind in by:
            lines += [BLANK] if lines else []
            lines += _format_one_breakdown_lines(by[kind], width)
    if not lines:
        words = f"no {report.claims.unit[0]} is compared yet"
        return wrap([Piece(words, "quiet")], width - 1, first=PAD)
    return lines


def _format_one_breakdown_lines(found: Breakdown, width: int) -> list[Line]:
    bar = max(4, min(20, width - 44))
    name = max(8, width - bar - 24)
    head = f" {fit_text(SLICES[found.by], name)} {'same':<{bar + 5}} {'kappa':>6} {'n':>6}"
    lines = [make_line(Piece(fit_text(head, width), "quiet"))]
    for row in found.rows:
        value = row.percent.value
        lines.append(
            make_line(
                Piece(f" {fit_text(escape_line(row.key).text, name)} "),
                Piece(format_share_bar(value, bar), "human"),
                Piece(f" {fmt.format_number(value)} "),
                Piece(f"{fmt.format_number(row.cohen_kappa.value) if row.cohen_kappa else '':>6} "),
                Piece(f"{row.n:>6}", "quiet"),
            )
        )
    if found.suppressed:
        words = (
            f"{fmt.format_count_with_noun(found.suppressed, 'part')} with fewer than 10 not shown"
        )
        lines += wrap([Piece(words, "quiet")], width - 1, first=PAD)
    return lines


def format_window_and_conversation_score_lines(report: AgreementReport, width: int) -> list[Line]:
    """Draw scores of windows and conversations, and what another threshold would do."""
    lines: list[Line] = []
    for each in report.unit_scores:
        lines += [BLANK] if lines else []
        lines += _format_score_level_lines(each, width)
    if not lines:
        return wrap([Piece("no window has a score of both", "quiet")], width - 1, first=PAD)
    return lines


def _format_score_level_lines(found: UnitScoreReport, width: int) -> list[Line]:
    name = found.level.value
    words = f"{fmt.format_count_with_noun(found.n, name)} with both scores"
    left_out = [
        f"{fmt.format_count(count)} {what}"
        for count, what in (
            (found.n_partially_labelled, "labelled in part"),
            (found.n_vacuous, "with no claims"),
            (found.unscored, "without a score"),
        )
        if count
    ]
    words += f"; left out: {', '.join(left_out)}" if left_out else ""
    lines = wrap([Piece(words, "strong")], width - 1, first=PAD)
    if not found.n:
        return lines
    if found.judge_mean is not None and found.human_mean is not None:
        mean = f"mean: judge {found.judge_mean:.3f}, human {found.human_mean:.3f}"
        lines += wrap([Piece(mean)], width - 1, first=PAD)
    for label, value in (
        ("corrected", found.corrected),
        ("bias", found.bias),
        ("abs. error", found.mae),
        ("Spearman", found.spearman),
        ("Kendall", found.kendall_tau_b),
        ("AUROC", found.auroc),
    ):
        lines += format_estimate_lines(label, value, width, name_width=10)
    if found.threshold is not None:
        here = found.threshold
        lines += _format_threshold_detection_lines(
            f"passes from {here.current:.2f}", here.at_current, width
        )
        if here.suggested is not None:
            tried = here.suggested.chosen_on.replace("_", " ")
            words = f"better from {here.suggested.value:.2f} ({here.suggested.rule}, {tried})"
            lines += _format_threshold_detection_lines(words, here.suggested.detection, width)
    return lines


def _format_threshold_detection_lines(words: str, found: Detection, width: int) -> Iterator[Line]:
    yield from wrap([Piece(words, "strong")], width - 1, first=PAD)
    yield from format_estimate_lines("recall", found.recall, width)
    yield from format_estimate_lines("specificity", found.specificity, width)


def calibration_lines(report: AgreementReport, width: int) -> list[Line]:
    """Draw whether the judge's confidence is what it says."""
    found = report.calibration
    if found is None:
        words = "This judge gives no confidence, or nothing with one is labelled."
        return wrap([Piece(words, "quiet")], width - 1, first=PAD)
    lines = [*format_estimate_lines("Brier", found.brier, width, name_width=8)]
    if found.weighted:
        lines += wrap(
            [Piece("weighted by the sample; n is counted", "quiet")], width - 1, first=PAD
        )
    if found.brier_skill is not None:
        words = f"skill {found.brier_skill:+.3f}: 0 is no better than always saying the base rate"
        lines += wrap([Piece(words)], width - 1, first=PAD)
    if found.ece is not None:
        words = f"calibration error {found.ece:.3f}"
        words += (
            f"; luck alone would show {found.ece_noise_floor:.3f}"
            if found.ece_noise_floor is not None
            else ""
        )
    elif found.few:
        words = "calibration error not shown: too few labels to tell it from luck"
    else:
        words = "calibration error not shown: a perfect judge would show as much by luck"
    lines += wrap([Piece(words, "quiet")], width - 1, first=PAD)
    plot = max(10, min(50, width - 26))
    lines.append(
        make_line(Piece(f" {'says':>5} {'is':>5} {fit_text('0', plot - 1)}1 {'n':>6}", "quiet"))
    )
    for each in found.bins:
        drawn = format_reliability_bin(
            each.mean_confidence, each.observed, each.ci_low, each.ci_high, plot
        )
        lines.append(
            make_line(
                Piece(f" {each.mean_confidence:5.2f} {each.observed:5.2f} "),
                Piece(drawn, "human"),
                Piece(f" {each.n:>6}", "quiet"),
            )
        )
    words = "| says · ● is, with its interval ░"
    lines += wrap([Piece(words, "quiet")], width - 1, first=PAD)
    return lines


def format_labels_needed_lines(
    report: AgreementReport, width: int, height: int, *, blind: bool = False
) -> list[Line]:
    """Draw the watched figure over the labels, and how many are still needed.

    Args:
        report: The report.
        width: Cells of a line.
        height: Lines there are.
        blind: Leave out what holds at every look: beside a skipped claim it reveals its verdict.
    """
    found = report.progress
    name = "kappa" if found.target == "cohen_kappa" else "agreement"
    if not found.history:
        words = f"no {report.claims.unit[0]} is compared yet"
        return wrap([Piece(words, "quiet")], width - 1, first=PAD)
    if found.stop:
        words = f"{name} is known to ±{found.half_width:.2f}: narrow enough for ±"
        words += f"{found.target_half_width:.2f}"
    elif found.half_width is None:
        words = f"no interval for {name} yet: more groups and both labels are needed"
    elif found.half_width > found.target_half_width:
        words = f"{_describe_labels_needed(report)} for {name} ±"
        words += f"{found.target_half_width:.2f}, told from its interval now, ±"
        words += f"{found.half_width:.2f}"
    else:
        words = f"{name} ±{found.half_width:.2f}: narrow enough, but on too few groups or too "
        words += "few unfaithful units to be trusted"
    lines = wrap([Piece(words, "strong")], width - 1, first=PAD)
    if found.sequences is not None and not blind:
        words = describe_confidence_sequences(found.sequences, report.confidence_level)
        lines += wrap([Piece(words, "quiet")], width - 1, first=PAD)
    words = f"{name} ● by labels, interval ░"
    lines += wrap([Piece(words, "quiet")], width - 1, first=PAD)
    room = max(6, min(16, height - len(lines)))
    points = [(float(each.labels), each.value, each.ci_low, each.ci_high) for each in found.history]
    values = [value for point in points for value in point[1:] if value is not None]
    # A whole half, so that the scale has round numbers.
    low = math.floor(2 * min(0.0, *values)) / 2 if values else 0.0
    return [*lines, *format_interval_curve_lines(points, width - 1, room, low=low)]


def _describe_labels_needed(report: AgreementReport) -> str:
    """Say how many labels are still needed, or that all of this run may not be enough."""
    needed, claims = report.progress.labels_still_needed or 0, report.claims
    left = claims.coverage.unreviewed
    if needed < left:
        return f"{fmt.format_count_with_noun(needed, 'label')} more"
    if not left:
        of_population = claims.design.population is not None
        return f"labels of {'more of the population' if of_population else 'other conversations'}"
    units = f"{fmt.format_count(left)} {claims.unit[left > 1]}"
    return f"more than the {units} left may be needed"


def next_step_lines(report: AgreementReport, level: ReportLevel, width: int) -> list[Line]:
    """Say what would help most now."""
    steps = list(_list_next_steps(report)) if level is ReportLevel.CLAIMS else []
    lines: list[Line] = []
    for each in steps:
        lines += wrap([Piece(each)], width - 1, first=[Piece(" > ", "key")])
    return lines


def _list_next_steps(report: AgreementReport) -> Iterator[str]:
    claims, progress = report.claims, report.progress
    units = claims.unit[1]
    if claims.design.kind in (DesignKind.CONVENIENCE, DesignKind.OVERRIDE_ONLY):
        yield f"Draw a random sample of the {units}: only that allows a corrected rate."
    if progress.half_width is not None and progress.half_width > progress.target_half_width:
        needed = progress.labels_still_needed or 0
        name = "kappa" if progress.target == "cohen_kappa" else "agreement"
        words = f"For {name} ±{progress.target_half_width:.2f}: {_describe_labels_needed(report)}"
        pace = [each.median_seconds for each in report.raters if each.median_seconds is not None]
        if pace and needed:
            minutes = needed * sorted(pace)[len(pace) // 2] / 60
            words += f", about {minutes:.0f} min at your pace"
        yield words + "."
    few = choose_unfaithful_detection(claims, report.passing)
    may_draw = claims.coverage.unreviewed and claims.design.kind is not DesignKind.STRATIFIED
    if claims.agreement.n and few.tp + few.fn < 10 and may_draw:
        one, many = (f"unfaithful {each}" for each in claims.unit)
        number = format_number_with_noun(few.tp + few.fn, one, many)
        yield f"Only {number} with a label: draw by the judge's verdict to find more of them."
    if report.anchoring is not None:
        gap = report.anchoring.difference
        if gap.ci_low is not None and gap.ci_low > 0:
            yield "Keep queues blind: annotators agree more when the judge's verdict is shown."
    codes = next((each for each in report.breakdowns if each.by is Slice.CODE), None)
    if codes is not None and codes.rows:
        worst = max(codes.rows, key=lambda row: row.n)
        named = "verdict of yours names" if worst.n == 1 else "verdicts of yours name"
        yield f"{worst.n} {named} «{worst.key}» as what failed: look there first."


def format_count_shade(count: int, most: int) -> str:
    """Shade a count of the matrix by how large it is."""
    if not count:
        return " "
    return "░▒▓█"[min(3, count * 4 // max(1, most + 1))]
