"""Files into the store: read, check, write in batches, count.

One bad line or one unreadable file never stops the others; what is refused is reported by line.
"""

import glob
import hashlib
import json
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from faithtui.domain.conversation import Conversation, content_hash
from faithtui.domain.labels.imported_verdicts import ImportedJudgement
from faithtui.domain.windows import has_interaction
from faithtui.engine.import_conflicts import (
    hash_without_names_of_passages,
    list_keys_differing_in_names,
)
from faithtui.engine.import_log import ImportLog
from faithtui.engine.import_word_index import ImportIndexing
from faithtui.engine.imported_labels import (
    LabelScales,
    NewLabelCounter,
    UnreadLabels,
    find_binary_scores,
)
from faithtui.engine.imported_runs import ImportedRun, VerdictCollector
from faithtui.engine.new_contents import NewContents
from faithtui.errors import ConfigError, InputError
from faithtui.formats.files.record_files import RecordFile
from faithtui.formats.image_reader import STDIN
from faithtui.formats.readers.datasets import (
    DatasetFile,
    FormatChoice,
    join_trace_files_sharing_ids,
    list_data_files,
    list_files_of_pattern,
    make_shard_dataset_name,
    open_file_and_detect_format,
)
from faithtui.formats.readers.protocol import WARNINGS_KEPT, ParsedRecord
from faithtui.malloc_settings import return_large_blocks
from faithtui.paths import expand_home
from faithtui.store.records import EqualElsewhere, ImportCounts
from faithtui.store.store import Store

_OTHER_METADATA: Final = (
    "a conversation is there already, with the same turns and other metadata; what is there stays, "
    "and the other metadata is left out"
)

_NOT_COUNTED: Final = (
    "a skip, a label in bulk or an accepted verdict of a conversation that is there already is "
    "left out: it could take the place of a label that counts"
)

REFUSALS_KEPT = 10_000
"""Refusals that are reported one by one; a file with more is a file in another format."""

_RECORD_BYTES = 8 * 2**20
_IMAGE_BYTES = 16 * 2**20
"""Of records, and of images, in one transaction, which memory has to hold and labels have to wait
for. A conversation with more goes alone."""


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """How far an import has come."""

    path: Path
    """The file being read."""
    lines: int
    """Records read of this file: lines, blank ones left out, or elements of its array."""
    bytes_done: int
    """Read of all files."""
    bytes_total: int
    """Size of all files."""
    checking: bool
    """Whether this is the first of two passes, the one that writes nothing."""
    unindexed: int = 0
    """Texts whose words are being taken up for search, after all files were read."""


