"""Commands that say how far judges agree with people: reports, comparisons and the gate."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from faithtui.cli.options import (
    BlindOnlyOption,
    ForceOption,
    JsonOption,
    RestOnOption,
    RunArgument,
    SplitOption,
    StoreOption,
    merge_common_options,
)


def report(
    context: typer.Context,
    run: RunArgument,
    formats: Annotated[
        str | None,
        typer.Option(
            "-f",
            "--format",
            metavar="NAMES",
            help="md, json, html, csv, or several with commas. [md; with -o all]",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Write report.md, .json, .html and claims.csv there; else to stdout.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        bool,
        typer.Option(
            "--text",
            help="Add the texts of claims to the JSON, and the passages of unlabelled claims to "
            "the CSV.",
        ),
    ] = False,
    level: Annotated[
        float, typer.Option(metavar="SHARE", help="Confidence level of the intervals.")
    ] = 0.95,
    duplicates: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Which verdict counts for a claim in several windows: first_window, majority, "
            "worst or latest.",
        ),
    ] = "first_window",
    idk: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Treat idk as: `three` (a label of its own), `pass` (faithful), `fail` "
            "(unfaithful) or `live` (as the run's score treats it).",
        ),
    ] = "three",
    interval: Annotated[
        str, typer.Option(metavar="KIND", help="Intervals by jackknife or bootstrap.")
    ] = "jackknife",
    resamples: Annotated[int, typer.Option(metavar="N", help="Resamples of the bootstrap.")] = 2000,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of all random draws.")] = 0,
    ordinal: Annotated[
        bool, typer.Option("--ordinal", help="Treat labels as a scale: add weighted kappa and AC2.")
    ] = False,
    blind_only: BlindOnlyOption = False,
    sample: RestOnOption = None,
    target: Annotated[
        float, typer.Option(metavar="WIDTH", help="Half-width at which labelling may stop.")
    ] = 0.1,
    compare: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Another run to compare with.", show_default=False),
    ] = None,
    split: SplitOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Report the agreement of a judge with human labels.

    Gives the confusion matrix, kappa and other coefficients, the detection of unfaithful
    claims, the corrected score and warnings, with intervals. docs/agreement.md explains each
    figure.

    Example: faithtui report last -o report/
    """
    from faithtui.cli.commands import report

    options = merge_common_options(context, store, json)
    settings = report.make_report_settings(
        level=level,
        duplicates=duplicates,
        idk=idk,
        interval=interval,
        resamples=resamples,
        seed=seed,
        ordinal=ordinal,
        blind_only=blind_only,
        sample=sample,
        target=target,
    )
    code = report.write_agreement_report(
        options.store,
        run,
        formats=formats,
        output=output,
        text=text,
        settings=settings,
        compare=compare,
        split=split,
        reviewer=options.reviewer,
        as_json=options.json,
    )
    raise typer.Exit(code)


def figures(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Files with human labels, one conversation a line."),
    ],
    together: Annotated[
        bool, typer.Option("--together", help="Count all files as one data set.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Compare human labels and judges' scores that came with data.

    Needs no store and no judge. Gives inter-annotator agreement (alpha, AC1, kappa of each
    pair) and, for each judge, Spearman, AUROC and balanced accuracy against the human labels.
    docs/figures.md says how labels are counted.

    Example: faithtui figures labelled.jsonl
    """
    from faithtui.cli.commands.figures import figures as commands

    options = merge_common_options(context, None, json)
    raise typer.Exit(commands.print_figures(files, together=together, as_json=options.json))


class GateCommand(TyperCommand):
    """A command whose exit code 2 is an answer, so that a mistyped option must not give it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; what cannot be read ends with the code for broken."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # typer exports no name for all errors of usage
            if getattr(error, "exit_code", None) == 2:
                error.exit_code = 3  # type: ignore[attr-defined]  # just asked for
            raise


def gate(
    context: typer.Context,
    run: RunArgument,
    min_kappa: Annotated[
        float | None,
        typer.Option(metavar="X", help="Minimum of Cohen's kappa, -1 to 1.", show_default=False),
    ] = None,
    min_recall_no: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Minimum of the recall of `no`, 0 to 1: of the units labelled `no`, the "
            "share that the judge flags.",
            show_default=False,
        ),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Minimum of the share that passes, 0 to 1, corrected by human labels.",
            show_default=False,
        ),
    ] = None,
    min_labels: Annotated[
        int | None,
        typer.Option(metavar="N", help="Minimum of labelled units. [30]", show_default=False),
    ] = None,
    max_age: Annotated[
        float | None,
        typer.Option(
            metavar="DAYS",
            help="Maximum of days since the verdicts and since the newest label.",
            show_default=False,
        ),
    ] = None,
    lower: Annotated[
        bool | None,
        typer.Option(
            "--use-lower-bound/--point",
            help="Compare the lower end of the interval, or the value, with the threshold. "
            "[the lower end]",
            show_default=False,
        ),
    ] = None,
    among_labelled: Annotated[
        bool,
        typer.Option(
            "--among-labelled",
            help="Accept kappa and recall from labels that are no random sample.",
        ),
    ] = False,
    level: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="`claims` or `answers`. [what the report speaks of first]",
            show_default=False,
        ),
    ] = None,
    idk: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help="Treat idk as in the report: three, pass, fail or live. [three, or as certified]",
            show_default=False,
        ),
    ] = None,
    blind_only: BlindOnlyOption = False,
    sample: RestOnOption = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare with this certificate; its thresholds hold unless others are named.",
            show_default=False,
        ),
    ] = None,
    write_certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a certificate if everything passes.", show_default=False
        ),
    ] = None,
    force: ForceOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Exit 0 if the judge meets the thresholds, 1 if not.

    Exit 2 if there are too few labels, or an interval that does not decide; exit 3 if the run
    or the certificate is stale or broken; of several codes, the largest. docs/gate.md
    explains each threshold, docs/ci.md has a workflow.

    Example: faithtui gate last --min-kappa 0.6 --min-recall-no 0.8
    """
    from faithtui.cli.commands import gate

    options = merge_common_options(context, store, json)

    def compute_exit_code() -> int:
        order = gate.make_gate_order(
            kappa=min_kappa,
            recall_no=min_recall_no,
            score=min_score,
            labels=min_labels,
            age_days=max_age,
            lower=lower,
            among_labelled=among_labelled,
            level=level,
            idk=idk,
            blind_only=blind_only,
            sample=sample,
            certificate=certificate,
            write=write_certificate,
            force=force,
        )
        return gate.print_gate(options.store, run, order, as_json=options.json)

    raise typer.Exit(gate.run_or_broken(compute_exit_code))
