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
    make_reviewer_option,
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
            help="Put the texts of claims into the JSON too, and the passages of claims nobody "
            "labelled into the CSV.",
        ),
    ] = False,
    level: Annotated[
        float, typer.Option(metavar="SHARE", help="Confidence level of the intervals.")
    ] = 0.95,
    duplicates: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Of a claim in several windows the judge's label counts by: first_window, "
            "majority, worst or latest.",
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
    resamples: Annotated[
        int, typer.Option(metavar="N", help="How often the bootstrap draws.")
    ] = 2000,
    seed: Annotated[int, typer.Option(metavar="N", help="Of everything that is drawn.")] = 0,
    ordinal: Annotated[
        bool, typer.Option("--ordinal", help="Labels are a scale: add weighted figures.")
    ] = False,
    blind_only: BlindOnlyOption = False,
    sample: RestOnOption = None,
    target: Annotated[
        float, typer.Option(metavar="WIDTH", help="Half-width at which labelling may stop.")
    ] = 0.1,
    compare: Annotated[
        str | None,
        typer.Option(
            metavar="RUN", help="Another run, to compare the judges of both.", show_default=False
        ),
    ] = None,
    split: SplitOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Report how far the judge agrees with people."""
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
    """Compare the labels and judges' scores that came with data, without a store or a judge.

    People with each other: alpha, AC1, kappa of each pair. Each judge with people: Spearman,
    AUROC, balanced accuracy. docs/figures.md says how labels are counted.
    """
    from faithtui.cli.commands import figures as commands

    options = merge_common_options(context, None, json)
    raise typer.Exit(commands.print_figures(files, together=together, as_json=options.json))


def compare(
    context: typer.Context,
    first: Annotated[str, typer.Argument(metavar="RUN_A", help="The run before.")],
    second: Annotated[str, typer.Argument(metavar="RUN_B", help="The run after.")],
    split: SplitOption = None,
    reviewer: Annotated[str | None, make_reviewer_option("Who looks.")] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Compare two runs with people, on the claims that both judged and people labelled.

    Prints how accuracy and kappa change from A to B, with intervals over conversations, and how
    likely such a change is if nothing changed.
    """
    from faithtui.cli.commands import compare

    options = merge_common_options(context, store, json)
    person = reviewer or options.reviewer
    code = compare.print_run_comparison(
        options.store, first, second, split, person, as_json=options.json
    )
    raise typer.Exit(code)


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
        typer.Option(metavar="X", help="Cohen's kappa, -1 to 1, at least.", show_default=False),
    ] = None,
    min_recall_no: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Share of what people call unfaithful that the judge finds, 0 to 1, at least.",
            show_default=False,
        ),
    ] = None,
    min_score: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Share that passes, 0 to 1, as corrected by people's labels, at least.",
            show_default=False,
        ),
    ] = None,
    min_labels: Annotated[
        int | None,
        typer.Option(metavar="N", help="Labelled units, at least. [30]", show_default=False),
    ] = None,
    max_age: Annotated[
        float | None,
        typer.Option(
            metavar="DAYS",
            help="Days since the judge's verdicts and since the newest label, at most.",
            show_default=False,
        ),
    ] = None,
    lower: Annotated[
        bool | None,
        typer.Option(
            "--use-lower-bound/--point",
            help="What must reach a threshold: the lower end of the interval, or the value. "
            "[the lower end]",
            show_default=False,
        ),
    ] = None,
    among_labelled: Annotated[
        bool,
        typer.Option(
            "--among-labelled",
            help="Take kappa and recall among labels that nobody drew at random.",
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
    """Say by the exit code whether a judge agrees with people well enough.

    0 passed, 1 below a threshold, 2 not enough labels, 3 stale or broken; of several the largest.
    2 is also undecided: there is a figure, and its interval is not one to decide by.
    docs/gate.md says what each number is, docs/ci.md has a workflow.
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
