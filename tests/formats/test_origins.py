"""Labels that no person gave are kept, and are no labels of people."""

import pytest

from faithtui.domain.conversation import Conversation
from faithtui.errors import InputError
from faithtui.formats.readers.conversation_json import conversation_from_json

TURNS = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "An answer."}]


def read(*labels: dict[str, object], **more: object) -> Conversation:
    line = {"turns": TURNS, "human_labels": [*labels], **more}
    return conversation_from_json(line, source="s").conversation


def rated(**changes: object) -> dict[str, object]:
    return {"turn": 1, "annotator": "ann", "scale": "s", "label": "4", **changes}


@pytest.mark.parametrize(
    "mark",
    [{}, {"origin": "human"}, {"origin": None}, {"annotator_kind": "HUMAN"},
     {"annotator_kind": None}, {"origin": "human", "annotator_kind": "LLM"}],
)  # fmt: skip
def test_labels_of_people_count(mark: dict[str, object]) -> None:
    found = read(rated(**mark))
    assert [each.annotator for each in found.ratings] == ["ann"]
    assert "model_labels" not in found.metadata


@pytest.mark.parametrize(
    "mark",
    [{"origin": "model"}, {"annotator_kind": "LLM"}, {"annotator_kind": "CODE"},
     {"annotator_kind": "someone"}, {"annotator_kind": 7}],
)  # fmt: skip
def test_labels_of_machines_are_kept_in_the_metadata_alone(mark: dict[str, object]) -> None:
    found = read(rated(**mark, note="n"), rated(annotator="bo"))
    assert [each.annotator for each in found.ratings] == ["bo"]
    assert found.metadata["model_labels"] == [
        {"turn": 1, "annotator": "ann", "label": "4", "scale": "s", "span": None, "note": "n",
         "origin": "model"}
    ]  # fmt: skip


@pytest.mark.parametrize("origin", ["Human", "llm", "", 7, True])
def test_another_word_is_refused(origin: object) -> None:
    with pytest.raises(InputError, match=r"human_labels\[0\]\.origin: .*expected `human`, or"):
        read(rated(origin=origin))


def test_metadata_of_the_name_is_refused_where_it_is_needed() -> None:
    with pytest.raises(InputError, match=r"metadata\.model_labels"):
        read(rated(origin="model"), metadata={"model_labels": 1})
