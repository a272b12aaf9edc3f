"""A Parquet file whose pages are too large for memory is read as pyarrow would read it whole."""

import contextlib
import errno
import io
import json
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from faithtui.domain.limits import MB, RECORD_VALUES
from faithtui.errors import InputError
from faithtui.formats.files import parquet_copy, parquet_pages
from faithtui.formats.files.columns import read_parquet_or_arrow_rows
from faithtui.formats.files.record_files import RecordFile
from faithtui.formats.files.thrift import (
    BINARY,
    I32,
    I64,
    LIST,
    MAP,
    STRUCT,
    Struct,
    ThriftReader,
    encode_struct,
)

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")
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


def plan_first_group(path: Path) -> parquet_copy.RowGroupPlan:
    with path.open("rb") as file:
        schema = parquet.read_metadata(path).schema
        return parquet_copy.plan_row_group_copy(file, parquet_copy.Footer(file), schema, 0, 256)


def edit_footer(whole: bytes, edit: Callable[[Struct], None]) -> bytes:
    """Write a file with another footer."""
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    footer = ThriftReader(whole, start).read_struct()
    edit(footer)
    written = encode_struct(footer)
    return whole[:start] + written + len(written).to_bytes(4, "little") + b"PAR1"


def describe_first_column(footer: Struct) -> Struct:
    described: Struct = footer[4][1][1][0][1][1][1][0][3][1]
    return described


READ_ALL = """
import json, sys
from pathlib import Path
from faithtui.errors import InputError
from faithtui.formats.files import parquet_copy, parquet_pages
from faithtui.formats.files.columns import read_parquet_or_arrow_rows
parquet_copy._LARGE_PAGE, parquet_copy._LONG_TEXT, parquet_copy._NEW_PAGE = 500, 200, 1000
parquet_pages.AT_ONCE = 400
found = {}
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        rows = list(read_parquet_or_arrow_rows(path, b"PAR1"))
        found[path.name] = ["rows", json.dumps(rows)]
    except Exception as error:
        found[path.name] = [type(error).__name__, str(error)]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[str]]]:
    """Damaged files, read in a process of their own, which must not end before its time."""
    folder = tmp_path_factory.mktemp("damaged")
    write_packings(folder)
    write_random_damage(folder)
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    return folder, json.loads(done.stdout)


def write_packings(folder: Path) -> None:
    """Write a file for every number of a packing that a byte holds."""
    whole = io.BytesIO()
    parquet.write_table(pa.table({"text": ["a depot"]}), whole, compression="none")
    for number in range(256):

        def pack(footer: Struct, number: int = number) -> None:
            describe_first_column(footer)[4] = I32, number

        (folder / f"packing {number}").write_bytes(edit_footer(whole.getvalue(), pack))


def write_random_damage(folder: Path) -> None:
    """Write files with other bytes here and there, in footers above all.

    What stands there decides what is read, and how.
    """
    chance = Random(7)
    for number in range(200):
        if number % 20 == 0:
            file = io.BytesIO()
            parquet.write_table(
                pa.Table.from_pylist(make_rows(12, number)),
                file,
                compression=chance.choice(["none", "snappy", "zstd", "lz4"]),
                data_page_version=chance.choice(["1.0", "2.0"]),
                use_dictionary=chance.choice([True, False]),
            )
            whole = file.getvalue()
        footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
        data = bytearray(whole)
        for _ in range(chance.choice([1, 1, 2, 5])):
            start = chance.choice([4, footer, footer])
            data[chance.randrange(start, len(data) - 8)] = chance.randrange(256)
        (folder / f"{number}.parquet").write_bytes(data)


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages of a few kilobytes count as large ones, so that all of it runs on small files."""
    monkeypatch.setattr(parquet_copy, "_LARGE_PAGE", 500)
    monkeypatch.setattr(parquet_copy, "_LONG_TEXT", 200)
    monkeypatch.setattr(parquet_copy, "_NEW_PAGE", 1000)
    monkeypatch.setattr(parquet_pages, "AT_ONCE", 400)


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
    plan = plan_first_group(path)
    assert [plan.chunks[column].name for column in sorted(plan.copied)] == [
        "question",
        "messages.list.element.content",
        "messages.list.element.documents.list.element",
    ]
    assert list(read_parquet_or_arrow_rows(path, b"PAR1")) == rows


