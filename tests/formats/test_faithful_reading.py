"""What was written is what is read: no text taken for a wrapper, no judge for an annotator."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from faithtui.formats.files.record_files import rename_and_lift_keys
from faithtui.formats.readers.traces.exchanges import (
    find_answer_text,
    is_about_faithfulness,
    make_sortable_time,
)
from tests.formats.test_detection import refusal, write
from tests.formats.test_real_formats import read


@pytest.mark.parametrize("answer", ['["red", "green"]', '{"a": "1", "b": "2"}', "[1, 2, 3]", "{}"])
def test_an_answer_that_is_json_is_read_as_it_is(answer: str) -> None:
    assert find_answer_text(answer) == answer


@pytest.mark.parametrize(
    "given",
    [
        '{"answer": "Yes."}',
        '{"role": "assistant", "content": "Yes."}',
        '[{"role": "user", "content": "?"}, {"role": "assistant", "content": "Yes."}]',
        {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]},
        {"anything": "Yes."},
    ],
)
def test_what_stands_around_an_answer_is_taken_off(given: object) -> None:
    assert find_answer_text(given) == "Yes."


@pytest.mark.parametrize(
    ("name", "is_about"),
    [
        ("faithfulness", True),
        ("answerFaithfulness", True),
        ("answer-groundedness", True),
        ("factual_consistency", True),
        ("supported", True),
        ("unfaithfulness", False),
        ("inconsistency", False),
        ("unsupported", False),
        ("customer_support_tone", False),
        ("helpfulness", False),
    ],
)
def test_a_score_is_about_faithfulness_by_whole_words(name: str, is_about: bool) -> None:
    assert is_about_faithfulness(name) is is_about


def test_a_mapped_key_wins_and_what_had_its_name_is_kept() -> None:
    given: dict[str, object] = {
        "foo": "mapped", "question": "other", "metadata": {"foo": 1},
    }  # fmt: skip
    changed = {"question": "mapped", "question (unmapped)": "other", "metadata": {"foo": 1}}
    assert rename_and_lift_keys(given, {"foo": "question"}) == changed
    assert rename_and_lift_keys(dict(reversed(given.items())), {"foo": "question"}) == changed
    inner: dict[str, object] = {"turns": [{"b": 1, "x": 2, "c": 3}]}
    renames = {"b": "x", "c": "x"}
    assert rename_and_lift_keys(inner, renames) == {"turns": [{"x": 1, "x (unmapped)": 2, "c": 3}]}
    assert rename_and_lift_keys({"b": 1, "c": 3}, renames) == {"x": 1, "c": 3}


def test_a_path_of_map_leads_into_json_in_a_cell() -> None:
    given = {"inputs": '{"q": "When?"}', "outputs": "{'a': {'text': 'At nine.'}, 'x': 1}"}
    renames = {"inputs.q": "question", "outputs.a.text": "answer", "outputs.none": "id"}
    assert rename_and_lift_keys(dict(given), renames) == {
        "question": "When?",
        "answer": "At nine.",
        "outputs": given["outputs"],  # `x` was not named
    }


def test_a_column_or_key_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("question,answer,answer\nq,first,second\n")
    assert "has the column `answer` twice" in refusal(table)
    document = tmp_path / "d.json"
    document.write_text('{\n "examples": [],\n "examples": []\n}')
    assert "twice" in refusal(document)


def test_a_number_that_is_none_is_an_empty_cell(tmp_path: Path) -> None:
    path = tmp_path / "n.parquet"
    row = {"question": ["q"], "answer": ["a"], "contexts": [["p"]], "score": [float("nan")]}
    pa.parquet.write_table(pa.table(row), path)
    [conversation] = read(path)[0]
    assert [turn.content for turn in conversation.turns] == ["q", "a"]


def test_a_correction_of_a_judge_is_no_word_of_the_judge(tmp_path: Path) -> None:
    run = {
        "id": "r", "trace_id": "r", "run_type": "chain", "name": "rag",
        "inputs": {"question": "q"}, "outputs": {"answer": "a"}, "dotted_order": "1",
        "start_time": "2026-01-01T00:00:00",
    }  # fmt: skip
    feedback = {
        "id": "f", "run_id": "r", "trace_id": "r", "key": "faithfulness", "score": 1,
        "comment": "all supported", "correction": {"score": 0},
        "feedback_source": {"type": "model", "metadata": {"model": "gpt"}},
    }  # fmt: skip
    [conversation], [verdict] = read(write(tmp_path / "ls.jsonl", run, feedback))
    assert (verdict.score, conversation.ratings) == (1.0, ())


@pytest.mark.parametrize(("accepted", "labels"), [(None, []), (False, []), (True, ["1"])])
def test_only_what_somebody_accepted_is_a_label(
    tmp_path: Path, accepted: bool | None, labels: list[str]
) -> None:
    said = {"statements": [{"statement": "It opens.", "verdict": 1, "reason": "so"}]}
    row = {
        "metric_input": {"user_input": "q", "response": "It opens.", "retrieved_contexts": ["p"]},
        "metric_output": 1.0,
        "is_accepted": accepted,
        "prompts": {"nli": {"prompt_input": {}, "prompt_output": said, "edited_output": None}},
    }
    path = tmp_path / "ragas.json"
    path.write_text(json.dumps({"faithfulness": [row]}))
    [conversation], [verdict] = read(path)
    assert [each.label for each in conversation.ratings] == labels
    assert verdict.judge == "ragas faithfulness"


def test_times_with_fractions_and_in_zones_sort_by_time() -> None:
    times = [
        "2024-01-01T00:00:00Z",
        "2024-01-01T00:00:00.500Z",
        "2024-01-01T02:00:01+02:00",
        "2024-01-01T00:00:02",
    ]
    assert sorted(reversed(times), key=make_sortable_time) == times
    assert sorted(["1700000000", "999999999"], key=make_sortable_time) == [
        "999999999",
        "1700000000",
    ]
