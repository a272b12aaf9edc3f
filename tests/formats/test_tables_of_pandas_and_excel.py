"""Tables as pandas, datasets of Hugging Face and Excel write them by default."""

import json
from pathlib import Path

import pytest

from faithtui.errors import InputError
from faithtui.formats.files.pandas_objects import split_object_into_rows
from faithtui.formats.files.record_files import RecordFile
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from tests.formats.test_real_formats import read, texts

ROWS = [
    {"question": "When?", "answer": "At nine.", "contexts": ["p", "p2"]},
    {"question": "Where?", "answer": "Here.", "contexts": []},
]
NAMES = list(ROWS[0])
OBJECTS: dict[str, dict[str, object]] = {
    "columns": {name: {str(at): row[name] for at, row in enumerate(ROWS)} for name in NAMES},
    "index": {str(at): row for at, row in enumerate(ROWS)},
    "split": {"columns": NAMES, "index": [0, 1], "data": [list(row.values()) for row in ROWS]},
    "table": {"schema": {"fields": []}, "data": ROWS},
    "list": {name: [row[name] for row in ROWS] for name in NAMES},
}


@pytest.mark.parametrize("orient", OBJECTS)
@pytest.mark.parametrize("indent", [None, 1])
def test_each_way_of_pandas_gives_the_rows(tmp_path: Path, orient: str, indent: int | None) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(OBJECTS[orient], indent=indent))
    found, _ = read(path)
    expected = [[("user", row["question"]), ("assistant", row["answer"])] for row in ROWS]
    assert [texts([each]) for each in found] == expected


def test_of_several_objects_each_is_a_record(tmp_path: Path) -> None:
    """A list of questions in each line is no table, and its rows are no conversations."""
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f"{json.dumps(OBJECTS['list'])}\n" for _ in range(3)))
    with RecordFile(path) as file:
        assert [each.found for each in file] == [OBJECTS["list"]] * 3


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"4": 1, "7": 2}, "b": {"4": 3, "7": 4}},
        {"4": {"a": 1, "b": 3}, "7": {"a": 2, "b": 4}},
        {"columns": ["a", "b"], "index": ["4", "7"], "data": [[1, 3], [2, 4]]},
    ],
)
def test_labels_of_picked_rows_are_kept(value: dict[str, object]) -> None:
    found = split_object_into_rows(value)
    assert found == [{"index": "4", "a": 1, "b": 3}, {"index": "7", "a": 2, "b": 4}]


Q_AND_A = [{"question": "q", "answer": "x"}, {"question": "r", "answer": "y"}]


@pytest.mark.parametrize("labels", [("a", "b"), ("-1", "0.5")])
def test_labels_of_rows_that_are_texts_are_their_ids(labels: tuple[str, str]) -> None:
    """As of `set_index("id").to_json()`, with and without an `orient`."""
    expected = [{"id": label, **row} for label, row in zip(labels, Q_AND_A, strict=True)]
    by_row = dict(zip(labels, Q_AND_A, strict=True))
    by_column = {name: {label: row[name] for label, row in by_row.items()} for name in Q_AND_A[0]}
    split = [list(row.values()) for row in Q_AND_A]
    by_name = {"columns": list(Q_AND_A[0]), "index": list(labels), "data": split}
    assert split_object_into_rows(by_name) == expected
    assert split_object_into_rows(by_row) == expected
    assert split_object_into_rows(by_column) == expected
    own = {label: {**row, "id": 7} for label, row in by_row.items()}
    assert split_object_into_rows(own) == [{"index": label, **row} for label, row in own.items()]


def test_a_table_without_index_and_one_with_a_column_of_objects_are_read() -> None:
    split = {"columns": list(Q_AND_A[0]), "data": [list(row.values()) for row in Q_AND_A]}
    assert split_object_into_rows(split) == Q_AND_A
    passages = [{"text": "a"}, {"text": "b"}]
    lists = {"question": ["q", "r"], "answer": ["x", "y"], "contexts": passages}
    assert split_object_into_rows(lists) == [
        {**row, "contexts": each} for row, each in zip(Q_AND_A, passages, strict=True)
    ]


def test_a_table_that_cannot_be_told_names_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"question": {"r1": "q"}, "answer": {"r1": "x"}}))
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    [refused] = (each.found for each in dataset.read(file))
    assert "question: is an object; expected a string; if it is a table" in str(refused)
    assert 'to_json(orient="records")' in str(refused)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"inputs": {"text": "q"}, "outputs": {"text": "a"}},
        {"messages": [{"role": "user"}, {"role": "assistant"}], "tags": ["a", "b"]},
        {"contexts": ["a", "b"], "question": "q"},
        {"question": ["a"], "answer": ["a", "b"]},
        {"columns": ["a"], "index": [0], "data": [["a", "b"]]},
        {"schema": {}, "data": ["a"]},
        {"a": {"0": 1}, "b": {"1": 1}},
        {"a": {}, "b": {}},
        {"input": {"text": "q", "lang": "en"}, "output": {"text": "a", "lang": "en"}},
        {"system": {"content": "s", "n": 1}, "user": {"content": "q", "n": 2}},
        {"data": {"question": "q", "answer": "a"}},
        {"question": {"a": "q"}, "answer": {"a": "x"}},
        {"x": {"a": 1, "b": 2}, "y": {"a": 3, "b": 4}},
        {"question": ["q", "r"], "messages": [{"role": "user"}, {"role": "user"}]},
        {"question": ["q"], "answer": ["a"], "chat": [{"role": "user"}]},
        {"tags": ["q", "r"], "documents": [{"text": "a"}, {"text": "b"}]},
    ],
)
def test_what_is_no_table_stays_one_record(value: dict[str, object]) -> None:
    assert split_object_into_rows(value) is None


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
def test_the_line_that_tells_excel_the_delimiter_is_no_row(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "x.csv"
    cells = (("question", "answer"), ("q", "a"))
    path.write_text("\n".join([f"sep={delimiter}", *map(delimiter.join, cells), ""]))
    with RecordFile(path) as file:
        assert [each.found for each in file] == [{"question": "q", "answer": "a"}]
    path.write_text(f"sep={delimiter}\n")
    with RecordFile(path) as file:
        assert (file.column_names_alone, list(file)) == (None, [])
    path.write_text(f"sep={delimiter}\na{delimiter}b\n")
    with RecordFile(path) as file:
        assert file.column_names_alone == ("a", "b")


def test_documents_one_behind_the_other_and_tar_archives_name_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(ROWS[0], indent=1) * 2)
    with pytest.raises(InputError, match="jq -c"):
        RecordFile(path)
    path.write_bytes(b"x.json".ljust(257, b"\0") + b"ustar\x0000" + bytes(248))
    with pytest.raises(InputError, match="a tar archive; unpack it"):
        RecordFile(path)
