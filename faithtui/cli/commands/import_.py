"""`faithtui import`."""

import sys
from collections.abc import Sequence
from pathlib import Path

from faithtui.cli.output import plural, print_hint, print_json, print_text, print_to_stderr
from faithtui.cli.stores import open_store
from faithtui.config import load_settings
from faithtui.engine.dataset_import import FileImport, ImportProgress, ImportResult, import_files
from faithtui.errors import ConfigError, InputError

FORMATS = ("auto", "jsonl")
MOST_PRINTED = 10_000
"""Refused lines that are told one by one, all that an import keeps; the rest is counted."""


def import_paths(
    store: Path | None,
    paths: Sequence[Path],
    *,
    source: str | None,
    form: str,
    strict: bool,
    as_json: bool,
) -> int:
    """Import files; 0, or 3 when anything was refused."""
    if form not in FORMATS:
        raise ConfigError(f"there is no format `{form}`; known: {', '.join(FORMATS)}")
    with open_store(store, load_settings(), create=True) as opened:
        result = import_files(
            opened,
            paths,
            source=source,
            strict=strict,
            report=make_import_progress(),
            with_arrays=form == "auto",
        )
    for refusal in result.refusals[:MOST_PRINTED]:
        print_to_stderr(str(refusal))
    if result.refused > MOST_PRINTED:
        print_to_stderr(f"… and {result.refused - MOST_PRINTED} more refused")
    for new, stored in result.same_content[:MOST_PRINTED]:
        print_to_stderr(f"note: {new} has the same turns as {stored}; both are kept")
    if as_json:
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
    return InputError.exit_code if result.refused else 0


class _ImportProgressLine:
    """How far an import has come, on stderr, where somebody watches."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()

    def __call__(self, progress: ImportProgress) -> None:
        if not self._live:
            return
        share = 100 * progress.bytes_done // max(1, progress.bytes_total)
        doing = "checking" if progress.checking else "importing"
        sys.stderr.write(f"\r\x1b[K{doing} {share} % · {progress.lines:,} lines of this file")
        if progress.bytes_done >= progress.bytes_total:
            sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def make_import_progress() -> _ImportProgressLine:
    """Make a listener for `import_files`."""
    return _ImportProgressLine()


def _format_file(each: FileImport) -> str:
    parts = [f"{each.new} new"]
    if each.unchanged:
        parts.append(f"{each.unchanged} unchanged")
    parts.append(plural(each.new_ratings, "new human label"))
    if each.refused:
        parts.append(f"{each.refused} refused")
    if each.without_interaction:
        parts.append(f"{each.without_interaction} without an answered question")
    return f"{each.path.name} as `{each.source}`: {', '.join(parts)}"


def _as_json(result: ImportResult, strict: bool) -> dict[str, object]:
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
