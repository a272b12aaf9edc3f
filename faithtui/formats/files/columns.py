"""Parquet and Arrow files, batch by batch; needs the extra `parquet`.

pyarrow and not DuckDB: it reads the Arrow files of Hugging Face data sets too, which DuckDB does
not, and is there already where `datasets` is (docs/decisions/0039-pyarrow-for-columns.md).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from faithtui.errors import InputError

_ROWS: Final = 256
_BYTES: Final = 8 * 2**20
"""Rows that are held at a time, and about how many bytes of them: a row may have megabytes."""

_MISSING: Final = (
    "is a Parquet or Arrow file; reading it needs pyarrow: pip install 'faithtui[parquet]'"
)


def read_column_records(path: Path, head: bytes) -> Iterator[dict[str, Any]]:
    """Read the rows of a Parquet file, an Arrow file or an Arrow stream.

    Args:
        path: The file.
        head: Its first bytes, which say which of them it is.

    Yields:
        Every row, nested values as lists and objects; bytes and times become text.

    Raises:
        InputError: pyarrow is not there, or the file is damaged.
    """
    try:
        import pyarrow as pa
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise InputError(_MISSING, path=path) from error
    try:
        if head.startswith(b"PAR1"):
            with pyarrow.parquet.ParquetFile(path) as file:
                for number in range(file.num_row_groups):
                    group = file.metadata.row_group(number)
                    rows = _count_rows(group.total_byte_size, group.num_rows)
                    # One by one: together, pyarrow holds what it read of all of them.
                    yield from _list_rows(file.iter_batches(rows, row_groups=[number]))
        elif head.startswith(b"ARROW1"):
            with pyarrow.ipc.open_file(path) as opened:
                batches = (opened.get_batch(n) for n in range(opened.num_record_batches))
                yield from _list_rows(batches)
        else:
            with pa.OSFile(str(path)) as source, pyarrow.ipc.open_stream(source) as stream:
                yield from _list_rows(stream)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"cannot be read as Parquet or Arrow: {error}; it may be cut off", path=path
        ) from error


def _count_rows(size: int, rows: int) -> int:
    """Say how many rows to hold at a time, of so many that have so many bytes together."""
    return max(1, min(_ROWS, _BYTES * rows // max(1, size)))


def _list_rows(batches: Any) -> Iterator[dict[str, Any]]:
    for batch in batches:
        most = _count_rows(batch.nbytes, batch.num_rows)
        for start in range(0, batch.num_rows, most):
            rows = batch.slice(start, most).to_pylist()[::-1]
            while rows:  # none is held here while it is dealt with
                yield {name: _to_json(value) for name, value in rows.pop().items()}
        del batch


def _to_json(value: Any) -> Any:
    match value:
        case None | str() | bool() | int() | float():
            return value
        case list() | tuple():
            return [_to_json(each) for each in value]
        case dict():
            return {str(name): _to_json(each) for name, each in value.items()}
        case bytes():
            return value.decode("utf-8", errors="replace")
        case _:
            return str(value)
