"""Commands for what people say: labels, bundles of them, the guideline and the split."""

from pathlib import Path
from typing import Annotated

import typer

from faithtui.cli.options import (
    ForceOption,
    JsonOption,
    SplitOption,
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


def export(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT",
            help="`labels`, `examples` or `ragas`.",
        ),
    ],
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]", help="A run's number, or `last`. [last]", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write there; else to stdout.",
            show_default=False,
        ),
    ] = None,
    force: ForceOption = False,
    only_run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="The same as RUN. Without either, labels of all runs.",
            show_default=False,
        ),
    ] = None,
    reviewer: Annotated[
        list[str] | None,
        typer.Option(
            "--reviewer",
            metavar="NAME",
            help="Only labels of this annotator; may be repeated.",
            show_default=False,
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Add examples in which annotators agree with the judge."),
    ] = False,
    split: SplitOption = None,
    limit: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="At most so many examples, drawn at random.", show_default=False
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The same seed draws the same examples. [0]", show_default=False
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Export human labels, examples for a judge, or data for ragas.

    `labels` writes a label bundle for `faithtui merge`: every label event of every annotator
    with what it refers to, but no answers, documents or judge's reasons. `examples` writes
    one example per line: a claim with its passages, both verdicts and the reasons, where
    annotators differ from the judge; `faithtui run --examples` shows them to a judge. `ragas`
    writes the answers of which every statement has a human label.

    Example: faithtui export labels -o labels.jsonl
    """
    from faithtui.cli.commands import export

    options = merge_common_options(context, store, json)
    order = export.ExportOptions(
        what=what,
        run=run,
        only_run=only_run,
        output=output,
        force=force,
        reviewers=tuple(reviewer or ()),
        everything=everything,
        split=split,
        limit=limit,
        seed=seed,
        who=options.reviewer,
    )
    raise typer.Exit(export.write_export(options.store, order, as_json=options.json))


def merge(
    context: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Bundles of `faithtui export labels`.")
    ],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Merge label bundles of other stores into this store.

    Bundles merged in any order, or twice, give the same labels and print the same state name.
    Exit code 3 if a conversation is not in this store or a line was refused; the rest is
    merged.

    Example: faithtui merge labels.jsonl
    """
    from faithtui.cli.commands import merge

    options = merge_common_options(context, store, json)
    raise typer.Exit(merge.merge_bundles(options.store, files, as_json=options.json))


def guideline(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[ACTION]",
            help="`show` prints the one in force, `set` puts another one in force, `history` lists "
            "all versions. [show]",
            show_default=False,
        ),
    ] = "show",
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="With `set`: the text; - is stdin.", show_default=False
        ),
    ] = None,
    reviewer: Annotated[str | None, make_reviewer_option("Who sets it.")] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show or set the guideline for annotators.

    Each label stores the version that was in force.

    Example: faithtui guideline set guideline.md
    """
    from faithtui.cli.commands import guideline as commands

    options = merge_common_options(context, store, json)
    person = reviewer or options.reviewer
    code = commands.run_guideline_action(options.store, action, file, person, as_json=options.json)
    raise typer.Exit(code)


def split(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[ACTION]",
            help="`show` prints it, `make` makes it, once and for all. [show]",
            show_default=False,
        ),
    ] = "show",
    shares: Annotated[
        str | None,
        typer.Option(
            metavar="T,D,T",
            help="Percent of the groups in train, dev and test. [60,20,20]",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Another seed is another split. [0]", show_default=False),
    ] = None,
    reviewer: Annotated[str | None, make_reviewer_option("Who makes it.")] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Split the conversations into train, dev and test.

    Without `make`, show the split. Conversations of one group stay together, and
    conversations imported later are split by the same rule. Judges learn from train, are
    compared on dev and tested on test, where each use is counted.

    Example: faithtui split make --shares 60,20,20
    """
    from faithtui.cli.commands import split

    options = merge_common_options(context, store, json)
    person = reviewer or options.reviewer
    code = split.run_split_action(options.store, action, shares, seed, person, as_json=options.json)
    raise typer.Exit(code)
