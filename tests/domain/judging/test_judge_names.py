import pytest

from faithtui.domain.judging.judge_names import OFFLINE_TITLE, describe_judge_label, judge_title
from faithtui.domain.labels.label_sets import FAITHFULNESS, INFERENCE, RELEVANCE, SUPPORT, LabelSet


def test_only_the_embedded_judge_has_a_name_of_its_own() -> None:
    assert judge_title("offline") == OFFLINE_TITLE
    assert judge_title("openai:gpt-6-luna") == "openai:gpt-6-luna"
    assert judge_title("offline", {"labels": 40}) == f"{OFFLINE_TITLE}, recalibrated on 40 labels"


def test_a_clash_that_the_embedded_judge_sees_is_a_possible_contradiction() -> None:
    assert describe_judge_label("offline", "no", FAITHFULNESS) == "possible contradiction"
    assert describe_judge_label("openai:m", "no", FAITHFULNESS) == "contradicted"


@pytest.mark.parametrize(
    "labels", [INFERENCE, RELEVANCE, SUPPORT], ids=["0 1", "relevant", "support"]
)
def test_where_a_bad_label_claims_no_contradiction_it_keeps_its_meaning(labels: LabelSet) -> None:
    for label in labels.labels:
        assert describe_judge_label("offline", label.name, labels) == label.meaning


def test_other_labels_keep_their_meaning() -> None:
    for name in ("yes", "idk"):
        assert (
            describe_judge_label("offline", name, FAITHFULNESS)
            == FAITHFULNESS.get_label(name).meaning
        )
    with pytest.raises(KeyError):
        describe_judge_label("offline", "1", FAITHFULNESS)
