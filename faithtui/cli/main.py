"""The `faithtui` command: its tree, its exit codes, and how errors are told.

`--help` must answer at once, so nothing heavy is imported here: each command imports what it needs
when it runs.
"""

from typing import Annotated

import typer

from faithtui.cli import (
    commands_agreeing,
    commands_batch,
    commands_judging,
    commands_people,
    commands_seeing,
    delete,
    judges,
)
from faithtui.cli.options import Common, JsonOption, StoreOption
from faithtui.cli.telling import told

app = typer.Typer(
    name="faithtui",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def root(
    context: typer.Context,
    store: StoreOption = None,
    json: JsonOption = False,
    reviewer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who gives verdicts. [the login name, or as set]",
            show_default=False,
        ),
    ] = None,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Review what an LLM judge said about faithfulness, and say how far it can be trusted.

    Without a command it opens the app.
    """
    context.obj = Common(store, json, reviewer)
    if version:
        from importlib.metadata import version as installed

        typer.echo(installed("faithtui"))
        raise typer.Exit
    if context.invoked_subcommand is None:
        from faithtui.cli import opening

        raise typer.Exit(opening.open_app(store, reviewer))


# In the order of the help.
app.command()(commands_judging.demo)
app.command("import")(commands_judging.import_)
app.command()(commands_judging.run)
app.add_typer(judges.judge)
app.add_typer(commands_batch.batch)
app.command()(commands_seeing.keys)
app.command()(commands_seeing.metrics)
app.command()(commands_seeing.runs)
app.command()(commands_seeing.archive)
app.command()(commands_seeing.restore)
app.add_typer(delete.delete)
app.command()(commands_seeing.show)
app.command()(commands_people.label)
app.command()(commands_agreeing.report)
app.command()(commands_agreeing.figures)
app.command()(commands_people.export)
app.command()(commands_people.merge)
app.command()(commands_people.guideline)
app.command()(commands_people.split)
app.command()(commands_agreeing.compare)
app.command(cls=commands_agreeing.GateCommand)(commands_agreeing.gate)
app.command()(commands_seeing.check)
app.command()(commands_judging.doctor)
app.command()(commands_judging.backup)


def main() -> None:
    """Run the command of the command line.

    Raises:
        SystemExit: Always, with the exit code.
    """
    told(app)
