"""A key of a message, a turn or a task that no tool writes is told, and kept with its answer."""

from pathlib import Path
from typing import Any

import pytest

from faithtui.domain.conversation import Conversation, Document
from faithtui.formats.readers.datasets import FormatChoice, open_file_and_detect_format
from tests.formats.test_detection import write
from tests.formats.test_keys_of_traces import change, read

CHAT: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "When?", "name": "kim", "timestamp": "2026-01-01"},
        {"role": "assistant", "content": "In May.", "refusal": None, "annotations": [], "id": "m"},
    ]
}
CASE: dict[str, Any] = {
    "scenario": "A date is asked for.",
    "turns": [
        {"role": "user", "content": "When?", "user_id": "7"},
        {"role": "assistant", "content": "In May.", "mcp_tools_called": [{"name": "f"}]},
    ],
}
TASK: dict[str, Any] = {
    "task_id": "c<::>1", "conversation_id": "c", "turn": 1, "task_type": "rag", "dataset": "d",
    "Answerability": ["ANSWERABLE"], "Question Type": ["Factoid"], "contexts": [{"text": "May."}],
    "input": [{"speaker": "user", "text": "When?", "metadata": {"author_type": "human"}}],
    "predictions": [{"text": "In May."}],
}  # fmt: skip
EVALUATIONS: dict[str, Any] = {
    "name": "runs",
    "models": [{"model_id": "m"}],
    "filters": ["Collection"],
    "documents": [{"document_id": "d1", "text": "May."}],
    "metrics": [],
    "tasks": [{**TASK, "contexts": [{"document_id": "d1"}]}],
    "evaluations": [
        {"task_id": "c<::>1", "model_id": "m", "model_response": "In May.", "annotations": {}}
    ],
}


@pytest.mark.parametrize("record", [CHAT, CASE, TASK, EVALUATIONS])
def test_keys_that_tools_write_are_not_told(tmp_path: Path, record: dict[str, Any]) -> None:
    _, notes = read(write(tmp_path / "x.jsonl", record))
    assert not notes.unknown_keys
    assert not notes.dropped_keys


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (change(CHAT, messages__1__zebra=1), "messages[].zebra"),
        (change(CASE, turns__1__zebra=1), "turns[].zebra"),
        (change(TASK, zebra=1), "zebra"),
        (change(EVALUATIONS, tasks__0__zebra=1), "zebra"),
        (change(EVALUATIONS, evaluations__0__zebra=1), "evaluations[].zebra"),
    ],
)
def test_another_key_is_told_and_kept_with_its_answer(
    tmp_path: Path, record: dict[str, Any], told: str
) -> None:
    conversation, notes = read(write(tmp_path / "x.jsonl", record))
    assert dict(notes.unknown_keys) == {told: 1}
    per_turn = conversation.metadata["per_turn"]
    assert isinstance(per_turn, dict)
    [details] = [each for each in per_turn.values() if "zebra" in each]
    assert details["zebra"] == 1


def test_a_key_beside_tasks_and_evaluations_is_told_as_dropped(tmp_path: Path) -> None:
    _, notes = read(write(tmp_path / "x.jsonl", {**EVALUATIONS, "zebra": 1}))
    assert dict(notes.dropped_keys) == {"zebra": 1}


def test_a_key_that_may_hold_the_passages_of_an_answer_can_be_mapped(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", change(CHAT, messages__1__passagez=["It was May."]))
    choice = FormatChoice(renames={"passagez": "retrieval_context"})
    dataset, file = open_file_and_detect_format(path, choice, None)
    [found] = [each.found for each in dataset.read(file)]
    assert isinstance(found, Conversation)
    assert found.turns[1].retrieval_context == (Document("It was May."),)
    assert not dataset.notes.unknown_keys
