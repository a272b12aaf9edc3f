"""Commands that delete: data sets, imports, people and runs."""

from pathlib import Path
from typing import Annotated

import typer

from faithtui.cli.options import JsonOption, RunArgument, StoreOption, common

delete = typer.Typer(
    name="delete",
    help="Delete data sets, imports, people or runs for good. The app itself only archives.",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

YesOption = Annotated[
    bool, typer.Option("--yes", help="Do not ask; needed where there is no terminal.")
]


@delete.command()
def dataset(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `faithtui import` names it.")],
    yes: YesOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Delete the conversations of a data set, with all that judges and people said of them.

    Says first how much that is, and asks. Afterwards nothing of it is in the file of the store; a
    record without names and texts stays, which `faithtui doctor` shows.
    """
    from faithtui.cli import deleting

    options = common(context, store, json)
    code = deleting.dataset(options.store, name, options.reviewer, yes=yes, as_json=options.json)
    raise typer.Exit(code)


@delete.command("import")
def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file that was imported.")],
    source: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The data set; else the file's name.", show_default=False
        ),
    ] = None,
    yes: YesOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Delete the conversations that a file holds, as `delete dataset` does.

    The file is read for their names and turns; one that is stored with other turns stays.
    """
    from faithtui.cli import deleting

    options = common(context, store, json)
    code = deleting.imported_file(
        options.store, file, source, options.reviewer, yes=yes, as_json=options.json
    )
    raise typer.Exit(code)


@delete.command()
def person(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A reviewer or annotator.")],
    yes: YesOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Delete all that a person said: labels, notes and ratings, and the name wherever it stands.

    Beside what others need, such as a sample or the guideline, the name becomes `(deleted)`.
    """
    from faithtui.cli import deleting

    options = common(context, store, json)
    code = deleting.person(options.store, name, options.reviewer, yes=yes, as_json=options.json)
    raise typer.Exit(code)


@delete.command()
def run(
    context: typer.Context,
    run: RunArgument,
    yes: YesOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Delete a run with all that its judge said. Conversations and people's labels stay."""
    from faithtui.cli import deleting

    options = common(context, store, json)
    code = deleting.run(options.store, run, options.reviewer, yes=yes, as_json=options.json)
    raise typer.Exit(code)
