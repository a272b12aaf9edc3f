"""Lines of the agreement screen. Every number comes with its n; a missing one with its reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faithtui.agreement.idk_recoding import recode_label
from faithtui.agreement.labelled_units import (
    ClaimUnit,
    RunUnits,
    count_votes_or_final_verdict,
    decide_answer_by_majority,
    list_most_voted_labels,
)
from faithtui.agreement.report.figures.missing_figures import (
    explain_missing_class_figure,
    explain_missing_kappa,
)
from faithtui.agreement.report.headline import (
    choose_unfaithful_detection,
    describe_judge_as_annotator,
    format_headline,
)
from faithtui.agreement.report.model import (
    PASS,
    AgreementReport,
    Detection,
    Disagreement,
    LevelReport,
)
from faithtui.agreement.report.settings import (
    IntervalMethod,
    ReportLevel,
    ReportWarning,
    Severity,
)
from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, LabelSet
from faithtui.tui.agreement.figure_lines import (
    drop_judge_pass_rate,
    format_count_shade,
    format_estimate_lines,
    next_step_lines,
)
from faithtui.tui.metric_words import format_unit_count, name_units_at_level
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme.lines import (
    BLANK,
    Line,
    Piece,
    count_cells_of_pieces,
    escape_line,
    fit_text,
    make_line,
    wrap,
)

if TYPE_CHECKING:
    from faithtui.metrics.base import MetricSpec

PAD = (Piece(" "),)
MOST_LISTED = 500
"""Units of a list that are drawn: ten thousand hold the screen up, and nobody reads so far."""


@dataclass(frozen=True, slots=True)
class ListedUnit:
    """A claim or an answer, to be listed and opened."""

    claim: ClaimId | None
    """None for an answer."""
    conversation: ConversationId
    key: str
    turn: int
    text: str


def list_cell_units(
    report: AgreementReport,
    readings: RunUnits,
    level: ReportLevel,
    cell: tuple[str, str],
    spec: "MetricSpec",
) -> tuple[ListedUnit, ...]:
    """List what a cell of the matrix counts, (judge, annotators), in the order of the readings."""
    judge, human = cell
    passing = report.passing
    if level is ReportLevel.CLAIMS:
        rule, labels = report.settings.idk, spec.labels
        read = {name: recode_label(name, rule, labels, passing) for name in labels.names}
        coverage = report.claims.coverage
        drawn = coverage.outside > 0 or coverage.audit > 0
        return tuple(
            ListedUnit(each.claim, each.conversation, each.key, each.turn, each.text)
            for each in readings.claims
            if read.get(each.judge or "") == judge
            and _get_consensus_label(each, read) == human
            and (not drawn or (each.position is not None and not each.audit))
        )
    return tuple(
        ListedUnit(
            None,
            each.conversation,
            each.key,
            each.turn,
            f"score {fmt.format_score(each.score)} over {format_unit_count(each.claims, spec)}",
        )
        for each in readings.answers
        if each.passes is not None
        and each.claims
        and (each.passes == (judge == PASS))
        and decide_answer_by_majority(each, passing, spec.labels.names) is (human == PASS)
    )


def _get_consensus_label(claim: ClaimUnit, words: Mapping[str, str]) -> str | None:
    """Read the human labels of a claim by a rule for `idk`; None for a tie."""
    if claim.reviewers > 1:
        winners = list_most_voted_labels(
            count_votes_or_final_verdict(claim.opinions, {**words, NOT_A_CLAIM: NOT_A_CLAIM})
        )
        if winners:
            return winners[0] if len(winners) == 1 else None
    return words.get(claim.human or "")


def _choose_column_widths(level: LevelReport, width: int) -> tuple[int, int, int, bool]:
    """Share a line of the matrix out.

    Returns:
        Cells of a count and the name above it, of a name, and of a sum; and whether counts keep all
        digits. Else they are 69k: the first three digits of five would look like another count.
    """
    names, ends = level.table.categories, 2 if any(level.unjudged) else 1
    longest = max(5, *(len(name) + 2 for name in names))
    largest, n = len(str(max(level.table.judge_totals, default=0))), len(str(level.table.n))
    found = (0, 0, 0, False)
    for whole, named in ((True, longest), (True, 7), (False, longest), (False, 7)):
        digits, total = (largest, n) if whole else (min(largest, 4), min(n, 4))
        for head, end in ((max(8, longest - 1), 6), (8, 6), (7, 6), (7, 5), (6, 5)):
            found = (max(min(named, longest), digits + 2), head, max(end, total + 1), whole)
            if 1 + head + found[0] * len(names) + 2 + ends * found[2] <= width:
                return found
    return found


def format_confusion_matrix_lines(
    level: LevelReport, cell: tuple[int, int], focused: bool, labels: LabelSet, width: int
) -> list[Line]:
    """Draw the confusion matrix, annotators down and judge across, one cell chosen."""
    names = level.table.categories
    counts = level.table.counts
    missing = any(level.unjudged)
    most = max(map(max, counts), default=0)
    size, head, end, whole = _choose_column_widths(level, width)

    def format_count(count: int) -> str:
        return str(count) if whole or count < 10_000 else fmt.format_compact_count(count)

    def sum_pieces(total: int, none: int) -> list[Piece]:
        pieces = [Piece(" │", "quiet"), Piece(fit_text(format_count(total), end, right=True))]
        return (
            [*pieces, Piece(fit_text(format_count(none), end, right=True), "warn")]
            if missing
            else pieces
        )

    lines = [
        make_line(Piece(f" {'':<{head}}{'judge':^{size * len(names)}}", "quiet")),
        Line(
            (
                Piece(f" {'human':<{head}}", "quiet"),
                *(
                    Piece(
                        f" {fit_text(name, size - 1, right=True)}", fmt.get_label_look(name, labels)
                    )
                    for name in names
                ),
                Piece(" │", "quiet"),
                Piece(fit_text("all", end, right=True), "quiet"),
                *([Piece(fit_text("none", end, right=True), "warn")] if missing else []),
            )
        ),
    ]
    for row, human in enumerate(names):
        pieces = [Piece(f" {fit_text(human, head)}", fmt.get_label_look(human, labels))]
        for column, count in enumerate(counts[row]):
            chosen = (row, column) == cell
            look = "strong" if row == column else ""
            body = (
                f"[{format_count(count)}]"
                if chosen
                else f"{format_count(count)}{format_count_shade(count, most)}"
            )
            shade = "key" if chosen and focused else look
            pieces.append(Piece(fit_text(body, size, right=True), shade))
        lines.append(Line((*pieces, *sum_pieces(sum(counts[row]), level.unjudged[row]))))
    pieces = [Piece(f" {'all':<{head}}", "quiet")]
    pieces += [
        Piece(fit_text(f"{format_count(total)} ", size, right=True))
        for total in level.table.judge_totals
    ]
    lines.append(Line((*pieces, *sum_pieces(level.table.n, sum(level.unjudged)))))
    if missing:
        lines += wrap(
            [Piece("none: the judge gave no verdict; in no coefficient", "quiet")], width, first=PAD
        )
    return lines


def coefficient_lines(report: AgreementReport, level: LevelReport, width: int) -> list[Line]:
    """Draw the coefficients."""
    lines = [
        *format_estimate_lines("agreement", level.percent_agreement, width, name_width=9),
        *format_estimate_lines(
            "kappa",
            level.cohen_kappa,
            width,
            name_width=9,
            why=explain_missing_kappa(level) or None,
        ),
        *format_estimate_lines("AC1", level.gwet_ac1, width, name_width=9),
        *format_estimate_lines("alpha", level.krippendorff_alpha, width, name_width=9),
    ]
    if level.chance_agreement is not None:
        words = f"{level.chance_agreement:.3f} agreement would come by chance"
        lines += wrap([Piece(words, "quiet")], width - 1, first=PAD)
    humans = report.get_human_agreement_at_level(level.level)
    if humans is not None:
        lines += format_estimate_lines("human α", humans.krippendorff_alpha, width, name_width=9)
    groups = fmt.format_count_with_noun(level.agreement.clusters, "group")
    way = f"over {groups}, the wider of two"
    if report.settings.interval is IntervalMethod.BOOTSTRAP:
        way = f"{report.settings.resamples} draws of {groups}, seed {report.settings.seed}"
    words = f"in brackets: {report.confidence_level:.0%} interval, {way}"
    if level.agreement.weighted is not None:
        words += "; weighted by the sample, the counts beside are not"
    lines += wrap([Piece(words, "quiet")], width - 1, first=PAD)
    return lines


_NAMING_STRATA = ("skipped_many", "stratum_unlabelled")
"""Warnings that name a stratum: one of the judge's verdicts tells that of a skipped claim."""
_COLUMNS = (("prec", 6), ("recall", 7), ("F1", 6), ("n", 5))


