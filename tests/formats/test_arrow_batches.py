"""An Arrow file is read a few rows at a time, however large its batches, as pyarrow reads it."""

import datetime
import decimal
import io
import json
import os
import struct
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from faithtui.domain.limits import MB
from faithtui.errors import InputError
from faithtui.formats.files import arrow_batches
from faithtui.formats.files.columns import read_parquet_or_arrow_rows
from faithtui.formats.files.flatbuffer import FlatTable
from faithtui.formats.files.record_files import RecordFile

pa = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")

HEADS = {"file": b"ARROW1\x00\x00", "stream": b"\xff\xff\xff\xff"}


def make_table(count: int) -> Any:
    """Make a column of each type that is read, with nulls and empty values."""
    chance = Random(4)

    def some(make: Callable[[], Any], kind: Any = None) -> Any:
        return pa.array([chance.choice([None, make(), make()]) for _ in range(count)], kind)

    def text() -> str:
        return chance.choice(["", "déjà —", "the depot is open on Monday"])

    def texts() -> list[str | None]:
        return [chance.choice([None, text()]) for _ in range(chance.randrange(4))]

    message = pa.struct([("role", pa.string()), ("documents", pa.list_(pa.string()))])
    numbers = some(lambda: chance.randrange(2), pa.int8())
    words = pa.array([{"a": ["x"]}, {"a": None}])
    return pa.table(
        {
            "text": some(text),
            "large": some(text, pa.large_string()),
            "view": some(text, pa.string_view()),
            "views": some(texts, pa.list_(pa.string_view())),
            "bytes": some(text, pa.binary()),
            "messages": some(
                lambda: [{"role": text(), "documents": texts()}, None], pa.list_(message)
            ),
            "lists": some(lambda: [texts(), None], pa.large_list(pa.list_(pa.string()))),
            "pairs": some(lambda: ["a", text()], pa.list_(pa.string(), 2)),
            "map": some(lambda: [("a", 1), (text(), None)], pa.map_(pa.string(), pa.int32())),
            "truth": some(lambda: chance.random() < 0.5),
            "int": some(lambda: chance.randrange(99), pa.uint16()),
            "float": some(chance.random),
            "decimal": some(lambda: decimal.Decimal("1.25"), pa.decimal128(9, 2)),
            "time": some(lambda: datetime.datetime(2024, 1, 2, 3, 4), pa.timestamp("us")),
            "three": some(lambda: b"abc", pa.binary(3)),
            "null": pa.nulls(count),
            "word": some(text).dictionary_encode(),
            "words": some(texts, pa.list_(pa.dictionary(pa.int8(), pa.string()))),
            "objects": pa.DictionaryArray.from_arrays(numbers, words),
            "json": pa.ExtensionArray.from_storage(pa.json_(), some(lambda: "{}")),
        }
    )


def write_arrow(
    target: Any, table: Any, shape: str = "file", packing: str | None = None, rows: int = 10**6
) -> None:
    """Write a table as a file or a stream, in batches of so many rows."""
    options = ipc.IpcWriteOptions(compression=packing, unify_dictionaries=shape == "file")
    new = ipc.new_file if shape == "file" else ipc.new_stream
    with new(target, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)


def read_rows(path: Path, shape: str = "file") -> list[Any]:
    return list(read_parquet_or_arrow_rows(path, HEADS[shape]))


def make_plain(value: Any) -> Any:
    """Say a value as records have it."""
    match value:
        case dict():
            return {name: make_plain(each) for name, each in value.items()}
        case list() | tuple():
            return [make_plain(each) for each in value]
        case bytes():
            return value.decode()
        case None | bool() | int() | float():
            return value
    return str(value)


@pytest.mark.parametrize("shape", ["file", "stream"])
@pytest.mark.parametrize("packing", [None, "lz4", "zstd"])
@pytest.mark.parametrize("rows", [7, 1000])
def test_rows_come_as_pyarrow_gives_them(
    tmp_path: Path, shape: str, packing: str | None, rows: int
) -> None:
    path = tmp_path / "x.arrow"
    table = make_table(300)
    with path.open("wb") as file:
        write_arrow(file, table, shape, packing, rows)
    assert read_rows(path, shape) == make_plain(table.to_pylist())


