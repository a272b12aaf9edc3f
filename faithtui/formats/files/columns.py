"""Parquet and Arrow files, batch by batch; needs the extra `parquet`.

pyarrow and not DuckDB: it reads the Arrow files of Hugging Face data sets too, which DuckDB does
not, and is there already where `datasets` is (docs/decisions/0039-pyarrow-for-columns.md).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from faithtui.errors import InputError

_ROWS: Final = 256
"""Rows that are held at a time: few, as a row of passages may have a megabyte."""

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
                yield from _list_rows(file.iter_batches(batch_size=_ROWS))
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


def _list_rows(batches: Any) -> Iterator[dict[str, Any]]:
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS):
            for row in batch.slice(start, _ROWS).to_pylist():
                yield {name: _to_json(value) for name, value in row.items()}


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
