"""`faithtui help`: the help of a command."""

from typing import Annotated

import typer


def help_(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND]...", help="A command, such as `run` or `judge test`."),
    ] = None,
) -> None:
    """Print the help of a command, or of the program.

    Example: faithtui help run
    """
    root = context.find_root()
    root.command.main([*(words or ()), "--help"], prog_name=root.info_name)
