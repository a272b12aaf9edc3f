"""`faithtui judge probe`: how often a judge changes its verdict when claims are changed."""

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
from faithtui.cli.shared_options import BaseUrlOption, StoreOption, merge_common_options
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.agreement.report.model import ProbeFigures
    from faithtui.domain.probes.labelled_claims import LabelledClaim


def probe(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE.jsonl]", help="Labelled claims, as `evaluate` reads them."),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run", metavar="RUN", help="Labelled claims of this run: its number, or `last`."
        ),
    ] = None,
    judge: JudgeOption = None,
    base_url: BaseUrlOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Maximum number of claims.")] = 100,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", min=0, help="Seed of the changes; another seed changes other words."
        ),
    ] = 0,
    concurrency: ConcurrencyOption = 8,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Change labelled claims a little, and count how often a judge changes its verdict.

    Other words, another order of passages, padding or an instruction in a document should not
    change the verdict; another name or number, or a negation, should change a `yes`. Each change is
    one question, about eight for each claim. `faithtui report --probes` reads the JSON.

    Example: faithtui judge probe --run last --judge openai:MODEL --limit 50
    """
    import asyncio

    from faithtui.engine.judge_trials import probe_verdict_stability

    options = merge_common_options(context, store, json)
    if (file is None) == (run is None):
        raise ConfigError("give either FILE.jsonl or --run RUN: whose claims are to be changed")
    claims = (
        read_labelled_claims_from_file(file)
        if file is not None
        else _read_labelled_claims_of_run(str(run), options.store)
    )[:limit]
    ref, opening, limiters = open_typed_or_configured_judge(judge, base_url)

    async def probe_verdict_stability_of_judge() -> "tuple[str, list[ProbeFigures]]":
        async with opening as opened:
            limiter = limiters.get_limiter(opened.account)
            figures = await probe_verdict_stability(
                opened, claims, seed, concurrency=concurrency, limiter=limiter
            )
            return opened.fingerprint, figures

    fingerprint, figures = asyncio.run(probe_verdict_stability_of_judge())
    if options.json:
        print_json(
            {
                "judge": ref,
                "fingerprint": fingerprint,
                "claims": len(claims),
                "seed": seed,
                "probes": [asdict(f) for f in figures],
            }
        )
        return
    print_to_stderr(f"{ref}, {plural(len(claims), 'claim')}")
    _print_change_shares_per_probe_kind(figures)


def _read_labelled_claims_of_run(run: str, store: Path | None) -> "tuple[LabelledClaim, ...]":
    """Read the claims of a run with human labels.

    Raises:
        ConfigError: There are none.
    """
    from faithtui.cli.stores import open_store, read_id_of_run_with_verdicts
    from faithtui.domain.probes.labelled_claims import LabelledClaim
    from faithtui.engine.review.examples_from_labels import ExampleRequest, collect_examples

    with open_store(store) as opened:
        found = collect_examples(
            opened, read_id_of_run_with_verdicts(opened, run), ExampleRequest(everything=True)
        )
    claims = tuple(
        LabelledClaim(each.claim, each.passages, each.verdict == "yes", each.verdict, each.source)
        for each in found.examples
        if each.verdict in ("yes", "no", "idk")
    )
    if not claims:
        raise ConfigError(
            f"no claim of run {run} has a label yes, no or idk; label some, or give a file"
        )
    return claims


def _print_change_shares_per_probe_kind(figures: "Sequence[ProbeFigures]") -> None:
    print_table(
        [
            TableColumn("change", flexible=True),
            TableColumn("the verdict should"),
            TableColumn("probes", "right"),
            TableColumn("changed", "right"),
            TableColumn("95 %", "right"),
        ],
        [
            (
                each.kind.value,
                "stay" if each.effect.value == "keeps" else "leave yes",
                f"{each.probes:,}",
                f"{each.share:.0%}",
                f"{each.low:.0%}-{each.high:.0%}",
            )
            for each in figures
        ],
    )