@dataclass(frozen=True, slots=True)
class FileImport:
    """What became of one file. `read` is `new + unchanged + refused` once it was written."""

    path: Path
    source: str
    """Name of the data set."""
    read: int = 0
    """Records: lines, blank ones left out, or elements of its array."""
    new: int = 0
    """Conversations that were not in the store."""
    unchanged: int = 0
    """Conversations that were, with the same turns."""
    new_ratings: int = 0
    """Human labels that were not in the store, of new and of known conversations."""
    without_interaction: int = 0
    """Conversations with nothing to judge: no question that was answered. They are imported."""
    without_passages: int = 0
    """Conversations with an answered question and no passage at any turn. They are imported."""
    refused: int = 0
    """Records; 1 more when the file was refused as a whole, or from some place on. A file without
    rows has none."""
    merged: int = 0
    """Conversations with the turns of a stored one, which took their labels."""
    format: str | None = None
    """What it was taken for; None where nothing was."""
    reason: str | None = None
    """Why."""
    beside: tuple[Path, ...] = ()
    """Files that were read together with it."""
    unknown_keys: Mapping[str, int] = field(default_factory=dict)
    """How often each key came that nobody understood; it was kept."""
    dropped_keys: Mapping[str, int] = field(default_factory=dict)
    """How often each key came that nobody understood and that was not kept."""
    meant_keys: Mapping[str, str] | None = None
    """The name that each of these keys may be mapped to; None: the reader does not say."""
    remarks: Mapping[str, int] = field(default_factory=dict)
    """What was left out or taken otherwise, and how often."""
    runs: tuple[ImportedRun, ...] = ()
    """Runs of judges whose verdicts came with it."""
    unread_labels: tuple[UnreadLabels, ...] = ()
    """Human labels that have no verdict because nobody knows what they mean."""
    warned: int = 0
    """Records, or fields of them, that were taken and may not be what was meant."""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did."""

    files: tuple[FileImport, ...]
    """In the order they were read."""
    refusals: tuple[InputError, ...]
    """The first `REFUSALS_KEPT`, in order. A line whose key is stored with other turns is one."""
    refused: int
    """How many refusals there were."""
    same_content: tuple[tuple[str, str], ...]
    """Pairs of keys (new one, stored one) whose turns are equal. Both were kept, unless they were
    to be merged."""
    first: Conversation | None = None
    """Of a rehearsal, the first conversation as it would come in."""
    missing_scores: tuple[str, ...] = ()
    """Scores whose scale the user named and that no file has."""
    unindexed: int = 0
    """Texts whose words the first search for words takes up."""
    warnings: tuple[InputError, ...] = ()
    """Where something was taken that may not be what was meant; the first `WARNINGS_KEPT`."""
    equal_elsewhere: tuple[EqualElsewhere, ...] = ()
    """New conversations whose turns another data set has, by data set, most first. Both are kept,
    also where equal ones are merged."""


def import_files(
    store: Store | None,
    paths: Sequence[Path],
    *,
    source: str | None = None,
    strict: bool = False,
    report: Callable[[ImportProgress], None],
    batch_size: int = 500,
    choice: FormatChoice | None = None,
    merge_equal: bool = False,
    rehearse: bool = False,
    defer_index: bool = False,
) -> ImportResult:
    """Import conversations and their human labels.

    What is in the store already stays as it is, so importing twice changes nothing. Each batch is
    a transaction: after a crash, import again.

    Args:
        store: Where to; None: nowhere yet, of a rehearsal.
        paths: Files, `-` for standard input, or directories for the data files in them, in order
            of name.
        source: Name of the data set; None: each file's name without its suffix.
        strict: Read everything twice, and write only when nothing at all is refused.
        report: Called after each batch and each file, in this thread.
        batch_size: Lines in a transaction at most, at least 1. Labels that another process gives
            meanwhile wait for the transaction, those of this one end it.
        choice: What the user said about the files' format; None: nothing.
        merge_equal: A conversation whose turns are stored under another key gives its labels and
            verdicts to that one and is not stored again.
        rehearse: Write nothing, and keep the first conversation as it would come in.
        defer_index: Leave the words of what comes in to the first search for words.

    Returns:
        Counts for each file, and what was refused. In strict mode with refusals, nothing was
        written and `new`, `unchanged` and `new_ratings` are 0.

    Raises:
        StoreError: The store cannot be read or written. Earlier batches are in it.
        ConfigError: There is no format of the name that was chosen, or standard input would have to
            be read twice.
    """
    files, missing = _expand_folders_to_files(paths)
    choice = choice or FormatChoice()
    for path in files if strict else ():
        if path == STDIN or _is_pipe(path):
            named = "standard input" if path == STDIN else f"the pipe {path}"
            raise ConfigError(
                f"--strict reads everything twice, and {named} can be read once; save it to a "
                "file first"
            )
    if strict or rehearse:
        rehearsal = _DryRun(store, counts=rehearse, merge_equal=merge_equal)
        check = _ImportPass(
            rehearsal.find_conflicts_and_count_new_in_batch,
            report,
            batch_size,
            choice,
            checking=True,
            list_other_metadata=rehearsal.list_keys_with_other_metadata,
            list_differing_in_names=rehearsal.list_keys_differing_in_names,
        )
        outcome = check.import_files(files, missing, source)
        if rehearse:
            equal = rehearsal.new_contents.count_equal_elsewhere(store)
            return replace(outcome, first=rehearsal.first, equal_elsewhere=equal)
        if outcome.refused:
            return outcome

    assert store is not None  # only a rehearsal has none
    conversations_store = store.conversations
    indexing = ImportIndexing(store, is_deferred=defer_index)
    last: ImportProgress | None = None

    def write_batch(
        conversations: Sequence[Conversation], images: Mapping[str, bytes]
    ) -> ImportCounts:
        counts = conversations_store.import_batch(
            conversations, images, merge_equal=merge_equal, index_words=False
        )
        indexing.index_full_lots()
        return counts

    def report_and_remember(progress: ImportProgress) -> None:
        nonlocal last
        last = progress
        report(progress)

    def report_unindexed(left: int) -> None:
        if last is not None:
            report(replace(last, unindexed=left))

    write = _ImportPass(
        write_batch,
        report_and_remember,
        batch_size,
        choice,
        checking=False,
        list_other_metadata=conversations_store.list_keys_with_other_metadata,
        list_differing_in_names=partial(list_keys_differing_in_names, store),
        store=store,
    )
    with store.tune_for_bulk_writes() as release_memory:
        write.release_memory = release_memory
        before = store.equal_contents.get_last_id()
        result = write.import_files(files, missing, source)
        return replace(
            result,
            unindexed=indexing.finish(report_unindexed),
            equal_elsewhere=store.equal_contents.count_new_with_equal_elsewhere(
                before, {each.source for each in result.files}
            ),
        )


def _expand_folders_to_files(paths: Sequence[Path]) -> tuple[list[Path], list[InputError]]:
    """Replace directories by the data files in them.

    Those without one are refused, and so are pipes and what is not there.

    A pattern that the shell left as it was, because it stood in quotation marks or because the
    shell expands none, means the files and directories that match it. A file that is meant several
    times, by its folder and by itself, is taken once, where it comes first.
    """
    files: dict[Path, Path] = {}
    refused: list[InputError] = []
    pipes: set[Path] = set()

    def take_unless_pipe(found: Path) -> None:
        # Whoever names a pipe has something write into it; one that lies about would hang us.
        if not _call_or_false_on_os_error(found.is_fifo):
            files.setdefault(_resolve_if_possible(found), found)
        elif found not in pipes:
            pipes.add(found)
            refused.append(InputError("is a pipe; name it to read from it", path=found))

    for path, is_named in _expand_patterns(paths, refused):
        if path != STDIN and _call_or_false_on_os_error(path.is_dir):
            inside = list_data_files(path)
            if not inside:
                refused.append(
                    InputError(
                        "holds no JSON, CSV, Parquet or Arrow file; name the files", path=path
                    )
                )
            for each in inside:
                take_unless_pipe(each)
        elif is_named and path != STDIN and not _is_there(path):
            refused.append(InputError("there is no such file or folder", path=path))
        elif is_named:
            files.setdefault(_resolve_if_possible(path), path)
        else:
            take_unless_pipe(path)
    return list(files.values()), refused


def _expand_patterns(
    paths: Sequence[Path], refused: list[InputError]
) -> Iterator[tuple[Path, bool]]:
    """Replace patterns by what matches them; one that nothing matches is refused.

    Yields:
        A path, and whether it was named and not found by a pattern.
    """
    for path in paths:
        if not glob.has_magic(str(path)) or _call_or_false_on_os_error(path.exists):
            yield path, True
            continue
        found = list_files_of_pattern(expand_home(path))
        if not found:
            refused.append(
                InputError(
                    "is a pattern that no file matches; `**/` stands for any folders, `*` for any "
                    "part of a name",
                    path=path,
                )
            )
        for each in found:
            yield each, False


def _resolve_if_possible(path: Path) -> Path:
    """Follow links, so that two names of a file are equal; one that cannot be followed stays."""
    if path == STDIN:
        return path
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # links in a circle, a name that no file can have
        return path


def _call_or_false_on_os_error(kind: Callable[[], bool]) -> bool:
    """Tell a kind of file; what cannot be looked at is taken for one to read, which says why."""
    try:
        return kind()
    except OSError:
        return False


def _is_there(path: Path) -> bool:
    """Say whether a file is there; what cannot be looked at is taken for one to read."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
    return True


