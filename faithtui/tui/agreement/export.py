"""Writing a run's report from a screen."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from faithtui.domain.ids import RunId
from faithtui.tui.allowed_actions import FILES, refuse_disallowed_act_in_browser
from faithtui.tui.screen.blind_mode import describe_keys_ending_blind_work
from faithtui.tui.session import Session
from faithtui.tui.theme.format import format_path
from faithtui.tui.theme.lines import Piece, escape_line

if TYPE_CHECKING:
    from faithtui.agreement.report.settings import ReportSettings


def write_run_report(
    session: Session, run: RunId, settings: "ReportSettings | None" = None
) -> Path:
    """Write a run's report, in every format, into a new directory. Meant for a thread.

    Args:
        session: Where the store is, and where reports go.
        run: The run.
        settings: What is asked for; None: the usual.

    Returns:
        The directory.

    Raises:
        ConfigError: Files are not written from a browser.
        ExportError: It cannot be written.
        StoreError: A label or verdict is not what was written.
    """
    from faithtui.engine.review.reports.agreement_report import FILES as FORMATS
    from faithtui.engine.review.reports.agreement_report import write_report

    refuse_disallowed_act_in_browser(FILES, os.environ)
    session.store.refuse_corrupted_rows()
    directory = session.report_directory / f"faithtui-report-{run}-{session.now():%Y%m%d-%H%M%S}"
    write_report(session.store, run, tuple(FORMATS), directory, settings=settings)
    return directory


def describe_report_paths(*directories: Path) -> tuple[Piece, ...]:
    """Say where reports are; of several, the directory that holds them.

    The name of a report's directory comes first: where the line is cut, its place is.
    """
    where = escape_line(format_path(directories[0].parent)).text
    if len(directories) > 1:
        words = f"{len(directories)} reports written"
        return (Piece(words, "good"), Piece(f" · {where}", "quiet"))
    name = escape_line(directories[0].name).text
    return (Piece("report written", "good"), Piece(f" · {name} in {where}", "quiet"))


def explain_blind_refusal(session: Session, what: str) -> str:
    """Say why what shows single claims is refused in blind mode, and which keys lead out."""
    way_out = describe_keys_ending_blind_work(session)
    return f"{what} would show the judge's verdicts: {way_out}"
