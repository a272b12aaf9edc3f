"""The tables of `faithtui figures`: annotators with each other, and judges with annotators."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from faithtui.agreement.imported_scores.annotator_figures import AnnotatorFigures
from faithtui.agreement.imported_scores.imported_figures import ScaleFigures
from faithtui.agreement.imported_scores.judge_figures import JudgeFigures, ScoreDetection
from faithtui.agreement.imported_scores.label_scales import Pooling, ScaleConvention, ScaleReading
from faithtui.agreement.imported_scores.rated_units import RatedScale, UnitKind
from faithtui.cli.output import TableColumn, plural, print_table, print_text
from faithtui.domain.estimates import Estimate, Point
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.domain.withheld_reasons import WithheldReason

_POOLING_WORDS = {
    Pooling.MAJORITY: "more than half of the annotators pass it",
    Pooling.WORST: "all annotators pass it",
    Pooling.MEAN: "the mean human level is on the passing side",
}


@dataclass(frozen=True, slots=True)
class DataSetFigures:
    """The files that are counted together, and what came out."""

    files: tuple[Path, ...]
    conversations: int
    scales: tuple[ScaleFigures, ...]


def print_data_set_figures(data: DataSetFigures) -> None:
    """Print the figures of each scale."""
    names = " + ".join(make_visible_line(path.name) for path in data.files)
    print_text(f"== {names}: {plural(data.conversations, 'conversation')}")
    for scale in data.scales:
        print_text("")
        for line in _describe_scale(scale.rated):
            print_text(line)
        if scale.rated.convention.has_shared_units:
            _print_annotator_agreement(scale.people)
            _print_judge_figures(scale.judges)


def _describe_scale(rated: RatedScale) -> Iterator[str]:
    """Say what was labelled, by how many, and what was left out."""
    rule = rated.convention
    labels = sum(rated.counts.values())
    if not rule.has_shared_units:
        total = labels + sum(rated.left_out.values()) + rated.not_assigned
        yield (
            f"-- {make_visible_line(rule.scale)}: {plural(total, 'label')} of spans that each "
            "annotator chose alone, so not compared"
        )
        return
    people = len(rated.annotators)
    yield (
        f"-- {make_visible_line(rule.scale)}: {plural(len(rated.units), rated.kind.value)} of "
        f"{plural(rated.group_count, 'group')}, {plural(labels, 'label')} by "
        f"{plural(people, 'annotator')}"
    )
    counts = ", ".join(f"{level} ({count})" for level, count in rated.counts.items())
    yield f"labels, worst to best: {counts}; {_format_passing_levels(rule)}"
    if rated.left_out:
        left = ", ".join(
            f"{make_visible_line(word)} ({count})" for word, count in rated.left_out.items()
        )
        yield f"left out, no level of the scale: {left}"
    if rated.not_assigned:
        yield f"left out, of annotators who were not assigned to it: {rated.not_assigned}"
    if rated.kind is UnitKind.CLAIM and rated.has_answer_scores:
        yield "judges' scores are of whole answers and these labels of claims, so not compared"


def _format_passing_levels(rule: ScaleConvention) -> str:
    words = " and ".join(rule.passing)
    return f"{words} {'pass' if len(rule.passing) > 1 else 'passes'}"


def _print_annotator_agreement(people: Sequence[AnnotatorFigures]) -> None:
    print_text("\ninter-annotator agreement")
    print_table(
        (
            TableColumn("coding"),
            TableColumn("categories"),
            TableColumn("units", "right"),
            TableColumn("agreement"),
            TableColumn("alpha nominal"),
            TableColumn("alpha ordinal"),
            TableColumn("AC1"),
            TableColumn("pairs", "right"),
            TableColumn("mean kappa"),
            TableColumn("weighted by n"),
        ),
        [
            (
                each.view.reading.value,
                " < ".join(each.view.categories),
                str(each.percent.n),
                _format_estimate(each.percent),
                _format_estimate(each.alpha_nominal),
                _format_estimate(each.alpha_ordinal),
                _format_estimate(each.ac1),
                _format_count_of_pairs_with_kappa(each),
                _format_point(each.mean_kappa),
                _format_point(each.weighted_kappa),
            )
            for each in people
        ],
    )
    if not people[0].pairs:
        return
    print_text("\npairs of annotators, Cohen's kappa")
    print_table(
        (
            TableColumn("pair"),
            TableColumn("units", "right"),
            *(TableColumn(each.view.reading.value) for each in people),
        ),
        [
            (
                f"{pairs[0].first} {pairs[0].second}",
                str(pairs[0].kappa.n),
                *(_format_estimate(pair.kappa) for pair in pairs),
            )
            for pairs in zip(*(each.pairs for each in people), strict=True)
        ],
    )


def _format_count_of_pairs_with_kappa(people: AnnotatorFigures) -> str:
    """Count the pairs whose kappa enters the means, out of all where some have none."""
    known = sum(pair.kappa.value is not None for pair in people.pairs)
    return str(known) if known == len(people.pairs) else f"{known} of {len(people.pairs)}"


def _print_judge_figures(judges: Sequence[JudgeFigures]) -> None:
    if not judges:
        print_text("\nno judge's scores of these came with the data")
        return
    _print_correlations(judges)
    for place, detection in enumerate(judges[0].detections):
        print_text(f"\njudges: an answer passes when {_POOLING_WORDS[detection.pooling]}")
        print_table(
            (
                TableColumn("judge"),
                TableColumn("pass", "right"),
                TableColumn("fail", "right"),
                TableColumn("AUROC"),
                TableColumn("balanced accuracy"),
                TableColumn("at"),
                TableColumn("best, same labels"),
                TableColumn("best, other groups"),
            ),
            [_format_detection_row(each, each.detections[place]) for each in judges],
        )
    if any(each.own_reference for each in judges):
        print_text("\nleft out: scores that compare a reference answer with itself")


def _print_correlations(judges: Sequence[JudgeFigures]) -> None:
    print_text("\njudges: Spearman with the mean human level")
    print_table(
        (
            TableColumn("judge"),
            TableColumn("scores"),
            TableColumn("units", "right"),
            TableColumn("left out", "right"),
            *(
                TableColumn(_describe_correlated_human_figure(each.view.reading))
                for each in judges[0].correlations
            ),
        ),
        [
            (
                each.judge,
                _format_score_range(each),
                str(each.n),
                str(each.without_score + each.own_reference),
                *(_format_estimate(one.spearman) for one in each.correlations),
            )
            for each in judges
        ],
    )


def _describe_correlated_human_figure(reading: ScaleReading) -> str:
    return "share that pass" if reading is ScaleReading.TWO_WAY else f"mean of {reading.value}"


def _format_detection_row(judge: JudgeFigures, found: ScoreDetection) -> tuple[str, ...]:
    best = _format_point(found.best)
    if isinstance(found.best_threshold, float):
        best += f" at {found.best_threshold:.4g}"
    return (
        judge.judge,
        str(found.passed),
        str(found.failed),
        _format_estimate(found.auroc),
        _format_estimate(found.balanced_accuracy),
        "its label" if judge.is_label else "0.5",
        "" if judge.is_label else best,
        "" if judge.is_label else _format_estimate(found.cross_validated),
    )


def _format_score_range(judge: JudgeFigures) -> str:
    if judge.lowest is None or judge.highest is None:
        return ""
    return "0 or 1" if judge.is_label else f"{judge.lowest:.2f} to {judge.highest:.2f}"


def _format_estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"- ({estimate.reason.words})" if estimate.reason else "-"
    if estimate.ci_low is None or estimate.ci_high is None:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} [{estimate.ci_low:.3f}, {estimate.ci_high:.3f}]"


def _format_point(point: Point) -> str:
    return f"- ({point.words})" if isinstance(point, WithheldReason) else f"{point:.3f}"
