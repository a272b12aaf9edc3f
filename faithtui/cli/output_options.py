"""`--quiet`, `--verbose` and `--color` of every command, before its name or after it."""

import functools
import inspect
import logging
import sys
import time
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from faithtui.cli.output import OutputStyle, get_output_style, set_output_style
from faithtui.cli.shared_options import HELP_OPTIONS, read_color_mode
from faithtui.errors import ConfigError

_log = logging.getLogger("faithtui.command")

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print no progress and no hints on stderr.")
]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print the log with details and times on stderr.")
]


def _require_color_word(value: str | None) -> str | None:
    """Refuse what is no word of `--color` while the line is read, as other options are."""
    if value is not None:
        try:
            read_color_mode(value)
        except ConfigError as error:
            raise typer.BadParameter(str(error).removeprefix("--color is ")) from error
    return value


ColorOption = Annotated[
    str | None,
    typer.Option(
        "--color",
        metavar="WHEN",
        callback=_require_color_word,
        help="Colours: `auto`, `always` or `never`; see NO_COLOR. [auto]",
    ),
]

_COMMANDS: Final = "Commands"
"""Title of what names none."""

_OPTIONS: Final = {"quiet": QuietOption, "verbose": VerboseOption, "color": ColorOption}


_NO_NUMBER: Final = {
    "float_parsing": "is no number",
    "int_parsing": "is no whole number",
    "int_parsing_size": "is too large",
    "int_from_float": "is no whole number",
    "finite_number": "is no number",
}
"""What is wrong with the text of a number, by Pydantic's type of error."""

_BEYOND: Final = {
    "greater_than_equal": ("is less than", "ge"),
    "less_than_equal": ("is more than", "le"),
}
"""What is wrong with a number, by Pydantic's type of error, and its name of the limit."""


class SectionedHelpGroup(TyperGroup):
    """Lists commands under the title that each names as `rich_help_panel`.

    Without Rich, as here, Typer lists all of them under one.
    """

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands section by section, in the order of each section's first command."""
        sections: dict[str, list[tuple[str, Any]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                title = getattr(command, "rich_help_panel", None) or _COMMANDS
                sections.setdefault(title, []).append((name, command))
        room = formatter.width - 6 - max(map(len, self.commands), default=0)
        for title, commands in sections.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, each.get_short_help_str(room)) for name, each in commands]
                )


class ValueNamingCommand(TyperCommand):
    """A command that names a number it cannot take, and says which ones it takes.

    What Typer has from Pydantic says neither: "Input should be a valid number".
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line, as the class of Typer does."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            words = _describe_refused_number(error)
            if words is not None:
                error.message = words
            raise


def _describe_refused_number(error: typer.BadParameter) -> str | None:
    """Say which number was refused, with the first sentence about its option; None: none was."""
    from faithtui.domain.text.visible_text import make_visible_line

    find_details = getattr(error.__cause__, "errors", None)
    details: list[Any] = find_details() if callable(find_details) else []
    if len(details) != 1:
        return None
    kind, limits = details[0]["type"], details[0].get("ctx", {})
    if kind in _NO_NUMBER:
        problem = _NO_NUMBER[kind]
    elif kind in _BEYOND:
        words, limit = _BEYOND[kind]
        problem = f"{words} {limits[limit]}"
    else:
        return None
    first, end, _ = f"{getattr(error.param, 'help', None) or ''} ".partition(". ")
    typed = str(details[0]["input"])
    shown = make_visible_line(typed) if typed.strip() else f"'{typed}'"
    return f"{shown} {problem}. {first}{end}".rstrip()


class CommandGroup(typer.Typer):
    """Commands that take the options of this module beside their own."""

    def command(self, *words: Any, **settings: Any) -> Callable[..., Any]:
        """Declare a command; see `typer.Typer.command`."""
        settings.setdefault("cls", ValueNamingCommand)
        declare = super().command(*words, **settings)

        def add(function: Callable[..., None]) -> Callable[..., None]:
            declare(add_output_options(function))
            return function

        return add


def make_command_group(name: str, words: str) -> CommandGroup:
    """Declare a command that consists of commands; `words` is its help."""
    group = CommandGroup(
        name=name,
        help=words,
        rich_markup_mode=None,
        no_args_is_help=True,
        context_settings=HELP_OPTIONS,
    )
    group.callback()(_apply_group_options)
    return group


def _apply_group_options(
    quiet: QuietOption = False, verbose: VerboseOption = False, color: ColorOption = None
) -> None:
    apply_output_options(quiet=quiet, verbose=verbose, color=color)


def add_output_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of this module, behind its own, and obey them before it runs."""

    @functools.wraps(function)
    def run_command(**given: Any) -> None:
        apply_output_options(**{name: given.pop(name) for name in _OPTIONS})
        began = time.monotonic()
        try:
            function(**given)
        finally:
            _log.debug("%s took %.2f s", function.__name__.strip("_"), time.monotonic() - began)

    signature = inspect.signature(function)
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None if name == "color" else False,
            annotation=kind,
        )
        for name, kind in _OPTIONS.items()
    ]
    # Typer reads both.
    run_command.__signature__ = signature.replace(  # type: ignore[attr-defined]  # as PEP 362 has it
        parameters=[*signature.parameters.values(), *added]
    )
    run_command.__annotations__ = {**function.__annotations__, **_OPTIONS}
    return run_command


def apply_output_options(*, quiet: bool, verbose: bool, color: str | None) -> None:
    """Let what is printed from now on be as was typed; what was typed earlier holds otherwise.

    Raises:
        ConfigError: `color` is no word of `--color`.
    """
    before = get_output_style()
    mode = before.color if color is None else read_color_mode(color)
    set_output_style(OutputStyle(quiet or before.quiet, mode))
    if verbose:
        from faithtui.logbook import start_printing_log

        start_printing_log(sys.stderr)
