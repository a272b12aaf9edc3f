"""`faithtui judge evaluate`: a judge compared with labelled claims."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.commands.judge.wanted_judge import (
    ConcurrencyOption,
    JudgeOption,
    open_typed_or_configured_judge,
    read_labelled_claims_from_file,
)
from faithtui.cli.output import TableColumn, plural, print_json, print_table, print_to_stderr
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import BaseUrlOption, merge_common_options

if TYPE_CHECKING:
    from faithtui.engine.judge_trials import FamilyFigures


def evaluate(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.jsonl",
            help="Labelled claims, one JSON object a line: claim, context, label, family.",
        ),
    ],
    judge: JudgeOption = None,
    base_url: BaseUrlOption = None,
    concurrency: ConcurrencyOption = 8,
    json: JsonOption = False,
) -> None:
    """Compare a judge with labels: accuracy, AUROC and calibration for each family.

    Each line has `claim`, `context` (a text or a list), `label` (yes, no, idk, supported or
    unsupported) and, where there are several kinds of data, `family`. Nothing is stored; each
    claim is one question.

    Example: faithtui judge evaluate labelled.jsonl --judge nli:models/minicheck
    """
    import asyncio

    from faithtui.engine.judge_trials import (
        compute_accuracy_by_family,
        compute_accuracy_of_all_families,
        judge_labelled_claims,
    )

    claims = read_labelled_claims_from_file(file)
    ref, opening, limiters = open_typed_or_configured_judge(judge, base_url)

    async def judge_claims_and_compute_figures() -> "tuple[list[FamilyFigures], FamilyFigures]":
        async with opening as opened:
            pairs = [(each.claim, each.passages) for each in claims]
            verdicts = await judge_labelled_claims(
                opened,
                pairs,
                concurrency=concurrency,
                limiter=limiters.get_limiter(opened.account),
            )
        return compute_accuracy_by_family(claims, verdicts), compute_accuracy_of_all_families(
            claims, verdicts
        )

    families, total = asyncio.run(judge_claims_and_compute_figures())
    if merge_common_options(context, None, json).json:
        shown = [asdict(each) for each in families]
        print_json({"judge": ref, "families": shown, "all": asdict(total)})
        return
    print_to_stderr(f"{ref} on {plural(len(claims), 'claim')} of {file}")
    _print_figures([*families, total] if len(families) > 1 else families)
    if total.without_verdict:
        without = plural(total.without_verdict, "claim")
        print_to_stderr(f"{without} got no verdict and count as wrong")


def _format_share(share: float | None) -> str:
    return "—" if share is None else f"{share:.3f}"


def _print_figures(figures: "Sequence[FamilyFigures]") -> None:
    measures = ("claims", "supported", "accuracy", "balanced", "AUROC", "ECE")
    titles = (*measures, "said no", "of these right")
    print_table(
        [TableColumn("family", flexible=True), *(TableColumn(title, "right") for title in titles)],
        [
            (
                each.family,
                f"{each.claims:,}",
                f"{each.supported / each.claims:.0%}",
                _format_share(each.accuracy),
                _format_share(each.balanced_accuracy),
                _format_share(each.auroc),
                _format_share(each.calibration_error),
                f"{each.said_no:,}",
                _format_share(each.precision_of_no),
            )
            for each in figures
        ],
    )
