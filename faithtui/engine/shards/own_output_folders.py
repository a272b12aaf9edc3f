"""Files that this program wrote itself, which are no source when they lie among the logs.

Results folders and folders of waves are known by a file in them, and one folder may be both. Only
what is written into them is left out, since logs may lie in the same folder.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from faithtui.engine.shards.results_schema import JOURNAL, MANIFEST, MANIFEST_LOCK, TABLES
from faithtui.output_files import write_text
from faithtui.paths import expand_home

QUESTIONS: Final = "questions"
ANSWERS: Final = "answers"
"""Folders of a wave; each has one file a shard, `SHARD.jsonl`."""

WAVE_MANIFEST: Final = "wave-manifest.json"
"""Not the name of a results folder's, so that one folder can be both."""

_OF_RESULTS: Final = frozenset((*TABLES, JOURNAL, MANIFEST, MANIFEST_LOCK))
_OF_WAVE: Final = frozenset((QUESTIONS, ANSWERS, WAVE_MANIFEST))
_WAVE: Final = "wave of faithtui"
_HERE: Final = "file://"


def write_wave_manifest(folder: Path) -> None:
    """Write into the folder of a wave that it is one.

    Raises:
        ExportError: It cannot be written.
    """
    if not (folder / WAVE_MANIFEST).exists():
        text = json.dumps({"kind": _WAVE, "format": 1})
        write_text(folder / WAVE_MANIFEST, [text, "\n"], force=True)


class OwnOutputFolders:
    """Says of files whether this program wrote them, and counts them by folder."""

    def __init__(
        self,
        read_file: Callable[[str], bytes | None],
        results: Path | None = None,
        wave: Path | None = None,
    ) -> None:
        """Begin.

        Args:
            read_file: Reads a small file of the source by its path or address; None: there is none.
            results: A results folder of this machine, with or without a manifest.
            wave: Folder of a wave, with or without one.
        """
        self.counts: Counter[str] = Counter()
        """How many files were found, by results folder or folder of a wave."""
        self._read_file = read_file
        self._results = None if results is None else str(expand_home(results).resolve())
        self._wave = None if wave is None else str(expand_home(wave).resolve())
        self._inner: dict[str, frozenset[str]] = {}

    def recognise_and_count_own_file(self, address: str) -> bool:
        """Say whether the file of a path or an address is one of them."""
        for folder, name in _iter_parent_folders(address):
            if name in _OF_RESULTS | _OF_WAVE and name in self._list_written_names(folder):
                self.counts[folder] += 1
                return True
        return False

    def _list_written_names(self, folder: str) -> frozenset[str]:
        """Give what is written into a folder; nothing where it is none of ours."""
        if folder not in self._inner:
            here = folder.removeprefix(_HERE)
            is_results = here == self._results or self._is_results_folder(folder)
            is_wave = here == self._wave or self._is_wave_folder(folder)
            self._inner[folder] = frozenset(
                (*(_OF_RESULTS if is_results else ()), *(_OF_WAVE if is_wave else ()))
            )
        return self._inner[folder]

    def _is_results_folder(self, folder: str) -> bool:
        settings = self._read_json_object_or_empty(f"{folder}/{MANIFEST}").get("settings")
        return isinstance(settings, Mapping) and "judge_fingerprint" in settings

    def _is_wave_folder(self, folder: str) -> bool:
        return self._read_json_object_or_empty(f"{folder}/{WAVE_MANIFEST}").get("kind") == _WAVE

    def _read_json_object_or_empty(self, address: str) -> Mapping[str, Any]:
        try:
            found: Any = json.loads(self._read_file(address) or b"null")
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, Mapping) else {}


def _iter_parent_folders(address: str) -> Iterator[tuple[str, str]]:
    """Give each folder that a file lies in, and what of its path lies there; the inmost first."""
    scheme, separator, rest = address.partition("://")
    if not separator:
        path = Path(address).resolve()
        for below, folder in zip((path, *path.parents), path.parents, strict=False):
            yield str(folder), below.name
        return
    while "/" in rest.strip("/"):
        rest, _, name = rest.rstrip("/").rpartition("/")
        yield f"{scheme}{separator}{rest.rstrip('/')}", name