def test_dictionaries_of_a_stream_go_on_and_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.arrow"
    for deltas in (True, False):
        kind = pa.dictionary(pa.int8(), pa.string())
        parts = [["a"], ["a", "b"], ["b", "a"] if not deltas else ["a", "b", "c"]]
        schema = pa.schema([("word", kind)])
        options = ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)
        with path.open("wb") as file, ipc.new_stream(file, schema, options=options) as writer:
            for words in parts:
                numbers = pa.array(range(len(words)), pa.int8())
                array = pa.DictionaryArray.from_arrays(numbers, pa.array(words))
                writer.write_batch(pa.record_batch([array], schema=schema))
        assert [row["word"] for row in read_rows(path, "stream")] == [
            word for words in parts for word in words
        ]


@pytest.mark.parametrize("packing", [None, "lz4"])
def test_of_a_large_batch_a_few_rows_are_held(tmp_path: Path, packing: str | None) -> None:
    path = tmp_path / "x.arrow"
    texts = [f"{number} {'x' * 60_000}" for number in range(700)]
    table = pa.table({"text": texts, "view": pa.array(texts, pa.string_view())})
    with path.open("wb") as file:
        write_arrow(file, table, packing=packing)
    pa.default_memory_pool().release_unused()
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    rows = read_parquet_or_arrow_rows(path, HEADS["file"])
    for number, row in enumerate(rows):
        assert isinstance(row, dict)
        assert row == {"text": texts[number], "view": texts[number]}
        assert pa.total_allocated_bytes() - before < 10 * MB
    assert number == 699
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * MB


def test_a_row_that_is_too_large_is_refused_alone(tmp_path: Path) -> None:
    """Neither its text nor its million values are read, and what comes after it is."""
    path = tmp_path / "x.arrow"
    texts = [["a"], ["b" * 25 * MB], ["c"], ["d" * MB] * 25, [""] * 1_100_000, ["e"]]
    with path.open("wb") as file:
        write_arrow(file, pa.table({"texts": texts}), packing="zstd")
    with RecordFile(path) as records:
        found = [each.found for each in records]
    assert [each["texts"] for each in found if isinstance(each, dict)] == [["a"], ["c"], ["e"]]
    for place, sentence in (
        (1, "a row of a Parquet or Arrow file may have 25,165,824 bytes of text in memory, and"),
        (3, "a row of a Parquet or Arrow file may have 25,165,824 bytes of text in memory, and"),
        (4, "a record may have 1,000,000 values, and this has 1,100,001; split"),
    ):
        error = found[place]
        assert isinstance(error, InputError)
        assert error.line == place + 1
        assert sentence in str(error)


def test_few_bytes_that_stand_for_much_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.arrow"
    nulls = pa.ListArray.from_arrays(pa.array([0, 2**31 - 1], pa.int32()), pa.nulls(2**31 - 1))
    with path.open("wb") as file:
        write_arrow(file, pa.table({"nulls": nulls}))
    [refusal] = read_rows(path)
    assert "may have 1,000,000 values, and this has 2,147,483,648" in refusal
    word = pa.array(["x" * MB])
    many = pa.DictionaryArray.from_arrays(pa.array([0] * 30, pa.int8()), word)
    with path.open("wb") as file:
        write_arrow(file, pa.table({"list": pa.ListArray.from_arrays([0, 30], many)}))
    [refusal] = read_rows(path)
    assert "bytes of text in memory, and this has 31,457,280" in refusal
    monkeypatch.setattr(arrow_batches, "COPY_MOST", 50_000)
    with path.open("wb") as file:
        write_arrow(file, pa.table({"text": ["x" * 60_000]}), packing="zstd")
    with pytest.raises(InputError, match="has more than 50,000 bytes in one batch once it is unpa"):
        read_rows(path)


@pytest.mark.parametrize("kind", ["union", "run ends", "list view"])
def test_a_type_that_is_not_read_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.arrow"
    ends = pa.array([1], pa.int32())
    column = {
        "union": lambda: pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array(["a"])]),
        "run ends": lambda: pa.RunEndEncodedArray.from_arrays(ends, pa.array(["a"])),
        "list view": lambda: pa.array([["a"]], pa.list_view(pa.string())),
    }[kind]()
    with path.open("wb") as file:
        write_arrow(file, pa.table({"odd": column}))
    with pytest.raises(InputError, match=r"x\.arrow: column 'odd' has the type .* as JSON lines"):
        read_rows(path)


