"""Parquet and Arrow files, batch by batch; needs the extra `parquet`.

pyarrow and not DuckDB: it reads the Arrow files of Hugging Face data sets too, which DuckDB does
not, and is there already where `datasets` is (docs/decisions/0039-pyarrow-for-columns.md).
"""

import errno
import itertools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any, Final

from faithtui.domain.limits import COLUMNS_ROW, MB
from faithtui.errors import FileUnreadable, InputError
from faithtui.formats.files.arrow_batches import read_arrow_batches
from faithtui.formats.files.parquet_copy import (
    Footer,
    RowGroupPlan,
    copy_row_group,
    plan_row_group_copy,
)

_ROWS: Final = 256
_BYTES: Final = MB
"""Rows that are held at a time, and about how many bytes of them as pyarrow holds them: a row may
have megabytes, and a number takes eight times as many in Python."""

_ROWS_WITHOUT_BYTES: Final = 1_000_000
"""Rows that a file may have beyond one for each of its bytes: a null takes none, and neither does a
value that is the same in all rows, so that a file of a kilobyte could have rows without end."""

_BUFFER: Final = 1 << 16

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_FindText = Callable[[str, str], str]
"""Gives the text that is meant by one in a column, and is told what to do with bytes of it that
are not UTF-8."""

_MISSING: Final = (
    "is a Parquet or Arrow file; reading it needs pyarrow: pip install 'faithtui[parquet]'"
)


def read_parquet_or_arrow_rows(path: Path, head: bytes) -> Iterator[dict[str, Any] | str]:
    """Read the rows of a Parquet file, an Arrow file or an Arrow stream.

    Args:
        path: The file.
        head: Its first bytes, which say which of them it is.

    Yields:
        Every row, nested values as lists and objects; bytes and times become text. A text says why
        a row cannot be used.

    Raises:
        InputError: pyarrow is not there, the file is damaged, or cannot be read in bounded memory.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise InputError(_MISSING, path=path) from error
    try:
        if head.startswith(b"PAR1"):
            rows = _read_parquet_rows(path)
        else:
            rows = _iterate_batch_rows_as_json(read_arrow_batches(path))
        yield from _refuse_rows_without_bytes(rows, path)
    except UnicodeDecodeError as error:
        raise InputError(
            f"holds text that is not UTF-8 ({error.reason}); write its bytes as UTF-8", path=path
        ) from error
    except (
        pa.ArrowException,
        OSError,
        LookupError,
        OverflowError,
        TypeError,
        ValueError,
    ) as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:  # nothing else is written
            raise FileUnreadable(
                "is copied into smaller pieces to be read, and there is no room for the "
                f"copy in {tempfile.gettempdir()}; make some, or set TMPDIR to a folder that has",
                path=path,
            ) from error
        is_of_system = isinstance(error, OSError) and error.errno is not None
        raise (FileUnreadable if is_of_system else InputError)(
            f"cannot be read as Parquet or Arrow: {_join_lines(error)}; it may be cut off",
            path=path,
        ) from error
    except InputError as error:
        raise InputError(error.reason, path=path) from error


def _join_lines(error: Exception) -> str:
    """Write what an error says on one line, to go on behind it."""
    return " ".join(str(error).split()).rstrip(".")


def _refuse_rows_without_bytes(
    rows: Iterator[dict[str, Any] | str], path: Path
) -> Iterator[dict[str, Any] | str]:
    most = _compute_max_rows(path)
    number = itertools.count(1)

    def count_row(row: dict[str, Any] | str) -> dict[str, Any] | str:
        if next(number) > most:
            raise _make_too_many_rows_error(path, f"more than {most:,}")
        return row

    return map(count_row, rows)  # no row is held here while it is dealt with


def _compute_max_rows(path: Path) -> int:
    return path.stat().st_size + _ROWS_WITHOUT_BYTES


def _make_too_many_rows_error(path: Path, rows: str) -> InputError:
    size = path.stat().st_size
    return InputError(
        f"has {rows} rows in {size:,} bytes, and a file of that size may have "
        f"{_compute_max_rows(path):,}; leave out rows that are empty or all alike"
    )


def _return_text_unchanged(text: str, _: str) -> str:
    return text


def _read_parquet_rows(path: Path) -> Iterator[dict[str, Any] | str]:
    """Read row group by row group; one with large pages is copied first, with small ones."""
    with path.open("rb") as raw, _open_parquet_by_page(path) as file:
        groups = map(file.metadata.row_group, range(file.num_row_groups))
        rows = sum(group.num_rows for group in groups)
        if rows > _compute_max_rows(path):
            raise _make_too_many_rows_error(path, f"{rows:,}")
        footer = Footer(raw)
        for number in range(file.num_row_groups):
            plan = plan_row_group_copy(raw, footer, file.schema, number, _ROWS)
            if plan.copied:
                yield from _read_rows_from_small_page_copy(raw, footer, number, plan)
            else:
                # One by one: together, pyarrow holds what it read of all of them.
                batches = file.iter_batches(plan.rows_at_once, row_groups=[number])
                yield from _iterate_batch_rows_as_json(batches)


def _open_parquet_by_page(source: Any) -> Any:
    """Open a file so that of each column a page is held, and not all of a row group."""
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(source, pre_buffer=False, buffer_size=_BUFFER)


def _read_rows_from_small_page_copy(
    raw: IO[bytes], footer: Footer, number: int, plan: RowGroupPlan
) -> Iterator[dict[str, Any] | str]:
    with (
        closing(copy_row_group(raw, footer, number, plan)) as copy,
        _open_parquet_by_page(copy.file) as file,
    ):
        batches = file.iter_batches(copy.rows_at_once, use_threads=False)
        row = itertools.count()
        # No row is held here while it is dealt with, as a loop would.
        yield from map(
            lambda cells: COLUMNS_ROW.find_size_problem(copy.too_large.get(next(row), 0)) or cells,
            _iterate_batch_rows_as_json(batches, copy.texts.resolve_marker),
        )


def _iterate_batch_rows_as_json(
    batches: Any, find: _FindText = _return_text_unchanged
) -> Iterator[dict[str, Any] | str]:
    """Give rows one by one.

    Args:
        batches: Batches of pyarrow; a text in between stands for a row that cannot be used.
        find: Gives the text for one that stands in a column.
    """
    for batch in batches:
        if isinstance(batch, str):
            yield batch
            continue
        most = max(1, min(_ROWS, _BYTES * batch.num_rows // max(1, batch.nbytes)))
        for start in range(0, batch.num_rows, most):
            rows = batch.slice(start, most).to_pylist()[::-1]
            if start + most >= batch.num_rows:
                del batch
            while rows:  # none is held here while it is dealt with
                yield {name: _to_json(value, find) for name, value in rows.pop().items()}


def _to_json(value: Any, find: _FindText) -> Any:
    match value:
        case str():
            return find(value, "strict")
        case None | bool() | int() | float():
            return value
        case list() | tuple():
            return [_to_json(each, find) for each in value]
        case dict():
            return {find(str(name), "strict"): _to_json(each, find) for name, each in value.items()}
        case bytes():
            return find(value.decode("utf-8", errors="replace"), "replace")
        case _:
            return str(value)
