"""Tables of other tools with their columns renamed, dropped, in another order or as JSON cells."""

import csv
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from faithtui.errors import InputError
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from tests.formats.test_real_formats import FOLDER, read, read_fixture

ROW = {
    "user_input": "When?",
    "retrieved_contexts": '["It sails at nine."]',
    "response": "At nine.",
}


def write_table(
    path: Path,
    rows: Sequence[Mapping[str, object]],
    rename: Callable[[str], str] = str,
    **dialect: str,
) -> Path:
    """Write records as a table; what is no text is JSON."""
    names = list(dict.fromkeys(key for row in rows for key in row))
    random.Random(1).shuffle(names)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter=dialect.get("delimiter", ","))
        writer.writerow(map(rename, names))
        for row in rows:
            cells = [row.get(name) for name in names]
            writer.writerow(
                "" if each is None else each if isinstance(each, str) else json.dumps(each)
                for each in cells
            )
    return path


@pytest.mark.parametrize(
    "names",
    [
        {"user_input": "Question"},
        {"user_input": "user question", "response": "Model Response"},
        {"response": "Answer"},
    ],
)
@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_row_of_ragas_with_usual_names_in_part_is_read_whole(
    tmp_path: Path, names: dict[str, str], delimiter: str
) -> None:
    path = write_table(
        tmp_path / "x.csv", [ROW], lambda each: names.get(each, each), delimiter=delimiter
    )
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    file.close()
    assert not dataset.notes.unknown_keys
    [conversation], _ = read(path)
    assert [each.content for each in conversation.turns] == ["When?", "At nine."]
    [document] = conversation.turns[1].retrieval_context or ()
    assert document.text == "It sails at nine."


@pytest.mark.parametrize(
    ("name", "inner"),
    [
        ("langfuse_traces.json", None),
        ("langsmith_runs.jsonl", None),
        ("openinference_spans.jsonl", None),
        ("mtrag_generation_tasks.jsonl", None),
        ("faithbench_batch.json", "samples"),
        ("neutral.jsonl", None),
    ],
)
def test_lists_and_objects_in_cells_are_read(tmp_path: Path, name: str, inner: str | None) -> None:
    text = (FOLDER / name).read_text()
    found: Any = (
        [json.loads(line) for line in text.splitlines()]
        if name.endswith(".jsonl")
        else json.loads(text)
    )
    rows = found[inner] if inner else found
    tabled, _ = read(write_table(tmp_path / "x.csv", rows, str.upper if inner else str))
    expected, _ = read_fixture(name)
    assert [each.turns for each in tabled] == [each.turns for each in expected]
    assert [each.ratings for each in tabled] == [each.ratings for each in expected]


def test_a_column_that_is_there_twice_in_a_long_header_is_named(tmp_path: Path) -> None:
    names = [f"a rather long name {number}" for number in range(6)]
    path = tmp_path / "x.csv"
    path.write_text(",".join(["question", "context", "context", *names]) + "\nq,c,d\n")
    with pytest.raises(InputError, match="has the column `context` twice"):
        open_file_and_detect_format(path, FormatChoice(), None)
