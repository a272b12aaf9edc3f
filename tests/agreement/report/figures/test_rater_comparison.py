"""Judges and people on the same claims."""

from collections import Counter
from dataclasses import replace

import pytest

from faithtui.agreement.report.compare import compare_raters, compute_self_agreement
from faithtui.agreement.report.figures.rater_comparison import (
    ClaimOpinions,
    ComparisonFilter,
    RepeatedLabel,
    matches_filter,
    order_opinions_anonymously,
)
from faithtui.domain.ids import ClaimId, ItemId, RunId
from faithtui.domain.labels.label_events import Action, HumanVerdict
from faithtui.domain.labels.label_sets import FAITHFULNESS

ONE, TWO = RunId(1), RunId(2)


def claim(
    number: int = 1,
    *,
    judge: str | None = "yes",
    other: str | None = "yes",
    final: str | None = None,
    **people: str,
) -> ClaimOpinions:
    identity = ClaimId(number)
    return ClaimOpinions(
        identity,
        ItemId(1),
        f"g{number}",
        tuple(
            HumanVerdict(identity, name, word, Action.BLIND)
            for name, word in sorted(people.items())
        ),
        None if final is None else HumanVerdict(identity, "cy", final, Action.ADJUDICATED),
        {ONE: judge, TWO: other},
    )


def test_people_differ_until_there_is_a_final_word() -> None:
    assert not claim(ann="yes").has_disagreement
    assert not claim(ann="yes", bo="yes").is_undecided
    assert claim(ann="yes", bo="no").is_undecided
    settled = claim(ann="yes", bo="no", final="idk")
    assert settled.has_disagreement
    assert not settled.is_undecided
    assert settled.human_label == "idk"
    assert claim(ann="yes", bo="no").human_label is None
    assert claim().human_label is None


def test_the_lists() -> None:
    differing = claim(judge="yes", ann="yes", bo="no")
    settled = replace(differing, final=HumanVerdict(ClaimId(1), "cy", "no", Action.ADJUDICATED))
    assert matches_filter(differing, ComparisonFilter.HUMANS, ONE)
    assert matches_filter(settled, ComparisonFilter.HUMANS, ONE)
    # That it is listed here would tell the judge's verdict.
    assert not matches_filter(differing, ComparisonFilter.FINAL, ONE)
    assert matches_filter(settled, ComparisonFilter.FINAL, ONE)
    assert not matches_filter(claim(judge="yes", ann="yes"), ComparisonFilter.FINAL, ONE)
    assert not matches_filter(claim(), ComparisonFilter.FINAL, ONE)
    assert matches_filter(claim(other="no"), ComparisonFilter.JUDGES, ONE)
    assert not matches_filter(claim(), ComparisonFilter.JUDGES, ONE)


def test_nobody_is_always_a_and_the_order_of_a_claim_is_fixed() -> None:
    first = Counter(
        order_opinions_anonymously(claim(number, ann="yes", bo="no"))[0].reviewer
        for number in range(400)
    )
    assert 150 < first["ann"] < 250
    one = claim(7, ann="yes", bo="no")
    assert order_opinions_anonymously(one) == order_opinions_anonymously(
        replace(one, opinions=one.opinions[::-1])
    )


def test_a_judge_is_compared_with_the_last_word_of_people() -> None:
    claims = [
        *(claim(n, judge="yes", ann="yes", bo="yes") for n in range(10)),
        *(claim(n, judge="no", ann="no") for n in range(10, 15)),
        *(claim(n, judge="yes", ann="yes", bo="no", final="no") for n in range(15, 20)),
        claim(20, judge=None, ann="no"),
        claim(21, judge="yes", ann="x"),
    ]
    found = compare_raters(claims, [ONE, TWO], FAITHFULNESS)
    judge = found.judges[0]
    assert (judge.run, judge.figures.n) == (ONE, 20)
    # Ten yes on both sides, five no on both, five no that the judge calls yes.
    assert judge.figures.kappa.value == pytest.approx((0.75 - 0.5) / 0.5)
    assert judge.figures.recall.value == pytest.approx(0.5)
    (pair,) = found.pairs
    assert (pair.first, pair.second, pair.figures.n) == ("ann", "bo", 15)
    assert [(each.reviewer, each.claims) for each in found.people] == [("ann", 22), ("bo", 15)]


def test_x_is_a_word_among_people() -> None:
    found = compare_raters([claim(n, ann="x", bo="yes") for n in range(12)], [ONE], FAITHFULNESS)
    assert found.pairs[0].figures.n == 12
    assert found.judges[0].figures.n == 0


def test_a_person_is_compared_with_the_others_alone_and_with_themselves() -> None:
    again = compute_self_agreement(
        [RepeatedLabel("ann", "g", "yes", "no", 5.0)], FAITHFULNESS.names
    )
    alone = compare_raters([claim(ann="yes")], [ONE], FAITHFULNESS, again)
    (ann,) = alone.people
    assert (ann.claims, ann.figures.n) == (1, 0)
    assert ann.self_agreement == again[0]
    assert alone.pairs == ()
    assert compare_raters([], [], FAITHFULNESS).people == ()