def _is_pipe(path: Path) -> bool:
    """Say whether a file can be read once; one that is not there is no pipe."""
    return (
        _call_or_false_on_os_error(path.exists)
        and not _call_or_false_on_os_error(path.is_file)
        and not _call_or_false_on_os_error(path.is_dir)
    )


class _ImportPass:
    """One reading of all files."""

    def __init__(
        self,
        settle: Callable[[Sequence[Conversation], Mapping[str, bytes]], ImportCounts],
        report: Callable[[ImportProgress], None],
        batch_size: int,
        choice: FormatChoice,
        *,
        checking: bool,
        list_other_metadata: Callable[[str, Mapping[str, Mapping[str, object]]], Collection[str]],
        list_differing_in_names: Callable[[Sequence[Conversation]], Collection[str]],
        store: Store | None = None,
    ) -> None:
        self._import_batch = settle
        self._report = report
        self._batch_size = batch_size
        self._choice = choice
        self._checking = checking
        self._store = store
        self._list_other_metadata = list_other_metadata
        self._list_differing_in_names = list_differing_in_names
        self._kept_refusals: list[InputError] = []
        self._refused = 0
        self._warnings: list[InputError] = []
        self._same_content: list[tuple[str, str]] = []
        self._pipes: set[Path] = set()
        self._datasets: Sequence[DatasetFile | FileImport] = ()
        self._binary_scores: frozenset[str] | None = None
        self.release_memory: Callable[[], None] | None = None
        """Called before a record is written that needs the memory."""

    def import_files(
        self, files: Sequence[Path], missing: Sequence[InputError], source: str | None
    ) -> ImportResult:
        """Read all files, in order, and settle their conversations batch by batch.

        Args:
            files: Files, whether they exist or not.
            missing: What was refused before anything was read.
            source: As in `import_files`.
        """
        self._record_refusals(missing)
        total = sum(_get_file_size(path) for path in files)
        done = 0
        counts = []
        return_large_blocks()
        datasets, opened = self._open_datasets_and_record_refusals(files, source)
        self._datasets = datasets
        for each in datasets:
            if isinstance(each, FileImport):
                counts.append(each)
            else:
                counts.append(self._import_dataset(each, opened, done, total))
            last = counts[-1]
            done += sum(map(_get_file_size, (last.path, *last.beside)))
            self._report(ImportProgress(last.path, last.read, done, total, self._checking))
        return ImportResult(
            tuple(counts),
            tuple(self._kept_refusals),
            self._refused,
            tuple(self._same_content),
            missing_scores=self._list_scaled_scores_not_found(datasets),
            warnings=tuple(self._warnings),
        )

    def _list_scaled_scores_not_found(
        self, datasets: Sequence[DatasetFile | FileImport]
    ) -> tuple[str, ...]:
        read = [each for each in datasets if isinstance(each, DatasetFile)]
        found = set().union(*(each.notes.scores for each in read))
        return tuple(each for each in self._choice.scales if each not in found) if read else ()

    def _find_binary_scores(self) -> frozenset[str]:
        """Find the scores that are 0 or 1 in all files; none where one cannot be read twice."""
        if self._binary_scores is None:
            self._binary_scores = (
                frozenset()
                if self._pipes
                else find_binary_scores(
                    [each for each in self._datasets if isinstance(each, DatasetFile)]
                )
            )
        return self._binary_scores

    def _open_datasets_and_record_refusals(
        self, files: Sequence[Path], source: str | None
    ) -> tuple[list[DatasetFile | FileImport], dict[Path, RecordFile]]:
        """Say what each file is; files that cannot be read come as what became of them.

        Pipes stay open, as they cannot be opened twice. A file that comes alone does too: its first
        record may be large, and memory that held it once is not given back to the system.
        """
        found: list[DatasetFile | FileImport] = []
        opened: dict[Path, RecordFile] = {}
        for path in files:
            try:
                dataset, file = open_file_and_detect_format(path, self._choice, source)
            except InputError as error:
                self._record_refusals([error])
                name = make_shard_dataset_name(path) if source is None else source
                found.append(FileImport(path, name, refused=1))
                continue
            is_file = path != STDIN and _call_or_false_on_os_error(path.is_file)
            if not is_file:
                self._pipes.add(path)
            if (is_file and len(files) > 1) or dataset.why_no_rows is not None:
                file.close()
            else:
                opened[path] = file
            found.append(dataset)
        found = self._settle_files_without_rows(found)
        return join_trace_files_sharing_ids(
            found, are_one=source is not None, pipes=self._pipes
        ), opened

    def _settle_files_without_rows(
        self, found: Sequence[DatasetFile | FileImport]
    ) -> list[DatasetFile | FileImport]:
        """Report files without rows, each in the same way; where no file has any, refuse them too.

        An import that brings nothing must not pass for one that did, and an empty shard of several
        must not stop the others.
        """
        are_all = all(isinstance(each, DatasetFile) and each.why_no_rows for each in found)
        settled: list[DatasetFile | FileImport] = []
        for each in found:
            if isinstance(each, FileImport) or each.why_no_rows is None:
                settled.append(each)
            else:
                if are_all:
                    self._record_refusals([InputError(each.why_no_rows, path=each.path)])
                settled.append(FileImport(each.path, each.source, reason=each.why_no_rows))
        return settled

    def _import_dataset(
        self, dataset: DatasetFile, opened: Mapping[Path, RecordFile], done: int, total: int
    ) -> FileImport:
        """Read one data set; `done` bytes of `total` were read before it."""
        path = dataset.path
        count = FileImport(
            path,
            dataset.source,
            format=dataset.reader.name,
            reason=dataset.reason,
            beside=dataset.paths[1:],
        )
        refused_before = self._refused
        size = sum(map(_get_file_size, dataset.paths))
        labels = LabelScales(dataset, self._find_binary_scores)
        log = ImportLog(path.name)
        with VerdictCollector(dataset.source) as verdicts:
            lines = log.iter_and_time_reading(
                map(labels.assign_rating_scales, self._read_dataset(dataset, opened))
            )
            for batch in _group_into_batches(lines, self._batch_size):
                if batch.size > _RECORD_BYTES and self.release_memory is not None:
                    self.release_memory()
                with log.time_block("storing"):
                    settled = self._import_batch(list(batch.conversations.values()), batch.images)
                self._same_content.extend(settled.same_content)
                conflicts = self._make_conflict_errors(path, batch, settled.conflicting)
                self._record_refusals(sorted([*batch.errors, *conflicts], key=_make_error_sort_key))
                kept = batch.conversations.keys() - set(settled.conflicting)
                unanswered = [
                    key for key in kept if not has_interaction(batch.conversations[key].turns)
                ]
                log.log_conversations_not_added(batch.places, settled, unanswered)
                verdicts.add_batch(batch.conversations, batch.verdicts, kept, settled.merged)
                dataset.notes.remarks.update(
                    self._count_metadata_left_out(batch.conversations, settled.unchanged_keys)
                )
                if settled.ratings_left_out:
                    dataset.notes.remarks[_NOT_COUNTED] += settled.ratings_left_out
                count = replace(
                    count,
                    read=count.read + len(batch.places) + len(batch.errors),
                    new=count.new + settled.new,
                    unchanged=count.unchanged + settled.unchanged,
                    merged=count.merged + len(settled.merged),
                    new_ratings=count.new_ratings + settled.new_ratings,
                    without_interaction=count.without_interaction + len(unanswered),
                    without_passages=count.without_passages
                    + sum(
                        all(
                            turn.retrieval_context is None
                            for turn in batch.conversations[key].turns
                        )
                        for key in kept.difference(unanswered)
                    ),
                )
                place = done + min(batch.end, size)
                self._report(ImportProgress(path, count.read, place, total, self._checking))
                del batch, settled  # they are not held while the next ones are read
            with log.time_block("runs of judges"):
                runs = () if self._store is None else verdicts.create_missing_runs(self._store)
            judged = verdicts.list_runs_to_create() if self._store is None else runs
        log.log_omission_counts_and_times(count.read)
        self._warnings += dataset.notes.warnings[: WARNINGS_KEPT - len(self._warnings)]
        dataset.notes.warnings.clear()
        return replace(
            count,
            refused=self._refused - refused_before,
            unknown_keys=dict(dataset.notes.unknown_keys),
            dropped_keys=dict(dataset.notes.dropped_keys),
            meant_keys=dataset.notes.meant_keys,
            remarks=dict(dataset.notes.remarks),
            unread_labels=tuple(labels.list_labels_without_verdict()),
            warned=dataset.notes.warned,
            runs=judged,
        )

    def _make_conflict_errors(
        self, path: Path, batch: "_RecordBatch", keys: Sequence[str]
    ) -> list[InputError]:
        found = [batch.conversations[key] for key in keys]
        is_told = len(self._kept_refusals) < REFUSALS_KEPT  # what differs is looked up for these
        named = self._list_differing_in_names(found) if is_told else ()
        return [
            _make_conflict_error(path, *batch.places[each.key], each, each.key in named)
            for each in found
        ]

    def _count_metadata_left_out(
        self, conversations: Mapping[str, Conversation], unchanged: Collection[str]
    ) -> dict[str, int]:
        """Count the conversations that are there already with other metadata, with a remark."""
        if not unchanged:
            return {}
        other = self._list_other_metadata(
            conversations[next(iter(unchanged))].source,
            {key: conversations[key].metadata for key in unchanged},
        )
        return {_OTHER_METADATA: len(other)} if other else {}

    def _read_dataset(
        self, dataset: DatasetFile, opened: Mapping[Path, RecordFile]
    ) -> Iterator[ParsedRecord]:
        """Read a data set; when that fails, what was read until then still counts."""
        try:
            for record in dataset.read(opened.get(dataset.path), opened):
                yield record
                del record  # it may be large
                if self._store is not None:
                    self._store.wait_for_urgent_writes()
        except InputError as error:
            self._record_refusals([error])

    def _record_refusals(self, errors: Sequence[InputError]) -> None:
        self._refused += len(errors)
        self._kept_refusals.extend(errors[: max(0, REFUSALS_KEPT - len(self._kept_refusals))])


