import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from faithtui.agreement.imported_scores.rated_units import ScoredConversation
from faithtui.errors import InputError
from faithtui.formats.readers.imported_scores import read_scored_conversations

LABEL = {"turn": 1, "annotator": "ann", "label": 4, "scale": "mtrag-faithfulness-1-4"}
TURNS = [
    {"role": "user", "content": "Q"},
    {"role": "assistant", "content": "A"},
    {"role": "user", "content": "Q"},
    {"role": "assistant", "content": "B"},
]


def line(**changes: object) -> dict[str, object]:
    return {"id": "a", "turns": TURNS, "human_labels": [LABEL], **changes}


def read(path: Path, *lines: Mapping[str, object]) -> list[ScoredConversation]:
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return list(read_scored_conversations(path))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "set.jsonl"


def test_a_number_is_of_the_last_answer(file: Path) -> None:
    (found,) = read(file, line(reference_judges={"j": 0.5, "k": 1}))
    assert found.scores == {"j": {3: 0.5}, "k": {3: 1.0}}


def test_an_object_holds_a_number_by_position_of_the_answer(file: Path) -> None:
    (found,) = read(file, line(reference_judges={"j": {"1": 0.25, "3": 1}}))
    assert found.scores == {"j": {1: 0.25, 3: 1.0}}


def test_null_is_a_score_that_is_not_there(file: Path) -> None:
    (found,) = read(file, line(reference_judges={"j": None, "k": {"1": None, "3": 0.5}}))
    assert found.scores == {"j": {}, "k": {3: 0.5}}


@pytest.mark.parametrize("judges", [{}, None])
def test_no_scores_are_no_scores(file: Path, judges: object) -> None:
    (found,) = read(file, line(reference_judges=judges))
    assert found.scores == {}


def test_assigned_people_are_read_as_names(file: Path) -> None:
    (found,) = read(file, line(metadata={"annotators_assigned": ["ann", 7]}))
    assert found.assigned == frozenset({"ann", "7"})
    (other,) = read(file, line())
    assert other.assigned is None


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"reference_judges": {"j": "high"}}, "reference_judges.j", 'is "high"; expected a number'),
        ({"reference_judges": {"j": True}}, "reference_judges.j", "is true; expected a number"),
        ({"reference_judges": {"j": [0.5]}}, "reference_judges.j", "is a list; expected a number"),
        (
            {"reference_judges": {"j": {"1": "x"}}},
            "reference_judges.j.1",
            'is "x"; expected a number, or null',
        ),
        (
            {"reference_judges": {"j": {"2": 0.5}}},
            "reference_judges.j.2",
            'is of turn "2"; expected the position of an assistant turn, counted from 0: 1, 3',
        ),
        (
            {"reference_judges": {"j": 10**400}},
            "reference_judges.j",
            "is a number too large to compare",
        ),
        (
            {"metadata": {"annotators_assigned": "ann"}},
            "metadata.annotators_assigned",
            'is "ann"; expected a list of the names',
        ),
        (
            {"metadata": {"annotators_assigned": [None]}},
            "metadata.annotators_assigned",
            "is a list; expected a list of the names",
        ),
        (
            {"human_labels": [LABEL, {**LABEL, "label": 1}]},
            "human_labels[1]",
            'is a second label of "ann" on what human_labels[0] is about',
        ),
        ({"human_labels": [{**LABEL, "turn": 2}]}, "human_labels[0].turn", "a user turn"),
    ],
)
def test_what_cannot_be_used_is_told_with_file_line_field_and_the_way_out(
    file: Path, changes: Mapping[str, object], field: str, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(file, line(id="good"), line(**changes))
    assert (caught.value.path, caught.value.line, caught.value.field) == (file, 2, field)
    assert words in caught.value.reason


def test_a_score_without_an_answer_is_refused(file: Path) -> None:
    alone = {"id": "q", "turns": TURNS[:1], "reference_judges": {"j": 0.5}}
    with pytest.raises(InputError, match="no assistant turn"):
        read(file, line(), alone)


def test_two_lines_with_one_id_are_refused(file: Path) -> None:
    with pytest.raises(InputError, match="line 2: id: is that of line 1 too"):
        read(file, line(), line())


def test_a_file_without_labels_is_refused(file: Path) -> None:
    with pytest.raises(InputError, match="has no human labels"):
        read(file, line(human_labels=[]))


def test_freely_marked_pieces_may_be_marked_twice(file: Path) -> None:
    span = {**LABEL, "scale": "faithbench-span", "label": "Benign", "span": {"text": "A"}}
    (found,) = read(file, line(human_labels=[span, span]))
    assert len(found.conversation.ratings) == 2
