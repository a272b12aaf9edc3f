import pytest

from faithtui.agreement.idk_recoding import (
    EXCLUDED,
    FAITHFUL,
    UNFAITHFUL,
    IdkRule,
    list_label_names_under_rule,
    recode_label,
)
from faithtui.agreement.report.settings import ReportSettings
from faithtui.domain.labels.label_sets import FAITHFULNESS, INFERENCE, NOT_A_CLAIM


@pytest.mark.parametrize(
    ("rule", "passing", "expected"),
    [
        (IdkRule.THREE, ("yes",), ["yes", "no", "idk"]),
        (IdkRule.PASS, ("yes",), [FAITHFUL, UNFAITHFUL, FAITHFUL]),
        (IdkRule.FAIL, ("yes", "idk"), [FAITHFUL, UNFAITHFUL, UNFAITHFUL]),
        (IdkRule.LIVE, ("yes", "idk"), [FAITHFUL, UNFAITHFUL, FAITHFUL]),
        (IdkRule.LIVE, ("yes",), [FAITHFUL, UNFAITHFUL, UNFAITHFUL]),
        (IdkRule.EXCLUDE, ("yes",), [FAITHFUL, UNFAITHFUL, EXCLUDED]),
    ],
)
def test_what_unsure_counts_as(
    rule: IdkRule, passing: tuple[str, ...], expected: list[str]
) -> None:
    assert [
        recode_label(label, rule, FAITHFULNESS, passing) for label in FAITHFULNESS.names
    ] == expected


@pytest.mark.parametrize("rule", list(IdkRule))
def test_every_label_of_every_vocabulary_has_a_place_in_the_table(rule: IdkRule) -> None:
    for labels in (FAITHFULNESS, INFERENCE):
        places = {*list_label_names_under_rule(rule, labels)}
        left_out = {EXCLUDED} if rule is IdkRule.EXCLUDE else set()
        found = {recode_label(label, rule, labels, ("yes", "1")) for label in labels.names}
        assert found <= places | left_out


def test_each_rule_has_a_stored_value_and_a_word_for_users() -> None:
    assert [(each.value, each.option_word) for each in IdkRule] == [
        ("three", "three"),
        ("strict", "pass"),
        ("lenient", "fail"),
        ("live", "live"),
        ("exclude", "exclude"),
    ]


@pytest.mark.parametrize(
    ("word", "rule"),
    [("strict", IdkRule.PASS), ("pass", IdkRule.PASS), ("lenient", IdkRule.FAIL),
     ("fail", IdkRule.FAIL), ("three", IdkRule.THREE)],
)  # fmt: skip
def test_settings_of_a_report_take_both_words(word: str, rule: IdkRule) -> None:
    assert ReportSettings(idk=word).idk is rule  # type: ignore[arg-type]  # a word, as typed
    assert (IdkRule.STRICT, IdkRule.LENIENT) == (IdkRule.PASS, IdkRule.FAIL)


def test_no_other_word_is_a_rule() -> None:
    with pytest.raises(ValueError, match="loose"):
        IdkRule("loose")


def test_without_an_unsure_label_all_two_class_rules_agree() -> None:
    for rule in (IdkRule.PASS, IdkRule.FAIL, IdkRule.LIVE):
        assert [recode_label(label, rule, INFERENCE, ("1",)) for label in ("1", "0")] == [
            FAITHFUL,
            UNFAITHFUL,
        ]


def test_what_is_no_label_is_not_read() -> None:
    with pytest.raises(KeyError):
        recode_label(NOT_A_CLAIM, IdkRule.PASS, FAITHFULNESS, ("yes",))
