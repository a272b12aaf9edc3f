import pytest

from faithtui.agreement.idk_recoding import FAITHFUL, UNFAITHFUL, IdkRule, recode, recoded_labels
from faithtui.domain.label_sets import FAITHFULNESS, INFERENCE, NOT_A_CLAIM


@pytest.mark.parametrize(
    ("rule", "passing", "expected"),
    [
        (IdkRule.THREE, ("yes",), ["yes", "no", "idk"]),
        (IdkRule.STRICT, ("yes",), [FAITHFUL, UNFAITHFUL, FAITHFUL]),
        (IdkRule.LENIENT, ("yes", "idk"), [FAITHFUL, UNFAITHFUL, UNFAITHFUL]),
        (IdkRule.LIVE, ("yes", "idk"), [FAITHFUL, UNFAITHFUL, FAITHFUL]),
        (IdkRule.LIVE, ("yes",), [FAITHFUL, UNFAITHFUL, UNFAITHFUL]),
    ],
)
def test_what_unsure_counts_as(
    rule: IdkRule, passing: tuple[str, ...], expected: list[str]
) -> None:
    assert [recode(label, rule, FAITHFULNESS, passing) for label in FAITHFULNESS.names] == expected


@pytest.mark.parametrize("rule", list(IdkRule))
def test_every_label_of_every_vocabulary_has_a_place_in_the_table(rule: IdkRule) -> None:
    for labels in (FAITHFULNESS, INFERENCE):
        places = recoded_labels(rule, labels)
        assert {recode(label, rule, labels, ("yes", "1")) for label in labels.names} <= set(places)


def test_without_an_unsure_label_all_two_class_rules_agree() -> None:
    for rule in (IdkRule.STRICT, IdkRule.LENIENT, IdkRule.LIVE):
        assert [recode(label, rule, INFERENCE, ("1",)) for label in ("1", "0")] == [
            FAITHFUL,
            UNFAITHFUL,
        ]


def test_what_is_no_label_is_not_read() -> None:
    with pytest.raises(KeyError):
        recode(NOT_A_CLAIM, IdkRule.STRICT, FAITHFULNESS, ("yes",))