@pytest.mark.parametrize("size", [-1, -(2**31), 2**31 - 1, 2**63 - 1, -(2**63)])
def test_a_length_that_cannot_be_is_damage(tmp_path: Path, size: int) -> None:
    """Of a description, of a body, of a batch, and of the place and size of a buffer."""
    path = tmp_path / "x.arrow"
    stream = io.BytesIO()
    write_arrow(stream, pa.table({"text": ["a depot"] * 3}), "stream")
    whole = stream.getvalue()
    begin = 8 + int.from_bytes(whole[4:8], "little")  # of the batch, after the columns
    described = whole[
        begin + 8 : begin + 8 + int.from_bytes(whole[begin + 4 : begin + 8], "little")
    ]
    message = FlatTable.read_root(described)
    batch = message.read_table(2)
    assert batch is not None
    places = [message._find_field_offset(3), batch._find_field_offset(0)]
    first, count = batch._find_list_start_and_count(2, 16)
    places += [first + 8 * each for each in range(2, 2 * count)]
    for place in places:
        edited = bytearray(whole)
        edited[begin + 8 + place : begin + 16 + place] = struct.pack("<q", size)
        path.write_bytes(edited)
        with pytest.raises(InputError, match="it may be cut off"):
            read_rows(path, "stream")
    if -(2**31) <= size < 2**31 and size != 0:
        path.write_bytes(whole[: begin + 4] + struct.pack("<i", size) + whole[begin + 8 :])
        with pytest.raises(InputError, match="it may be cut off"):
            read_rows(path, "stream")


READ_ALL = """
import json, sys
from pathlib import Path
from faithtui.formats.files.columns import read_parquet_or_arrow_rows
found = {}
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        rows = list(read_parquet_or_arrow_rows(path, path.read_bytes()[:20]))
        found[path.name] = ["rows", str(len(rows))]
    except Exception as error:
        found[path.name] = [type(error).__name__, str(error)]
print(json.dumps(found))
"""


def test_random_damage_ends_in_rows_or_in_a_sentence(tmp_path: Path) -> None:
    """Read in a process of its own, which must not end before its time."""
    chance = Random(7)
    table = make_table(20)
    for number in range(300):
        if number % 30 == 0:
            file = io.BytesIO()
            shape = chance.choice(["file", "stream"])
            some = table.select(chance.sample(table.schema.names, chance.choice([2, 20])))
            write_arrow(file, some, shape, chance.choice([None, "lz4", "zstd"]), 15)
        data = bytearray(file.getvalue())
        for _ in range(chance.choice([1, 1, 2, 5, 20])):
            data[chance.randrange(8, len(data))] = chance.choice([0, 255, 128, 127, 3])
        if number % 10 == 0:
            del data[chance.randrange(8, len(data)) :]
        (tmp_path / f"{number}.arrow").write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    found: dict[str, list[str]] = json.loads(done.stdout)
    assert len(found) == 300
    assert not {name: told for name, told in found.items() if told[0] not in ("rows", "InputError")}
    refused = {name: told[1] for name, told in found.items() if told[0] == "InputError"}
    assert 50 < len(refused) < 280
    assert all(f"{tmp_path / name}: " in sentence for name, sentence in refused.items())


def test_a_file_without_its_end_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "x.arrow"
    with path.open("wb") as file:
        write_arrow(file, make_table(20))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match="its end is not there; it may be cut off"):
        read_rows(path)


