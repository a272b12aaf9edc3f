"""An agreement report as files: `report.json`, `report.md`, `report.html` and `claims.csv`.

Equal input gives equal bytes in all of them. Nothing here touches a disk: the functions give text.
Write it with `newline=""`, so that line breaks inside cells stay what they are.
"""

from faithtui.interchange.report_csv import ClaimExtras, claims_csv
from faithtui.interchange.report_header import PlotFile, ReportHeader
from faithtui.interchange.report_html import report_html, report_plots
from faithtui.interchange.report_json import report_json
from faithtui.interchange.report_markdown import report_markdown

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