@dataclass(slots=True)
class _RecordBatch:
    """Consecutive lines of a file. No key is there twice, so a conflict belongs to one line."""

    conversations: dict[str, Conversation] = field(default_factory=dict)
    """By key."""
    places: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    """Line of each key, and its place in an array."""
    size: int = 0
    """Bytes of its records."""
    images: dict[str, bytes] = field(default_factory=dict)
    """Bytes of their images by SHA-256."""
    verdicts: dict[str, tuple[ImportedJudgement, ...]] = field(default_factory=dict)
    """What judges said elsewhere, by key."""
    errors: list[InputError] = field(default_factory=list)
    end: int = 0
    """Bytes of the file up to the end of the last line."""

    def add(self, line: ParsedRecord) -> None:
        """Take in one more line."""
        self.end = line.end
        self.size += line.size
        if isinstance(line.found, InputError):
            self.errors.append(line.found)
        else:
            self.conversations[line.found.key] = line.found
            self.places[line.found.key] = line.line, line.record
            self.images.update(line.images)
            if line.verdicts:
                self.verdicts[line.found.key] = line.verdicts

    def has_room(self, line: ParsedRecord, size: int) -> bool:
        """Say whether the line can be added, to `size` lines at most."""
        if len(self.places) + len(self.errors) >= size:
            return False
        if self.size and self.size + line.size > _RECORD_BYTES:
            return False
        if line.images and self.images:
            more = {name: data for name, data in line.images.items() if name not in self.images}
            held = sum(map(len, self.images.values()))
            if more and held and held + sum(map(len, more.values())) > _IMAGE_BYTES:
                return False
        return isinstance(line.found, InputError) or line.found.key not in self.places


