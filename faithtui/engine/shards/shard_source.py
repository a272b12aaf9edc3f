"""Where conversations lie, cut into shards: a file is a shard, or some row groups of a large one.

Files may lie on this machine or in an object store (`s3://`, `gs://`), which pyarrow reads. The
same source is cut in the same way by every process, so that workers need not speak to each other to
agree on what a shard is.
"""

import glob
import hashlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from faithtui.engine.shards.own_output_folders import OwnOutputFolders
from faithtui.engine.shards.results_schema import require_pyarrow
from faithtui.errors import ConfigError, FileUnreadable, InputError
from faithtui.formats.files.parquet_copy import COPY_PIECE, Footer, copy_row_groups
from faithtui.formats.files.record_files import PARQUET, FileRecord, RecordFile
from faithtui.formats.readers.datasets import (
    FormatChoice,
    get_folder_before_wildcard,
    is_data_file_name,
    list_data_files,
    list_files_of_pattern,
    make_shard_dataset_name,
    open_file_and_detect_format,
)
from faithtui.formats.readers.protocol import ParsedRecord
from faithtui.paths import expand_home

_PLAIN: Final = "/!$&'()*+,;=:@"
"""What stands in the path of an address as it is, beside letters of ASCII, digits and `-._~`."""

_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]+://")
_STORES: Final = frozenset(("abfs", "abfss", "file", "gcs", "gs", "hdfs", "s3", "viewfs"))
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._=-]")
_LONGEST_NAME: Final = 150
"""Characters of a shard's name: with its endings it is a file name on every system."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a source that one worker measures."""

    name: str
    """Names its files among the results."""
    address: str
    """Path of its file, or an address such as `s3://bucket/logs/a.parquet`."""
    source: str
    """Name of the data set its conversations belong to."""
    size: int
    """Bytes of the file."""
    share: float = 1.0
    """Of the rows of the file."""
    first_row: int = 0
    """Rows of the file before it."""
    groups: tuple[int, int] | None = None
    """Its row groups, from and up to without the last; None: the whole file."""

    def read(self, choice: FormatChoice) -> Iterator[ParsedRecord]:
        """Read its records one after the other; only a few are held at a time.

        Raises:
            FileUnreadable: The system does not give its bytes, or no more of them.
            InputError: What it holds cannot be read, or not on; no reader recognises it, or
                several do.
            ConfigError: There is no format of the name that was given.
        """
        with self._open_local_copy() as path:
            dataset, file = open_file_and_detect_format(path, choice, self.source)
            with file:
                sample = file.sample
                if not sample.is_table:
                    sample = replace(sample, records=())
                options = choice.make_read_options(self.source, sample, dataset.notes)
                yield from dataset.reader.read(
                    self._renumber_records_for_source(file, path), options
                )

    def _renumber_records_for_source(self, file: RecordFile, copy: Path) -> Iterator[FileRecord]:
        """Give records the places that they have in the file of the source."""
        if str(copy) == self.address:
            yield from file
            return
        path = Path(self.address)
        for each in file:
            line = each.line + self.first_row
            number = None if each.record is None else each.record + self.first_row
            found, strict = each.found, each.strict_error
            if isinstance(found, InputError):
                found = InputError(found.reason, path=path, line=line, record=number)
            if strict is not None:
                strict = InputError(strict.reason, path=path, line=line, record=number)
            yield replace(
                each, path=path, line=line, record=number, found=found, strict_error=strict
            )

    @contextmanager
    def _open_local_copy(self) -> Iterator[Path]:
        """Give a file of its own on this machine; a whole local file is read where it lies."""
        if self.groups is None and not is_object_store_address(self.address):
            yield Path(self.address)
            return
        with tempfile.TemporaryDirectory(prefix="faithtui-shard-") as folder:
            path = Path(folder) / _get_file_name(self.address)
            try:
                if self.groups is None:
                    _copy_file(self.address, path)
                else:
                    _copy_row_groups(self.address, self.groups, path)
            except (OSError, require_pyarrow().ArrowException) as error:
                # What is damaged is found by whoever reads the copy.
                raise FileUnreadable(f"cannot be read: {error}", path=Path(self.address)) from error
            except InputError as error:
                raise InputError(error.reason, path=Path(self.address)) from error
            try:
                yield path
            except InputError as error:
                if error.path != path:
                    raise
                line = None if error.line is None else error.line + self.first_row
                raise type(error)(
                    error.reason, path=Path(self.address), line=line, field=error.field
                ) from error


