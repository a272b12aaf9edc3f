"""Commands for what people say: labels, bundles of them, the guideline and the split."""

from typing import Annotated

import typer

from faithtui.cli.options import (
    JsonOption,
    StoreOption,
    make_reviewer_option,
    merge_common_options,
)


def label(
    context: typer.Context,
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="A run's number, or `last`.", show_default=False)
    ] = "last",
    plain: Annotated[
        bool,
        typer.Option(
            "--plain", help="Line by line instead of the app: for screen readers and pipes."
        ),
    ] = False,
    sample: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="A sample's number, or what to draw: new, simple, stratified, conversations, "
            "spot-check or repeats. [the newest with something left]",
            show_default=False,
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Claims of a new sample, or conversations. [100, or 10]",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The same seed draws the same claims. [a new one]", show_default=False
        ),
    ] = None,
    stratify: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Equal parts of each stratum, made of verdict, turn, model, disagreement, flip, "
            "or several with commas.",
            show_default=False,
        ),
    ] = None,
    blind: Annotated[
        bool | None,
        typer.Option(
            "--blind/--shown",
            help="Hide the judge until a claim is answered. [blind, or as set]",
            show_default=False,
        ),
    ] = None,
    reviewer: Annotated[str | None, make_reviewer_option("Who labels.")] = None,
    order: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="`drawn`, or `text`: every claim of the run as it comes, which is no sample.",
        ),
    ] = "drawn",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Label claims one by one, in the app or line by line.

    With --plain or --json, print one claim and one prompt at a time on stdout, and read one
    answer per line from stdin; `?` lists the keys. Each label is stored before the next claim
    comes.

    Example: faithtui label last --sample new --plain
    """
    from faithtui.cli.commands.label import label

    options = merge_common_options(context, store, json)
    person = reviewer or options.reviewer
    wanted = label.LabelOptions(sample, size, seed, stratify, blind, person, order)
    code = label.label_claims(options.store, run, wanted, plain=plain, as_json=options.json)
    raise typer.Exit(code)