def _group_into_batches(lines: Iterable[ParsedRecord], size: int) -> Iterator[_RecordBatch]:
    """Group lines, in order, none left out; no lines give no batch."""
    batch = _RecordBatch()
    for line in lines:
        if not batch.has_room(line, size):
            full, batch = batch, _RecordBatch()
            yield full
            del full
        batch.add(line)
        del line
        if batch.size >= _RECORD_BYTES:  # at once: the next record may be as large
            full, batch = batch, _RecordBatch()
            yield full
            del full
    if batch.places or batch.errors:
        yield batch


class _DryRun:
    """Finds the conflicts the store would find, and writes nothing.

    Args:
        store: Where an import would write.
        counts: Count what would be new, too.
        merge_equal: Count a conversation with the turns of another one as merged into that.
    """

    def __init__(self, store: Store | None, *, counts: bool, merge_equal: bool) -> None:
        self._store = store
        self._counts = counts
        self._merge_equal = merge_equal
        self.first: Conversation | None = None
        """The first conversation that was seen."""
        self._hashes: dict[str, dict[str, str]] = {}
        """For each source, what each key's turns hash to: stored ones and those seen since."""
        self._keys_by_content: dict[str, dict[str, str]] = {}
        """For each source, the first key of each content."""
        self._hashes_without_names: dict[tuple[str, str], str] = {}
        """What the turns of conversations hash to without names of passages that are not stored."""
        self._metadata_of_new: dict[tuple[str, str], str] = {}
        """What the metadata of conversations hash to that are not stored."""
        self._new_labels = NewLabelCounter(store)
        self.new_contents = NewContents()
        """Which new ones have the turns of one of another data set."""

    def find_conflicts_and_count_new_in_batch(
        self, conversations: Sequence[Conversation], images: Mapping[str, bytes]
    ) -> ImportCounts:
        """Say which keys conflict, and what would be new where that is counted."""
        conflicting, unchanged = [], []
        same_content, merged = [], []
        labelled: list[tuple[Conversation, str]] = []
        new = 0
        for conversation in conversations:
            self.first = self.first or conversation
            hashes = self._get_stored_content_hashes(conversation.source)
            found = content_hash(conversation.turns)
            is_known = conversation.key in hashes
            if hashes.get(conversation.key, found) != found:
                conflicting.append(conversation.key)
                continue
            by_content = self._keys_by_content[conversation.source]
            twin = by_content.setdefault(found, conversation.key)
            if not is_known and twin != conversation.key:
                same_content.append((conversation.key, twin))
                if self._merge_equal:
                    merged.append((conversation.key, twin))
                    labelled.append((conversation, twin))
                    continue
            hashes[conversation.key] = found
            if is_known:
                unchanged.append(conversation.key)
            else:
                new += 1
                self.new_contents.add(conversation.source, found)
                identity = conversation.source, conversation.key
                self._metadata_of_new[identity] = _hash_metadata(conversation.metadata)
                self._hashes_without_names[identity] = hash_without_names_of_passages(
                    conversation.turns
                )
            labelled.append((conversation, conversation.key))
        if not self._counts:
            return ImportCounts(conflicting=tuple(conflicting))
        return ImportCounts(
            new,
            len(unchanged),
            self._new_labels.count_new_labels(labelled, self._metadata_of_new),
            tuple(same_content),
            tuple(merged),
            conflicting=tuple(conflicting),
            unchanged_keys=tuple(unchanged),
        )

    def list_keys_differing_in_names(self, conversations: Sequence[Conversation]) -> set[str]:
        """List those that are stored or seen before with other names of passages alone."""
        seen = {
            each.key
            for each in conversations
            if self._hashes_without_names.get((each.source, each.key))
            == hash_without_names_of_passages(each.turns)
        }
        if self._store is None:
            return seen
        return seen | list_keys_differing_in_names(self._store, conversations)

    def list_keys_with_other_metadata(
        self, source: str, metadata: Mapping[str, Mapping[str, object]]
    ) -> list[str]:
        """List the conversations, stored or seen before, whose metadata is not the one given."""
        other = [
            key
            for key, given in metadata.items()
            if self._metadata_of_new.get((source, key)) not in (None, _hash_metadata(given))
        ]
        if self._store is None:
            return other
        return other + self._store.conversations.list_keys_with_other_metadata(source, metadata)

    def _get_stored_content_hashes(self, source: str) -> dict[str, str]:
        if source not in self._hashes:
            known = (
                {}
                if self._store is None
                else self._store.conversations.read_content_hashes_by_key(source)
            )
            self._hashes[source] = known
            by_content: dict[str, str] = {}
            for key, found in known.items():
                by_content.setdefault(found, key)
            self._keys_by_content[source] = by_content
        return self._hashes[source]


def _hash_metadata(metadata: Mapping[str, object]) -> str:
    written = json.dumps(dict(metadata), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def _make_error_sort_key(error: InputError) -> tuple[int, int]:
    """Say where an error stands in its file, for sorting."""
    return error.line or 0, error.record or 0


def _make_conflict_error(
    path: Path, line: int, record: int | None, conversation: Conversation, is_name_alone: bool
) -> InputError:
    what = (
        "equal turns whose passages have other names (sources)" if is_name_alone else "other turns"
    )
    reason = (
        f"{conversation.key!r} is stored in {conversation.source!r} with {what}; give it "
        "another id, import the file under another name, `--source NAME`, or delete the data set "
        f"first, `faithtui delete dataset {shlex.quote(conversation.source)}`"
    )
    return InputError(reason, path=path, line=line, record=record, field="id")


def _get_file_size(path: Path) -> int:
    """Give the size of a file in bytes; 0 when it is not known, which reading will report."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
