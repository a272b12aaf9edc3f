"""An agreement report as files: `report.json`, `.md`, `.html`, `claims.csv` and `answers.csv`.

Equal input gives equal bytes in all of them. Nothing here touches a disk: the functions give text.
Write it with `newline=""`, so that line breaks inside cells stay what they are.
"""

from faithtui.agreement.documents.answers_csv import (
    AnswerRow,
    answers_csv,
    make_row_of_answer_labelled_as_whole,
    make_row_of_answer_metric_judges,
    make_row_of_answer_without_whole_label,
)
from faithtui.agreement.documents.csv_report import ClaimExtras, claims_csv
from faithtui.agreement.documents.header import LabelProvenance, PlotFile, ReportHeader
from faithtui.agreement.documents.html_report import list_plots_of_html_report, report_html
from faithtui.agreement.documents.json_report import report_json
from faithtui.agreement.documents.markdown_report import report_markdown

__all__ = [
    "AnswerRow",
    "ClaimExtras",
    "LabelProvenance",
    "PlotFile",
    "ReportHeader",
    "answers_csv",
    "claims_csv",
    "list_plots_of_html_report",
    "make_row_of_answer_labelled_as_whole",
    "make_row_of_answer_metric_judges",
    "make_row_of_answer_without_whole_label",
    "report_html",
    "report_json",
    "report_markdown",
]
