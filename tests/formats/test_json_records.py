"""Files cut into records: whatever the chunks, the records are those of the standard library."""

import io
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.limits import RECORD, RECORD_TEXTS, RECORD_VALUES
from faithtui.errors import InputError
from faithtui.formats import json_records
from faithtui.formats.json_lines import read_json_lines, read_json_lines_or_array
from faithtui.formats.json_records import RawRecord, cut_array, cut_lines

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.fixture(params=[1, 2, 3, 7, 64])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Read so many bytes at a time."""
    monkeypatch.setattr(json_records, "_CHUNK", request.param)
    return int(request.param)


def array(data: bytes, most: int = 1000) -> Iterator[RawRecord]:
    return cut_array(io.BufferedReader(io.BytesIO(data)), most)


def lines(data: bytes, most: int = 1000) -> list[RawRecord]:
    return list(cut_lines(io.BufferedReader(io.BytesIO(data)), most))


def loaded(found: RawRecord) -> Any:
    assert isinstance(found.text, str)
    return json.loads(found.text)


def read(data: bytes, large: int, path: Path) -> list[object]:
    """Read a file whose records count as large from so many bytes; errors as their sentences."""
    path.write_bytes(data)
    before, json_records.LARGE = json_records.LARGE, large
    try:
        return [
            str(each.found) if isinstance(each.found, InputError) else each.found
            for each in read_json_lines_or_array(path)
        ]
    finally:
        json_records.LARGE = before


@given(st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=3), max_size=5), st.booleans())
def test_a_large_record_is_read_as_a_small_one(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], is_ascii: bool
) -> None:
    path = tmp_path_factory.mktemp("large") / "records.jsonl"
    text = "\n".join(json.dumps(value, ensure_ascii=is_ascii) for value in values)
    assert read(text.encode(errors="surrogatepass"), 0, path) == read(
        text.encode(errors="surrogatepass"), 1000, path
    )


@pytest.mark.parametrize(
    "line",
    [
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "b": 2}}',
        b'{"a": 1e999}',
        b'{"a": NaN}',
        b'{"a": "\\ud800 \\u0000"}',
        b'{"a": "\xff"}',
        b'{"a": ' + b"[" * 70 + b"]" * 70 + b"}",
        b'{"a": ' + b"[" * 300 + b"]" * 300 + b"}",
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": 123456789012345678901234567890, "b": -0.0, "c": 1E5}',
        b'{"a": 1} x',
        b'{"a": "\t"}',
        b'\xef\xbb\xbf{"a": 1}',
        b"[1]",
        b'"text"',
        b" " * 80,
    ],
)
def test_a_large_record_is_refused_as_a_small_one(tmp_path: Path, line: bytes) -> None:
    data = b'{"first": "line"}\n' + line + b'\n{"last": "line"}'
    path = tmp_path / "records.jsonl"
    assert read(data, 0, path) == read(data, 1000, path)


@pytest.mark.parametrize(
    "record",
    [
        '{"a": "\N{GRINNING FACE}',  # as the one parser reads it
        '{"a": "\\u0000\N{GRINNING FACE}',  # a NUL, which makes a copy
        '{"\N{GRINNING FACE}',  # a key
        '{"c": "' + "x" * (RECORD_TEXTS.most // 2) + '", "a": "\\u0000',  # two bytes a character
        '{"b": "\\ud800", "a": "\N{GRINNING FACE}',  # as the other one does: a lone surrogate
        '{"b": "\\ud800", "a": "\\ud83d\\ude00',
    ],
)
def test_texts_that_take_too_much_memory_are_refused(tmp_path: Path, record: str) -> None:
    path = tmp_path / "records.jsonl"
    record += "x" * (RECORD_TEXTS.most // 4) + (
        '": 1}' if record == '{"\N{GRINNING FACE}' else '"}'
    )
    path.write_text(record + '\n{"last": "line"}')
    refused, last = read_json_lines_or_array(path)
    assert isinstance(refused.found, InputError)
    assert "bytes of text in memory" in str(refused.found)
    assert last.found == {"last": "line"}


@given(
    st.lists(JSON, max_size=5),
    st.sampled_from([None, 1, 2]),
    st.booleans(),
    st.sampled_from([1, 3, 8, 999]),
)
def test_elements_are_those_of_the_array(
    values: list[Any], indent: int | None, is_ascii: bool, size: int
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=is_ascii)
    before, json_records._CHUNK = json_records._CHUNK, size
    try:
        found = list(array(b"\xef\xbb\xbf \n" + text.encode() + b"\n "))
    finally:
        json_records._CHUNK = before
    assert [loaded(each) for each in found] == values
    assert [each.record for each in found] == list(range(1, len(values) + 1))
    for each in found:
        assert isinstance(each.text, str)
        assert each.size == len(each.text.encode())


def test_elements_know_where_they_begin(chunk: int) -> None:
    data = b'[\n  {"a": "\n]"},\n\n  [1,\n 2]\n, "x"\n]\n'
    found = list(array(data))
    assert [(each.line, each.record, each.text) for each in found] == [
        (2, 1, '{"a": "\n]"}'),
        (5, 2, "[1,\n 2]"),
        (7, 3, '"x"'),
    ]
    assert [data[each.end : each.end + 1] for each in found] == [b",", b",", b"]"]


def test_what_is_too_large_is_measured_and_passed_over(chunk: int) -> None:
    data = b'[{"a": "' + b"x" * 50 + b'"}, {"b": 1}, "' + b'\\"' * 30 + b'", 2]'
    found = list(array(data, 20))
    assert [(each.size, each.text) for each in found] == [
        (59, None),
        (8, '{"b": 1}'),
        (62, None),
        (1, "2"),
    ]


@pytest.mark.parametrize(
    ("data", "texts", "problem"),
    [
        (b"[1, 2", ["1"], "ends in the middle of record 2; expected the closing bracket `]`"),
        (b"[1, ", ["1"], "ends in the middle of the array; expected the closing bracket `]`"),
        (b"[", [], "ends in the middle of the array; expected the closing bracket `]`"),
        (b'[{"a": "]', [], "ends in the middle of record 1; expected the closing bracket `]`"),
        (b"[1] 2", ["1"], "goes on behind the end of the array; expected nothing after `]`"),
        (b"[1]]", ["1"], "goes on behind the end of the array; expected nothing after `]`"),
    ],
)
def test_a_broken_array_gives_what_came_before(
    chunk: int, data: bytes, texts: list[str], problem: str
) -> None:
    records = array(data)
    assert [next(records).text for _ in texts] == texts
    with pytest.raises(InputError) as raised:
        next(records)
    assert raised.value.reason == problem


@pytest.mark.parametrize(
    ("data", "texts"),
    [(b"[]", []), (b"[ \n ]", []), (b"[1,]", ["1", ""]), (b"[,1]", ["", "1"]), (b"[1}2]", ["1}2"])],
)
def test_odd_arrays_lose_nothing(chunk: int, data: bytes, texts: list[str]) -> None:
    assert [each.text for each in array(data)] == texts


def test_lines_are_measured_without_their_ends(chunk: int) -> None:
    data = b"12345\r\n\n123456\n1234567890\n1\n12345"
    assert [(each.line, each.size, each.text, each.end) for each in lines(data, 5)] == [
        (1, 5, "12345", 7),
        (2, 0, "", 8),
        (3, 6, None, 15),
        (4, 10, None, 26),
        (5, 1, "1", 28),
        (6, 5, "12345", 33),
    ]


@given(
    st.lists(st.binary(max_size=9).filter(lambda line: b"\n" not in line), max_size=6),
    st.integers(1, 6),
)
def test_lines_are_those_of_the_file(given_lines: list[bytes], most: int) -> None:
    data = b"\n".join(given_lines)
    found = lines(data, most)
    expected = data.split(b"\n")[: len(found)]
    assert sum(1 for _ in io.BytesIO(data)) == len(found)
    for each, line in zip(found, expected, strict=True):
        bare = line.removesuffix(b"\r") if line.endswith(b"\r") else line
        assert (each.text is None) is (each.size > most)
        if isinstance(each.text, str):
            assert each.text.encode() == line.rstrip(b"\r").removeprefix(b"\xef\xbb\xbf")
        assert each.size >= len(bare.rstrip(b"\r"))


@pytest.mark.thorough
def test_a_large_record_is_named_with_its_size_and_the_others_are_read(tmp_path: Path) -> None:
    over = json.dumps({"id": "b", "text": "x" * RECORD.most}).encode()
    fits = json.dumps({"id": "c", "text": "x" * (RECORD.most - 100)}).encode()
    problem = (
        f"a record may have 33,554,432 bytes, and this has {len(over):,}; split the conversation, "
        "or give its images as `path`"
    )
    for name, data in (
        ("array.json", b'[{"id": "a"},\n' + over + b",\n" + fits + b"]"),
        ("lines.jsonl", b'{"id": "a"}\n' + over + b"\n" + fits),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        first, second, third = read_json_lines_or_array(path)
        assert first.found == {"id": "a"}
        assert isinstance(third.found, dict)
        assert isinstance(second.found, InputError)
        where = "line 2: record 2" if name == "array.json" else "line 2"
        assert str(second.found) == f"{path}: {where}: {problem}"


def test_records_of_an_array_on_one_line_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'[{"a": 1},{"a": 1, "a": 2},3,{"b": "\xff"}]')
    found = [each.found for each in read_json_lines_or_array(path)]
    assert found[0] == {"a": 1}
    assert [str(each) for each in found[1:]] == [
        f'{path}: line 1: record 2: has the key "a" twice in one object',
        f"{path}: line 1: record 3: is 3; expected a JSON object",
        f"{path}: line 1: record 4: byte 8 (0xff) is not UTF-8; save the file as UTF-8",
    ]


def test_what_must_be_lines_is_no_array(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'[{"a": 1}]')
    with pytest.raises(InputError, match="is one JSON array; expected UTF-8 text with one JSON"):
        list(read_json_lines(path))


@pytest.mark.parametrize("value", ["[]", "{}", "1"])
def test_a_record_of_too_many_values_is_refused_before_it_fills_the_memory(
    tmp_path: Path, value: str
) -> None:
    """Measured: 30 MB of empty lists took 1.5 GB."""
    path = tmp_path / "dense.jsonl"
    dense = ",".join([value] * RECORD_VALUES.most)
    path.write_text(f'{{"id": "a", "metadata": [{dense}]}}\n{{"id": "b"}}\n', encoding="utf-8")
    tracemalloc.start()
    first, second = read_json_lines(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "a record may have 1,000,000 values, and this has " in str(first.found)
    assert second.found == {"id": "b"}
    assert peak < 10 * path.stat().st_size