def list_shards(
    address: str | Path,
    *,
    source: str | None = None,
    shard_size: int | None = None,
    results: Path | None = None,
    wave: Path | None = None,
    on_left_out: Callable[[Mapping[str, int]], None] = lambda counts: None,
) -> tuple[Shard, ...]:
    """Cut a source into shards.

    Args:
        address: A file, a folder, a pattern such as `logs/*.parquet`, or such an address in an
            object store.
        source: Name of the data set; None: as an import names each file.
        shard_size: Parquet files with more rows are cut between row groups into shards of about
            so many; None: a file is a shard.
        results: A results folder: its tables, journals and manifest are no source, and neither
            are those of any other one that lies within the source, unless one of them is the file
            that was named.
        wave: Folder of a wave: its questions and answers are no source, as those of any other one.
        on_left_out: Called with how many files were left out so, by folder; not called without any.

    Returns:
        The shards in order of their files; names are unique.

    Raises:
        InputError: It holds no data file but results, or cannot be looked at.
        ConfigError: The address holds a key, `shard_size` is below 1, or pyarrow is not installed.
    """
    if shard_size is not None and shard_size < 1:
        raise ConfigError(f"the shard size is {shard_size}; expected 1 or more rows")
    text = str(address)
    if not text.strip():
        raise ConfigError("the source has no name; expected a file, a folder or a pattern")
    check_address_has_no_key(text)
    found = _list_remote(text) if is_object_store_address(text) else _list_local(text)
    own_output = OwnOutputFolders(_read_file_or_none, results, wave)
    if not _is_named_file(text, found):
        found = [
            each for each in found if not own_output.recognise_and_count_own_file(each.address)
        ]
    if own_output.counts:
        folders = ", ".join(sorted(own_output.counts))
        if not found:
            raise InputError(
                f"holds only what faithtui wrote: tables, journals, questions and answers in "
                f"{folders} are no source. Name a file, or another folder with -o",
                path=Path(text),
            )
        on_left_out(own_output.counts)
    if not found:
        raise InputError(
            "holds no JSON, CSV, Parquet or Arrow file; name a file, a folder or a pattern",
            path=Path(text),
        )
    shards: list[Shard] = []
    for each in found:
        name = make_shard_dataset_name(Path(each.relative)) if source is None else source
        whole = Shard(_make_shard_name(each.relative), each.address, name, each.size)
        shards += [whole] if shard_size is None else _split_by_row_groups(whole, shard_size)
    return _make_names_unique(shards)


def find_shard(shards: Sequence[Shard], name: str) -> Shard:
    """Find a shard by its name.

    Raises:
        ConfigError: There is none.
    """
    for each in shards:
        if each.name == name:
            return each
    shown = ", ".join(each.name for each in shards[:8])
    more = f" and {len(shards) - 8:,} more" if len(shards) > 8 else ""
    raise ConfigError(f"there is no shard `{name}`; known: {shown}{more}")


def select_shards(shards: Sequence[Shard], wanted: str) -> tuple[Shard, ...]:
    """Choose the shard of a name, or the Nth of M parts of all, as `3/8`.

    Part N has every Mth shard, so that large neighbours are dealt out.

    Raises:
        ConfigError: There is no such shard or part.
    """
    number, slash, parts = wanted.partition("/")
    if not (slash and number.isdecimal() and parts.isdecimal()):
        return (find_shard(shards, wanted),)
    if not 1 <= int(number) <= int(parts):
        raise ConfigError(f"--shard is {wanted}; expected N/M with N from 1 to M, such as 3/8")
    return tuple(shards[int(number) - 1 :: int(parts)])


def is_object_store_address(address: str) -> bool:
    """Say whether an address names something in an object store."""
    return _SCHEME.match(address) is not None