def test_small_pages_are_read_from_the_file_itself(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    rows = make_rows(50)
    parquet.write_table(pa.Table.from_pylist(rows), path, use_dictionary=False)
    plan = plan_first_group(path)
    assert not plan.copied
    assert plan.rows_at_once == 256
    assert list(read_parquet_or_arrow_rows(path, b"PAR1")) == rows


def test_pages_of_many_columns_are_not_held_together(tmp_path: Path) -> None:
    """Each is small enough by itself; of six with 4 MB, those are copied that are too many."""
    path = tmp_path / "x.parquet"
    texts = ["a" * 4 * MB, "b"]
    parquet.write_table(pa.table({f"text{number}": texts for number in range(6)}), path)
    assert plan_first_group(path).copied == {0, 1, 2, 3}
    rows = list(read_parquet_or_arrow_rows(path, b"PAR1"))
    assert rows == [{f"text{number}": text for number in range(6)} for text in texts]


def test_pages_of_numbers_count_with_those_of_texts(tmp_path: Path) -> None:
    """Half as much: pyarrow holds texts a second time."""
    path = tmp_path / "x.parquet"
    numbers = [[number / 8] * 9_000 for number in range(100)]
    columns: dict[str, list[Any]] = {"text": ["a" * 6 * MB, *"b" * 99]}
    columns |= {f"n{number}": numbers for number in range(4)}
    settings = {"use_dictionary": False, "data_page_size": 64 * MB, "write_batch_size": 10**9}
    parquet.write_table(pa.table(columns), path, **settings)
    assert plan_first_group(path).copied == {0, 1}
    rows = read_parquet_or_arrow_rows(path, b"PAR1")
    for row in range(5):
        assert next(rows) == {name: values[row] for name, values in columns.items()}


@pytest.mark.usefixtures("small_limits")
def test_texts_that_cannot_be_copied_are_left_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And those beside them are copied, numbers too, when their pages are too many together."""
    monkeypatch.setattr(parquet_copy, "HELD_MOST", 2000)
    monkeypatch.setattr(parquet_copy, "PAGE_MOST", 100)
    path = tmp_path / "x.parquet"
    columns: dict[str, list[Any]] = {
        f"text{number}": [f"{chance} the" for chance in range(40)] for number in range(6)
    }
    packings = dict.fromkeys(columns, "lz4")
    columns |= {"plain": ["x" * 9] * 40, "n": list(range(40))}
    table = pa.table(columns)
    packings |= {"plain": "none", "n": "none"}
    parquet.write_table(table, path, use_dictionary=False, compression=packings)
    assert plan_first_group(path).copied == {6, 7}
    assert list(read_parquet_or_arrow_rows(path, b"PAR1")) == table.to_pylist()


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("encoding", ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
def test_texts_written_as_differences_are_the_same(
    tmp_path: Path, encoding: str, version: str, codec: str
) -> None:
    """Alone and in lists, with nulls, long ones beside the copy, and a page of nulls alone."""
    path = tmp_path / "x.parquet"
    rows = make_rows(120)
    rows += [{**row, "question": None, "messages": None} for row in make_rows(60)]
    for number, row in enumerate(rows):
        row["longer"] = "the depot " * number + str(number)
        row["same"] = "the depot is open"
    names = ["question", "longer", "same"]
    names += ["messages.list.element.content", "messages.list.element.documents.list.element"]
    parquet.write_table(
        pa.Table.from_pylist(rows),
        path,
        compression=codec,
        use_dictionary=False,
        column_encoding=dict.fromkeys(names, encoding),
        data_page_version=version,
        row_group_size=60,
    )
    plan = plan_first_group(path)
    assert set(names) <= {plan.chunks[column].name for column in plan.copied}
    assert list(read_parquet_or_arrow_rows(path, b"PAR1")) == rows


def test_texts_that_begin_alike_are_held_one_at_a_time(tmp_path: Path) -> None:
    """60 texts of 1 MB are a page of 1 MB."""
    path = tmp_path / "x.parquet"
    texts = [f"{'the depot ' * 100_000}{number}" for number in range(60)]
    settings = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}
    parquet.write_table(pa.table({"text": texts}), path, **settings)
    assert path.stat().st_size < 2 * MB
    del texts
    held = pa.total_allocated_bytes()
    pool = pa.default_memory_pool()
    for number, row in enumerate(read_parquet_or_arrow_rows(path, b"PAR1")):
        assert isinstance(row, dict)
        assert row["text"].endswith(f"the depot {number}")
        assert pool.bytes_allocated() - held < 20 * MB


def test_a_page_of_too_many_texts_is_refused_in_encodings_whose_lengths_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five million empty texts are a page of some hundred kilobytes."""
    monkeypatch.setattr(parquet_pages, "DELTA_VALUES_MOST", 100)
    path = tmp_path / "x.parquet"
    settings = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}
    parquet.write_table(pa.table({"text": [""] * 101}), path, **settings)
    with pytest.raises(InputError) as told:
        list(read_parquet_or_arrow_rows(path, b"PAR1"))
    assert (
        "column 'text' has a page of 101 texts, and one in encoding 7 may have 100; write the file "
        "in another encoding (plain, or by dictionary), with smaller pages, or as JSON lines"
    ) in str(told.value)


