"""Files to import: what each one is, and its conversations.

The one way into the readers. Files that belong together, such as traces and their scores, are read
as one data set.
"""

import glob
import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar

from faithtui.errors import FormatUnknown, InputError
from faithtui.formats.files.record_files import FileKind, FileRecord, RecordFile, Sample
from faithtui.formats.files.record_groups import RecordGroups
from faithtui.formats.image_reader import STDIN
from faithtui.formats.readers.conversation_files import make_dataset_name
from faithtui.formats.readers.protocol import (
    UNEVEN_ROW,
    FormatReader,
    ParsedRecord,
    ReadNotes,
    ReadOptions,
)
from faithtui.formats.readers.registry import (
    AUTO,
    detect_format,
    explain_missing_rows,
    get_reader_by_name,
)
from faithtui.formats.readers.traces.trace_reader import TraceReader

_log = logging.getLogger("faithtui.import")

_SUFFIXES: Final = frozenset(
    (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".arrow", ".feather")
)
_PACKED: Final = frozenset((".gz", ".bz2", ".xz", ".zst"))
_NO_DATA: Final = frozenset(
    ("dataset_info.json", "state.json", "dataset_dict.json", "dataset_infos.json", "package.json")
)
"""Files of a Hugging Face data set's folder that say what it is, and hold none of it."""

LINES_ALONE: Final = "jsonl"
"""A name of faithtui's own format that takes nothing but lines."""

_SHARD: Final = re.compile(r"(?P<split>.*?)-?\d{4,5}-of-\d{4,5}")


@dataclass(frozen=True, slots=True)
class FormatChoice:
    """What the user said about the files."""

    name: str = AUTO
    """A reader's, or `auto`."""
    renames: Mapping[str, str] = field(default_factory=dict)
    """Names by key of the file, see `parse_map_options`."""
    scales: Mapping[str, str] = field(default_factory=dict)
    """Label scales by name of a human score."""

    def make_read_options(self, source: str, sample: Sample, notes: ReadNotes) -> ReadOptions:
        """Make what a reader is told of it; `notes` are filled while it reads."""
        return ReadOptions(source, sample, self.scales, notes, tuple(self.renames.values()))


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """A file, and the files that belong to it."""

    paths: tuple[Path, ...]
    source: str
    """Name of the data set."""
    reader: FormatReader
    reason: str
    """Why it was taken for that format."""
    choice: FormatChoice
    notes: ReadNotes = field(default_factory=ReadNotes)
    """Filled while it is read."""
    why_no_rows: str | None = None
    """What it is that holds no record at all; None where it has some."""

    @property
    def path(self) -> Path:
        """The first file."""
        return self.paths[0]

    def read(
        self, opened: RecordFile | None = None, others: Mapping[Path, RecordFile] | None = None
    ) -> Iterator[ParsedRecord]:
        """Read its conversations.

        Args:
            opened: The first file, where it is open already.
            others: Further files that are, by path; pipes cannot be opened again.

        Raises:
            InputError: A file cannot be read, or not on.
        """
        first = opened or RecordFile(self.path, self.choice.renames)
        with first:
            sample = first.sample
            if not sample.is_table:
                sample = replace(sample, records=())  # they may be large, and nobody asks again
            options = self.choice.make_read_options(self.source, sample, self.notes)
            yield from self.reader.read(
                self._iterate_records_of_all_files(first, others or {}), options
            )

    def _iterate_records_of_all_files(
        self, first: RecordFile, others: Mapping[Path, RecordFile]
    ) -> Iterator[FileRecord]:
        """Read them one behind the other; one that cannot be read on does not end the others."""
        last = self.paths[-1]
        unused, records = set(self.choice.renames), 0
        for path in self.paths:
            try:
                if path == self.path:
                    yield from self._iterate_and_note_missing_pages(first)
                    unused &= first.unused_renames
                    records += first.record_count
                else:
                    with others.get(path) or RecordFile(path, self.choice.renames) as file:
                        yield from self._iterate_and_note_missing_pages(file)
                        unused &= file.unused_renames
                        records += file.record_count
            except InputError as error:
                if path == last:
                    raise
                yield FileRecord(path, error.line or 0, error.record, 0, 0, error)
        for key in sorted(unused) if records else ():
            mapped = f"{self.choice.renames[key]}={key}"
            self.notes.remarks[f"record without `{key}`, which --map {mapped} names"] += records

    def _iterate_and_note_missing_pages(self, file: RecordFile) -> Iterator[FileRecord]:
        for each in file:
            if each.warning is not None:
                self.notes.add_warning(each.warning, UNEVEN_ROW)
            yield each
            del each  # it may be large
        missing = file.pages.describe_missing_records()
        if missing is not None:
            self.notes.remarks[missing] += 1


def open_file_and_detect_format(
    path: Path, choice: FormatChoice, source: str | None
) -> tuple[DatasetFile, RecordFile]:
    """Open a file and say what it is.

    Returns:
        The data set, and the open file to read it from.

    Raises:
        InputError: It cannot be read.
        FormatUnknown: No reader or several recognise it.
        ConfigError: There is no format of the name that was given.
    """
    file = RecordFile(path, choice.renames)
    try:
        dataset = _choose_reader_for_file(file.sample, choice, source)
        dataset = replace(dataset, why_no_rows=explain_missing_rows(file))
        if file.pages.key is not None:
            reason = f"{dataset.reason}, in the list `{file.pages.key}` of an answer of an API"
            dataset = replace(dataset, reason=reason)
    except BaseException:
        file.close()
        raise
    return dataset, file


