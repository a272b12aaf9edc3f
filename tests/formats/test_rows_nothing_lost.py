"""Rows of question and answer: what is not understood is kept and told."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from faithtui.domain.conversation import Conversation
from faithtui.domain.labels.imported_verdicts import ImportedJudgement
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from tests.formats.test_real_formats import texts

ROW = {"question": "q", "answer": "a", "contexts": ["c"]}


def write_rows(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(f"{json.dumps(ROW | row)}\n" for row in rows))
    return path


def read_and_list_told_keys(
    path: Path,
) -> tuple[list[Conversation], list[ImportedJudgement], dict[str, int]]:
    """Read a file without any refusal, and what is told of keys that nobody understood."""
    dataset, file = open_file_and_detect_format(path, FormatChoice(), None)
    records = list(dataset.read(file))
    conversations = [each.found for each in records if isinstance(each.found, Conversation)]
    assert len(conversations) == len(records)
    verdicts = [verdict for each in records for verdict in each.verdicts]
    return conversations, verdicts, dict(dataset.notes.unknown_keys)


def list_kept(conversations: Sequence[Conversation]) -> list[object]:
    return [each.metadata.get("extra") for each in conversations]


@pytest.mark.parametrize(
    "value", ["no", True, "yes", "pass", "n/a", 7, -1, [1], {"score": 0.5, "reason": "why"}]
)
def test_a_verdict_that_is_no_score_is_kept_and_told(tmp_path: Path, value: object) -> None:
    path = write_rows(
        tmp_path / "x.jsonl", {"faithfulness": value, "judge": "j", "judge_reason": "r"}
    )
    conversations, verdicts, told = read_and_list_told_keys(path)
    assert verdicts == []
    assert list_kept(conversations) == [{"faithfulness": value, "judge": "j", "judge_reason": "r"}]
    assert told == {"faithfulness": 1, "judge": 1, "judge_reason": 1}


def test_a_verdict_of_a_table_that_is_no_score_is_kept_and_told(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("question,answer,faithfulness\nq,a,0.5\nr,a,high\ns,a,\n")
    conversations, verdicts, told = read_and_list_told_keys(path)
    assert len(verdicts) == 1
    assert list_kept(conversations) == [None, {"faithfulness": "high"}, None]
    assert told == {"faithfulness": 1}


def test_a_label_without_annotator_and_an_annotator_without_label_are_kept_and_told(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(
        "question,answer,label,annotator,note\nq,a,yes,,\nr,a,no,ann,why\ns,a,,ben,later\n"
    )
    conversations, _, told = read_and_list_told_keys(path)
    assert [len(each.ratings) for each in conversations] == [0, 1, 0]
    assert list_kept(conversations) == [
        {"label": "yes"},
        None,
        {"annotator": "ben", "note": "later"},
    ]
    assert told == {"label": 1, "annotator": 1, "note": 1}


@pytest.mark.parametrize(
    ("label", "annotator"), [(True, ""), (True, " "), (True, "\u00a0\t"), ("", "ann"), (" ", "ann")]
)
def test_a_label_that_is_blank_or_whose_annotator_is_blank_is_kept_and_told(
    tmp_path: Path, label: object, annotator: str
) -> None:
    path = write_rows(tmp_path / "x.jsonl", {"label": label, "annotator": annotator})
    conversations, _, told = read_and_list_told_keys(path)
    assert [each.ratings for each in conversations] == [()]
    assert list_kept(conversations) == [{"label": label, "annotator": annotator}]
    assert told == {"label": 1, "annotator": 1}


def test_a_name_of_blanks_is_none(tmp_path: Path) -> None:
    blank = {"id": " ", "conversation_id": "\u00a0", "faithfulness": 1, "judge": " "}
    path = write_rows(tmp_path / "x.jsonl", blank, blank | {"question": "other"})
    conversations, verdicts, _ = read_and_list_told_keys(path)
    assert len({each.key for each in conversations}) == 2
    assert len({each.group for each in conversations}) == 2
    assert {each.judge for each in verdicts} == {"faithfulness"}


@pytest.mark.parametrize(
    ("name", "value", "expected"), [(" ", "Bo", "Bo"), ("\u00a0", None, "unknown")]
)
def test_an_annotator_of_faithbench_that_is_blank_is_no_person(
    tmp_path: Path, name: str, value: str | None, expected: str
) -> None:
    annotation = {"annotator_name": name, "annotator_id": value, "label": ["Unwanted"]}
    sample = {"sample_id": 1, "source": "s", "summary": "At ten."}
    sample["annotations"] = [{**annotation, "summary_span": "ten"}]
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"samples": [sample]}))
    [conversation], _, _ = read_and_list_told_keys(path)
    assert [each.annotator for each in conversation.ratings] == [expected]


@pytest.mark.parametrize(
    "pairs", [[["hi", "hello"], ["and", "so"]], [["human", "hi"], ["ai", "hello"]]]
)
def test_a_chat_history_of_pairs_is_read(tmp_path: Path, pairs: list[list[str]]) -> None:
    path = write_rows(tmp_path / "x.jsonl", {"chat_history": pairs})
    conversations, _, told = read_and_list_told_keys(path)
    before = [("user", "hi"), ("assistant", "hello")]
    if pairs[0][0] == "hi":
        before += [("user", "and"), ("assistant", "so")]
    assert texts(conversations) == [*before, ("user", "q"), ("assistant", "a")]
    assert (list_kept(conversations), told) == ([None], {})


@pytest.mark.parametrize(
    "history", [["hi", "hello"], "user: hi", "[hi", "[hi]", {"a": 1}, [["a", "b", "c"]], [None]]
)
def test_a_chat_history_that_is_not_understood_is_kept_and_told(
    tmp_path: Path, history: object
) -> None:
    path = write_rows(tmp_path / "x.jsonl", {"chat_history": history}, {"chat_history": []})
    conversations, _, told = read_and_list_told_keys(path)
    assert list_kept(conversations) == [{"chat_history": history}, None]
    assert told == {"chat_history": 1}


LIKE_LISTS = [
    "[INST] When? [/INST]",
    '["a"]',
    '{"a": 1}',
    "[1] and [2]",
    "{x}",
    '[the "type" of it]',
    "['a', ]b]",
]


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ("question", {"answer": "a"}),
        ("user_input", {"response": "a", "retrieved_contexts": ["c"]}),
        ("input", {"actual_output": "a"}),
        ("query", {"response": "a", "passing": True}),
    ],
)
def test_a_question_that_looks_like_a_list_is_a_text(
    tmp_path: Path, question: str, others: dict[str, object]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f"{json.dumps({question: each, **others})}\n" for each in LIKE_LISTS))
    conversations, _, _ = read_and_list_told_keys(path)
    assert [each.turns[0].content for each in conversations] == LIKE_LISTS


def test_a_question_of_a_table_that_looks_like_a_list_is_a_text(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("question", "answer"), *((each, each) for each in LIKE_LISTS)])
    conversations, _, _ = read_and_list_told_keys(path)
    assert texts(conversations) == [
        (role, each) for each in LIKE_LISTS for role in ("user", "assistant")
    ]
