"""`faithtui demo`: a project that is judged and labelled already."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.import_progress import ImportProgressLine
from faithtui.cli.output import is_quiet, print_json, print_text, print_to_stderr
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    StoreOption,
    merge_common_options,
    override_configured_reviewer,
)
from faithtui.cli.stores import has_terminal, make_store_directory, show_app

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faithtui.agreement.report.model import LevelReport
    from faithtui.domain.estimates import Estimate
    from faithtui.domain.ids import RunId
    from faithtui.engine.review.reports.agreement_report import RunAgreement
    from faithtui.store.records import LabelCount
    from faithtui.store.store import Store


def demo(
    context: typer.Context,
    no_app: Annotated[
        bool, typer.Option("--no-app", help="Print a summary instead of opening the app.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Open a demo project: real conversations with human labels.

    The project has a store of its own, judged by the embedded judge, which later calls reuse. The
    summary names the store's file; give it to other commands by --store. A store with other
    conversations is refused. If stdout is not a terminal, print the summary instead of opening the
    app.

    Example: faithtui demo --no-app
    """
    from faithtui.config import load_settings_with_origins
    from faithtui.engine.demo import ensure_demo_in_store, is_demo_complete
    from faithtui.paths import expand_home, get_demo_store_path
    from faithtui.store.store import Store

    options = merge_common_options(context, store, json)
    path = get_demo_store_path() if options.store is None else expand_home(options.store)
    if options.store is None:
        make_store_directory(path)
    with_app = not (no_app or options.json) and has_terminal()
    with Store.open(path) as opened:
        run = ensure_demo_in_store(opened, ImportProgressLine())
        complete = is_demo_complete(opened.runs.read_run(run))
        if not with_app:
            raise typer.Exit(
                _judge_print_result_and_choose_exit_code(
                    opened, run, path, complete=complete, as_json=options.json
                )
            )
    raise typer.Exit(
        show_app(
            path,
            override_configured_reviewer(load_settings_with_origins(), options.reviewer),
            first_screen="conversations",
            run=run,
            resume=not complete,
            keeps_place=True,
        )
    )


def _judge_print_result_and_choose_exit_code(
    store: "Store", run: "RunId", path: Path, *, complete: bool, as_json: bool
) -> int:
    """Judge what is not judged yet, print what came of it, and give the exit code."""
    import asyncio

    from faithtui.cli.run_outcome import choose_exit_code, format_resume_hint
    from faithtui.cli.run_progress import ProgressLine
    from faithtui.engine.review.reports.agreement_report import compute_run_agreement
    from faithtui.engine.runs import runner
    from faithtui.store.records import ItemState

    if not complete:
        if not is_quiet():
            print_to_stderr(
                "judging real conversations with the embedded judge (no key, no network)"
            )
        asyncio.run(runner.execute_run(store, run, ProgressLine()))
    agreement = compute_run_agreement(store, run)
    if as_json:
        print_json(_as_json(agreement))
    else:
        print_text(
            _format_agreement_summary(agreement, store.run_contents.count_judge_labels(run), path)
        )
    failures = store.run_contents.count_conversations_by_state_reason(run, ItemState.FAILED)
    if sentence := format_resume_hint(agreement.row, failures):
        print_to_stderr(sentence)
    return choose_exit_code(agreement.row)


def _format_agreement_summary(
    agreement: "RunAgreement", labels: "Mapping[str, LabelCount]", path: Path
) -> str:
    from faithtui.cli.run_outcome import format_claim_counts, format_mean_score_phrases
    from faithtui.domain.text.visible_text import make_visible_line
    from faithtui.engine.demo import UNSEEN, WHY
    from faithtui.engine.integrity.judged_conversations import format_integrity_sentence
    from faithtui.paths import get_demo_store_path

    row, report = agreement.row, agreement.report
    option = f"--store {shlex.quote(make_visible_line(str(path)))}"
    levels = [each for each in (report.answers, report.claims) if each.coverage.compared]
    score = " · ".join(format_mean_score_phrases(row))
    return "\n".join(
        (
            f"run {row.id}: {row.spec.metric} by the embedded judge over MTRAG conversations",
            f"{row.done:,} conversations · {row.windows:,} windows · "
            f"{format_claim_counts(row, labels)} · {score}",
            *(
                [found]
                if (found := format_integrity_sentence(row.spec.metric, row.integrity))
                else []
            ),
            WHY,
            UNSEEN,
            report.headline,
            *(_format_level_agreement(each) for each in levels),
            f"open it with: faithtui demo{'' if path == get_demo_store_path() else f' {option}'}",
            f"for other commands: {option}",
        )
    )


def _format_level_agreement(level: "LevelReport") -> str:
    from faithtui.agreement.report.headline import count_left_out_by_reason

    left_out = count_left_out_by_reason(level.coverage)
    n = f"n {level.coverage.compared:,}"
    if left_out:
        why = ", ".join(f"{count:,} {words}" for words, count in left_out.items())
        n += f" of {level.coverage.reviewed:,} labelled ({why})"
    return (
        f"{level.level.value}: {n} · "
        f"agreement {_format_estimate(level.percent_agreement)} · "
        f"kappa {_format_estimate(level.cohen_kappa)} · AC1 {_format_estimate(level.gwet_ac1)}"
    )


def _format_estimate(estimate: "Estimate") -> str:
    if estimate.value is None:
        return "undefined" if estimate.reason is None else estimate.reason.words
    if estimate.ci_low is None or estimate.ci_high is None:
        return f"{estimate.value:.2f}"
    return f"{estimate.value:.2f} [{estimate.ci_low:.2f}, {estimate.ci_high:.2f}]"


def _as_json(agreement: "RunAgreement") -> dict[str, object]:
    from faithtui.engine.review.conversation_json import integrity_to_json

    row, primary = agreement.row, agreement.report.primary_level_report
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
