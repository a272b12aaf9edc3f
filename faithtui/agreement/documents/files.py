"""An agreement report as files: `report.json`, `report.md`, `report.html` and `claims.csv`.

Equal input gives equal bytes in all of them. Nothing here touches a disk: the functions give text.
Write it with `newline=""`, so that line breaks inside cells stay what they are.
"""

from faithtui.agreement.documents.csv_report import ClaimExtras, claims_csv
from faithtui.agreement.documents.header import PlotFile, ReportHeader
from faithtui.agreement.documents.html_report import report_html, report_plots
from faithtui.agreement.documents.json_report import report_json
from faithtui.agreement.documents.markdown_report import report_markdown

__all__ = [
    "ClaimExtras",
    "PlotFile",
    "ReportHeader",
    "claims_csv",
    "report_html",
    "report_json",
    "report_markdown",
    "report_plots",
]
