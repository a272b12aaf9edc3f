"""Claims and labels as flat files: what is read back is what was there."""

import csv
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithtui.domain.csv_cells import escape_formula, restore_formula
from faithtui.domain.exported_conversation import (
    ExportClaim,
    ExportConversation,
    ExportEvidence,
    ExportLabel,
    ExportMark,
    ExportPassage,
    ExportRun,
    ExportTurn,
)
from faithtui.domain.labels.label_events import Action
from faithtui.formats.writers.flat_files import format_csv_lines, format_json_lines, write_parquet
from faithtui.formats.writers.flat_rows import (
    CLAIM_COLUMNS,
    LABEL_COLUMNS,
    FlatColumn,
    Row,
    format_utc_time,
    make_claim_rows,
    make_label_rows,
)
from tests.formats.writers.exported import (
    DEPOT,
    REVIEWED,
    RUN,
    SPAN,
    TRACE,
    make_claim,
    make_conversation,
)

RowMaker = Callable[[ExportRun, ExportConversation], Iterator[Row]]
TABLES = (
    pytest.param(CLAIM_COLUMNS, make_claim_rows, id="claims"),
    pytest.param(LABEL_COLUMNS, make_label_rows, id="labels"),
)
LISTS = ("passages", "evidence", "labels", "marks")
JSON_TEXTS = {each.name for each in CLAIM_COLUMNS if each.kind == "json"}


texts = st.one_of(
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\x00"), max_size=12),
    st.sampled_from(['=1+1"', "'=x", "''@a", "-1", "+", "＝1", 'a,"b"\r\n c', "\u2028", "|;\t"]),
)
_maybe_text = st.none() | texts
_times = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
_numbers = st.floats(0, 1, allow_nan=False)
_maybe_number = st.none() | _numbers
_passages = st.builds(ExportPassage, texts, texts, _maybe_text)
_shown = st.lists(_passages, max_size=2).map(tuple)
_labels = st.builds(
    ExportLabel,
    id=texts,
    annotator=texts,
    label=_maybe_text,
    action=st.none() | st.sampled_from(Action),
    note=_maybe_text,
    code=_maybe_text,
    at=st.none() | _times,
    seconds=_maybe_number,
    saw_judge=st.booleans(),
    judge_verdict=_maybe_text,
    guideline=_maybe_text,
    stratum=_maybe_text,
    probability=_maybe_number,
    flagged=st.booleans(),
    unsure=st.booleans(),
    evidence=st.lists(
        st.builds(ExportMark, texts, st.integers(0, 9), st.integers(0, 9), texts), max_size=2
    ).map(tuple),
    scale=_maybe_text,
    raw_label=_maybe_text,
)
_claims = st.builds(
    ExportClaim,
    id=texts,
    kind=st.sampled_from(["claim", "statement", "answer"]),
    turn=st.sampled_from([0, 1]),
    text=texts,
    span=st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9)),
    document=_maybe_text,
    judged=st.booleans(),
    window=st.none() | st.integers(0, 9),
    verdict=_maybe_text,
    word=_maybe_text,
    reason=_maybe_text,
    confidence=_maybe_number,
    judged_at=st.none() | _times,
    judge_call=_maybe_text,
    passages=_shown,
    evidence=st.lists(
        st.builds(ExportEvidence, texts, st.just("supports"), _maybe_text), max_size=2
    ).map(tuple),
    human=_maybe_text,
    tied=st.booleans(),
    labels=st.lists(_labels, max_size=2).map(tuple),
    stratum=_maybe_text,
    probability=st.none() | st.floats(0.001, 1),
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
conversations = st.builds(
    ExportConversation,
    number=st.integers(1, 9),
    id=texts,
    source=texts,
    key=texts,
    group=texts,
    metadata=st.dictionaries(texts, _json, max_size=3),
    turns=st.tuples(
        st.builds(ExportTurn, st.just("user"), texts, st.none()),
        st.builds(ExportTurn, st.just("assistant"), texts, _shown),
    ),
    claims=st.lists(_claims, max_size=3).map(tuple),
    windows=st.just(()),
    state=st.just("done"),
    score=_maybe_number,
    corrected=_maybe_number,
    reason=_maybe_text,
)
"""Any conversation of a run, hostile texts included."""


def expected(columns: Sequence[FlatColumn], row: Row) -> dict[str, Any]:
    """A row as JSON has it."""
    found = zip(columns, row, strict=True)
    return {
        each.name: format_utc_time(value) if isinstance(value, datetime) else value
        for each, value in found
    }


@given(text=texts)
def test_no_escaped_cell_is_a_formula_and_each_is_found_again(text: str) -> None:
    cell = escape_formula(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"))
    assert restore_formula(cell) == text


@pytest.mark.thorough
@pytest.mark.parametrize(("columns", "make_rows"), TABLES)
@given(chats=st.lists(conversations, max_size=2))
def test_json_lines_lose_nothing(
    columns: Sequence[FlatColumn], make_rows: RowMaker, chats: list[ExportConversation]
) -> None:
    rows = [row for chat in chats for row in make_rows(RUN, chat)]
    lines = list(format_json_lines(columns, (make_rows(RUN, chat) for chat in chats)))
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in lines)
    found = [json.loads(line) for line in lines]
    assert found == json.loads(json.dumps([expected(columns, row) for row in rows]))
    texts_of = [json.loads(each) for each in format_json_lines(columns, [rows], json_as_text=True)]
    for each in texts_of:
        for name in JSON_TEXTS & each.keys():
            each[name] = json.loads(each[name])
    assert texts_of == found


