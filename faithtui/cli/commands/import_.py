"""`faithtui import`: files of conversations."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.import_progress import ImportProgressLine
from faithtui.cli.options import JsonOption, StoreOption, merge_common_options
from faithtui.cli.output import plural, print_hint, print_json, print_text, print_to_stderr
from faithtui.cli.stores import open_store
from faithtui.errors import ConfigError, InputError

if TYPE_CHECKING:
    from faithtui.engine.dataset_import import FileImport, ImportResult

FORMATS = ("auto", "jsonl")
MOST_PRINTED = 10_000
"""Refused lines that are told one by one, all that an import keeps; the rest is counted."""


def import_(
    context: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files, or folders of *.jsonl files.")
    ],
    source: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the data set; else each file's name."),
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="`auto`: one conversation a line, or a JSON array of them; `jsonl`: lines alone.",
        ),
    ] = "auto",
    strict: Annotated[
        bool, typer.Option("--strict", help="Import nothing when any line is refused.")
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Import conversations, their contexts and human labels.

    Conversations that the store has already stay as they are. Exit code 3 if a line was
    refused; the other lines are imported all the same, unless --strict.

    Example: faithtui import conversations.jsonl
    """
    from faithtui.engine.dataset_import import import_files

    options = merge_common_options(context, store, json)
    if format_ not in FORMATS:
        raise ConfigError(f"there is no format `{format_}`; known: {', '.join(FORMATS)}")
    with open_store(options.store, create=True) as opened:
        result = import_files(
            opened,
            paths,
            source=source,
            strict=strict,
            report=ImportProgressLine(),
            with_arrays=format_ == "auto",
        )
    for refusal in result.refusals[:MOST_PRINTED]:
        print_to_stderr(str(refusal))
    if result.refused > MOST_PRINTED:
        print_to_stderr(f"… and {result.refused - MOST_PRINTED} more refused")
    for new, stored in result.same_content[:MOST_PRINTED]:
        print_to_stderr(f"note: {new} has the same turns as {stored}; both are kept")
    if options.json:
        print_json(_as_json(result, strict))
    else:
        for each in result.files:
            print_text(_format_file(each))
        if strict and result.refused:
            print_text("nothing was imported, because of --strict")
        elif any(each.new for each in result.files):
            print_hint(
                "next: `faithtui run` judges them on this machine; --judge names another judge"
            )
    if result.refused:
        raise typer.Exit(InputError.exit_code)


def _format_file(each: "FileImport") -> str:
    parts = [f"{each.new} new"]
    if each.unchanged:
        parts.append(f"{each.unchanged} unchanged")
    parts.append(plural(each.new_ratings, "new human label"))
    if each.refused:
        parts.append(f"{each.refused} refused")
    if each.without_interaction:
        parts.append(f"{each.without_interaction} without an answered question")
    return f"{each.path.name} as `{each.source}`: {', '.join(parts)}"


def _as_json(result: "ImportResult", strict: bool) -> dict[str, object]:
    return {
        "files": [
            {
                "path": str(each.path),
                "source": each.source,
                "read": each.read,
                "new": each.new,
                "unchanged": each.unchanged,
                "new_ratings": each.new_ratings,
                "without_interaction": each.without_interaction,
                "refused": each.refused,
            }
            for each in result.files
        ],
        "refused": result.refused,
        "refusals": [
            {
                "path": None if each.path is None else str(each.path),
                "line": each.line,
                "record": each.record,
                "field": each.field,
                "reason": each.reason,
            }
            for each in result.refusals
        ],
        "same_content": [list(pair) for pair in result.same_content],
        "nothing_imported": bool(strict and result.refused),
    }