def test_words_of_many_dictionaries_are_not_held_together(tmp_path: Path) -> None:
    """Ten columns of a word of 1 MB, twenty times each: 200 MB, whatever the footer says."""
    path = tmp_path / "x.parquet"
    columns = {f"text{number}": [str(number) * MB] * 20 for number in range(10)}
    parquet.write_table(pa.table(columns), path)

    def say_less(footer: Struct) -> None:
        footer[4][1][1][0][2] = I64, 1

    path.write_bytes(edit_footer(path.read_bytes(), say_less))
    plan = plan_first_group(path)
    assert plan.rows_at_once * (10 - len(plan.copied)) <= 10
    [first, *_] = read_parquet_or_arrow_rows(path, b"PAR1")
    assert first == {name: values[0] for name, values in columns.items()}


def test_long_numbers_are_held_few_at_a_time(tmp_path: Path) -> None:
    """Of a dictionary of one, which stands for 200 MB."""
    path = tmp_path / "x.parquet"
    values = pa.array([b"x" * MB] * 200, pa.binary(MB))
    parquet.write_table(pa.table({"bytes": values}), path)
    assert path.stat().st_size < 2 * MB
    assert plan_first_group(path).rows_at_once <= 8


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.int64(),
        pa.list_(pa.string()),
        pa.list_(pa.struct([("role", pa.string()), ("n", pa.float64())])),
    ],
    ids=["texts", "numbers", "lists", "objects"],
)
def test_a_row_group_without_rows_has_none(tmp_path: Path, kind: Any, dictionary: bool) -> None:
    """pyarrow writes that its dictionary begins at 4 and its data at 0."""
    path = tmp_path / "x.parquet"
    schema = pa.schema([("question", pa.string()), ("other", kind)])
    row = {"question": "When?", "other": None}
    files: tuple[list[list[dict[str, Any]]], ...] = [[]], [[row], [], [row]]
    for groups in files:
        with parquet.ParquetWriter(path, schema, use_dictionary=dictionary) as writer:
            for rows in groups:
                writer.write_table(pa.Table.from_pylist(rows, schema))
        assert parquet.read_metadata(path).num_row_groups == len(groups)
        found = list(read_parquet_or_arrow_rows(path, b"PAR1"))
        assert found == [row for rows in groups for row in rows]


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("codec", ["none", "snappy", "zstd", "lz4"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_copied_numbers_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codec: str, version: str, dictionary: bool
) -> None:
    """Of every kind, in lists and alone, with nulls and without."""
    monkeypatch.setattr(parquet_copy, "HELD_MOST", 300)
    chance = Random(4)
    numbers = [chance.randrange(-9, 9) for _ in range(200)]
    moment = datetime(2026, 11, 27, 12, 30)
    plain = {
        "bytes": pa.array([f"{n:+d}".encode() for n in numbers], pa.binary(2)),
        "decimal": pa.array([Decimal(n) / 4 for n in numbers], pa.decimal128(9, 2)),
        "double": pa.array([n / 3 for n in numbers], pa.float64()),
        "float": pa.array([n / 4 for n in numbers], pa.float32()),
        "int16": pa.array(numbers, pa.int16()),
        "int64": pa.array([n * 10**12 for n in numbers], pa.int64()),
        "list": pa.array([[n] * (n % 5) for n in numbers]),
        "lists": pa.array([[[n], None, [None, n]] if n else None for n in numbers]),
        "objects": pa.array([[{"n": n}, {"n": None}, None] if n else [] for n in numbers]),
        "time": pa.array([moment + timedelta(days=n) for n in numbers]),
    }
    nulls = [bool(n % 3) for n in numbers]
    columns = plain | {
        f"some {name}": pc.if_else(pa.array(nulls), values, None) for name, values in plain.items()
    }
    path = tmp_path / "x.parquet"
    parquet.write_table(
        pa.table(columns),
        path,
        compression=codec,
        data_page_version=version,
        use_dictionary=dictionary,
        use_deprecated_int96_timestamps=version == "1.0",
    )
    assert len(plan_first_group(path).copied) > 15
    rows = pa.table(columns).to_pylist()
    found = list(read_parquet_or_arrow_rows(path, b"PAR1"))
    assert len(found) == len(rows)
    for row, expected in zip(found, rows, strict=True):
        assert isinstance(row, dict)
        for name, value in expected.items():
            if isinstance(value, bytes):
                value = value.decode()
            elif isinstance(value, (datetime, Decimal)):
                value = str(value)
            assert row[name] == value, name


@pytest.mark.usefixtures("small_limits")
def test_copied_pages_are_small_when_there_are_many_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_copy, "_LARGE_PAGE", 12_000)
    monkeypatch.setattr(parquet_copy, "_NEW_PAGE_LEAST", 100)
    monkeypatch.setattr(parquet_copy, "HELD_MOST", 5000)
    path = tmp_path / "x.parquet"
    columns = {f"n{number}": list(range(1000)) for number in range(20)}
    parquet.write_table(pa.table(columns), path, use_dictionary=False)
    plan = plan_first_group(path)
    assert plan.new_page == 600
    with path.open("rb") as file:
        copy = parquet_copy.copy_row_group(file, parquet_copy.Footer(file), 0, plan)
    with contextlib.closing(copy):
        schema = parquet.read_metadata(path).schema
        again = parquet_copy.plan_row_group_copy(
            copy.file, parquet_copy.Footer(copy.file), schema, 0, 256
        )
        largest = max(
            page.size
            for chunk in again.chunks
            for page in parquet_pages.iterate_page_headers(copy.file, chunk)
        )
    assert largest < 1300


