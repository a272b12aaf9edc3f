"""What is taken although it may not be what was meant is named by its place, and counted."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation
from faithtui.errors import InputError
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from faithtui.formats.readers.protocol import BROKEN_LIST, UNEVEN_ROW, WARNINGS_KEPT, ReadNotes
from faithtui.formats.readers.values.cells import find_broken_list

BROKEN = '["It sails at nine.", "It leaves fr'


def read_all(path: Path, format: str = "auto") -> tuple[list[Conversation], ReadNotes, list[str]]:
    """Give the conversations of a file, its notes and its refusals."""
    dataset, file = open_file_and_detect_format(path, FormatChoice(format), None)
    found = [each.found for each in dataset.read(file)]
    return (
        [each for each in found if isinstance(each, Conversation)],
        dataset.notes,
        [str(each) for each in found if isinstance(each, InputError)],
    )


def list_passages(conversation: Conversation) -> list[str]:
    return [each.text for turn in conversation.turns for each in turn.retrieval_context or ()]


@pytest.mark.parametrize("packed", [False, True])
def test_rows_with_too_few_or_too_many_cells_are_named_and_kept(
    tmp_path: Path, packed: bool
) -> None:
    text = (
        'question,answer,contexts\nq1,a1,"c\n1"\nq2,a2\nq3\nq4,a4,c4,, \nq5,a5,c5,more\nq6,a6,c6\n'
    )
    path = tmp_path / ("x.csv.gz" if packed else "x.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    conversations, notes, refused = read_all(path)
    assert [each.turns[0].content for each in conversations] == ["q1", "q2", "q3", "q4", "q6"]
    assert [each.turns[-1].content for each in conversations] == ["a1", "a2", "q3", "a4", "a6"]
    assert list(map(list_passages, conversations)) == [["c\n1"], [], [], ["c4"], ["c6"]]
    assert [str(each) for each in notes.warnings] == [
        f"{path}: line 4: has 2 cells, and there are 3 columns; what is missing counts as empty: "
        "`contexts`. If another cell is missing, or a line break cut the row in two, put that cell "
        "in quotation marks",
        f"{path}: line 5: has 1 cell, and there are 3 columns; what is missing counts as empty: "
        "`answer`, `contexts`. If another cell is missing, or a line break cut the row in two, put "
        "that cell in quotation marks",
        f"{path}: line 6: has 5 cells, and there are 3 columns; the cells behind the last column "
        "are empty and left out",
    ]
    assert (notes.warned, notes.remarks[UNEVEN_ROW]) == (3, 3)
    (line,) = refused
    assert "line 7: has 4 cells, and there are 3 column names" in line


def test_of_many_missing_columns_the_first_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("question,answer,c1,c2,c3,c4,c5,c6,c7\nq,a\n")
    _, notes, _ = read_all(path)
    assert "`c1`, `c2`, `c3`, `c4`, `c5` and 2 more." in str(notes.warnings[0])


def test_warnings_are_counted_and_the_first_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("question,answer\nq,a\n" + "q\n" * (WARNINGS_KEPT + 5))
    _, notes, _ = read_all(path)
    assert (len(notes.warnings), notes.warned) == (WARNINGS_KEPT, WARNINGS_KEPT + 5)


def write_rows(path: Path, *rows: dict[str, object]) -> Path:
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json", "parquet"])
@pytest.mark.parametrize(
    ("names", "format"),
    [
        (("question", "answer", "contexts"), "rows"),
        (("user_input", "response", "retrieved_contexts"), "ragas"),
        (("input", "actual_output", "retrieval_context"), "deepeval-goldens"),
        (("query", "reference_answer", "reference_contexts"), "llamaindex"),
    ],
)
def test_a_list_that_was_cut_off_stays_a_text_and_is_named(
    tmp_path: Path, suffix: str, names: tuple[str, str, str], format: str
) -> None:
    cells = [
        '["It sails at nine.", "From the pier."]',
        BROKEN,
        "[1] It sails.",
        "[[Sea|sea]] it is",
    ]
    rows: list[dict[str, object]] = [
        dict(zip(names, (f"q{cell}", "a", cell), strict=True)) for cell in cells
    ]
    path = write_rows(tmp_path / f"x.{suffix}", *rows)
    conversations, notes, refused = read_all(path, format)
    assert refused == []
    whole, *texts = map(list_passages, conversations)
    assert whole == ["It sails at nine.", "From the pier."]
    is_joined = format == "deepeval-goldens" and suffix == "csv"
    assert texts == [
        [BROKEN],
        ["[1] It sails."],
        ["[[Sea", "sea]] it is"] if is_joined else ["[[Sea|sea]] it is"],
    ]
    (warning,) = notes.warnings
    assert (warning.path, warning.field) == (path, names[2])
    assert warning.line == (3 if suffix == "csv" else 1 if suffix == "json" else 2)
    assert warning.record == (None if suffix == "jsonl" else 2)
    assert "cannot be read as one, so it is taken as one text" in warning.reason
    assert "write it whole, as JSON" in warning.reason
    assert (notes.warned, notes.remarks[BROKEN_LIST]) == (1, 1)


def test_a_list_of_a_message_or_turn_that_was_cut_off_is_named(tmp_path: Path) -> None:
    question = {"role": "user", "content": "When?"}
    answer = {"role": "assistant", "content": "At nine."}
    chat = write_rows(
        tmp_path / "chat.jsonl",
        {"messages": [question, {**answer, "context": BROKEN}]},
        {"messages": [question, {**answer, "context": '["It sails.", "At nine."]'}]},
    )
    conversations, notes, _ = read_all(chat, "openai-chat")
    assert list(map(list_passages, conversations)) == [[BROKEN], ["It sails.", "At nine."]]
    assert [(each.line, each.field) for each in notes.warnings] == [(1, "messages[1].context")]

    case = write_rows(
        tmp_path / "cases.jsonl",
        {
            "scenario": "s",
            "turns": [question, {**answer, "retrievalContext": BROKEN}],
            "metadata": '{"a": [1, ',
        },
    )
    conversations, notes, _ = read_all(case, "deepeval")
    assert list(map(list_passages, conversations)) == [[BROKEN]]
    assert conversations[0].metadata["metadata"] == '{"a": [1, '
    fields = [(each.line, each.field) for each in notes.warnings]
    assert fields == [(1, "turns[1].retrieval_context"), (1, "metadata")]


def test_a_list_of_a_task_that_was_cut_off_is_named_by_the_line_of_the_task(tmp_path: Path) -> None:
    tasks: list[dict[str, object]] = [
        {
            "conversation_id": "c",
            "task_id": f"c::{number}",
            "turn": number,
            "contexts": json.dumps(["It sails."]) if number == 1 else BROKEN,
            "input": json.dumps([{"speaker": "user", "text": "When?"}]),
            "targets": json.dumps([{"speaker": "agent", "text": "At nine."}]),
        }
        for number in (1, 2)
    ]
    path = write_rows(tmp_path / "x.csv", *tasks)
    _, notes, refused = read_all(path, "mtrag")
    assert refused == []
    assert [(each.line, each.field) for each in notes.warnings] == [(3, "contexts")]


@pytest.mark.parametrize("text", ["[]", '["a"]', "['a', 'b']", '{"a": 1}', "a", "", "[1, 2", "{x}"])
def test_a_whole_list_and_a_text_are_no_broken_list(text: str) -> None:
    assert find_broken_list(text, "x") is None
    assert find_broken_list([text], "x") is None