@pytest.mark.thorough
@pytest.mark.parametrize(("columns", "make_rows"), TABLES)
@given(chats=st.lists(conversations, max_size=2))
def test_csv_loses_only_whether_a_text_is_empty_or_missing(
    columns: Sequence[FlatColumn], make_rows: RowMaker, chats: list[ExportConversation]
) -> None:
    text = "".join(format_csv_lines(columns, (make_rows(RUN, chat) for chat in chats)))
    found = list(csv.DictReader(StringIO(text, newline="")))
    rows = [row for chat in chats for row in make_rows(RUN, chat)]
    assert len(found) == len(rows)
    for cells, row in zip(found, rows, strict=True):
        assert [
            parse_list_or_object_cell(each, cells[each.name]) for each in columns
        ] == json.loads(
            json.dumps([value or None if value == "" else value for value in as_json(columns, row)])
        )


def as_json(columns: Sequence[FlatColumn], row: Row) -> list[Any]:
    return [
        None if each.kind in (*LISTS, "json") and not value else value
        for each, value in zip(columns, expected(columns, row).values(), strict=True)
    ]


def parse_list_or_object_cell(column: FlatColumn, cell: str) -> Any:
    """Read a cell as docs/exports.md says."""
    if cell == "":
        return None
    match column.kind:
        case "text" | "time":
            return restore_formula(cell)
        case _:
            return json.loads(cell)


@given(chat=conversations)
def test_no_cell_of_csv_begins_a_formula(chat: ExportConversation) -> None:
    text = "".join(format_csv_lines(CLAIM_COLUMNS, [make_claim_rows(RUN, chat)]))
    for row in csv.reader(StringIO(text, newline="")):
        assert not any(cell.startswith(("=", "+", "@", "\t", "\r", "＝")) for cell in row)


@pytest.mark.thorough
@pytest.mark.parametrize(("columns", "make_rows"), TABLES)
@settings(max_examples=10)
@given(chats=st.lists(conversations, max_size=2))
def test_parquet_loses_nothing(
    columns: Sequence[FlatColumn], make_rows: RowMaker, chats: list[ExportConversation]
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_parquet(path, columns, (make_rows(RUN, chat) for chat in chats))
        found = parquet.read_table(path).to_pylist()
    rows = [
        dict(zip([each.name for each in columns], row, strict=True))
        for chat in chats
        for row in make_rows(RUN, chat)
    ]
    for each in found:
        for name in JSON_TEXTS & each.keys():
            each[name] = json.loads(each[name])
    assert found == rows


def test_row_groups_of_parquet_are_bounded_by_the_texts_of_passages(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    long = DEPOT._replace(text="x" * 9_000_000)
    chat = make_conversation(*(make_claim(number, "yes", passages=(long,)) for number in range(5)))
    write_parquet(tmp_path / "c.parquet", CLAIM_COLUMNS, [make_claim_rows(RUN, chat)])
    found = parquet.ParquetFile(tmp_path / "c.parquet").metadata
    assert [found.row_group(each).num_rows for each in range(found.num_row_groups)] == [2, 2, 1]


def test_a_row_says_what_judge_and_annotators_say() -> None:
    rows: Iterator[dict[str, Any]] = (
        dict(zip([each.name for each in CLAIM_COLUMNS], row, strict=True))
        for row in make_claim_rows(RUN, REVIEWED)
    )
    first, second, whole = rows
    assert first["claim_id"] == REVIEWED.claims[0].id
    assert (first["conversation"], first["turn"], first["claim"]) == ("order-17", 1, "Claim 0.")
    assert (first["trace_id"], first["span_id"], first["message_id"]) == (TRACE, SPAN, "m-1")
    assert first["question"] == "When does it arrive?"
    assert first["passages"] == [
        {"document": "d" * 64, "text": DEPOT.text, "source": "depot.md"},
        {"document": "e" * 64, "text": "Returns cost 5 euros.", "source": None},
    ]
    assert (first["judge"], first["prompts"]) == ("openai:judge-1", "b" * 64)
    assert (first["human"], first["annotators"]) == ("yes", 2)
    assert (first["sample"], first["probability"], first["weight"]) == ("sample 1", 0.25, 4.0)
    assert (second["verdict"], second["word"], second["reason"]) == (
        "no",
        "contradicted",
        "because 1",
    )
    assert (second["tied"], second["annotators"], second["weight"]) == (True, 1, None)
    assert [each["label"] for each in second["labels"]] == ["no", "yes"]
    assert second["labels"][0]["marks"] == [
        {"document": "e" * 64, "start": 8, "end": 12, "text": "cost"}
    ]
    assert second["labels"][1]["counted"] is False
    assert (whole["judged"], whole["verdict"], whole["kind"]) == (False, None, "answer")
    assert (whole["labels"][0]["scale"], whole["labels"][0]["raw_label"]) == (
        "mtrag-faithfulness-1-4",
        "2",
    )


@pytest.mark.parametrize("columns", [CLAIM_COLUMNS, LABEL_COLUMNS])
def test_columns_have_names_of_their_own(columns: Sequence[FlatColumn]) -> None:
    names = [each.name for each in columns]
    assert len(set(names)) == len(names)


def test_what_is_said_to_be_shared_is_one_value() -> None:
    rows = list(make_claim_rows(RUN, REVIEWED))
    for place, each in enumerate(CLAIM_COLUMNS):
        if each.is_shared:
            assert all(one[place] is other[place] for one, other in pairwise(rows))
