"""A Parquet file whose pages are too large for memory is read as pyarrow would read it whole."""

import contextlib
import io
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from faithtui.domain.limits import MB
from faithtui.errors import InputError
from faithtui.formats.files import parquet_copy, parquet_pages
from faithtui.formats.files.columns import read_column_records
from faithtui.formats.files.record_files import RecordFile
from faithtui.formats.files.thrift import ThriftReader, write_struct

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

WORDS = ("open", "depot", "Monday", "déjà", "—")


def make_rows(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Make rows of lists in objects in lists, with nulls and empty lists at every level."""
    chance = Random(seed)

    def text() -> str | None:
        words = chance.choices(WORDS, k=chance.choice([0, 1, 3, 400]))
        return chance.choice([None, " ".join(words), " ".join(words)])

    def message() -> dict[str, Any]:
        documents = [text() for _ in range(chance.randrange(4))]
        return {"role": "user", "content": text(), "documents": chance.choice([None, documents])}

    return [
        {
            "id": f"c{number}",
            "number": number,
            "question": text(),
            "messages": chance.choice([None, [message() for _ in range(chance.randrange(4))]]),
        }
        for number in range(count)
    ]


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages of a few kilobytes count as large ones, so that all of it runs on small files."""
    monkeypatch.setattr(parquet_copy, "_LARGE_PAGE", 500)
    monkeypatch.setattr(parquet_copy, "_LONG_TEXT", 200)
    monkeypatch.setattr(parquet_copy, "_NEW_PAGE", 1000)
    monkeypatch.setattr(parquet_pages, "_AT_ONCE", 400)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("codec", ["none", "snappy", "zstd", "gzip", "brotli", "lz4"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_rows_come_as_pyarrow_gives_them(
    tmp_path: Path, codec: str, version: str, dictionary: bool
) -> None:
    path = tmp_path / "x.parquet"
    rows = make_rows(120)
    parquet.write_table(
        pa.Table.from_pylist(rows),
        path,
        compression=codec,
        data_page_version=version,
        use_dictionary=dictionary,
        row_group_size=50,
    )
    with path.open("rb") as file:
        plan = parquet_copy.plan_row_group(file, parquet.read_metadata(path), 0, 256)
    assert [plan.chunks[column].name for column in sorted(plan.copied)] == [
        "question",
        "messages.list.element.content",
        "messages.list.element.documents.list.element",
    ]
    assert list(read_column_records(path, b"PAR1")) == rows


def test_small_pages_are_read_from_the_file_itself(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    rows = make_rows(50)
    parquet.write_table(pa.Table.from_pylist(rows), path, use_dictionary=False)
    with path.open("rb") as file:
        plan = parquet_copy.plan_row_group(file, parquet.read_metadata(path), 0, 256)
    assert not plan.copied
    assert plan.rows_at_once == 256
    assert list(read_column_records(path, b"PAR1")) == rows


def test_a_row_that_is_too_large_is_refused_alone(tmp_path: Path) -> None:
    """Neither one text of 25 MB nor a list of 40 MB is held, and what comes after it is read."""
    path = tmp_path / "x.parquet"
    texts = [["a"], ["b" * 25 * MB], ["c"], ["d" * MB] * 40, ["e"]]
    parquet.write_table(pa.table({"id": [*map(str, range(5))], "texts": texts}), path)
    with RecordFile(path) as file:
        found = [each.found for each in file]
    whole = [each["texts"] for each in found if isinstance(each, dict)]
    assert whole == [["a"], ["c"], ["e"]]
    for place, size in ((1, 25 * MB), (3, 40 * MB)):
        error = found[place]
        assert isinstance(error, InputError)
        assert error.line == place + 1
        sentence = (
            "a row of a Parquet or Arrow file may have 25,165,824 bytes of text in memory, and"
        )
        assert f"{sentence} this has {size:,}; split the conversation, or write" in str(error)


@pytest.mark.usefixtures("small_limits")
def test_a_text_that_looks_like_a_marker_stays_a_text(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    texts = ["0" * 32 + " 0 5", "x" * 3000]
    parquet.write_table(pa.table({"text": texts}), path)
    assert list(read_column_records(path, b"PAR1")) == [{"text": each} for each in texts]


def test_a_row_whose_lists_have_too_much_text_is_refused(tmp_path: Path) -> None:
    """Of pages small enough to need no copy: twelve columns of 3 MB."""
    path = tmp_path / "x.parquet"
    columns = {f"text{number}": [["a" * 3 * MB], ["b"]] for number in range(12)}
    parquet.write_table(pa.table(columns), path, use_dictionary=False)
    with RecordFile(path) as file:
        large, small = (each.found for each in file)
    assert isinstance(small, dict)
    assert "a row of a Parquet or Arrow file may have 25,165,824 bytes" in str(large)


def test_texts_of_lists_count_for_the_size_of_a_row(tmp_path: Path) -> None:
    """By it, records are put into transactions and into the sample that is held."""
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"texts": [["a" * 5000, "b" * 5000]]}), path)
    with RecordFile(path) as file:
        [record] = file
    assert record.size >= 10_000


@pytest.mark.usefixtures("small_limits")
def test_what_cannot_be_read_in_bounds_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_pages, "PAGE_MOST", 3000)
    monkeypatch.setattr(parquet_copy, "PAGE_MOST", 3000)
    texts = [f"{number} the depot is open" for number in range(500)]
    cases: tuple[tuple[str, dict[str, list[Any]], dict[str, Any], str], ...] = (
        (
            "numbers",
            {"n": list(range(1000))},
            {"use_dictionary": False},
            "column 'n' of row group 1 has a page of 8,",
        ),
        (
            "lz4",
            {"text": texts},
            {"use_dictionary": False, "compression": "lz4"},
            "packed as LZ4, and one packed so may have 3,000; write the file with smaller row",
        ),
        (
            "delta",
            {"text": texts},
            {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"},
            "bytes in encoding 7, which is read in small pages only; write the file with smaller",
        ),
    )
    for name, columns, settings, sentence in cases:
        path = tmp_path / f"{name}.parquet"
        parquet.write_table(pa.table(columns), path, **settings)
        with pytest.raises(InputError, match=name) as told:
            list(read_column_records(path, b"PAR1"))
        assert sentence in str(told.value)


@pytest.mark.usefixtures("small_limits")
def test_a_copy_does_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_copy, "COPY_MOST", 20_000)
    path = tmp_path / "x.parquet"
    for text in ("x" * 190, "x" * 900):  # in the pages, and beside them
        parquet.write_table(pa.table({"text": [text] * 500}), path, use_dictionary=False)
        with pytest.raises(InputError, match="has more than 20,000 bytes of text in one row group"):
            list(read_column_records(path, b"PAR1"))


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
def test_a_damaged_file_is_an_error_and_no_crash(tmp_path: Path, codec: str) -> None:
    whole = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(make_rows(30)), whole, compression=codec)
    chance = Random(3)
    path = tmp_path / "x.parquet"
    refused = 0
    for _ in range(100):
        data = bytearray(whole.getvalue())
        for _ in range(chance.choice([1, 1, 5])):
            data[chance.randrange(4, len(data) - 8)] = chance.randrange(256)
        path.write_bytes(data)
        with contextlib.suppress(InputError):
            refused += 1
            json.dumps(list(read_column_records(path, b"PAR1")))
            refused -= 1
    assert 5 < refused < 100