def format_per_label_score_lines(level: LevelReport, labels: LabelSet, width: int) -> list[Line]:
    """Draw precision, recall and F1 of each label, then their intervals."""
    head = [Piece(fit_text(name, size, right=True), "quiet") for name, size in _COLUMNS]
    lines = [Line((Piece(f" {'':<5}", "quiet"), *head))]
    for each in level.classes:
        figures = (each.precision, each.recall, each.f1)
        cells = [fmt.format_number(figure.value, 3) for figure in figures] + [
            fmt.format_compact_count(each.human)
        ]
        body = [
            Piece(fit_text(cell, size, right=True))
            for cell, (_, size) in zip(cells, _COLUMNS, strict=True)
        ]
        lines.append(
            Line(
                (
                    Piece(f" {fit_text(each.label, 5)}", fmt.get_label_look(each.label, labels)),
                    *body,
                )
            )
        )
    words = "n: units with that human label"
    if level.agreement.weighted is not None:
        words += ", counted; the shares are weighted by the sample"
    lines += wrap([Piece(words, "quiet")], width - 1, first=PAD)
    for each in level.classes:
        for name, figure in (("prec", each.precision), ("recall", each.recall), ("F1", each.f1)):
            lines += format_estimate_lines(
                f"{fmt.get_label_letter(each.label, labels)} {name}",
                figure,
                width,
                name_width=8,
                why=explain_missing_class_figure(figure, each.label),
            )
    return lines


