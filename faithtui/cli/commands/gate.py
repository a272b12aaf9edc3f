"""`faithtui gate`: an exit code that says whether a judge is good enough."""

import sys
import traceback
from collections.abc import Callable
from math import isclose
from pathlib import Path

from faithtui.agreement.gate.thresholds import (
    CRITERION_TITLES,
    EXIT_CODES,
    CheckOutcome,
    Criterion,
    CriterionCheck,
    ThresholdBasis,
)
from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.report.settings import ReportLevel
from faithtui.cli.commands.report import read_idk_rule
from faithtui.cli.estimate_json import estimate_json
from faithtui.cli.output import Column, print_json, print_table, print_text, print_to_stderr
from faithtui.cli.stores import open_store, read_run_id
from faithtui.cli.streams import ReaderGone
from faithtui.config import load_settings
from faithtui.domain.ids import SampleId
from faithtui.engine.integrity.run_checks import check_for_moment
from faithtui.engine.review import gate as gate_run
from faithtui.engine.review.gate import GateRequest, GateResult
from faithtui.errors import ConfigError, FaithtuiError

BROKEN = EXIT_CODES[CheckOutcome.STALE]


def make_gate_order(
    *,
    kappa: float | None,
    recall_no: float | None,
    score: float | None,
    labels: int | None,
    age_days: float | None,
    lower: bool | None,
    among_labelled: bool,
    level: str | None,
    idk: str | None,
    blind_only: bool,
    sample: int | None,
    certificate: Path | None,
    write: Path | None,
    force: bool,
) -> GateRequest:
    """Put what was typed into an order.

    Raises:
        ConfigError: There is no such level, or no such rule.
    """
    if level is not None and level not in tuple(ReportLevel):
        raise ConfigError(f"there is no level `{level}`; known: {', '.join(ReportLevel)}")
    basis = None if lower is None else ThresholdBasis.LOWER if lower else ThresholdBasis.POINT
    return GateRequest(
        kappa=kappa,
        recall_no=recall_no,
        score=score,
        labels=labels,
        age_days=age_days,
        basis=basis,
        among_labelled=among_labelled,
        level=None if level is None else ReportLevel(level),
        idk=None if idk is None else read_idk_rule(idk),
        blind_only=True if blind_only else None,
        sample=None if sample is None else SampleId(sample),
        certificate=certificate,
        write=write,
        force=force,
    )


def print_gate(store: Path | None, run: str, order: GateRequest, *, as_json: bool) -> int:
    """Hold a run against thresholds, print each, and give the exit code."""
    with open_store(store, load_settings()) as opened:
        opened.refuse_changed_labels()
        number = read_run_id(opened, run)
        check_for_moment(opened, number)
        result = gate_run.check_gate(opened, number, order)
    _print_result(result, as_json=as_json)
    return EXIT_CODES[result.outcome]


def run_or_broken(work: Callable[[], int]) -> int:
    """Run something whose exit code means something, so that no error passes for a result."""
    try:
        return work()
    except FaithtuiError as error:
        print_to_stderr(f"error: {error}")
    except Exception:  # Python ends with 1 after a bug, which would say here: below a threshold.
        traceback.print_exc()
    return BROKEN


def _print_result(result: GateResult, *, as_json: bool) -> None:
    try:
        if as_json:
            print_json(_as_json(result))
        else:
            _print_table(result)
        for note in result.notes:
            print_to_stderr(f"note: {note}")
        for reason in result.broken:
            print_to_stderr(f"stale or broken: {reason}")
        sys.stdout.flush()
    except ReaderGone:
        pass  # the exit code is the answer, and it stands


def _print_table(result: GateResult) -> None:
    row = result.row
    print_text(
        f"run {row.id}: {row.spec.metric} by {row.spec.judge_title} against human "
        f"labels, {result.measured.level}{_format_counting_rules(result)}"
    )
    print_table(
        [
            Column("CRITERION"),
            Column("VALUE", "right"),
            Column("95 % INTERVAL"),
            Column("THRESHOLD"),
            Column("RESULT"),
            Column("WHY", flexible=True),
        ],
        [_check_row(each, result.thresholds.basis) for each in result.checks],
    )
    print_text(f"result: {result.outcome}")
    if result.written is not None:
        print_text(f"certificate: {result.written}")


def _format_counting_rules(result: GateResult) -> str:
    """Say what is unusual in how labels were counted."""
    settings = result.settings
    words = "" if settings.idk is IdkRule.THREE else f", idk treated as {settings.idk.option}"
    return f"{words}, blind verdicts only" if settings.blind_only else words


def _check_row(check: CriterionCheck, basis: ThresholdBasis) -> tuple[str, ...]:
    most = check.criterion is Criterion.AGE
    sign = "at most" if most else "at least"
    of = " (lower end)" if check.estimate is not None and basis is ThresholdBasis.LOWER else ""
    return (
        CRITERION_TITLES[check.criterion],
        "–" if check.value is None else _format_number(check.value),
        _format_interval(check),
        f"{sign} {_format_number(check.threshold)}{of}",
        check.outcome.value,
        check.reason,
    )


def _format_number(value: float) -> str:
    """Write a whole number as one, others with three decimals or as they were typed."""
    if isclose(value, round(value), abs_tol=1e-12):
        return f"{round(value):,}" if abs(value) > 1 else f"{value:g}"
    return f"{value:.3f}"


def _format_interval(check: CriterionCheck) -> str:
    found = check.estimate
    if found is None or found.ci_low is None or found.ci_high is None:
        return ""
    return f"[{found.ci_low:.3f}, {found.ci_high:.3f}]"


def _as_json(result: GateResult) -> dict[str, object]:
    return {
        "run": result.row.id,
        "metric": result.row.spec.metric,
        "judge": result.row.spec.judge,
        "judge_title": result.row.spec.judge_title,
        "level": result.measured.level,
        "design": result.measured.design,
        "basis": result.thresholds.basis,
        "idk": result.settings.idk,
        "blind_only": result.settings.blind_only,
        "result": result.outcome,
        "exit_code": EXIT_CODES[result.outcome],
        "criteria": [
            {
                "name": each.criterion,
                "threshold": each.threshold,
                "value": each.value,
                "result": each.outcome,
                "reason": each.reason,
                "estimate": None if each.estimate is None else estimate_json(each.estimate),
            }
            for each in result.checks
        ],
        "stale_or_broken": list(result.broken),
        "notes": list(result.notes),
        "certificate_issued_at": None
        if result.certificate is None
        else result.certificate.issued_at.isoformat(),
        "written": None if result.written is None else str(result.written),
    }
