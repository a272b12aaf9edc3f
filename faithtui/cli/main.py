"""The `faithtui` command: its tree, its exit codes, and how errors are told.

`--help` must answer at once, so nothing heavy is imported here: each command imports what it needs
when it runs.
"""

from typing import Annotated

import typer

from faithtui.cli import (
    agreement_commands,
    batch_commands,
    judge_commands,
    label_commands,
    list_commands,
    run_commands,
)
from faithtui.cli.commands import delete
from faithtui.cli.errors import exit_on_error
from faithtui.cli.options import CommonOptions, JsonOption, StoreOption

app = typer.Typer(
    name="faithtui",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def handle_root_options(
    context: typer.Context,
    store: StoreOption = None,
    json: JsonOption = False,
    reviewer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The annotator who labels. [the login name, or as set]",
            show_default=False,
        ),
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Review the verdicts of LLM judges, and measure how far to trust them.

    Without a command, open the app.

    Example: faithtui demo
    """
    context.obj = CommonOptions(store, json, reviewer)
    if version:
        from importlib.metadata import version as installed

        typer.echo(installed("faithtui"))
        raise typer.Exit
    if context.invoked_subcommand is None:
        from faithtui.cli import stores

        raise typer.Exit(stores.open_app(store, reviewer))


# In the order of the help.
app.command()(run_commands.demo)
app.command("import")(run_commands.import_)
app.command()(run_commands.run)
app.add_typer(judge_commands.judge)
app.add_typer(batch_commands.batch)
app.command()(list_commands.keys)
app.command()(list_commands.metrics)
app.command()(list_commands.runs)
app.command()(list_commands.archive)
app.command()(list_commands.restore)
app.add_typer(delete.delete)
app.command()(list_commands.show)
app.command()(label_commands.label)
app.command()(agreement_commands.report)
app.command()(agreement_commands.figures)
app.command()(label_commands.export)
app.command()(label_commands.merge)
app.command()(label_commands.guideline)
app.command()(label_commands.split)
app.command()(agreement_commands.compare)
app.command(cls=agreement_commands.GateCommand)(agreement_commands.gate)
app.command()(list_commands.check)
app.command()(run_commands.doctor)
app.command()(run_commands.backup)


def main() -> None:
    """Run the command of the command line.

    Raises:
        SystemExit: Always, with the exit code.
    """
    exit_on_error(app)