def format_unfaithful_detection_lines(
    level: LevelReport, passing: Sequence[str], width: int
) -> list[Line]:
    """Draw the detection of unfaithful claims, with idk as pass and as fail.

    Args:
        level: What is drawn.
        passing: Labels that pass by the run's rule: the definition that follows from it, which the
            summary speaks of, comes first.
        width: Cells of a line.
    """
    first = choose_unfaithful_detection(level, passing)
    lines = _format_one_detection_lines(first, width)
    for other in (level.strict, level.lenient):
        if other is not None and other.positive != first.positive:
            lines += [BLANK, *_format_one_detection_lines(other, width)]
    if level.agreement.weighted is not None:
        words = "TP, FP and FN are counts; the shares are weighted by the sample"
        lines += wrap([Piece(words, "quiet")], width - 1, first=PAD)
    return lines


def _format_one_detection_lines(found: Detection, width: int) -> list[Line]:
    counts = [
        Piece(" or ".join(found.positive), "bad strong"),
        Piece(f"  TP {found.tp} · FP {found.fp} · FN {found.fn}", "quiet"),
    ]
    lead = [Piece("positive: ", "quiet")]
    is_roomy = count_cells_of_pieces([*lead, *counts]) + 1 < width
    return [
        *wrap([*(lead if is_roomy else ()), *counts], width - 1, first=PAD),
        *format_estimate_lines("precision", found.precision, width),
        *format_estimate_lines("recall", found.recall, width),
        *format_estimate_lines("F1", found.f1, width),
        *format_estimate_lines("specificity", found.specificity, width),
        *format_estimate_lines("MCC", found.mcc, width),
    ]


def format_score_against_rating_lines(report: AgreementReport, width: int) -> list[Line]:
    """Draw the judge's scores against annotators' ratings of whole answers."""
    scores = report.scores
    left_out = [
        f"{fmt.format_count(count)} {what}"
        for count, what in (
            (scores.n_vacuous, "with nothing judged"),
            (scores.unscored, "without a score"),
        )
        if count
    ]
    lines = wrap(
        [
            Piece(
                f"{fmt.format_count_with_noun(scores.answers, 'answer')} rated by annotators",
                "quiet",
            ),
            Piece(f"; left out: {', '.join(left_out)}" if left_out else "", "quiet"),
        ],
        width - 1,
        first=PAD,
    )
    lines += format_estimate_lines("Spearman", scores.spearman, width, name_width=8)
    lines += format_estimate_lines("AUROC", scores.auroc, width, name_width=8)
    if scores.judge_mean is not None and scores.human_mean is not None:
        lines += wrap(
            [
                Piece(f"mean: judge {scores.judge_mean:.2f}, human {scores.human_mean:.2f}"),
                Piece(f" n={scores.spearman.n}", "quiet"),
            ],
            width - 1,
            first=PAD,
        )
    return lines