def test_text_that_is_not_utf_8_is_an_error_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"text": ["a depot"]}), path, compression="none")
    path.write_bytes(path.read_bytes().replace(b"a depot", b"a d\xffpot"))
    with pytest.raises(InputError, match=r"x\.parquet: holds text that is not UTF-8"):
        list(read_column_records(path, b"PAR1"))


def test_snappy_is_unpacked_piece_by_piece() -> None:
    chance = Random(5)
    parts = [
        chance.randbytes(70_000),
        b"ab" * 40_000,
        b"",
        b"x" * 5 * MB,
        b"The depot is open. " * 9,
    ]
    parts.append(" ".join(chance.choices(WORDS, k=300_000)).encode())
    for data in (*parts, b"".join(parts)):
        packed = pa.compress(data, codec="snappy", asbytes=True)
        pieces = list(parquet_pages.unpack_snappy(io.BytesIO(packed)))
        assert b"".join(pieces) == data
        assert max(map(len, pieces)) < 3 * MB
    with pytest.raises(ValueError, match="points outside"):
        list(parquet_pages.unpack_snappy(io.BytesIO(b"\x08\x05\x09")))


def test_thrift_is_written_as_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.Table.from_pylist(make_rows(60)), path, row_group_size=20)
    data = path.read_bytes()
    size = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - size : -8]
    assert write_struct(ThriftReader(footer).read_struct()) == footer
