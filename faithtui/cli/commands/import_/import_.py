"""`faithtui import`: files of conversations."""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.import_progress import ImportProgressLine
from faithtui.cli.output import (
    plural,
    print_hint,
    print_json,
    print_text,
    print_to_stderr,
)
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    StoreOption,
    merge_common_options,
    parse_path_as_typed,
)
from faithtui.cli.stores import choose_store_path, open_store
from faithtui.errors import ConfigError, InputError

if TYPE_CHECKING:
    from faithtui.engine.dataset_import import FileImport, ImportResult
    from faithtui.engine.imported_labels import UnreadLabels
    from faithtui.engine.imported_runs import ImportedRun
    from faithtui.store.store import Store

_MOST_VALUES = 8
"""Labels of one scale that a line names."""
_MOST_SOURCES = 8
"""Lines on other data sets that have conversations with the same turns."""
_MOST_KEYS = 20
"""Lines on keys that nobody understood; spans may have hundreds of attributes of an application."""

_MOST_WARNINGS = 100
"""Places that are named where something was taken that may not be what was meant: a spreadsheet
that leaves out empty cells has one in each row."""

MOST_PRINTED = 10_000
"""Refused lines that are reported one by one, all that an import keeps; the rest is counted."""


def import_(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(
            parser=parse_path_as_typed,
            metavar="PATH...",
            help="Files, folders of them, or - for standard input; see docs/formats.md.",
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the data set. [the name of each file]"),
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="Format of the files, see docs/formats.md; `auto` detects it and says why.",
        ),
    ] = "auto",
    mapped: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="NAME=COLUMN",
            help="Column or key that holds a part of a conversation, such as "
            "question=user_input; may be repeated.",
        ),
    ] = None,
    scale: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCORE=SCALE",
            help="Label scale of a human score in the files, such as "
            "faithfulness=mtrag-faithfulness-1-4; an unknown scale is refused with a list "
            "of all scales; may be repeated.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Import nothing when any record is refused.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show the first conversation as it would be imported, count the rest, and "
            "import nothing.",
        ),
    ] = False,
    merge_equal: Annotated[
        bool,
        typer.Option(
            "--merge-equal",
            help="Store conversations with equal turns once, with the labels of all of them.",
        ),
    ] = False,
    defer_index: Annotated[
        bool,
        typer.Option(
            "--defer-index",
            help="Do not build the search index now; the first text search builds it and takes "
            "longer.",
        ),
    ] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Import conversations, their contexts, human labels and judges' verdicts.

    Conversations that are already in the store stay unchanged. Exit code 3 if a record was refused;
    the other records are imported, unless --strict is given.

    Example: faithtui import conversations.jsonl
    """
    from faithtui.domain.text.visible_text import make_visible_line
    from faithtui.engine.dataset_import import import_files
    from faithtui.formats.readers.datasets import FormatChoice
    from faithtui.formats.readers.values.suggestions import parse_map_options

    options = merge_common_options(context, store, json)
    choice = FormatChoice(
        _require_known_format_name(format_),
        parse_map_options(mapped or []),
        _parse_scale_options(scale),
    )
    with _open_store_for_import(options.store, create=not dry_run) as opened:
        result = import_files(
            opened,
            paths,
            source=source,
            strict=strict,
            report=ImportProgressLine(),
            choice=choice,
            merge_equal=merge_equal,
            rehearse=dry_run,
            defer_index=defer_index,
        )
    for line in _format_refusals_and_warnings_by_place(result):
        print_to_stderr(line)
    if result.refused > MOST_PRINTED:
        print_to_stderr(f"… and {result.refused - MOST_PRINTED} more refused")
    warned = sum(each.warned for each in result.files)
    if warned > _MOST_WARNINGS:
        more = f"; --json names {len(result.warnings):,}"
        print_to_stderr(f"note: … and {warned - _MOST_WARNINGS:,} more such places{more}")
    for new, stored in result.same_content[:MOST_PRINTED]:
        outcome = (
            "it was merged into that one, whose metadata lists it under `merged`"
            if merge_equal
            else "both are kept; --merge-equal stores one"
        )
        print_to_stderr(f"note: {new} has the same turns as {stored}; {outcome}")
    sources = {each.source for each in result.files}
    if merge_equal and len(sources) > 1:
        print_to_stderr(
            f"note: --merge-equal compares conversations of one data set, and these files are "
            f"{len(sources)}; `--source NAME` makes them one"
        )
    if options.json:
        print_json(_as_json(result, strict, dry_run))
    else:
        for each in result.files:
            print_text("\n".join(_format_file_counts(each)))
        for line in _format_equal_elsewhere(result, dry_run=dry_run):
            print_text(make_visible_line(line))
        for score in result.missing_scores:
            print_text(
                make_visible_line(f"no file has a human score named `{score}`, as --scale says")
            )
        if dry_run:
            if result.first is not None:
                from faithtui.cli.commands.import_.preview import preview_lines

                print_text("\n".join(preview_lines(result.first)))
            print_text("nothing was imported, because of --dry-run")
        elif strict and result.refused:
            print_text("nothing was imported, because of --strict")
        elif any(each.new for each in result.files):
            if result.unindexed:
                print_text(
                    f"words of {result.unindexed:,} conversations and passages are indexed by the "
                    "first search for words, because of --defer-index"
                )
            print_hint(
                "next: `faithtui run` judges them on this machine; --judge names another judge"
            )
    if result.refused:
        raise typer.Exit(InputError.exit_code)


def _format_refusals_and_warnings_by_place(result: "ImportResult") -> list[str]:
    """Say what was refused and what was taken with a warning, in the order of files and lines."""
    paths = [path for each in result.files for path in (each.path, *each.beside)]
    places = {path: number for number, path in enumerate(paths)}
    found = [(each, str(each)) for each in result.refusals[:MOST_PRINTED]]
    found += [(each, f"note: {each}") for each in result.warnings[:_MOST_WARNINGS]]

    def get_place(entry: tuple[InputError, str]) -> tuple[int, int, int]:
        error, _ = entry
        # What is of no file that was read, such as a missing one, comes first.
        number = -1 if error.path is None else places.get(error.path, -1)
        return number, error.line or 0, error.record or 0

    return [line for _, line in sorted(found, key=get_place)]


def _require_known_format_name(name: str) -> str:
    from faithtui.formats.readers.registry import AUTO, get_reader_by_name

    if name != AUTO:
        get_reader_by_name(name)
    return name


def _parse_scale_options(given: list[str] | None) -> dict[str, str]:
    """Read `--scale SCORE=SCALE`.

    Raises:
        ConfigError: One has another form.
    """
    from faithtui.agreement.rating_scales import SCALE_NAMES
    from faithtui.domain.text.suggestions import format_suggestion

    scales = {}
    for each in given or []:
        score, mark, scale = each.partition("=")
        if not mark or not score.strip() or not scale.strip():
            raise ConfigError(
                f"--scale {each}: expected SCORE=SCALE, such as "
                "faithfulness=mtrag-faithfulness-1-4; docs/data-model.md lists the scales"
            )
        if scale.strip() not in SCALE_NAMES:
            raise ConfigError(
                f"--scale {each}: there is no scale `{scale.strip()}`; known: "
                f"{', '.join(SCALE_NAMES)}{format_suggestion(scale, SCALE_NAMES)}"
            )
        scales[score.strip()] = scale.strip()
    return scales


@contextmanager
def _open_store_for_import(named: Path | None, *, create: bool) -> "Iterator[Store | None]":
    """Open the store; None for a dry run where there is none."""
    if not create and not choose_store_path(named).exists():
        yield None
        return
    with open_store(named, create=create) as opened:
        yield opened


def _format_file_counts(found: "FileImport") -> list[str]:
    from faithtui.domain.text.visible_text import make_visible_line

    parts = [f"{found.new} new"]
    if found.unchanged:
        parts.append(f"{found.unchanged} unchanged")
    if found.merged:
        parts.append(f"{found.merged} merged")
    parts.append(plural(found.new_ratings, "new human label"))
    if found.refused:
        parts.append(f"{found.refused} refused")
    if found.without_interaction:
        parts.append(f"{found.without_interaction} without an answered question")
    names = ", ".join(path.name for path in (found.path, *found.beside))
    lines = [f"{names} as `{found.source}`: {', '.join(parts)}"]
    if found.format is not None:
        lines.append(f"  taken for {found.format}: {found.reason}")
    elif found.reason is not None:
        lines.append(f"  {found.reason}")
    for run in found.runs:
        lines += _format_run(run)
    lines += _format_unknown_keys(found, found.unknown_keys, "kept aside")
    lines += _format_unknown_keys(found, found.dropped_keys, "dropped")
    answered = found.new + found.unchanged + found.merged - found.without_interaction
    if found.without_passages == answered > 0:
        lines.append(_format_missing_passages(found))
    lines += map(_format_unread_labels, found.unread_labels)
    lines += [f"  {plural(count, 'time')}: {remark}" for remark, count in found.remarks.items()]

    return [make_visible_line(line) for line in lines]


def _format_equal_elsewhere(result: "ImportResult", *, dry_run: bool) -> list[str]:
    """Say which other data sets have conversations with the same turns, and how to have one."""
    lines = []
    for source, group in groupby(result.equal_elsewhere, key=lambda each: each.source):
        found = list(group)
        lines += [
            f"{plural(each.count, 'new conversation')} of `{source}` with the same turns as one of "
            f"the data set `{each.other}`; both are kept"
            for each in found[:_MOST_SOURCES]
        ]
        if len(found) > _MOST_SOURCES:
            lines.append(
                f"  … and of {len(found) - _MOST_SOURCES} more data sets; --json names all"
            )
        way_out = f"import with `--source {shlex.quote(found[0].other)} --merge-equal`"
        if not dry_run:
            delete = f"faithtui delete dataset {shlex.quote(source)}"
            way_out = f"delete `{source}` with its labels, `{delete}`, and {way_out}"
        lines.append(f"  conversations are merged within one data set alone; {way_out}")
    return lines


def _format_run(run: "ImportedRun") -> list[str]:
    """Describe an imported run, and say which options its scores follow from."""
    from faithtui.tui.runs.run_options_text import format_option_values

    number = "" if run.run is None else f", run {run.run}"
    options = format_option_values(run.options or {})
    lines = [
        f"  verdicts of {run.judge} on {plural(run.conversations, 'conversation')}, as "
        f"{run.metric}{number}{f', {options}' if options else ''}"
    ]
    if run.superseded:
        lines.append(
            f"    {plural(run.superseded, 'verdict')} left out: the judge gave another one on the "
            "same answer, and the last counts"
        )
    if run.why_defaults is not None:
        lines.append(f"    its scores follow from the default options: {run.why_defaults}")
    elif run.are_options_missed:
        lines.append(
            "    its scores follow from the default options: the file does not say which options "
            "the judge had, so they may differ from those it gave"
        )
    return lines


def _format_missing_passages(found: "FileImport") -> str:
    """Say that nothing can be judged by passages, and how to name the key that holds them."""
    from faithtui.formats.readers.values.suggestions import may_hold_passages

    keys = [each for each in (*found.unknown_keys, *found.dropped_keys) if may_hold_passages(each)]
    key = _quote_key_for_map(keys[0]) if len(keys) == 1 else "KEY"
    where = "a key"
    if found.meant_keys is not None:
        where = "a key of its turn" if found.format == "faithtui" else where
        key = key if keys and keys[0] in found.dropped_keys else "KEY"
    return (
        f"  no answer has passages, without which metrics skip it; where {where} holds them: "
        f"--map retrieval_context={key}"
    )


def _format_unread_labels(unread: "UnreadLabels") -> str:
    shown = ", ".join(unread.values[:_MOST_VALUES])
    more = ", …" if len(unread.values) > _MOST_VALUES else ""
    return (
        f"  {unread.count} of {plural(unread.total, 'human label')} on the unlisted scale "
        f'"{unread.scale}" (values {shown}{more}) have no verdict and count in no figure; name its '
        f"scale: --scale {unread.scale}={unread.suggest_scale() or 'SCALE'}"
    )


def _format_unknown_keys(found: "FileImport", keys: Mapping[str, int], what: str) -> list[str]:
    """Name the keys that nobody understood: those that may be known ones first, then by number."""
    entries = sorted(
        ((_format_unknown_key(found, key, count), count) for key, count in keys.items()),
        key=lambda each: ("; if it is" not in each[0], -each[1]),
    )
    lines = [f"  not understood and {what}: {text}" for text, _ in entries[:_MOST_KEYS]]
    if len(entries) > _MOST_KEYS:
        lines.append(
            f"  not understood and {what}: {len(entries) - _MOST_KEYS} more keys; --json names all"
        )
    return lines


def _format_unknown_key(found: "FileImport", key: str, count: int) -> str:
    from faithtui.formats.readers.values.suggestions import suggest_key

    meant = suggest_key(key) if found.meant_keys is None else found.meant_keys.get(key)
    hint = (
        f"; if it is `{meant}`: --map {meant}={_quote_key_for_map(key)}"
        if meant not in (None, key)
        else ""
    )
    return f"`{key}` ({plural(count, 'time')}){hint}"


def _quote_key_for_map(key: str) -> str:
    """Give a key as `--map` takes it, which means it at any level, quoted for a shell."""
    return shlex.quote(key.rpartition("[].")[2])


def _make_place_json(error: InputError) -> dict[str, object]:
    return {
        "path": None if error.path is None else str(error.path),
        "line": error.line,
        "record": error.record,
        "field": error.field,
        "reason": error.reason,
    }


def _as_json(result: "ImportResult", strict: bool, dry_run: bool) -> dict[str, object]:
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
                "without_passages": each.without_passages,
                "refused": each.refused,
                "merged": each.merged,
                "format": each.format,
                "reason": each.reason,
                "beside": [str(path) for path in each.beside],
                "unknown_keys": dict(each.unknown_keys),
                "dropped_keys": dict(each.dropped_keys),
                "remarks": dict(each.remarks),
                "warned": each.warned,
                "unread_labels": [
                    {
                        "scale": unread.scale,
                        "count": unread.count,
                        "total": unread.total,
                        "values": list(unread.values),
                    }
                    for unread in each.unread_labels
                ],
                "runs": [
                    {
                        "judge": run.judge,
                        "metric": run.metric,
                        "conversations": run.conversations,
                        "run": run.run,
                        "options": None if run.options is None else dict(run.options),
                        "why_defaults": run.why_defaults,
                        "superseded": run.superseded,
                    }
                    for run in each.runs
                ],
            }
            for each in result.files
        ],
        "refused": result.refused,
        "refusals": list(map(_make_place_json, result.refusals)),
        "warnings": list(map(_make_place_json, result.warnings)),
        "same_content": [list(pair) for pair in result.same_content],
        "equal_elsewhere": [
            {"source": each.source, "other": each.other, "count": each.count}
            for each in result.equal_elsewhere
        ],
        "missing_scores": list(result.missing_scores),
        "unindexed": result.unindexed,
        "nothing_imported": bool(dry_run or (strict and result.refused)),
    }
