"""Commands that show what is there: keys, metrics, runs, and what seems wrong in a run."""

from typing import Annotated

import typer

from faithtui.cli.options import JsonOption, RunArgument, StoreOption, merge_common_options

RunsArgument = Annotated[
    list[str], typer.Argument(metavar="RUN...", help="Runs' numbers, or `last`.")
]


def keys(
    context: typer.Context,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Key map that comes with faithtui; else the one that the app begins with.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the keys of the app with the names that `keymap.toml` calls them by."""
    from faithtui.cli.commands import keys as commands

    options = merge_common_options(context, None, json)
    raise typer.Exit(commands.print_keys(preset, as_json=options.json))


def metrics(
    context: typer.Context,
    metric: Annotated[
        str | None,
        typer.Argument(
            metavar="[METRIC]", help="One of them, with its options.", show_default=False
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the metrics, or the options of one."""
    from faithtui.cli.commands import metrics as listed

    raise typer.Exit(
        listed.print_metrics(metric, as_json=merge_common_options(context, None, json).json)
    )


def runs(
    context: typer.Context,
    archived: Annotated[
        bool, typer.Option("--archived", help="Those that were archived instead.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """List the runs, newest first, without those that were archived."""
    from faithtui.cli.commands import show

    options = merge_common_options(context, store, json)
    raise typer.Exit(show.print_runs(options.store, archived=archived, as_json=options.json))


def archive(
    context: typer.Context, runs: RunsArgument, store: StoreOption = None, json: JsonOption = False
) -> None:
    """Put runs out of the lists. Nothing of them is deleted; `faithtui restore` lists them again.

    An archived run is no judge in comparisons any more, and not the `last` one. By its number it
    can still be shown, labelled, reported and exported. `faithtui delete run` deletes one.
    """
    from faithtui.cli.commands import archive

    options = merge_common_options(context, store, json)
    code = archive.set_archived(options.store, runs, archived=True, as_json=options.json)
    raise typer.Exit(code)


def restore(
    context: typer.Context, runs: RunsArgument, store: StoreOption = None, json: JsonOption = False
) -> None:
    """List archived runs again."""
    from faithtui.cli.commands import archive

    options = merge_common_options(context, store, json)
    code = archive.set_archived(options.store, runs, archived=False, as_json=options.json)
    raise typer.Exit(code)


def show(
    context: typer.Context,
    run: RunArgument,
    conversation: Annotated[
        str | None,
        typer.Argument(
            metavar="[CONVERSATION]", help="Its id or its number in the run.", show_default=False
        ),
    ] = None,
    filter_: Annotated[
        str | None,
        typer.Option(
            "--filter",
            metavar="TEXT",
            help="Only what words or terms such as verdict:no find; docs/filters.md has them all.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show a run's conversations, or one conversation's claims with their evidence.

    Of a conversation that several runs have judged, all metrics are put side by side.
    """
    from faithtui.cli.commands import show

    options = merge_common_options(context, store, json)
    code = show.print_run(
        options.store, run, conversation, filter_, options.reviewer, as_json=options.json
    )
    raise typer.Exit(code)


def check(
    context: typer.Context,
    run: RunArgument,
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]", help="List the entries of one kind, such as flip.", show_default=False
        ),
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Look for what seems wrong in what the judge said: missing verdicts, flips, lost facts, ….

    Conversations judged since the last time are checked first; that can be interrupted and goes
    on where it stopped. With --json the entries are printed too.
    """
    from faithtui.cli.commands import check

    options = merge_common_options(context, store, json)
    code = check.print_findings(options.store, run, kind, options.reviewer, as_json=options.json)
    raise typer.Exit(code)
