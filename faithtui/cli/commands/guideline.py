"""`faithtui guideline`: the text that says how to judge, and its versions."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.output import TableColumn, print_json, print_table, print_text, print_to_stderr
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    CommonOptions,
    StoreOption,
    make_reviewer_option,
    merge_common_options,
    parse_path_as_typed,
)
from faithtui.cli.stores import open_store
from faithtui.errors import ConfigError, InputError

if TYPE_CHECKING:
    from faithtui.store.annotations.guidelines import Guideline

_STDIN = Path("-")
ACTIONS = ("show", "set", "history")


def guideline(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[ACTION]",
            help="`show` prints the current guideline, `set` replaces it, `history` lists all "
            "versions. [show]",
            show_default=False,
        ),
    ] = "show",
    file: Annotated[
        Path | None,
        typer.Argument(
            parser=parse_path_as_typed,
            metavar="[FILE]",
            help="With `set`: the file with the text; - is stdin.",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            metavar="METRIC",
            help="Show or set only the guideline of this metric. Without it, `set` applies to "
            "every metric.",
        ),
    ] = None,
    reviewer: Annotated[str | None, make_reviewer_option("Who sets it.")] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Show or set the guideline for annotators.

    Each label stores the version of the guideline that was current. A metric has a default
    guideline until one is set.

    Example: faithtui guideline set guideline.md --metric turn-faithfulness
    """
    options = merge_common_options(context, store, json, reviewer)
    key = _require_known_metric_name_or_none(metric)
    match action, file:
        case "show", None:
            _show_current(options, key)
        case "history", None:
            _list_versions(options, key)
        case "set", Path():
            _set_guideline(options, file, key)
        case "set", None:
            raise ConfigError("no text is named: faithtui guideline set FILE, with - for stdin")
        case "show" | "history", _:
            raise ConfigError(f"`{action}` takes no file")
        case _:
            from faithtui.domain.text.suggestions import format_known_names

            known = format_known_names(action, ACTIONS)
            raise ConfigError(f"`{action}` is no action; known: {known}")


def _require_known_metric_name_or_none(metric: str | None) -> str | None:
    """Check the name of a metric; None: none was named.

    Raises:
        ConfigError: There is no such metric.
    """
    if metric is None:
        return None
    from faithtui.metrics.registry import find_metric

    return find_metric(metric).spec.key


def _show_current(options: CommonOptions, metric: str | None) -> None:
    """Print the guideline in force, or say that there is none."""
    with open_store(options.store) as opened:
        guidelines = opened.guidelines
        current = (
            guidelines.find_version_in_force()
            if metric is None
            else guidelines.find_version_or_default(metric)
        )
    if options.json:
        print_json(None if current is None else _as_json(current))
    elif current is None:
        print_to_stderr(
            "no guideline was set yet (faithtui guideline set FILE): each metric has its default, "
            "which faithtui guideline show --metric METRIC prints"
        )
    else:
        print_text(current.text)


def _set_guideline(options: CommonOptions, file: Path, metric: str | None) -> None:
    """Put a text in force."""
    from faithtui.config import load_settings

    settings = load_settings()
    text = _read_text(file)
    if not text.strip():
        raise InputError("is empty; expected the text of a guideline", path=file)
    with open_store(options.store, settings) as opened:
        before = opened.guidelines.find_version_in_force(metric)
        now = opened.guidelines.add_version(text, options.reviewer or settings.reviewer, metric)
    if options.json:
        print_json(_as_json(now))
    elif before is not None and before.number == now.number:
        print_text(f"version {now.number} stays in force: the text is the same")
    else:
        print_text(
            f"version {now.number} is in force ({now.digest}); labels given from now on name it"
        )


def _list_versions(options: CommonOptions, metric: str | None) -> None:
    """List all versions, the one in force first."""
    with open_store(options.store) as opened:
        versions = opened.guidelines.list_versions(metric)[::-1]
    if options.json:
        print_json([_as_json(each) for each in versions])
        return
    print_table(
        [
            TableColumn("VERSION", "right"),
            TableColumn("METRIC"),
            TableColumn("DIGEST"),
            TableColumn("SET"),
            TableColumn("BY"),
            TableColumn("BEGINS", flexible=True),
        ],
        [
            [
                str(each.number),
                each.metric or "every",
                each.digest,
                f"{each.created_at:%Y-%m-%d %H:%M}" if each.created_at else "",
                each.author,
                next(iter(each.text.strip().splitlines()), "")[:200],
            ]
            for each in versions
        ],
    )


def _read_text(file: Path) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == _STDIN else file.read_bytes()
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8; save it as UTF-8", path=file) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=file) from error


def _as_json(guideline: "Guideline") -> dict[str, object]:
    return {
        "version": guideline.number,
        "digest": guideline.digest,
        "author": guideline.author,
        "created_at": None if guideline.created_at is None else guideline.created_at.isoformat(),
        "metric": guideline.metric,
        "text": guideline.text,
    }
