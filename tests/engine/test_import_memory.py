"""An import holds one record at a time, however large its file is."""

import csv
import gc
import json
import os
import subprocess
import sys
import weakref
from array import array
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from faithtui.domain.limits import MB, RECORD, RECORD_TEXTS, RECORD_VALUES, TABLE_ROW
from faithtui.engine.dataset_import import import_files
from faithtui.errors import InputError
from faithtui.formats.files.record_files import RecordFile
from faithtui.formats.json_lines import parse_record_or_error
from faithtui.formats.json_records import RawRecord
from faithtui.formats.readers.datasets import FormatChoice

PEAK = r"""
import re, runpy, sys
code, sys.argv = 1, ["faithtui", *sys.argv[1:]]
try:
    runpy.run_module("faithtui", run_name="__main__")
except SystemExit as end:
    code = end.code or 0
most = int(re.search(r"VmHWM:\s*(\d+)", open("/proc/self/status").read())[1])
maps = open("/proc/self/smaps").read()
pages = re.findall(r"\.so[.\d]*\nSize:(?:.*\n)*?Rss:\s*(\d+)", maps)
libraries = sum(map(int, pages))
sys.__stdout__.write(f"\n{code} {(most - libraries) // 1024}")
"""
"""Runs the program, and prints its exit code and what it held of its own at most, in MB: without
the pages of shared libraries, of which the system maps 24 MB more or less of pyarrow by how it
holds the file, and which it may drop."""

MOST_MB = 300 - 17
"""Of 300 MB the libraries have 17 at least."""
MOST_OF_TABLE_MB = 300 - 53
"""With pyarrow the libraries have 53, or 77 where the system maps more of the same files."""


