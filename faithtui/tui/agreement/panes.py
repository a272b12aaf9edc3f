"""The panes of the agreement screen: every part of a report, each with its lines."""

from typing import TYPE_CHECKING

from textual import getters

from faithtui.agreement.report.model import AgreementReport
from faithtui.agreement.report.settings import ReportLevel
from faithtui.tui.agreement import figure_lines as figures
from faithtui.tui.agreement import matrix_lines
from faithtui.tui.agreement.marked_lines import (
    format_evidence_and_recall_lines,
    has_evidence_or_complete_answers,
)
from faithtui.tui.agreement.matrix import MatrixPane
from faithtui.tui.keymap.key_names import KeyNames
from faithtui.tui.metric_words import name_units_at_level
from faithtui.tui.theme import format as fmt
from faithtui.tui.theme import layouts
from faithtui.tui.widgets.scroll_pane import Builder, Pane, RowPane
from faithtui.tui.widgets.zoomable_panes import Panes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faithtui.agreement.report.model import LevelReport
    from faithtui.metrics.base import MetricSpec


class AgreementPanes(Panes):
    """Matrix, coefficients, detection, scores, warnings and what else a report has."""

    matrix = getters.query_one("#matrix", MatrixPane)

    def __init__(self, keys: KeyNames) -> None:
        self._keys = keys
        self._empty: frozenset[str] = frozenset()
        """Panes with nothing to say of the report that is drawn."""
        super().__init__(
            MatrixPane(),
            Pane(id="coefficients", title="Agreement"),
            Pane(id="rate", title="Pass rate"),
            Pane(id="classes", title="Per verdict"),
            Pane(id="detection", title="Detecting unfaithful claims"),
            Pane(id="coverage", title="Coverage"),
            RowPane(id="differences", title="Where they differ", reports_seen_rows=True),
            Pane(id="slices", title="Slices"),
            Pane(id="people", title="Annotators"),
            Pane(id="scores", title="Scores"),
            Pane(id="calibration", title="Calibration"),
            Pane(id="progress", title="Labels needed"),
            Pane(id="marked", title="Evidence and extraction"),
            Pane(id="warnings", title="Summary and warnings"),
            layout_function=lambda width, height: layouts.lay_out_agreement(
                width, height, self._empty
            ),
        )

    def paint_report(
        self,
        report: AgreementReport,
        kind: ReportLevel,
        spec: "MetricSpec",
        *,
        blind: bool,
        width: int,
    ) -> None:
        """Draw a report at one of its levels.

        Args:
            report: The report.
            kind: Its level: what the metric judges, or whole answers.
            spec: The run's metric.
            blind: Single claims are hidden, and the judge's share of the whole run.
            width: Columns of the screen.
        """
        labels, units = spec.labels, name_units_at_level(kind, spec)
        level = report.get_level(kind)
        self.matrix.show_matrix_of_report_level(level, spec)
        interval = f" · {report.confidence_level:.0%} interval"
        wide, narrow = width >= layouts.WIDE_FROM, width < layouts.NARROW_BELOW
        # Only what is judged is broken down by annotators, slices and labels.
        named = (
            ""
            if kind is ReportLevel.CLAIMS
            else f" · {name_units_at_level(ReportLevel.CLAIMS, spec)[1]}"
        )
        # A smaller screen has fewer panes: what has none of its own follows in another one.
        progress = self.query_one("#progress", Pane)
        builders: dict[str, tuple[Builder, str]] = {
            "coefficients": (
                lambda w: matrix_lines.coefficient_lines(report, level, w),
                f"Agreement{interval}",
            ),
            "rate": (
                lambda w: [
                    *figures.format_pass_rate_lines(level, w, blind=blind),
                    *matrix_lines.add_heading_if_wanted(
                        "scores of answers",
                        matrix_lines.format_score_against_rating_lines(report, w),
                        not wide,
                    ),
                    *matrix_lines.add_heading_if_wanted(
                        "evidence and extraction",
                        format_evidence_and_recall_lines(report, w),
                        narrow and has_evidence_or_complete_answers(report),
                    ),
                ],
                f"Pass rate of {units[1]}",
            ),
            "classes": (
                lambda w: [
                    *matrix_lines.format_per_label_score_lines(level, labels, w),
                    *matrix_lines.add_heading_if_wanted(
                        "coverage",
                        matrix_lines.format_coverage_and_consistency_lines(report, level, spec, w),
                        not wide,
                    ),
                ],
                "Per verdict",
            ),
            "detection": (
                lambda w: [
                    *matrix_lines.format_unfaithful_detection_lines(level, report.passing, w),
                    *matrix_lines.add_heading_if_wanted(
                        "per verdict",
                        matrix_lines.format_per_label_score_lines(level, labels, w),
                        narrow,
                    ),
                    *matrix_lines.add_heading_if_wanted(
                        "coverage",
                        matrix_lines.format_coverage_and_consistency_lines(report, level, spec, w),
                        narrow,
                    ),
                ],
                f"Detecting unfaithful {units[1]}",
            ),
            "coverage": (
                lambda w: matrix_lines.format_coverage_and_consistency_lines(
                    report, level, spec, w
                ),
                f"Coverage · {units[1]}",
            ),
            "slices": (
                lambda w: figures.format_agreement_by_slice_lines(report, w),
                f"Where the judge goes wrong{named}",
            ),
            "people": (lambda w: figures.format_annotator_agreement_lines(report, w), "Annotators"),
            "scores": (
                lambda w: [
                    *figures.format_window_and_conversation_score_lines(report, w),
                    *matrix_lines.add_heading_if_wanted(
                        "answers as a whole",
                        matrix_lines.format_score_against_rating_lines(report, w),
                        True,
                    ),
                ],
                "Scores",
            ),
            "calibration": (lambda w: figures.calibration_lines(report, w), "Calibration"),
            "marked": (
                lambda w: format_evidence_and_recall_lines(report, w),
                f"Evidence and extraction{interval}",
            ),
            "progress": (
                lambda w: figures.format_labels_needed_lines(
                    report, w, progress.scrollable_content_region.height, blind=blind
                ),
                f"Labels needed{named}",
            ),
            "differences": (
                lambda w: matrix_lines.format_disagreement_lines(
                    level.disagreements,
                    labels,
                    "is:disagreement" if level.table.categories == labels.names else "",
                    w,
                ),
                _name_differences(level),
            ),
            "warnings": (
                lambda w: (
                    matrix_lines.format_headline_and_warning_lines(report, kind, w, blind=blind)
                    if report.primary_level_report.coverage.compared
                    else matrix_lines.nothing_labelled_lines(report, spec, w)
                ),
                matrix_lines.make_summary_title(report, kind, blind=blind),
            ),
        }
        empty = frozenset(_list_empty_panes(report, level))
        if empty != self._empty:
            self._empty = empty
            self.zoom_pane(self.zoomed_id)
        for name, (build, title) in builders.items():
            self.query_one(f"#{name}", Pane).show(build, title=title)
        if blind:
            self.query_one("#differences", RowPane).show(
                matrix_lines.format_hidden_claims_lines, title="Where they differ"
            )
        self.query_one("#differences", RowPane).hint = self._keys.fill_in_keys(
            "J judge → human · {list.open} opens"
        )


def _name_differences(level: "LevelReport") -> str:
    """Name the list of differences: those in the table, then those that no figure counts."""
    counted = level.table.n - level.table.agreed_count
    others = len(level.disagreements) - counted
    more = f" · {fmt.format_count(others)} in no figure" if others > 0 else ""
    return f"Where they differ {fmt.format_count(counted)}{more}"


def _list_empty_panes(report: AgreementReport, level: "LevelReport") -> "Iterator[str]":
    """List the panes that have nothing to say: they leave their room to others."""
    if not level.agreement.n:
        yield from ("detection", "classes", "differences")
    if not any(each.rows for each in report.breakdowns):
        yield "slices"
    if not report.progress.history:
        yield "progress"
    if not report.raters and report.answer_humans is None:
        yield "people"
    if not report.unit_scores and not report.scores.answers:
        yield "scores"
    if not has_evidence_or_complete_answers(report):
        yield "marked"
