"""An agreement report as files: `report.json`, `report.md` and `claims.csv`.

Equal input gives equal bytes in all three. Nothing here touches a disk: the functions give text.
Write it with `newline=""`, so that line breaks inside cells stay what they are.
"""

from faithtui.interchange.report_csv import claims_csv
from faithtui.interchange.report_header import ReportHeader
from faithtui.interchange.report_json import report_json
from faithtui.interchange.report_markdown import report_markdown

__all__ = ["ReportHeader", "claims_csv", "report_json", "report_markdown"]
