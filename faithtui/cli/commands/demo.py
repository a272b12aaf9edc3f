"""`faithtui demo`."""

import asyncio
from pathlib import Path

from faithtui.cli.commands.import_ import make_import_progress
from faithtui.cli.commands.run.run import format_score_parts
from faithtui.cli.output import print_json, print_text, print_to_stderr
from faithtui.cli.run_outcome import exit_code, format_resume_hint
from faithtui.cli.run_progress import ProgressLine
from faithtui.cli.stores import has_terminal, make_store_directory, replace_reviewer, show_app
from faithtui.config import load_settings_with_origins
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import RunId
from faithtui.engine import demo as project
from faithtui.engine.integrity.judged_conversations import integrity_sentence
from faithtui.engine.review.agreement_report import RunAgreement, compute_run_agreement
from faithtui.engine.review.conversation_json import integrity_to_json
from faithtui.engine.runs import runner
from faithtui.paths import demo_store
from faithtui.store.store import Store


def run_demo(
    store: Path | None, *, no_app: bool, as_json: bool, reviewer: str | None = None
) -> int:
    """Prepare the demo project, then open it in the app or print what it found."""
    path = demo_store() if store is None else store.expanduser()
    if store is None:
        make_store_directory(path)
    with_app = not (no_app or as_json) and has_terminal()
    with Store.open(path) as opened:
        run = project.prepare_demo(opened, make_import_progress())
        complete = project.is_demo_complete(opened.runs.row(run))
        if not with_app:
            return _print_result(opened, run, complete=complete, as_json=as_json)
    return show_app(
        path,
        replace_reviewer(load_settings_with_origins(), reviewer),
        first_screen="conversations",
        run=run,
        resume=not complete,
    )


def _print_result(store: Store, run: RunId, *, complete: bool, as_json: bool) -> int:
    if not complete:
        print_to_stderr("judging real conversations with the embedded judge (no key, no network)")
        asyncio.run(runner.execute_run(store, run, ProgressLine()))
    agreement = compute_run_agreement(store, run)
    if as_json:
        print_json(_as_json(agreement))
    else:
        print_text(_format_summary(agreement))
    if sentence := format_resume_hint(agreement.row):
        print_to_stderr(sentence)
    return exit_code(agreement.row)


def _format_summary(agreement: RunAgreement) -> str:
    row, report = agreement.row, agreement.report
    primary = report.primary_level
    score = " · ".join(format_score_parts(row))
    return "\n".join(
        (
            f"run {row.id}: {row.spec.metric} by the embedded judge over MTRAG conversations",
            f"{row.done} conversations · {row.windows} windows · {row.claims} claims · {score}",
            *([found] if (found := integrity_sentence(row.spec.metric, row.integrity)) else []),
            project.WHY,
            project.UNSEEN,
            report.headline,
            f"{primary.level.value}: n {primary.coverage.compared} · "
            f"agreement {_format_estimate(primary.percent)} · kappa "
            f"{_format_estimate(primary.cohen_kappa)} · "
            f"AC1 {_format_estimate(primary.gwet_ac1)}",
            "open it with: faithtui demo",
        )
    )


def _format_estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return "undefined" if estimate.reason is None else estimate.reason.words
    if estimate.ci_low is None or estimate.ci_high is None:
        return f"{estimate.value:.2f}"
    return f"{estimate.value:.2f} [{estimate.ci_low:.2f}, {estimate.ci_high:.2f}]"


def _as_json(agreement: RunAgreement) -> dict[str, object]:
    row, primary = agreement.row, agreement.report.primary_level
    kappa = primary.cohen_kappa
    return {
        "run": row.id,
        "conversations": row.done,
        "windows": row.windows,
        "claims": row.claims,
        "score": row.score,
        "integrity": integrity_to_json(row.spec.metric, row.integrity),
        "level": primary.level.value,
        "n": primary.coverage.compared,
        "kappa": kappa.value,
        "kappa_low": kappa.ci_low,
        "kappa_high": kappa.ci_high,
        "headline": agreement.report.headline,
    }