@pytest.mark.parametrize("kind", ["null", "int64", "string"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_a_row_of_too_many_values_is_refused_before_it_is_read(
    tmp_path: Path, kind: str, version: str
) -> None:
    """A file of a kilobyte: three million times the same value, in a few bytes."""
    count = 3 * RECORD_VALUES.most
    word = pa.array({"null": [None], "int64": [7], "string": ["a"]}[kind], getattr(pa, kind)())
    values = word.take(pa.array([0] * count, pa.int8()))
    lists = pa.ListArray.from_arrays(pa.array([0, 1, count], pa.int32()), values)
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"n": lists}), path, data_page_version=version)
    tracemalloc.start()
    with pytest.raises(InputError) as told:
        list(read_parquet_or_arrow_rows(path, b"PAR1"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (
        "row group 1 has rows that are too long, in the columns 'n.list.element': a record may "
        "have 1,000,000 values, and this has 2,999,999; split the conversation"
    ) in str(told.value)
    assert peak < 30 * MB


def test_few_of_the_longest_lists_of_numbers_are_held_together(tmp_path: Path) -> None:
    """However short the lists of other rows are."""
    longest = 120_000
    offsets = [number * longest for number in range(11)]
    offsets += [offsets[-1] + number for number in range(1, 5000)]
    values = pa.array([0.5], pa.float64()).take(pa.array([0] * offsets[-1], pa.int8()))
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"n": lists}), path, use_dictionary=False)
    assert plan_first_group(path).rows_at_once == 2


