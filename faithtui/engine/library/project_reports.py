"""Figures of a run for notebooks and scripts: refused where labels were changed behind the log."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from faithtui.domain.ids import RunId
from faithtui.domain.text.suggestions import format_known_names
from faithtui.engine.integrity.run_checks import check_and_save_run_within_time_limit
from faithtui.engine.library.project_rows import ReportFormat, Row
from faithtui.engine.library.project_runs import find_id_of_run_with_verdicts
from faithtui.engine.review.gate.gate import GateRequest, check_gate_and_write_certificate_if_passed
from faithtui.engine.review.gate.gate_json import gate_to_json
from faithtui.engine.review.reports.agreement_report import (
    compute_run_agreement,
    iter_report_text,
    write_report_files,
)
from faithtui.engine.runs.last_run import LAST, find_last_run_to_gate
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.store.store import Store


def format_agreement_report(store: "Store", run: int | str, form: ReportFormat) -> str:
    """Write the report of a run as a text; see `Project.format_report`.

    Raises:
        ConfigError: There is no such format.
    """
    if form not in get_args(ReportFormat):
        known = format_known_names(form, get_args(ReportFormat))
        raise ConfigError(f"there is no format `{form}`; known: {known}")
    agreement = compute_run_agreement(store, _find_run_and_check_labels(store, run))
    return "".join(iter_report_text(store, agreement, form))


def write_agreement_report_files(
    store: "Store", run: int | str, formats: Sequence[ReportFormat], directory: Path
) -> list[Path]:
    """Write the report of a run as files; see `Project.write_report`."""
    agreement = compute_run_agreement(store, _find_run_and_check_labels(store, run))
    return list(write_report_files(store, agreement, formats, directory))


def check_run_against_thresholds(store: "Store", run: int | str, request: GateRequest) -> Row:
    """Hold a run against thresholds; see `Project.gate`."""
    if run == LAST and store.runs.find_newest_run_id() is not None:
        run = find_last_run_to_gate(store)
    return gate_to_json(
        check_gate_and_write_certificate_if_passed(
            store, _find_run_and_check_labels(store, run), request
        )
    )


def _find_run_and_check_labels(store: "Store", run: int | str) -> RunId:
    """Check labels and run for what would make figures wrong, and find the run."""
    store.refuse_corrupted_rows()
    found = find_id_of_run_with_verdicts(store, run)
    check_and_save_run_within_time_limit(store, found)
    return found
