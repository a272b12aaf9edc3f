"""Questions and passages of traces in the shapes that decorators, steps and tables give them."""

from pathlib import Path

import pytest

from tests.formats.test_detection import write
from tests.formats.test_keys_of_traces import RUN, TRACE, change, read


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"args": ["When?"], "kwargs": {}}, ""),
        ({"args": [[{"role": "user", "content": "When?"}], "x"]}, "args"),
        ({"args": ["When?", 5], "kwargs": {"user_id": "u"}}, "args kwargs.user_id"),
        ({"args": [], "kwargs": {"question": "When?", "user_id": "u"}}, "kwargs.user_id"),
        ({"question": "When?", "input": ["a", "b"], "query": {"k": 1}}, "input query.k"),
    ],
)
def test_a_question_among_arguments_is_read_and_the_rest_is_told(
    tmp_path: Path, given: dict[str, object], told: str
) -> None:
    for record, name in ((change(TRACE, input=given), "input"), (change(RUN, inputs=given), None)):
        conversation, notes = read(write(tmp_path / f"{name}.jsonl", record))
        assert [each.content for each in conversation.turns] == ["When?", "At nine."]
        assert set(notes.unknown_keys) == {f"{name or 'inputs'}.{key}" for key in told.split()}


@pytest.mark.parametrize(
    "given", [5, ["a", "b"], {"args": ["a", "b"]}, {"args": [], "kwargs": {"user_id": "u"}}]
)
def test_what_is_no_question_is_told(tmp_path: Path, given: object) -> None:
    conversation, notes = read(write(tmp_path / "x.jsonl", change(TRACE, input=given)))
    assert len(conversation.turns) == 1
    assert len(notes.unknown_keys) == 1


def test_what_is_around_an_answer_is_told(tmp_path: Path) -> None:
    record = change(RUN, outputs={"answer": {"text": "At nine.", "sources": ["s"]}})
    conversation, notes = read(write(tmp_path / "x.jsonl", record))
    assert conversation.turns[-1].content == "At nine."
    assert dict(notes.unknown_keys) == {"outputs.answer.sources": 1}
