"""Options that several commands take, declared once."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, get_args

import typer
from typer.models import OptionInfo

from faithtui.cli.output import ColorMode, print_to_stderr
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.agreement.idk_recoding import IdkRule
    from faithtui.config import SettingsWithOrigins

HELP_OPTIONS: Final = {"help_option_names": ["-h", "--help"]}


class CommonOptions(NamedTuple):
    """Options that every command takes, before or after its name."""

    store: Path | None
    json: bool
    reviewer: str | None = None
    """Who gives verdicts; after a command's name only of the commands that ask."""


StoreOption = Annotated[
    Path | None, typer.Option("--store", metavar="FILE", help="The store to use.")
]
SplitOption = Annotated[
    str | None,
    typer.Option(
        "--split", metavar="NAME", help="Only conversations of this split: train, dev or test."
    ),
]
BaseUrlOption = Annotated[
    str | None, typer.Option(help="An OpenAI-compatible server.", metavar="URL")
]
ImageHostsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-image-host",
        metavar="HOST",
        help="Send a judge the addresses of images at this host, which its provider then "
        "fetches; `*` allows every public host; may be repeated. [as set in "
        "`image_hosts`]",
    ),
]
BlindOnlyOption = Annotated[
    bool, typer.Option("--blind-only", help="Count only labels given blind.")
]
SampleOption = Annotated[
    int | None,
    typer.Option(
        metavar="ID",
        help="The sample that the figures are based on; those of claims then go before those of "
        "answers. [among samples labelled in the drawn order, the one with the most labels]",
    ),
]
ClaimSetOption = Annotated[
    str | None,
    typer.Option(
        "--set",
        metavar="NAME",
        help="The claim set that the figures are about; those of claims then go before those of "
        "answers. Claims that the judge worded differently are matched to it.",
    ),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace an existing file; never a store.")
]
RUN_WITH_VERDICTS = "A run's number, or `last`: the newest with verdicts."
GatedRunArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="A run's number, or `last`: the newest, refused without verdicts."
    ),
]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="A run's number, or `last`.")]
ReadRunArgument = Annotated[
    str,
    typer.Argument(metavar="[RUN]", help="A run's number, or `last`. [last]", show_default=False),
]
"""Of commands that only read: without it they take the last run."""
JudgedRunArgument = Annotated[
    str,
    typer.Argument(metavar="[RUN]", help=f"{RUN_WITH_VERDICTS} [last]", show_default=False),
]
"""Of commands that read what a judge said."""


def parse_path_as_typed(text: str) -> Path:
    """Read a path such that `./-` is a file of that name: as a path it is equal to `-`."""
    path = Path(text)
    return Path.cwd() / path if path == Path("-") and text != "-" else path


def read_output_option(output: Path | None) -> Path | None:
    """Take `-o -` for stdout, as if `-o` were left out."""
    return None if output == Path("-") else output


def merge_common_options(
    context: typer.Context, store: Path | None, json: bool, reviewer: str | None = None
) -> CommonOptions:
    """Merge options given before a command's name with those given after it."""
    before: CommonOptions = context.obj
    return CommonOptions(store or before.store, json or before.json, reviewer or before.reviewer)


def list_typed_options(context: typer.Context) -> list[str]:
    """Name the options that were typed after a command's name, defaults or not, in its order."""
    found = []
    for each in context.command.params:
        source = None if each.name is None else context.get_parameter_source(each.name)
        if source is not None and source.name == "COMMANDLINE":
            found.append(max(each.opts, key=len))
    return found


def make_timeout_option(usual: str) -> OptionInfo:
    """Declare `--timeout` of a command; `usual` says what counts without it."""
    option: OptionInfo = typer.Option(
        "--timeout",
        metavar="SECONDS",
        help=f"How long one question may take, 1 to 86400. [{usual}, or as set]",
    )
    return option


def make_reviewer_option(what: str) -> OptionInfo:
    """Declare `--reviewer` of a command; `what` says what that person does there."""
    option: OptionInfo = typer.Option(metavar="NAME", help=f"{what} [the login name, or as set]")
    return option


def override_configured_reviewer(
    configured: "SettingsWithOrigins", reviewer: str | None
) -> "SettingsWithOrigins":
    """Put the reviewer of the command line in place of the one of the settings.

    Raises:
        ConfigError: It is no name.
    """
    from dataclasses import replace

    from faithtui.domain.limits import REVIEWER

    if reviewer is None:
        return configured
    if not reviewer.strip():
        raise ConfigError("--reviewer is empty; expected a name")
    problem = REVIEWER.find_size_problem(len(reviewer))
    if problem is not None:
        raise ConfigError(f"--reviewer: {problem}")
    settings = replace(configured.settings, reviewer=reviewer)
    return replace(configured, settings=settings)


def read_color_mode(text: str) -> ColorMode:
    """Read the word of `--color`.

    Raises:
        ConfigError: It is none of them.
    """
    for mode in get_args(ColorMode):
        if mode == text:
            return mode  # type: ignore[no-any-return]  # get_args says nothing of its values
    from faithtui.domain.text.suggestions import format_known_names

    known = format_known_names(text, get_args(ColorMode))
    raise ConfigError(f"--color is `{text}`; expected {known}")


def read_idk_rule(text: str) -> "IdkRule":
    """Read the word of `--idk`; an earlier word is accepted, and stderr names the present one.

    Raises:
        ConfigError: It is none of them.
    """
    from faithtui.agreement.idk_recoding import IdkRule
    from faithtui.domain.text.suggestions import format_known_names

    try:
        rule = IdkRule(text)
    except ValueError:
        known = format_known_names(text, (each.option_word for each in IdkRule))
        raise ConfigError(f"there is no idk rule `{text}`; known: {known}") from None
    if text != rule.option_word:
        print_to_stderr(
            f"--idk {text} is now called --idk {rule.option_word}; the earlier word will be removed"
        )
    return rule


def read_named_numbers(texts: Iterable[str] | None, option: str) -> dict[str, float]:
    """Read numbers with names, such as `judge no=60,judge yes=40`.

    Args:
        texts: One for each time the option was given; names may hold commas. None: nothing.
        option: Where it was typed, for the message.

    Raises:
        ConfigError: A name has no number, or stands twice.
    """
    found: dict[str, float] = {}
    for text in texts or ():
        waiting = ""
        for part in text.split(","):
            waiting = f"{waiting},{part}" if waiting else part
            name, _, number = waiting.rpartition("=")
            try:
                value = float(number)
            except ValueError:
                continue
            if name.strip() in found:
                raise ConfigError(f"{option}: {name.strip()} stands twice")
            found[name.strip()], waiting = value, ""
        if waiting.strip() or "" in found:
            raise ConfigError(f"{option} {text}; expected NAME=NUMBER, several with commas")
    return found
