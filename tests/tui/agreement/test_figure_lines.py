"""Panes of the agreement screen whose lines depend on how many annotators there are."""

import pytest

from faithtui.agreement.labelled_units import (
    AnswerUnit,
    ClaimUnit,
    DesignKind,
    LabelDesign,
    LabelState,
    Opinion,
)
from faithtui.agreement.report.report import agreement_report
from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.labels.label_events import Action
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.scores import Score, ScoringRule
from faithtui.tui.agreement.figure_lines import (
    format_annotator_agreement_lines,
    format_pass_rate_lines,
)
from tests.agreement.building import readings
from tests.agreement.report.test_ties import claim

RULE = ScoringRule(passing=("yes", "idk"), when_empty=1.0)
UNKNOWN = (
    "no {} of the figures has labels of two annotators: how far they agree, the most that can be "
    "asked of"
)


def opinions(*names: str) -> tuple[Opinion, ...]:
    return tuple(Opinion(name, "yes", Action.BLIND, True) for name in names)


@pytest.mark.parametrize(
    ("of_claims", "of_answers"),
    [(("ann",), ("ann",)), (("ann", "bo"), ("ann",)), (("ann",), ("ann", "bo"))],
)
def test_what_annotators_reach_is_told_of_claims_and_of_answers(
    of_claims: tuple[str, ...], of_answers: tuple[str, ...]
) -> None:
    claims = [
        ClaimUnit(
            ClaimId(at + 1), ConversationId(at + 1), f"c{at}", f"g{at}", 1, f"claim {at}", "yes",
            "yes", len(of_claims), 1, True, True, LabelState.LABELLED, opinions(*of_claims),
        )
        for at in range(6)
    ]  # fmt: skip
    answers = [
        AnswerUnit(
            ConversationId(at + 1), f"c{at}", f"g{at}", 1, Score(1.0), 1, True, "yes", None,
            len(of_answers), opinions(*of_answers),
        )
        for at in range(6)
    ]  # fmt: skip
    report = agreement_report(readings(claims, answers), FAITHFULNESS, RULE)
    told = " ".join(
        " ".join(line.text.split()) for line in format_annotator_agreement_lines(report, 200)
    )
    for names, unit, many in ((of_claims, "claim", "claims"), (of_answers, "answer", "answers")):
        both = f"2 annotators, 6 {many} with two or more:"
        assert (both in told, UNKNOWN.format(unit) in told) == (len(names) == 2, len(names) == 1)


def test_the_share_by_labels_has_none_beside_the_sample() -> None:
    claims = [claim(number, "yes", ["yes"]) for number in range(40)]
    drawn, beside = claims[:30], [each._replace(position=None) for each in claims[30:]]
    others = [claim(40 + number, "yes", ()) for number in range(60)]
    design = LabelDesign(DesignKind.SIMPLE, 100)
    for units in (drawn, [*drawn, *beside]):
        found = agreement_report(readings([*units, *others], design=design), FAITHFULNESS, RULE)
        lines = [each.text.rstrip() for each in format_pass_rate_lines(found.claims, 80)]
        (line,) = [each for each in lines if each.startswith(" human labels ")]
        assert line.endswith("n=30")
