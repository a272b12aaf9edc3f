"""Import for notebooks and scripts, with its outcome as JSON values."""

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from faithtui.domain.field_types import require_type
from faithtui.engine.dataset_import import import_files
from faithtui.engine.library.project_rows import Row
from faithtui.formats.readers.datasets import FormatChoice
from faithtui.formats.readers.values.suggestions import parse_map_options
from faithtui.paths import expand_home

if TYPE_CHECKING:
    from faithtui.store.store import Store


def import_path(
    store: "Store",
    path: Path,
    source: str | None,
    format: str,
    mapping: Mapping[str, str],
    *,
    strict: bool,
) -> Row:
    """Import conversations and human labels; see `Project.import_file`."""
    renames = parse_map_options([f"{ours}={theirs}" for ours, theirs in mapping.items()])
    result = import_files(
        store,
        [expand_home(path)],
        source=source,
        strict=strict,
        report=lambda progress: None,
        choice=FormatChoice(format, renames),
    )
    kept_aside: Counter[str] = Counter()
    for each in result.files:
        kept_aside.update(each.unknown_keys)
    return {
        "sources": [each.source for each in result.files],
        "read": sum(each.read for each in result.files),
        "new": sum(each.new for each in result.files),
        "unchanged": sum(each.unchanged for each in result.files),
        "new_ratings": sum(each.new_ratings for each in result.files),
        "refused": [str(each) for each in result.refusals],
        "warnings": [str(each) for each in result.warnings],
        "kept_aside": dict(kept_aside),
        "formats": [each.format for each in result.files],
    }


def import_values(store: "Store", rows: Iterable[Mapping[str, object]], source: str) -> Row:
    """Import conversations that are Python values; see `Project.import_rows`."""
    with tempfile.TemporaryDirectory(prefix="faithtui-") as folder:
        path = Path(folder) / "rows.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for row in rows:
                require_type(row, Mapping, "rows", "a list of mappings, a conversation each")
                file.write(json.dumps(dict(row), allow_nan=False) + "\n")
        return import_path(store, path, source, "auto", {}, strict=False)
