"""Files that this program wrote itself, which are no source when they lie among the logs.

Results folders and folders of waves are known by their `manifest.json`. Only what is written into
them is left out, since logs may lie in the same folder.
"""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from faithtui.engine.shards.results_schema import JOURNAL, MANIFEST, TABLES
from faithtui.output_files import write_text

QUESTIONS: Final = "questions"
ANSWERS: Final = "answers"
"""Folders of a wave; each has one file a shard, `SHARD.jsonl`."""

RESULTS_FOLDERS: Final = (*TABLES, JOURNAL)
_WAVE_FOLDERS: Final = (QUESTIONS, ANSWERS)
_WAVE: Final = "wave of questions"


def mark_wave(folder: Path) -> None:
    """Write into the folder of a wave that it is one.

    Raises:
        ExportError: It cannot be written.
    """
    if not (folder / MANIFEST).exists():
        text = json.dumps({"kind": _WAVE, "format": 1})
        write_text(folder / MANIFEST, [text, "\n"], force=True)


class WrittenFolders:
    """Says of files whether this program wrote them, and counts them by folder."""

    def __init__(self, results: Path | None = None, wave: Path | None = None) -> None:
        """Begin.

        Args:
            results: A results folder, with or without a manifest.
            wave: Folder of a wave, with or without one.
        """
        self.counts: Counter[Path] = Counter()
        """How many files were found, by results folder or folder of a wave."""
        self._inner: dict[Path, tuple[str, ...]] = {}
        if results is not None:
            self._inner[results.expanduser().resolve()] = RESULTS_FOLDERS
        if wave is not None:
            self._inner[wave.expanduser().resolve()] = _WAVE_FOLDERS

    def contains(self, file: Path) -> bool:
        """Say whether a file is one of them."""
        path = file.resolve()
        below = path
        for folder in path.parents:
            if below.name in (*RESULTS_FOLDERS, *_WAVE_FOLDERS, MANIFEST):
                inner = self._list_inner(folder)
                if below.name in inner or (inner and folder / MANIFEST == path):
                    self.counts[folder] += 1
                    return True
            below = folder
        return False

    def _list_inner(self, folder: Path) -> tuple[str, ...]:
        if folder not in self._inner:
            self._inner[folder] = _read_inner(folder / MANIFEST)
        return self._inner[folder]


def _read_inner(manifest: Path) -> tuple[str, ...]:
    """Give the folders that are written beside a manifest; () where it is none of ours."""
    try:
        found: Any = json.loads(manifest.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return ()
    if not isinstance(found, Mapping):
        return ()
    if found.get("kind") == _WAVE:
        return _WAVE_FOLDERS
    settings = found.get("settings")
    is_ours = isinstance(settings, Mapping) and "judge_fingerprint" in settings
    return RESULTS_FOLDERS if is_ours else ()