def _choose_reader_for_file(
    sample: Sample, choice: FormatChoice, source: str | None
) -> DatasetFile:
    if choice.name == AUTO:
        found = detect_format(sample)
        reader, reason = found.reader, found.reason
    else:
        reader = get_reader_by_name(choice.name)
        if choice.name == LINES_ALONE and sample.kind is not FileKind.LINES:
            raise FormatUnknown(
                f"is {sample.kind}; expected one JSON object a line, as --format {LINES_ALONE} "
                "says",
                path=sample.path,
            )
        reason = "as --format says"
    name = make_shard_dataset_name(sample.path) if source is None else source
    return DatasetFile((sample.path,), name, reader, reason, choice)


T = TypeVar("T")


def join_trace_files_sharing_ids(
    found: Sequence[DatasetFile | T], *, are_one: bool = False, pipes: Collection[Path] = ()
) -> list[DatasetFile | T]:
    """Join files that belong together; the others stay alone, in order.

    Traces in one file and their scores in another share ids of traces; files of one project may
    share sessions. Two that share neither are two data sets.

    Args:
        found: Files, and what became of those that could not be opened.
        are_one: All files of a format are one data set, as the user says.
        pipes: Files that cannot be read twice, so that nobody can look for ids in them; they are
            taken to belong to the others of their format.
    """
    joined: list[DatasetFile | T] = []
    of_format: dict[str, list[DatasetFile]] = {}
    for each in found:
        if isinstance(each, DatasetFile) and isinstance(each.reader, TraceReader):
            of_format.setdefault(each.reader.name, []).append(each)
    first_of = {
        file.path: group[0].path
        for files in of_format.values()
        for group in (
            [files]
            if are_one or any(each.path in pipes for each in files)
            else _group_files_sharing_ids(files)
        )
        for file in group
    }
    place_of: dict[tuple[Path, str], int] = {}
    for each in found:
        if not isinstance(each, DatasetFile) or not isinstance(each.reader, TraceReader):
            joined.append(each)
            continue
        place = place_of.setdefault((first_of[each.path], each.reader.name), len(joined))
        if place == len(joined):
            joined.append(each)
        else:
            first = joined[place]
            assert isinstance(first, DatasetFile)
            joined[place] = replace(first, paths=first.paths + each.paths)
            _log.debug("%s is read together with %s", each.path.name, first.path.name)
    return joined


def _group_files_sharing_ids(files: Sequence[DatasetFile]) -> list[list[DatasetFile]]:
    """Group files of one format that share ids, directly or by way of others; reads all of them."""
    group_of = list(range(len(files)))
    if len(files) > 1:
        with RecordGroups() as links:
            for place, each in enumerate(files):
                assert isinstance(each.reader, TraceReader)
                # What is wrong with a file is reported when it is read for good.
                with suppress(InputError), RecordFile(each.path, each.choice.renames) as file:
                    for link in each.reader.list_trace_and_session_ids(file):
                        links.add(link, place)
            for _, places in links:
                same = {group_of[place] for place in places}
                if len(same) == 1:
                    continue
                group_of = [min(same) if each in same else each for each in group_of]
    return [
        [file for file, own in zip(files, group_of, strict=True) if own == group]
        for group in dict.fromkeys(group_of)
    ]


def list_data_files(folder: Path) -> list[Path]:
    """List the data files of a folder and of the folders in it, in order of name."""
    files = []
    for path in sorted(folder.rglob("*")):
        if is_data_file_name(path, folder):
            if not _is_folder(path):  # `table.parquet/part-0.parquet` is one file, as Spark writes
                files.append(path)
        elif _log.isEnabledFor(logging.DEBUG) and path.is_file():
            _log.debug("%s: %s is passed over, by its name", folder, path.relative_to(folder))
    return files


def _is_folder(path: Path) -> bool:
    """Say whether a path is a folder; what cannot be looked at is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def list_files_of_pattern(pattern: Path) -> list[Path]:
    """List the files and folders that a pattern such as `data/*.jsonl` means, in order of name."""
    base = get_folder_before_wildcard(pattern)
    return sorted(base.glob("/".join(pattern.parts[len(base.parts) :])))


def get_folder_before_wildcard(pattern: Path) -> Path:
    """Give the folder of a pattern before its first wild card."""
    for place, part in enumerate(pattern.parts):
        if glob.has_magic(part):
            return Path(*pattern.parts[:place])
    return pattern.parent


def is_data_file_name(path: Path, folder: Path) -> bool:
    """Say whether a file of a folder holds data, by its name."""
    names = path.relative_to(folder).parts
    if any(name.startswith((".", "_")) for name in names) or path.name in _NO_DATA:
        return False
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in _SUFFIXES and not path.name.startswith("cache-")


def make_shard_dataset_name(path: Path) -> str:
    """Name a data set after its file; a shard of one after its folder and split."""
    if path == STDIN:
        return "stdin"
    name = path
    while name.suffix.lower() in _PACKED | _SUFFIXES and name.stem:
        name = name.with_name(name.stem)
    shard = _SHARD.fullmatch(name.name)
    if shard is None:
        return make_dataset_name(name.with_name(f"{name.name}.x"))
    folders = [each for each in path.absolute().parent.parts if each not in ("data", "/")]
    split = shard["split"]
    return "-".join([*folders[-1:], *([split] if split not in ("", "data") else [])])