def format_coverage_and_consistency_lines(
    report: AgreementReport, level: LevelReport, spec: "MetricSpec", width: int
) -> list[Line]:
    """Draw what became of every unit, and how self-consistent the judge is."""
    coverage = level.coverage
    rows = (
        ("compared", coverage.compared, ""),
        ("not of the sample", coverage.outside, "warn"),
        ("judge in view", coverage.audit, "warn"),
        ("in the figures", coverage.in_figures * (coverage.in_figures < coverage.compared), ""),
        ("same label", coverage.agreed, "good"),
        ("overridden", coverage.overridden, "bad"),
        ("unreviewed", coverage.unreviewed, "quiet"),
        (" skipped", coverage.skipped, "warn"),
        (" in bulk", coverage.bulk_accepted, "warn"),
        (" stale", coverage.stale, "warn"),
        ("not a fair claim", coverage.not_a_claim, "warn"),
        ("judge gave none", coverage.no_verdict, "warn"),
        (f"no {spec.units[1]}", coverage.vacuous, "warn"),
        ("no score", coverage.unscored, "warn"),
        ("other labels", coverage.other_words, "warn"),
        ("tied", coverage.tied, "warn"),
        ("idk left out", coverage.idk_excluded, "warn"),
        ("by 2+ annotators", coverage.labelled_by_two_or_more, "quiet"),
    )
    lines = [
        make_line(
            Piece(f" {fit_text(f'all {name_units_at_level(level.level, spec)[1]}', 18)}", "quiet"),
            Piece(f"{coverage.units:>6}", "strong"),
        )
    ]
    lines += [
        make_line(Piece(f" {fit_text(name, 18)}", "quiet"), Piece(f"{count:>6}", look))
        for name, count, look in rows
        if count or name in ("compared", "unreviewed")
    ]
    if level.level is ReportLevel.CLAIMS and report.consistency.repeated:
        steady = report.consistency
        lines += wrap(
            [
                Piece(
                    f"{steady.steady} of {steady.repeated} {spec.units[1]} in several windows got "
                    "the same label in all of them",
                    "quiet",
                )
            ],
            width - 1,
            first=PAD,
        )
        lines += format_estimate_lines("consistent", steady.share, width)
    return lines


def add_heading_if_wanted(name: str, lines: Sequence[Line], wanted: bool) -> list[Line]:
    """Put a heading above lines, or leave both out."""
    return [BLANK, make_line(Piece(f" {name}", "strong")), *lines] if wanted else []


def make_summary_title(report: AgreementReport, level: ReportLevel, *, blind: bool = False) -> str:
    """Name the summary with how many warnings follow it, below its edge where it is small."""
    count = sum(
        each.severity is not Severity.INFO for each in _list_shown_warnings(report, level, blind)
    )
    return f"Summary and {fmt.format_count_with_noun(count, 'warning')}" if count else "Summary"


def format_headline_and_warning_lines(
    report: AgreementReport, level: ReportLevel, width: int, *, blind: bool = False
) -> list[Line]:
    """Draw the headline and the warnings, most severe first.

    Args:
        report: The report.
        level: What it is about.
        width: Cells of a line.
        blind: Leave out the judge's share of the whole run, and of which stratum what was skipped
            is.
    """
    figures = report.get_level(level)
    headline = format_headline(drop_judge_pass_rate(figures) if blind else figures, report.passing)
    words = f"{headline} {describe_judge_as_annotator(report, level)}".rstrip()
    lines = wrap([escape_line(words, "strong")], width - 1, first=PAD)
    marks = {
        Severity.BLOCKING: ("!!", "bad"),
        Severity.CAUTION: ("! ", "warn"),
        Severity.INFO: ("i ", "quiet"),
    }
    tips = next_step_lines(report, level, width)
    for warning in _list_shown_warnings(report, level, blind):
        if warning.severity is Severity.INFO:
            # What to do comes before what is merely good to know.
            lines += tips
            tips = []
        mark, look = marks[warning.severity]
        lines += wrap([escape_line(warning.message)], width - 1, first=[Piece(f" {mark} ", look)])
    lines += tips
    mark, look = marks[Severity.INFO]
    if blind and (skipped := sum(each.skipped for each in figures.design.strata)):
        words = f"{fmt.format_count_with_noun(skipped, 'claim')} of the sample skipped so far."
        lines += wrap([Piece(words)], width - 1, first=[Piece(f" {mark} ", look)])
    lines += wrap(
        [Piece(describe_pass_criterion(report))], width - 1, first=[Piece(f" {mark} ", look)]
    )
    return lines


def _list_shown_warnings(
    report: AgreementReport, level: ReportLevel, blind: bool
) -> list[ReportWarning]:
    return [
        each
        for each in report.warnings
        if each.level in (None, level) and not (blind and each.code in _NAMING_STRATA)
    ]