def is_opened_by_pyarrow(address: str) -> bool:
    """Say whether pyarrow itself opens such addresses, without a package that asks a server."""
    return address.partition("://")[0].lower() in _STORES


def check_address_has_no_key(address: str) -> None:
    """See that an address holds no key: it is printed, and written down with the results.

    Raises:
        ConfigError: It does.
    """
    scheme, _, rest = address.partition(":/")  # a path has one slash where an address has two
    host, slash, _ = rest.lstrip("/").partition("/")
    if scheme == "file":
        return
    before, at, _ = host.rpartition("@")
    # Azure names a container so; and a secret may have a slash.
    is_container = scheme.startswith("abfs") and ":" not in before
    is_cut = slash and "@" in rest and not re.fullmatch(r"[^:]*(:[0-9]*)?", host)
    if _SCHEME.match(f"{scheme}://") and ((at and not is_container) or is_cut):
        raise ConfigError(
            f"the address {scheme}://… holds a user or a key before its `@`; leave that out: keys "
            "come from the environment, as pyarrow takes them"
        )


@dataclass(frozen=True, slots=True)
class _FoundFile:
    address: str
    relative: str
    """Its path from the folder that was named, with `/`."""
    size: int


def _is_named_file(text: str, found: Sequence[_FoundFile]) -> bool:
    """Say whether a source is a file that was named, and no folder or pattern."""
    if is_object_store_address(text):
        return [each.address for each in found] == [text]
    return expand_home(text).is_file()


def _list_local(text: str) -> list[_FoundFile]:
    path = expand_home(text)
    if path.is_dir():
        base, files = path, list_data_files(path)
    elif path.exists():
        base, files = path.parent, [path]
    else:
        if not glob.has_magic(text):
            raise InputError("is not there", path=path)
        base = get_folder_before_wildcard(path)
        files = [each for each in list_files_of_pattern(path) if each.is_file()]
    base = base.absolute()
    return [
        _FoundFile(str(file), file.relative_to(base).as_posix(), file.stat().st_size)
        for file in (each.absolute() for each in files)
    ]


def _open_file_system(address: str) -> tuple[Any, str]:
    """Give the file system of an address, and its path there.

    Raises:
        InputError: pyarrow knows no such address.
    """
    pa = require_pyarrow()
    from pyarrow import fs

    try:
        if not is_opened_by_pyarrow(address):
            raise ValueError("no store that pyarrow reads is addressed so")  # noqa: TRY301
        system, path = fs.FileSystem.from_uri(address)
    except (pa.ArrowException, OSError, ValueError, ImportError) as error:
        raise InputError(
            f"cannot be opened: {error}; expected s3://, gs:// or file://, and %20 for a space",
            path=Path(address),
        ) from error
    return system, path


def _list_remote(address: str) -> list[_FoundFile]:
    pa = require_pyarrow()
    from pyarrow import fs

    # A pattern is no valid address: its fixed part is opened, the rest is matched here.
    scheme, _, rest = address.partition("://")
    parts = rest.split("/")
    wild = next((place for place, part in enumerate(parts) if glob.has_magic(part)), None)
    pattern = None if wild is None else "/".join(parts[wild:])
    base = f"{scheme}://" + "/".join(parts[:wild])
    system, path = _open_file_system(base)
    try:
        root = system.get_file_info(path)
        if root.type == fs.FileType.File:
            return [_FoundFile(base, root.base_name, root.size or 0)]
        infos = system.get_file_info(fs.FileSelector(path, recursive=True))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot be looked at: {error}", path=Path(address)) from error
    found = []
    for each in sorted(infos, key=lambda info: str(info.path)):
        relative = each.path.removeprefix(path).lstrip("/")
        is_wanted = (
            is_data_file_name(Path(relative), Path())
            if pattern is None
            else _matches_pattern(relative, pattern)
        )
        if each.type == fs.FileType.File and is_wanted:
            address = f"{base.rstrip('/')}/{quote(relative, safe=_PLAIN)}"
            found.append(_FoundFile(address, relative, each.size or 0))
    return found


