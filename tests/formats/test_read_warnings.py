"""What is taken although it may not be what was meant is named by its place, and counted."""

import gzip
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation
from faithtui.errors import InputError
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from faithtui.formats.readers.protocol import UNEVEN_ROW, WARNINGS_KEPT, ReadNotes


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
