"""A limit on the size of files is named: SQLite calls it an error of the disk."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from faithtui.errors import ExportError, StoreError
from faithtui.output_files import write_text
from faithtui.store.file.database_errors import translate_errors

resource = pytest.importorskip("resource")

MOST = 50_000


@contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_store_that_may_not_grow_names_the_limit_and_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with (
        pytest.raises(StoreError, match=r"50,000 bytes .*`ulimit -f unlimited`.* quota"),
        closing(sqlite3.connect(path)) as raw,
        files_limited_to(MOST),
        translate_errors(path),
    ):
        raw.execute("CREATE TABLE t AS SELECT zeroblob(100000)")


def test_a_file_that_may_not_grow_is_not_told_to_take_another_name(tmp_path: Path) -> None:
    with (
        pytest.raises(ExportError, match="raise the limit on the size of files"),
        files_limited_to(MOST),
    ):
        write_text(tmp_path / "x", ["x" * 2 * MOST], force=False)
    assert list(tmp_path.iterdir()) == []