def _matches_pattern(path: str, pattern: str) -> bool:
    """Match part by part, so that `*` stays within a folder and `**` goes through any."""
    names, wanted = path.split("/"), pattern.split("/")
    if wanted[0] == "**":
        rest = "/".join(wanted[1:])
        return not rest or any(
            _matches_pattern("/".join(names[n:]), rest) for n in range(len(names))
        )
    if not fnmatch(names[0], wanted[0]):
        return False
    if len(names) == 1 or len(wanted) == 1:
        return len(names) == len(wanted)
    return _matches_pattern("/".join(names[1:]), "/".join(wanted[1:]))


def _split_by_row_groups(shard: Shard, size: int) -> list[Shard]:
    """Cut a Parquet file between row groups; other files stay whole."""
    pa = require_pyarrow()
    try:
        with _open_input(shard.address) as file:
            if file.read(len(PARQUET)) != PARQUET:
                return [shard]
            try:
                rows = Footer(file).list_row_counts()
            except InputError:
                return [shard]  # whoever measures it says what is wrong
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"cannot be read as Parquet: {error}", path=Path(shard.address)) from error
    if sum(rows) <= size:
        return [shard]
    cuts: list[Shard] = []
    begin = first_row = count = 0
    for number, more in enumerate(rows):
        if count and count + more > size:
            share = count / sum(rows)
            cuts.append(_make_row_group_shard(shard, first_row, (begin, number), share))
            begin, first_row, count = number, first_row + count, 0
        count += more
    cuts.append(_make_row_group_shard(shard, first_row, (begin, len(rows)), count / sum(rows)))
    return cuts


def _make_row_group_shard(
    shard: Shard, first_row: int, groups: tuple[int, int], share: float
) -> Shard:
    name = f"{shard.name}.row-{first_row:010}"
    return replace(shard, name=name, share=share, first_row=first_row, groups=groups)


@contextmanager
def _open_input(address: str) -> Iterator[Any]:
    if not is_object_store_address(address):
        with Path(address).open("rb") as file:
            yield file
        return
    system, path = _open_file_system(address)
    with system.open_input_file(path) as opened:
        yield opened


def _read_file_or_none(address: str) -> bytes | None:
    """Read a small file; None: there is none, or nobody may look.

    Raises:
        InputError: It is in an object store and cannot be read.
    """
    if not is_object_store_address(address):
        try:
            return Path(address).read_bytes()
        except OSError:
            return None
    pa = require_pyarrow()
    from pyarrow import fs

    try:
        system, path = _open_file_system(address)
        is_there = system.get_file_info(path).type == fs.FileType.File
    except (InputError, pa.ArrowException, OSError):
        return None  # above what was named, where a key of one folder may not look
    if not is_there:
        return None
    try:
        with system.open_input_file(path) as file:
            return bytes(file.read())
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot be read: {error}", path=Path(address)) from error


def _copy_file(address: str, target: Path) -> None:
    with _open_input(address) as file, target.open("wb") as copy:
        shutil.copyfileobj(file, copy, COPY_PIECE)


def _copy_row_groups(address: str, groups: tuple[int, int], target: Path) -> None:
    with _open_input(address) as file, target.open("wb") as copy:
        copy_row_groups(file, range(*groups), copy)


def _get_file_name(address: str) -> str:
    return address.rstrip("/").rpartition("/")[2] or "shard"


def _make_shard_name(relative: str) -> str:
    """Name a shard after its file, in letters that any file name may have."""
    name = _UNSAFE.sub("_", relative.replace("/", "__"))
    if len(name) <= _LONGEST_NAME and not name.startswith("."):
        return name
    return f"shard-{_hash(relative)}{name[-40:]}"


def _make_names_unique(shards: Sequence[Shard]) -> tuple[Shard, ...]:
    """Tell shards apart whose files differ in letters that were replaced."""
    counted = {
        name: len(list(same)) for name, same in groupby(sorted(each.name for each in shards))
    }
    return tuple(each if counted[each.name] == 1 else add_address_to_name(each) for each in shards)


def add_address_to_name(shard: Shard) -> Shard:
    """Tell a shard apart from one whose file has the same name elsewhere."""
    return replace(shard, name=f"{shard.name}-{_hash(shard.address)}")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]