def test_the_end_of_a_file_says_where_its_batches_are(tmp_path: Path) -> None:
    """polars writes no size before the columns with which a file begins."""
    path = tmp_path / "x.arrow"
    table = make_table(40)
    file = io.BytesIO()
    write_arrow(file, table, packing="lz4", rows=15)
    whole = bytearray(file.getvalue())
    start = len(whole) - 10 - int.from_bytes(whole[-10:-6], "little")
    footer = FlatTable.read_root(bytes(whole[start:-10]))
    first = min(place for place, *_ in footer.read_structs(2, "qi4xq"))
    described = whole[16:first]
    for beginning in (described + bytes(8), bytes(len(described) + 8)):
        whole[8:first] = beginning
        path.write_bytes(whole)
        assert read_rows(path) == make_plain(table.to_pylist())
    footer_place = start + footer._find_list_start_and_count(3, 24)[0]
    for place in (-1, 3, start, 2**62):
        whole[footer_place : footer_place + 8] = struct.pack("<q", place)
        path.write_bytes(whole)
        with pytest.raises(InputError, match="a batch outside of the file"):
            read_rows(path)


@pytest.mark.parametrize("shape", ["file", "stream"])
def test_a_batch_of_nothing_is_refused_by_its_rows(tmp_path: Path, shape: str) -> None:
    """No byte stands for them: a file of some hundred bytes may say any number."""
    path = tmp_path / "x.arrow"
    for count, is_read in ((1000, True), (20_000_000, False)):
        nulls = pa.nulls(count)
        table = pa.table({"a": nulls, "b": nulls})
        with path.open("wb") as file:
            write_arrow(file, table, shape, rows=count)
        if is_read:
            assert read_rows(path, shape) == [{"a": None, "b": None}] * count
            continue
        with pytest.raises(InputError) as told:
            read_rows(path, shape)
        assert (
            "x.arrow: has a batch of 20,000,000 rows without any value, and one may have "
            "1,000,000; leave them out"
        ) in str(told.value)


def test_batches_of_nothing_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faithtui.formats.files.columns._ROWS_WITHOUT_BYTES", 0)
    path = tmp_path / "x.arrow"
    nulls = pa.nulls(90_000)
    with path.open("wb") as file:
        write_arrow(file, pa.table({"a": nulls}), "file", rows=10_000)
    size = path.stat().st_size
    assert size < 90_000
    with pytest.raises(InputError) as told:
        read_rows(path)
    assert (
        f"x.arrow: has more than {size:,} rows in {size:,} bytes, and a file of that size may have "
        f"{size:,}; leave out rows that are empty or all alike"
    ) in str(told.value)


def test_a_file_of_big_endian_machines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.arrow"
    stream = io.BytesIO()
    write_arrow(stream, pa.table({"number": [1, 2]}), "stream")
    data = bytearray(stream.getvalue())
    message = FlatTable.read_root(bytes(data[8:]))
    schema = message.read_table(2)
    assert schema is not None
    assert schema.read_number(0, "h") == 0
    # The byte order is left out where it is the common one: let it lie where the columns do.
    fields = schema._place - struct.unpack_from("<i", data, 8 + schema._place)[0]
    data[8 + fields + 4 : 8 + fields + 6] = struct.pack("<H", schema._offsets[1])
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"x\.arrow: is an Arrow file for big-endian machines, wh"):
        read_rows(path, "stream")


READ_ON_A_FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from faithtui.errors import InputError
from faithtui.formats.files.columns import read_parquet_or_arrow_rows
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
try:
    print(len(list(read_parquet_or_arrow_rows(Path(sys.argv[1]), b"ARROW1"))))
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("packing", ["lz4", "zstd"])
@pytest.mark.parametrize("is_dictionary", [True, False])
def test_a_full_disk_is_no_damage_and_leaves_nothing(
    tmp_path: Path, packing: str, is_dictionary: bool
) -> None:
    """A limit on the size of a file stops what is unpacked, as a full disk would."""
    pytest.importorskip("resource")
    path = tmp_path / "x.arrow"
    text = pa.array(["x" * 3 * MB, "y", "z" * 9 * MB])
    with path.open("wb") as file:
        write_arrow(
            file,
            pa.table({"text": text.dictionary_encode() if is_dictionary else text}),
            "file",
            packing,
        )
    folder = tmp_path / "temporary"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", READ_ON_A_FULL_DISK, path],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert done.stdout == (
        f"{path}: is copied into smaller pieces to be read, and there is no room for the copy in "
        f"{folder}; make some, or set TMPDIR to a folder that has\n"
    )
    assert not list(folder.iterdir())