def describe_pass_criterion(report: AgreementReport) -> str:
    """Say what makes an answer pass in this run."""
    categories = report.claims.table.categories
    failing = [name for name in categories if name not in report.passing]
    words = f"{' and '.join(report.passing)} {'passes' if len(report.passing) == 1 else 'pass'}"
    if set(report.passing).isdisjoint(categories):
        words += ", all others fail"  # where idk counts as pass or fail, these are other names
    elif failing:
        words += f", {' and '.join(failing)} {'fails' if len(failing) == 1 else 'fail'}"
    if report.threshold is None:
        return f"In this run {words}; there is no threshold, so no answer passes by the judge."
    return (
        f"In this run {words}: an answer passes by its human label, and by the judge "
        f"when its score reaches {report.threshold:.2f}."
    )


def format_hidden_claims_lines(width: int) -> list[Line]:
    """Say why no single claim is listed."""
    words = "Hidden while you work blind: verdicts and labels of single claims. Totals of what is "
    words += "labelled stay."
    return [BLANK, *wrap([Piece(words, "warn")], width - 1, first=[Piece(" ")])]


def format_disagreement_lines(
    differences: Sequence[Disagreement], labels: LabelSet, words: str, width: int
) -> list[Line]:
    """List where judge and annotators differ, as far as anybody reads on.

    Args:
        differences: All of them.
        labels: What both could say.
        words: The filter that finds the rest; "" without one.
        width: Cells of a line.
    """
    if not differences:
        return wrap([Piece("none among what was compared", "quiet")], width - 1, first=PAD)
    lines = []
    for row, each in enumerate(differences[:MOST_LISTED]):
        first = (
            Piece(" "),
            Piece(
                fit_text(fmt.get_label_letter(each.judge, labels), 1),
                f"strong {fmt.get_label_look(each.judge, labels)}",
            ),
            Piece(" → "),
            Piece(fmt.get_label_letter(each.human, labels), "human strong"),
            Piece("  "),
        )
        text = escape_line(each.text, limit=400)
        # The whole id where the text leaves the room.
        key = escape_line(each.key, "quiet", limit=max(24, min(60, width - len(text.text) - 20)))
        lines += wrap(
            [text, Piece(f"  {key.text} turn {each.turn + 1}", "quiet")],
            width - 1,
            first=first,
            row=row,
            most=2,
        )
    return lines + _format_rest_of_list_lines(len(differences), words, width)


def _format_rest_of_list_lines(count: int, words: str, width: int) -> list[Line]:
    """Say how the rest of a long list is found."""
    if count <= MOST_LISTED:
        return []
    pieces = [Piece(f"… and {count - MOST_LISTED:,} more", "quiet")]
    if words:
        pieces += [
            Piece("; the list of conversations finds them by ", "quiet"),
            Piece(words, "key"),
        ]
    else:
        pieces.append(Piece("; the report's CSV has them all", "quiet"))
    return wrap(pieces, width - 1, first=PAD)


def format_cell_unit_lines(units: Sequence[ListedUnit], words: str, width: int) -> list[Line]:
    """List what a cell counts, as far as anybody reads on.

    Args:
        units: All of them.
        words: The filter that finds the rest; "" without one.
        width: Cells of a line.
    """
    lines = []
    for row, unit in enumerate(units[:MOST_LISTED]):
        lines += wrap(
            [
                escape_line(unit.text, limit=400),
                Piece(f"  {escape_line(unit.key, limit=40).text} turn {unit.turn + 1}", "quiet"),
            ],
            width - 1,
            first=PAD,
            row=row,
            most=3,
        )
    return lines + _format_rest_of_list_lines(len(units), words, width)


def nothing_labelled_lines(report: AgreementReport, spec: "MetricSpec", width: int) -> list[Line]:
    """Say what to do where nothing can be compared yet."""
    return [
        BLANK,
        make_line(Piece("  Nothing to compare yet.", "strong")),
        BLANK,
        *wrap(
            [
                Piece(
                    f"This run has {format_unit_count(report.claims.coverage.units, spec)}, and no "
                    f"{spec.units[0]} has a human label. A claim without a label is not counted, "
                    f"so there "
                    "is no figure."
                )
            ],
            width - 2,
            first=[Piece("  ")],
        ),
        BLANK,
        *wrap(
            [Piece("Review some of it: one key gives a verdict.")],
            width - 2,
            first=[Piece("  ")],
        ),
        *wrap(
            [Piece("Labels that came with the data are read at import.", "quiet")],
            width - 2,
            first=[Piece("  ")],
        ),
    ]
