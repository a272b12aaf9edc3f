"""The `faithtui` command: the options before a command's name, and what opens the app.

`--help` must answer at once: the modules of the commands import in their functions what only they
need.
"""

import io
import os
from contextlib import redirect_stdout
from typing import Annotated

import typer

from faithtui.cli import stores
from faithtui.cli.commands.registry import add_commands
from faithtui.cli.entry import COMPLETION
from faithtui.cli.exit_codes import run_or_exit_with_error
from faithtui.cli.output import OutputStyle, set_output_style
from faithtui.cli.output_options import (
    ColorOption,
    CommandGroup,
    JsonOption,
    QuietOption,
    SectionedHelpGroup,
    VerboseOption,
    apply_output_options,
)
from faithtui.cli.shared_options import HELP_OPTIONS, CommonOptions, StoreOption

app = CommandGroup(
    name="faithtui",
    cls=SectionedHelpGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    no_args_is_help=False,
    context_settings=HELP_OPTIONS,
)
add_commands(app)


@app.callback()
def set_root_options_or_open_app(
    context: typer.Context,
    store: StoreOption = None,
    json: JsonOption = False,
    reviewer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The annotator who labels. [the login name, or as set]"),
    ] = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    color: ColorOption = None,
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version.")] = False,
) -> None:
    """Review the verdicts of LLM judges, and measure how far to trust them.

    Without a command, open the app.

    Example: faithtui demo
    """
    context.obj = CommonOptions(store, json, reviewer)
    set_output_style(OutputStyle())
    apply_output_options(quiet=quiet, verbose=verbose, color=color)
    if version:
        from importlib.metadata import version as installed

        typer.echo(installed("faithtui"))
        raise typer.Exit
    if context.invoked_subcommand is None:
        raise typer.Exit(stores.open_app(store, reviewer))


def main() -> None:
    """Run the command of the command line.

    Raises:
        SystemExit: Always, with the exit code.
    """
    run_or_exit_with_error(_answer_shell_completion if COMPLETION in os.environ else app)


def _answer_shell_completion() -> None:
    """Answer a shell that completes a line."""
    from typer.main import get_command

    from faithtui.cli.completion import add_value_completion, rejoin_words_cut_by_bash

    command = get_command(app)
    add_value_completion(command)
    if os.environ[COMPLETION] != "complete_bash":
        command(prog_name="faithtui", complete_var=COMPLETION)
        return
    words = os.environ.get("COMP_WORDS", "")
    line = rejoin_words_cut_by_bash(
        words.split("\n" if "\n" in words else " "), int(os.environ.get("COMP_CWORD", 0))
    )
    os.environ["COMP_WORDS"] = "\n".join(line.words)
    os.environ["COMP_CWORD"] = str(line.position)
    offered = io.StringIO()
    try:
        with redirect_stdout(offered):
            command(prog_name="faithtui", complete_var=COMPLETION)
    finally:
        for each in offered.getvalue().splitlines():
            print(each.removeprefix(line.kept))
