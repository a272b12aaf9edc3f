"""Figures after a few labels, without reading and counting everything again."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from random import Random

import pytest

from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.labelled_units import ClaimUnit, LabelState, RunUnits
from faithtui.agreement.report.report import (
    PreparedUnits,
    compute_report_of_prepared_units,
    update_claim_figures_without_intervals,
)
from faithtui.agreement.report.settings import IntervalMethod, ReportSettings
from faithtui.agreement.sampling.draw import SamplingDesign, Stratum
from faithtui.agreement.sampling.label_designs import (
    LabelledSample,
    SampledClaim,
    find_label_design,
)
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import ClaimId, ItemId, SampleId
from faithtui.domain.labels.label_sets import FAITHFULNESS
from tests.agreement.report.test_parts import RULE, claim, said

WORDS = ("yes", "no", "idk")


def labelled(each: ClaimUnit, word: str | None, *, blind: bool = True) -> ClaimUnit:
    """Let a person say something of a claim, or take it back."""
    if word is None:
        return each._replace(
            human=None, reviewers=0, blind=None, state=LabelState.UNREVIEWED, opinions=()
        )
    return each._replace(
        human=word,
        reviewers=1,
        blind=blind,
        state=LabelState.LABELLED,
        opinions=(said("ann", word),),
    )


def drawn(claims: list[ClaimUnit], *, by_verdict: bool) -> tuple[RunUnits, list[ClaimUnit]]:
    """Make every other claim one of a sample, where there are verdicts by the judge's word."""
    ids = [each.claim for each in claims[::2]]
    strata = tuple(
        Stratum(name, len(own), sum(each.claim in ids for each in own))
        for name in WORDS
        if (own := [each for each in claims if each.judge == name])
    )
    sample = LabelledSample(
        SampleId(1),
        "s",
        1,
        SamplingDesign.STRATIFIED if by_verdict else SamplingDesign.SIMPLE,
        len(claims),
        ("verdict",) if by_verdict else (),
        strata if by_verdict else (Stratum("all", len(claims), len(ids)),),
        tuple(
            SampledClaim(each.claim, ItemId(1), str(each.judge) if by_verdict else "all")
            for each in claims[::2]
        ),
    )
    placed = [
        each._replace(
            position=ids.index(each.claim) if each.claim in ids else None,
            stratum=each.judge if by_verdict else None,
        )
        for each in claims
    ]
    return RunUnits(tuple(placed), (), (), find_label_design(placed, sample)), placed


def estimates(found: object, path: str = "") -> Iterator[tuple[str, Estimate]]:
    """List all estimates of a level but its rates."""
    if isinstance(found, Estimate):
        yield path, found
    elif isinstance(found, tuple):
        for place, each in enumerate(found):
            yield from estimates(each, f"{path}/{place}")
    elif is_dataclass(found):
        for field in fields(found):
            if field.name not in ("rate", "design"):
                yield from estimates(getattr(found, field.name), f"{path}/{field.name}")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("design", ["census", "some", "simple", "stratified"])
@pytest.mark.parametrize(
    "settings",
    [
        ReportSettings(),
        ReportSettings(idk=IdkRule.FAIL),
        ReportSettings(ordinal=True, interval=IntervalMethod.BOOTSTRAP, resamples=100),
    ],
    ids=["plain", "lenient", "ordinal"],
)
def test_points_are_those_of_a_new_report(seed: int, design: str, settings: ReportSettings) -> None:
    chance = Random(seed)
    claims = []
    for number in range(80):
        judge = chance.choice((*WORDS, "yes", "yes"))
        each = claim(number, judge, None)._replace(claim=ClaimId(number), group=f"g{number % 9}")
        word = chance.choice((*WORDS, judge, judge, "x"))
        claims.append(labelled(each, None if design != "census" and number % 3 else word))
    if design in ("simple", "stratified"):
        readings, claims = drawn(claims, by_verdict=design == "stratified")
    else:
        readings = RunUnits(tuple(claims), (), (), find_label_design(claims, None))
    prepared = PreparedUnits(readings, FAITHFULNESS, RULE, settings)
    report = compute_report_of_prepared_units(prepared)
    before = chance.sample([each for each in claims if each.human in WORDS], 4)
    after = [labelled(each, chance.choice((*WORDS, "x")), blind=False) for each in before]
    fresh = next(
        (each for each in claims if each.human is None and each.position is not None), None
    )
    if fresh is not None and settings.idk is IdkRule.THREE and design == "simple":
        before.append(fresh)
        after.append(labelled(fresh, "no"))
    moved = {each.claim: each for each in after}
    now = tuple(moved.get(each.claim, each) for each in claims)
    whole = compute_report_of_prepared_units(
        PreparedUnits(replace(readings, claims=now), FAITHFULNESS, RULE, settings)
    )
    points = update_claim_figures_without_intervals(prepared, report, before, after)
    assert points.claims.table == whole.claims.table
    assert points.claims.coverage == replace(
        whole.claims.coverage, compared_groups=report.claims.coverage.compared_groups
    )
    assert points.claims.unjudged == whole.claims.unjudged
    assert {each.claim for each in points.claims.disagreements} == {
        each.claim for each in whole.claims.disagreements
    }
    found, wanted = dict(estimates(points.claims)), dict(estimates(whole.claims))
    assert found.keys() == wanted.keys()
    for path, point in found.items():
        assert not point.has_interval
        if wanted[path].value is not None:
            assert point.value == pytest.approx(wanted[path].value, abs=1e-12), path
            assert point.n == wanted[path].n


def test_a_missing_interval_is_called_one_that_comes() -> None:
    claims = [
        labelled(claim(i, WORDS[i % 2], None)._replace(group=f"g{i % 7}"), WORDS[i % 3])
        for i in range(30)
    ]
    readings = RunUnits(tuple(claims), (), (), find_label_design(claims, None))
    prepared = PreparedUnits(readings, FAITHFULNESS, RULE)
    other = labelled(claims[0], "no")
    points = update_claim_figures_without_intervals(
        prepared, compute_report_of_prepared_units(prepared), [claims[0]], [other]
    )
    assert "its interval is still to come" in points.headline
    assert points.progress == compute_report_of_prepared_units(prepared).progress


@pytest.mark.parametrize("groups", [4, 9])
@pytest.mark.parametrize("ordinal", [False, True])
def test_a_figure_is_withheld_after_a_label_where_a_report_withholds_it(
    groups: int, *, ordinal: bool
) -> None:
    """The judge says one thing only: kappa is 0 whichever group is left out."""
    claims = [
        labelled(claim(i, "yes", None)._replace(group=f"g{i % groups}"), ("yes", "no")[i % 3 == 0])
        for i in range(45)
    ]
    readings = RunUnits(tuple(claims), (), (), find_label_design(claims, None))
    settings = ReportSettings(ordinal=ordinal)
    prepared = PreparedUnits(readings, FAITHFULNESS, RULE, settings)
    other = labelled(claims[1], "no")
    now = (claims[0], other, *claims[2:])
    after = PreparedUnits(replace(readings, claims=now), FAITHFULNESS, RULE, settings)
    points = update_claim_figures_without_intervals(
        prepared, compute_report_of_prepared_units(prepared), [claims[1]], [other]
    )
    found, wanted = (
        dict(estimates(each.claims)) for each in (points, compute_report_of_prepared_units(after))
    )
    for path, each in found.items():
        assert each.status is wanted[path].status, path
        assert each.value == pytest.approx(wanted[path].value), path
