"""Cells of tables: JSON, Python literals, joined texts."""

from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.errors import InputError
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from faithtui.formats.readers.values.cells import parse_list_or_object_cell
from faithtui.formats.readers.values.key_spellings import ShapeError
from tests.formats.test_detection import refusal
from tests.formats.test_real_formats import contexts, read, texts


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))))
def test_a_python_list_of_texts_comes_back(given_texts: list[str]) -> None:
    assert parse_list_or_object_cell(repr(given_texts), "x") == given_texts


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('["a", null]', ["a", None]),
        ("['it''s']", ["it", "s"]),
        ("['a' 'b']", ["a", "b"]),
        ("['a'\n 'b'\n \"c's\"]", ["a", "b", "c's"]),
        ("[{'text': 'a'}]", [{"text": "a"}]),
        # A set of eight words is in this order by chance once in 40,000 times.
        ("{'h', 'g', 'f', 'e', 'd', 'c', 'b', 'a'}", list("abcdefgh")),
        ("plain", "plain"),
        ("[1] a footnote", "[1] a footnote"),
        (7, 7),
    ],
)
def test_cells_hold_lists_in_every_form(cell: object, value: object) -> None:
    assert parse_list_or_object_cell(cell, "x") == value


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("[__import__('os').getcwd()]", "neither JSON nor a Python literal"),
        ("['a', ]b]", "neither JSON nor a Python literal"),
        ("[" * 40 + "'a'" + "]" * 40, "nested more than 32 levels deep"),
        ("['" + "a" * 4_000_001 + "']", "4,000,000 characters"),
    ],
)
def test_a_cell_that_cannot_be_read_is_told(cell: str, says: str) -> None:
    with pytest.raises(ShapeError) as raised:
        parse_list_or_object_cell(cell, "x")
    assert says in raised.value.reason


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_tables_of_any_dialect_are_read(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "x.txt"
    rows = [
        "question,answer,contexts".replace(",", delimiter),
        f'"a{delimiter}b\n""c""",d,"[""p""]"',
    ]
    path.write_text("\n".join([*rows[:1], rows[1].replace(",d,", f"{delimiter}d{delimiter}")]))
    [conversation], _ = read(path)
    assert texts([conversation]) == [("user", f'a{delimiter}b\n"c"'), ("assistant", "d")]
    assert contexts([conversation]) == [["p"]]


def test_a_table_in_which_a_cell_does_not_end_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('question,answer\nq,"never ends\n')
    assert "is not CSV" in refusal(path)


def test_column_names_that_are_not_utf8_are_told(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"question,answer,note\xe9,note\xe8\nq,a,1,2\n")
    assert "column names that cannot be read: byte 0xe9" in refusal(path)


def test_cells_beside_the_known_ones_are_labels_and_scores(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(
        "question,answer,human_label,annotator,note,faithfulness,topic\nq,a,no,ann,why,0.25,ships\n"
    )
    [conversation], [verdict] = read(path)
    [rating] = conversation.ratings
    assert (rating.annotator, rating.label, rating.note) == ("ann", "no", "why")
    assert (verdict.judge, verdict.score) == ("faithfulness", 0.25)
    assert conversation.metadata == {"topic": "ships"}


ROWS = [
    {"question": "q", "answer": "a", "contexts": ["p", "r"], "n": 1},
    {"question": "s", "answer": "b", "contexts": [], "n": None},
]


def write_columns(path: Path, kind: str) -> Path:
    table = pa.Table.from_pylist(ROWS)
    match kind:
        case "parquet":
            pyarrow.parquet.write_table(table, path)
        case "file":
            with pyarrow.ipc.new_file(path, table.schema) as file:
                file.write_table(table)
        case _:
            with pyarrow.ipc.new_stream(path, table.schema) as stream:
                stream.write_table(table)
    return path


@pytest.mark.parametrize("kind", ["parquet", "file", "stream"])
def test_parquet_and_arrow_give_the_same_rows(tmp_path: Path, kind: str) -> None:
    conversations, _ = read(write_columns(tmp_path / "data", kind))
    assert texts(conversations) == [
        ("user", "q"),
        ("assistant", "a"),
        ("user", "s"),
        ("assistant", "b"),
    ]
    assert contexts(conversations) == [["p", "r"], []]


def test_a_parquet_file_that_is_cut_off_is_told(tmp_path: Path) -> None:
    path = write_columns(tmp_path / "data", "parquet")
    path.write_bytes(path.read_bytes()[:-20])
    assert "cannot be read as Parquet or Arrow" in refusal(path)


def test_without_pyarrow_the_way_out_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    path = write_columns(tmp_path / "data", "parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'faithtui\[parquet\]'"):
        open_file_and_detect_format(path, FormatChoice(), None)