def conversations(size: int, record: int) -> Iterator[bytes]:
    """Write an array of conversations, of about so many bytes each and all together."""
    words = "The parcel weighs three kilograms, and the depot is open on Monday. "
    yield b"["
    for number in range(max(1, size // record)):
        document = f"{number} " + words * (record // len(words))
        turns = [
            {"role": "user", "content": f"What does parcel {number} weigh?"},
            {"role": "assistant", "content": "Three.", "retrieval_context": [document]},
        ]
        found = json.dumps({"id": f"c{number}", "turns": turns}).encode()
        yield (b",\n" if number else b"") + found
    yield b"]"


def imported(tmp_path: Path, parts: Iterator[bytes]) -> tuple[int, int, str]:
    """Import an array through a pipe; give exit code, peak memory in MB, and what was said."""
    skip_where_memory_cannot_be_measured()
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    child = subprocess.Popen(
        [sys.executable, "-c", PEAK, "import", pipe, "--store", tmp_path / "s.db"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FAITHTUI_HOME": str(tmp_path / "home")},
    )
    with pipe.open("wb") as file:
        for part in parts:
            file.write(part)
    out, err = child.communicate()
    pipe.unlink()
    code, peak = map(int, out.splitlines()[-1].split())
    return code, peak, err


def measure_import(tmp_path: Path, *paths: Path) -> tuple[int, int, str]:
    """Import files; give exit code, peak memory in MB, and what was said."""
    skip_where_memory_cannot_be_measured()
    files = [*map(str, paths), "--store", str(tmp_path / "s.db")]
    words = [sys.executable, "-c", PEAK, "import", *files]
    environment = {**os.environ, "FAITHTUI_HOME": str(tmp_path / "home")}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    code, peak = map(int, done.stdout.splitlines()[-1].split())
    return code, peak, done.stderr


def skip_where_memory_cannot_be_measured() -> None:
    """Skip the test on a system that has no pipes or tells no sizes."""
    if not (hasattr(os, "mkfifo") and Path("/proc/self/smaps").exists()):
        pytest.skip("needs pipes and /proc")


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    peaks = []
    # Both fill the cache of the database, whose 64 MB an import may use.
    for size in (60, 120):
        folder = tmp_path / str(size)
        folder.mkdir()
        code, peak, err = imported(folder, conversations(size * MB, 50_000))
        assert code == 0, err
        peaks.append(peak)
    # Twice the file: whoever held it would need 60 MB more.
    assert peaks[1] - peaks[0] < 20
    assert peaks[1] < MOST_MB


def test_a_record_beyond_the_limit_is_passed_over(tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        whole = list(conversations(2, 2))
        yield b"[" + whole[1] + b',\n{"id": "large", "turns": "'
        for _ in range(200):
            yield b"x" * MB
        yield b'"}, {"id": "last", "turns": [{"role": "user", "content": "?"}]}]'

    code, peak, err = imported(tmp_path, parts())
    assert code == 3
    assert (
        "line 2: record 2: a record may have 33,554,432 bytes, and this has 209,715,228; split the "
        "conversation, or give its images as `path`"
    ) in err
    assert peak < MOST_MB


@pytest.mark.thorough
def test_600_mb_and_records_of_31_mb_stay_below_300_mb(tmp_path: Path) -> None:
    for name, parts in (
        ("many", conversations(600 * MB, 20_000)),
        ("large", conversations(4 * (RECORD.most - 2 * MB), RECORD.most - 2 * MB)),
    ):
        folder = tmp_path / name
        folder.mkdir()
        code, peak, err = imported(folder, parts)
        assert code == 0, err
        assert peak < MOST_MB, name


@pytest.mark.thorough
def test_a_large_record_of_a_file_stays_below_300_mb(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with path.open("wb") as file:
        file.writelines(conversations(RECORD.most - 2 * MB, RECORD.most - 2 * MB))
    code, peak, _ = measure_import(tmp_path, path)
    assert code == 0
    assert peak < MOST_MB


@pytest.mark.thorough
@pytest.mark.parametrize("character", ["\N{GRINNING FACE}", "\N{CYRILLIC SMALL LETTER DE}"])
@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_texts_of_wide_characters_alone_stay_below_280_mb(
    tmp_path: Path, character: str, ensure_ascii: bool
) -> None:
    width = len(character.encode()) + (4 if character > "\uffff" else 2)

    def parts(characters: int) -> Iterator[bytes]:
        text = character * characters
        turns = [
            {"role": "user", "content": "Is it?"},
            {"role": "assistant", "content": "Open.", "retrieval_context": [text]},
        ]
        yield json.dumps({"id": "c", "turns": turns}, ensure_ascii=ensure_ascii).encode() + b"\n"

    in_file = len(json.dumps(character, ensure_ascii=ensure_ascii).encode()) - 2
    most = min(RECORD_TEXTS.most // width, RECORD.most // in_file) * 98 // 100
    code, peak, err = imported(tmp_path, parts(most))
    assert code == 0, err
    assert peak < 280 - 17


def test_a_text_that_is_not_ascii_counts_with_its_utf8_form() -> None:
    characters = RECORD_TEXTS.most // 8 + 1000
    for text, is_refused in (("\N{GRINNING FACE}" * characters, True), ("a" * characters, False)):
        data = json.dumps({"id": text}, ensure_ascii=False).encode()
        found = parse_record_or_error(
            RawRecord(1, 1, len(data), len(data), data), Path("x.jsonl")
        ).found
        assert isinstance(found, InputError) is is_refused
        assert not is_refused or "bytes of text in memory" in str(found)


@pytest.mark.thorough
@pytest.mark.parametrize("character", ["\N{EN DASH}", "\N{GRINNING FACE}"])
@pytest.mark.parametrize("ensure_ascii", [True, False])
@pytest.mark.parametrize("documents", [1, 600])
def test_wide_characters_stay_below_300_mb(
    tmp_path: Path, character: str, ensure_ascii: bool, documents: int
) -> None:
    """One dash makes each character of a text take two bytes of memory, one emoji four."""

    def parts(characters: int) -> Iterator[bytes]:
        for number in range(2):
            text = character + "The depot is open. " * (characters // documents // 19)
            reply = {"role": "assistant", "content": "Open.", "retrieval_context": []}
            reply["retrieval_context"] = [f"{place} {text}" for place in range(documents)]
            turns = [{"role": "user", "content": "Is it?"}, reply]
            record = {"id": f"c{number}", "turns": turns}
            yield json.dumps(record, ensure_ascii=ensure_ascii).encode() + b"\n"

    width = 3 if character == "\N{EN DASH}" else 5  # with a byte of UTF-8
    for characters, refused in (
        (RECORD_TEXTS.most * 9 // 10 // width, 0),
        (RECORD.most * 9 // 10, 2),
    ):
        folder = tmp_path / str(refused)
        folder.mkdir()
        code, peak, err = imported(folder, parts(characters))
        assert code == (3 if refused else 0), err
        assert err.count("bytes of text in memory") == refused
        assert peak < MOST_MB


@pytest.mark.thorough
def test_large_records_of_several_files_stay_below_300_mb(tmp_path: Path) -> None:
    words = "The parcel weighs three kilograms, and the depot is open on Monday. "
    paths = []
    for number in range(3):
        document = f"{number} " + words * ((RECORD.most - 2 * MB) // len(words))
        turns = [
            {"role": "user", "content": f"What does parcel {number} weigh?"},
            {"role": "assistant", "content": "Three.", "retrieval_context": [document]},
        ]
        paths.append(tmp_path / f"{number}.jsonl")
        paths[-1].write_text(json.dumps({"id": f"c{number}", "turns": turns}) + "\n")
    code, peak, err = measure_import(tmp_path, *paths)
    assert code == 0, err
    assert peak < MOST_MB


def test_a_closed_file_lets_go_of_its_sample(tmp_path: Path) -> None:
    """No collector is needed for it: two large ones would be in memory together until it ran."""

    path = tmp_path / "x.jsonl"
    path.write_text('{"id": "a"}\n{"id": "b"}\n')
    file = RecordFile(path)
    sample = weakref.ref(file)
    gc.disable()
    try:
        file.close()
        assert list(file) == []
        del file
        assert sample() is None
    finally:
        gc.enable()


@pytest.mark.thorough
def test_rows_before_one_that_is_too_long_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    over = '"' + "Open.\n" * (TABLE_ROW.most // 5 + 1) + '"'  # no line of it is long
    path.write_text(f"question,answer\nIs it?,Yes.\nIs it?,{over}\nIs it?,No.\n")
    with RecordFile(path) as file:
        read = iter(file)
        first = next(read).found
        assert isinstance(first, dict)
        assert first["answer"] == "Yes."
        with pytest.raises(InputError, match="has a row of more than 8,388,608 characters") as told:
            next(read)
    assert told.value.line == 3


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", '{\n"samples": [' + "1," * RECORD_VALUES.most + "1]\n}"),
        ("x.csv", 'question,contexts\nIs it?,"[' + "1," * RECORD_VALUES.most + '1]"\n'),
    ],
    ids=["document", "cell"],
)
def test_values_count_wherever_json_stands(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    result = import_files(
        None, [path], rehearse=True, report=lambda _: None, choice=FormatChoice("rows")
    )
    [refusal] = result.refusals
    assert "holds too much: a record may have 1,000,000 values" in refusal.reason


@pytest.mark.thorough
def test_the_largest_rows_of_a_table_stay_below_300_mb(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for first in ("The", "\N{EN DASH}", "\N{GRINNING FACE}"):
        text = first + " depot is open. " * (TABLE_ROW.most * 9 // 10 // 16)
        with path.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["question", "answer", "contexts"])
            for number in range(2):
                rows.writerow([f"Is it {number}?", "Open.", text])
        code, peak, err = measure_import(tmp_path, path)
        assert code in (0, 3), err
        assert "Traceback" not in err
        assert peak < MOST_MB
        (tmp_path / "s.db").unlink()


@pytest.mark.thorough
def test_a_row_beyond_the_limit_is_not_held(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    with path.open("w") as file:
        file.write("question,answer,contexts\nIs it?,Open.,")
        for _ in range(200):
            file.write("x" * MB)
    code, peak, err = measure_import(tmp_path, path)
    assert code == 3
    assert "x.csv: line 2: has a row of more than 8,388,608 characters; write the table" in err
    assert peak < 200


@pytest.mark.thorough
def test_groups_of_a_parquet_file_are_held_one_at_a_time(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    random = Random(1)
    peaks = []
    for groups in (24, 48):
        path = tmp_path / f"{groups}.parquet"
        texts = [random.randbytes(2 * MB).hex() for _ in range(groups)]
        table = pyarrow.table(
            {"question": list(map(str, range(groups))), "answer": ["x"] * groups, "contexts": texts}
        )
        parquet.write_table(table, path, row_group_size=1, compression="none")
        code, peak, err = measure_import(tmp_path, path)
        assert code == 0, err
        (tmp_path / "s.db").unlink()
        peaks.append(peak)
    # Whoever holds all of them needs 96 MB more.
    assert peaks[1] - peaks[0] < 40


@pytest.mark.thorough
@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("megabytes", [1, 23, 31])
def test_one_row_group_of_300_mb_stays_below_300_mb(
    tmp_path: Path, codec: str, dictionary: bool, megabytes: int
) -> None:
    """Written with the defaults of pyarrow, its texts are one page of 300 MB."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    random = Random(1)
    rows = 300 // megabytes
    path = tmp_path / "x.parquet"
    texts = [random.randbytes(megabytes * MB // 2).hex() for _ in range(rows)]
    table = pyarrow.table(
        {"question": list(map(str, range(rows))), "answer": ["x"] * rows, "contexts": texts}
    )
    parquet.write_table(table, path, compression=codec, use_dictionary=dictionary)
    del texts, table
    code, peak, err = measure_import(tmp_path, path)
    assert code == (3 if megabytes == 31 else 0), err
    assert err.count("a row of a Parquet or Arrow file may have") == (
        rows if megabytes == 31 else 0
    )
    assert peak < MOST_OF_TABLE_MB


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "dictionary"])
def test_texts_that_a_page_only_hints_at_stay_below_300_mb(tmp_path: Path, encoding: str) -> None:
    """200 texts of 1 MB that begin alike, or are the same: pages of a few kilobytes."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = 200
    texts = [["the depot " * 100_000 + str(number)] for number in range(rows)]
    path = tmp_path / "x.parquet"
    settings: dict[str, object] = {}
    if encoding == "dictionary":
        texts = texts[:1] * rows
    else:
        encodings = {"question": "PLAIN", "answer": "PLAIN", "contexts.list.element": encoding}
        settings = {"use_dictionary": False, "column_encoding": encodings}
    table = pyarrow.table(
        {"question": list(map(str, range(rows))), "answer": ["x"] * rows, "contexts": texts}
    )
    parquet.write_table(table, path, **settings)
    assert path.stat().st_size < 20 * MB
    code, peak, err = measure_import(tmp_path, path)
    assert code == 0, err
    assert peak < MOST_OF_TABLE_MB


@pytest.mark.thorough
@pytest.mark.parametrize("packing", [None, "lz4", "zstd"])
@pytest.mark.parametrize("kind", ["string", "string_view"])
@pytest.mark.parametrize("megabytes", [1, 23, 31])
def test_one_batch_of_300_mb_stays_below_300_mb(
    tmp_path: Path, packing: str | None, kind: str, megabytes: int
) -> None:
    """polars and pandas put all rows of an Arrow file, or 65,536 of them, into one batch."""
    pyarrow = pytest.importorskip("pyarrow")
    ipc = pytest.importorskip("pyarrow.ipc")
    random = Random(1)
    rows = 300 // megabytes
    path = tmp_path / "x.arrow"
    texts = [random.randbytes(megabytes * MB // 2).hex() for _ in range(rows)]
    contexts = pyarrow.array(texts, getattr(pyarrow, kind)())
    table = pyarrow.table(
        {"question": list(map(str, range(rows))), "answer": ["x"] * rows, "contexts": contexts}
    )
    options = ipc.IpcWriteOptions(compression=packing)
    with path.open("wb") as file, ipc.new_file(file, table.schema, options=options) as writer:
        writer.write_table(table)
    del texts, contexts, table
    code, peak, err = measure_import(tmp_path, path)
    assert code == (3 if megabytes == 31 else 0), err
    assert err.count("a row of a Parquet or Arrow file may have") == (
        rows if megabytes == 31 else 0
    )
    assert peak < MOST_OF_TABLE_MB


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
@pytest.mark.parametrize(("columns", "length"), [(22, 60), (5, 50_000), (200, 60)])
def test_texts_in_a_delta_encoding_stay_below_300_mb(
    tmp_path: Path, encoding: str, columns: int, length: int
) -> None:
    """However many columns there are: 200 of them have 240 MB of texts in 20,000 rows."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    random = Random(1)
    rows = 20_000 if length == 60 else 300
    table = {
        f"text{number}": [random.randbytes(length // 2).hex() for _ in range(rows)]
        for number in range(columns)
    }
    encodings = dict.fromkeys(table, encoding)
    table |= {"question": list(map(str, range(rows))), "answer": ["x"] * rows}
    path = tmp_path / "x.parquet"
    parquet.write_table(
        pyarrow.table(table),
        path,
        use_dictionary=False,
        column_encoding=encodings,
        data_page_size=1 * MB if length == 60 else 4 * MB,
        write_batch_size=16,
    )
    code, peak, err = measure_import(tmp_path, path)
    assert code == 0, err
    assert peak < MOST_OF_TABLE_MB


@pytest.mark.thorough
@pytest.mark.parametrize(("columns", "is_text"), [(12, False), (60, True)])
def test_pages_of_many_columns_stay_below_300_mb(
    tmp_path: Path, columns: int, is_text: bool
) -> None:
    """Each page has 7.5 MB, so that none is large by itself: of numbers, or of fixed texts."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    size, rows = 15 * MB // 2, 240
    if is_text:
        data = Random(1).randbytes(size // 2).hex().encode()
        values = pyarrow.array([data[: size // rows]] * rows, pyarrow.binary(size // rows))
    else:
        numbers = array("d", [number / 7 for number in range(size // 8)])
        flat = pyarrow.Array.from_buffers(
            pyarrow.float64(), len(numbers), [None, pyarrow.py_buffer(numbers)]
        )
        values = pyarrow.FixedSizeListArray.from_arrays(flat, len(flat) // rows)
    table = {f"n{number}": values for number in range(columns)}
    table |= {"question": list(map(str, range(rows))), "answer": ["x"] * rows}
    path = tmp_path / "x.parquet"
    parquet.write_table(
        pyarrow.table(table),
        path,
        use_dictionary=False,
        data_page_size=64 * MB,
        write_batch_size=10**9,
    )
    code, peak, err = measure_import(tmp_path, path)
    assert code == 0, err
    assert peak < MOST_OF_TABLE_MB


@pytest.mark.thorough
@pytest.mark.parametrize(("spans", "refused"), [(1400, 0), (4000, 1)])
def test_a_trace_of_many_spans_stays_below_300_mb(tmp_path: Path, spans: int, refused: int) -> None:
    """Of 28 MB, and of 80, which are more than a record may have."""
    path = tmp_path / "x.jsonl"
    question = "The parcel weighs three kilograms, and the depot is open on Monday. " * 290
    with path.open("w") as file:
        for number in range(spans):
            messages = {
                "gen_ai.input.messages": ("user", f"{number} {question}"),
                "gen_ai.output.messages": ("assistant", "Three."),
            }
            attributes = [
                {
                    "key": key,
                    "value": {
                        "stringValue": json.dumps(
                            [{"role": role, "parts": [{"type": "text", "content": text}]}]
                        )
                    },
                }
                for key, (role, text) in messages.items()
            ]
            span = {
                "traceId": f"{7:032x}",
                "spanId": f"{number:016x}",
                "name": "chat",
                "startTimeUnixNano": str(10**18 + number),
                "endTimeUnixNano": str(10**18 + number + 1),
                "attributes": attributes,
            }
            scopes = [{"scope": {"name": "x"}, "spans": [span]}]
            file.write(json.dumps({"resourceSpans": [{"scopeSpans": scopes}]}) + "\n")
    code, peak, err = measure_import(tmp_path, path)
    assert code == (3 if refused else 0), err
    assert err.count("all together a record may have 33,554,432 bytes") == refused
    assert peak < MOST_MB