@pytest.mark.parametrize("value", [None, "open"])
def test_rows_for_which_no_byte_stands_are_refused_before_they_are_read(
    tmp_path: Path, value: str | None
) -> None:
    """Two million are a file of a kilobyte or two, and a billion were no more."""
    path = tmp_path / "x.parquet"
    texts = pa.array([value], pa.string()).take(pa.array([0] * 2_000_000, pa.int8()))
    parquet.write_table(pa.table({"text": texts}), path, row_group_size=1_000_000)
    size = path.stat().st_size
    assert size < 10_000
    with pytest.raises(InputError) as told:
        next(read_parquet_or_arrow_rows(path, b"PAR1"))
    assert (
        f"has 2,000,000 rows in {size:,} bytes, and a file of that size may have "
        f"{1_000_000 + size:,}; leave out rows that are empty or all alike"
    ) in str(told.value)


def test_rows_that_the_footer_does_not_count_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pages have fifty thousand, and it says that there are two."""
    monkeypatch.setattr("faithtui.formats.files.columns._ROWS_WITHOUT_BYTES", 1000)
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"text": pa.nulls(50_000, pa.string())}), path)

    def count_two(footer: Struct) -> None:
        group = footer[4][1][1][0]
        footer[3] = group[3] = I64, 2

    path.write_bytes(edit_footer(path.read_bytes(), count_two))
    rows = 0
    with contextlib.suppress(InputError):
        for _ in read_parquet_or_arrow_rows(path, b"PAR1"):
            rows += 1
    assert rows <= 1000 + path.stat().st_size < 10_000


@pytest.mark.thorough
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
    assert list(read_parquet_or_arrow_rows(path, b"PAR1")) == [{"text": each} for each in texts]


def test_a_row_whose_lists_have_too_much_text_is_refused(tmp_path: Path) -> None:
    """Twelve columns of 3 MB, each of them in small pages."""
    path = tmp_path / "x.parquet"
    columns = {f"text{number}": [["a" * 3 * MB], ["b"]] for number in range(12)}
    parquet.write_table(pa.table(columns), path, use_dictionary=False)
    with RecordFile(path) as file:
        large, small = (each.found for each in file)
    assert isinstance(small, dict)
    assert "a row of a Parquet or Arrow file may have 25,165,824 bytes" in str(large)


@pytest.mark.parametrize("values", [["a" * 5000, "b" * 5000], [0.5] * 500])
def test_values_of_lists_count_for_the_size_of_a_row(tmp_path: Path, values: list[Any]) -> None:
    """By it, records are put into transactions and into the sample that is held."""
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"values": [values]}), path)
    with RecordFile(path) as file:
        [record] = file
    assert record.size >= 10_000


@pytest.mark.usefixtures("small_limits")
def test_what_cannot_be_read_in_bounds_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_pages, "PAGE_MOST", 3000)
    monkeypatch.setattr(parquet_copy, "HELD_MOST", 9000)
    monkeypatch.setattr(parquet_copy, "NOT_COPIED_MOST", 9000)
    texts = [f"{number} the depot is open" for number in range(500)]
    cases: tuple[tuple[str, dict[str, list[Any]], dict[str, Any], str], ...] = (
        (
            "numbers",
            {name: list(range(1000)) for name in ("n", "m")},
            {"use_dictionary": False, "column_encoding": "BYTE_STREAM_SPLIT"},
            "bytes, in the columns 'n', 'm', and may "
            "have 9,000; leave them out, or write the file in another encoding (plain, or by "
            "dictionary), with smaller pages, or as JSON lines",
        ),
        (
            "lz4",
            {"text": texts},
            {"use_dictionary": False, "compression": "lz4"},
            "packed as LZ4, and one packed so may have 3,000; write the file with smaller row",
        ),
    )
    for name, columns, settings, sentence in cases:
        path = tmp_path / f"{name}.parquet"
        parquet.write_table(pa.table(columns), path, **settings)
        with pytest.raises(InputError, match=name) as told:
            list(read_parquet_or_arrow_rows(path, b"PAR1"))
        assert sentence in str(told.value)


@pytest.mark.usefixtures("small_limits")
def test_a_copy_does_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_copy, "COPY_MOST", 20_000)
    path = tmp_path / "x.parquet"
    for text in ("x" * 190, "x" * 900):  # in the pages, and beside them
        parquet.write_table(pa.table({"text": [text] * 500}), path, use_dictionary=False)
        with pytest.raises(InputError, match="has more than 20,000 bytes of text in one row group"):
            list(read_parquet_or_arrow_rows(path, b"PAR1"))


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
def test_a_damaged_file_is_an_error_and_no_crash(tmp_path: Path, codec: str) -> None:
    whole = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(make_rows(30)), whole, compression=codec)
    chance = Random(3)
    path = tmp_path / "x.parquet"
    refused = 0
    for _ in range(50):
        data = bytearray(whole.getvalue())
        for _ in range(chance.choice([1, 1, 5])):
            data[chance.randrange(4, len(data) - 8)] = chance.randrange(256)
        path.write_bytes(data)
        with contextlib.suppress(InputError):
            refused += 1
            json.dumps(list(read_parquet_or_arrow_rows(path, b"PAR1")))
            refused -= 1
    assert 3 < refused < 50


def test_text_that_is_not_utf_8_is_an_error_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"text": ["a depot"]}), path, compression="none")
    path.write_bytes(path.read_bytes().replace(b"a depot", b"a d\xffpot"))
    with pytest.raises(InputError, match=r"x\.parquet: holds text that is not UTF-8"):
        list(read_parquet_or_arrow_rows(path, b"PAR1"))


@pytest.mark.usefixtures("small_limits")
def test_a_long_text_that_is_not_utf_8_is_refused_too(tmp_path: Path) -> None:
    """Of a column of texts; one of bytes may hold any."""
    path = tmp_path / "x.parquet"
    data = pa.array([b"a" * 3000 + b"\xff", b"b"], pa.binary())
    parquet.write_table(pa.table({"text": data}), path, use_dictionary=False)
    assert list(read_parquet_or_arrow_rows(path, b"PAR1")) == [
        {"text": "a" * 3000 + "�"},
        {"text": "b"},
    ]
    texts = pa.Array.from_buffers(pa.string(), 2, data.buffers())
    parquet.write_table(pa.table({"text": texts}), path, use_dictionary=False)
    assert plan_first_group(path).copied
    sentence = r"x\.parquet: holds text that is not UTF-8 \(invalid start byte\); write its bytes"
    with pytest.raises(InputError, match=sentence):
        list(read_parquet_or_arrow_rows(path, b"PAR1"))


def test_no_number_of_a_packing_ends_the_process(
    damaged: tuple[Path, dict[str, list[str]]],
) -> None:
    """pyarrow throws what nobody can catch where it is asked for the name of an unknown one."""
    found = {
        name.removeprefix("packing "): told
        for name, told in damaged[1].items()
        if name.startswith("packing")
    }
    assert len(found) == 256
    assert found.pop("0") == ["rows", '[{"text": "a depot"}]']
    assert {kind for kind, _ in found.values()} == {"InputError"}
    for number in (8, 16, 127, 255):
        sentence = f"column 'text' is packed in a way that nobody knows (number {number}); the file"
        assert sentence in found[str(number)][1]


def test_random_damage_ends_in_rows_or_in_a_sentence(
    damaged: tuple[Path, dict[str, list[str]]],
) -> None:
    folder, found = damaged
    found = {name: told for name, told in found.items() if name.endswith(".parquet")}
    assert len(found) == 200
    others = {name: told for name, told in found.items() if told[0] not in ("rows", "InputError")}
    assert not others
    refused = {name: told[1] for name, told in found.items() if told[0] == "InputError"}
    assert 30 < len(refused) < 170
    assert all(f"{folder / name}: " in sentence for name, sentence in refused.items())


@pytest.mark.usefixtures("small_limits")
def test_maps_in_a_footer_are_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    texts = ["a depot " * 300, "b"]
    parquet.write_table(pa.table({"text": texts}), path)

    def add_maps(footer: Struct) -> None:
        footer[40] = MAP, (0, 0, [])
        footer[41] = MAP, (BINARY, LIST, [(b"key", (I32, [1, 2])), (b"", (I32, []))])

    data = edit_footer(path.read_bytes(), add_maps)
    assert edit_footer(data, lambda _: None) == data
    path.write_bytes(data)
    assert plan_first_group(path).copied
    assert list(read_parquet_or_arrow_rows(path, b"PAR1")) == [{"text": each} for each in texts]


def test_a_column_of_many_numbers_does_not_refuse_the_file(tmp_path: Path) -> None:
    """An embedding that nobody needs, in a page of 36 MB; few of its rows are held as numbers."""
    path = tmp_path / "x.parquet"
    numbers = pa.array([0.5], pa.float32()).take(pa.array([0] * 9 * MB, pa.int8()))
    table = pa.table({"n": pa.FixedSizeListArray.from_arrays(numbers, 4096)})
    settings = {"use_dictionary": False, "data_page_size": 64 * MB, "write_batch_size": 10**9}
    parquet.write_table(table, path, row_group_size=table.num_rows, **settings)
    rows = read_parquet_or_arrow_rows(path, b"PAR1")
    tracemalloc.start()
    assert next(rows) == {"n": [0.5] * 4096}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    rows.close()  # type: ignore[attr-defined]  # it is a generator
    assert peak < 30 * MB


def test_lists_in_lists_end_somewhere() -> None:
    for go in (ThriftReader.read_struct, lambda reader: reader.skip(STRUCT)):
        with pytest.raises(ValueError, match="nested too deep"):
            go(ThriftReader(b"\x19" * 5000))


@pytest.mark.parametrize("of", [1, 3, 5, 7, 8, 9, 12, 13])
def test_a_list_that_claims_more_than_there_is_ends_with_the_data(of: int) -> None:
    data = bytes([0x19, 0xF0 | of]) + b"\xff" * 9 + b"\x7f" + b"\x01" * 50
    with pytest.raises(ValueError, match=r"ends too early|field of type|nested too deep"):
        ThriftReader(data).skip(STRUCT)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG])
def test_a_full_disk_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    class FullFile(io.BytesIO):
        def write(self, _: Any) -> int:
            raise OSError(number, "no room")

    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"text": ["x" * 3000]}), path, use_dictionary=False)
    monkeypatch.setattr(parquet_copy, "TemporaryFile", FullFile)
    with pytest.raises(InputError) as told:
        list(read_parquet_or_arrow_rows(path, b"PAR1"))
    sentence = f"and there is no room for the copy in {tempfile.gettempdir()}; make some, or set"
    assert f"{sentence} TMPDIR to a folder that has" in str(told.value)


@pytest.mark.usefixtures("small_limits")
def test_a_dictionary_at_0_is_none(tmp_path: Path) -> None:
    """Some writers say so; the file is read itself, copied, and as what lies beside a copy."""

    def place_dictionary(footer: Struct) -> None:
        for column in footer[4][1][1][0][1][1][1]:
            column[3][1][11] = I64, 0

    path = tmp_path / "x.parquet"
    for columns, copied in (
        ({"a": ["x", "y"]}, set()),
        ({"a": ["x" * 3000, "y"]}, {0}),
        ({"a": ["x" * 150] * 90, "b": ["y"] * 90}, {0}),
    ):
        table = pa.table(columns)
        parquet.write_table(table, path, use_dictionary=False)
        path.write_bytes(edit_footer(path.read_bytes(), place_dictionary))
        assert plan_first_group(path).copied == copied
        assert list(read_parquet_or_arrow_rows(path, b"PAR1")) == table.to_pylist()


def test_the_header_of_a_page_may_have_16_megabytes() -> None:
    """Its least and largest value stand in it."""
    for size, is_read in ((15 * MB, True), (17 * MB, False)):
        statistics: Struct = {1: (BINARY, b"x" * size)}
        data: Struct = {1: (I32, 0), 2: (I32, 0), 5: (STRUCT, statistics)}
        header = encode_struct({1: (I32, 0), 2: (I32, 0), 3: (I32, 0), 5: (STRUCT, data)})
        chunk = parquet_pages.Chunk(0, len(header), "UNCOMPRESSED", 0, True, 0, 0, "text")
        pages = parquet_pages.iterate_page_headers(io.BytesIO(header), chunk)
        if is_read:
            assert [page.place for page in pages] == [len(header)]
        else:
            with pytest.raises(InputError, match="the header of a page is damaged"):
                list(pages)


def test_snappy_is_unpacked_piece_by_piece() -> None:
    chance = Random(5)
    parts = [
        chance.randbytes(70_000),
        b"ab" * 40_000,
        b"",
        b"x" * 5 * MB,
        b"The depot is open. " * 9,
    ]
    parts.append(" ".join(chance.choices(WORDS, k=60_000)).encode())
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
    assert encode_struct(ThriftReader(footer).read_struct()) == footer


def test_row_groups_are_located_without_reading_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a thousand of them with twenty columns each, that took a second or more."""
    read: list[int] = []
    read_struct = ThriftReader.read_struct

    def read_and_count(reader: ThriftReader, depth: int = 0) -> Struct:
        read.append(reader.place)
        return read_struct(reader, depth)

    monkeypatch.setattr(ThriftReader, "read_struct", read_and_count)
    counts = []
    for size in (60, 5):
        path = tmp_path / f"{size}.parquet"
        parquet.write_table(pa.Table.from_pylist(make_rows(60)), path, row_group_size=size)
        read.clear()
        with path.open("rb") as file:
            footer = parquet_copy.Footer(file)
        counts.append(len(read))
        assert footer.list_row_counts() == [size] * (60 // size)
    assert counts[0] == counts[1]


def test_what_is_skipped_ends_where_it_would_be_read_to() -> None:
    """And data that ends within it is refused, wherever that is."""
    inner: Struct = {1: (I32, 300), 2: (1, True), 40: (BINARY, b"x" * 200), 41: (7, b"12345678")}
    whole = encode_struct(
        {
            1: (I64, -(2**62)),
            3: (STRUCT, inner),
            20: (LIST, (STRUCT, [inner] * 16)),
            21: (LIST, (1, [1, 2])),
            22: (MAP, (BINARY, LIST, [(b"key", (I32, [1, 2]))])),
            23: (MAP, (0, 0, [])),
            24: (3, 7),
        }
    )
    reader = ThriftReader(whole + b"more")
    reader.skip(STRUCT)
    assert reader.place == len(whole)
    for end in range(0, len(whole), 7):
        with pytest.raises(ValueError, match="ends too early"):
            ThriftReader(whole[:end]).skip(STRUCT)
