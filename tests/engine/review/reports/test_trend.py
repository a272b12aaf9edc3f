"""Runs over one claim set: their figures, the change from one to the next, and the gate on it."""

import shutil
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from faithtui.agreement.documents.figure_texts import estimate_text
from faithtui.agreement.documents.plots.trend_plot import trend_svg
from faithtui.agreement.gate.threshold_checks import CheckOutcome, Criterion, ThresholdBasis
from faithtui.agreement.gate.warning_checks import ACCEPTED_CODES
from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.labelled_units import ClaimUnit
from faithtui.agreement.report.settings import (
    ReportSettings,
    ReportWarning,
    Severity,
    WarningSubject,
)
from faithtui.agreement.report.trend_points import Trend, choose_trend_warnings
from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign
from faithtui.domain.ids import ClaimId, ConversationId, RunId
from faithtui.domain.withheld_reasons import WithheldReason
from faithtui.engine.review.gate.gate import GateRequest, check_gate_and_write_certificate_if_passed
from faithtui.engine.review.reports.agreement_report import compute_run_agreement
from faithtui.engine.review.reports.run_comparison import compare_runs
from faithtui.engine.review.reports.trend import compute_trend
from faithtui.errors import ConfigError, NoSharedClaims
from faithtui.store.records import ItemState, RunState
from faithtui.store.samples.claim_sets import ClaimSetRow
from faithtui.store.store import Store
from tests.store.building import (
    FACTS,
    SPEC,
    SUPPORTED,
    Labels,
    assess,
    spec_of,
    windows_of,
)
from tests.store.runs.test_run_designs import FIVE, drawn, judged_all, label, sampled, skip

KEYS = "abcdefghijkl"
BETTER: Labels = {1: ("no", "no"), 3: ("idk", "yes", "yes")}
"""Of the claims that the first judge calls yes, no, idk, yes, yes."""


WORSE: Labels = {1: ("yes", "no"), 3: ("no", "yes", "no")}


def done(
    store: Store, keys: Iterable[str] = KEYS, labels: Labels | None = None, judge: str = "j"
) -> RunId:
    spec = replace(SPEC, rule=FACTS, judge=f"openai:{judge}", judge_fingerprint=judge)
    run = judged_all(store, keys, spec=spec, **({} if labels is None else {"labels": labels}))
    store.runs.set_state(run, RunState.DONE)
    return run


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Runs 1 to 3 over a set: the first judge, a better one, and that one on a half of it."""
    with Store.open(tmp_path_factory.mktemp("trend") / "s.db") as opened:
        first = done(opened)
        plan = SamplePlan(
            SamplingDesign.STRATIFIED, 7, sizes={"judge yes": 18, "judge no": 6, "judge idk": 6}
        )
        row = sampled(opened, first, plan, "verdict")
        claims = drawn(opened, row)
        texts = {
            each.claim: each.text for each in opened.labelled_units.read_report_units(first).claims
        }
        label(opened, first, [each for each in claims if texts[each] == "Claim 1.0"], "no")
        label(opened, first, [each for each in claims if texts[each] == "Claim 1.1"], "no")
        rest = [each for each in claims if not texts[each].startswith("Claim 1")]
        label(opened, first, rest, "yes")
        opened.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
        done(opened, labels=BETTER, judge="<b>k")
        done(opened, keys=KEYS[:6], labels=BETTER, judge="k")
        yield opened


@pytest.fixture
def claim_set(store: Store) -> ClaimSetRow:
    return store.claim_sets.find_version_by_name("shop")


def test_each_run_has_the_figures_of_its_report_and_its_change_that_of_compare(
    store: Store, claim_set: ClaimSetRow
) -> None:
    found = compute_trend(store, claim_set).points
    assert [each.run for each in found] == [1, 2, 3]
    settings = ReportSettings(claim_set=claim_set.id)
    for each in found:
        claims = compute_run_agreement(store, each.run, settings).report.claims
        assert each.accuracy == claims.percent_agreement
        score = claims.rate.corrected_this_run
        if each.unjudged:
            # Nothing is known of the half of the set that it did not judge.
            assert (score.ci_low, score.ci_high) != (None, None)
            half = ((score.ci_low or 0) / 2, 1 - (1 - (score.ci_high or 0)) / 2)
            assert (each.score.ci_low, each.score.ci_high) == pytest.approx(half)
            score = replace(score, ci_low=each.score.ci_low, ci_high=each.score.ci_high)
        assert each.score == score
        assert (each.kappa, each.recall_no) == (claims.cohen_kappa, claims.strict.recall)
    assert found[0].change is None
    for before, now in ((found[0], found[1]), (found[1], found[2])):
        change = compare_runs(store, before.run, now.run, "ann", claim_set=claim_set.id).report
        assert now.change is not None
        assert replace(now.change, comparisons_made=1, holm_p=change.holm_p) == change
        assert now.change.comparisons_made == 2
    assert (found[1].accuracy.value or 0) > (found[0].accuracy.value or 0)


def test_what_a_run_did_not_judge_bounds_its_accuracy(store: Store, claim_set: ClaimSetRow) -> None:
    first, _, half = compute_trend(store, claim_set).points
    assert (first.unjudged, first.beyond, first.accuracy_bounds) == (0, 0, None)
    assert (half.unjudged, half.beyond) == (30, 0)
    assert half.accuracy_bounds is not None
    low, high = half.accuracy_bounds
    weights = store.claim_sets.compute_label_weights(claim_set.id, FACTS)
    inside = {
        each.claim
        for each in store.labelled_units.read_report_units(RunId(3)).claims
        if each.claim in weights
    }
    share = sum(weights[each] for each in inside) / sum(weights.values())
    assert half.accuracy.value is not None
    assert low == pytest.approx(half.accuracy.value * share)
    assert high == pytest.approx(low + 1 - share)
    assert sum(weights.values()) == pytest.approx(60)


def test_ties_and_claims_that_show_the_judge_are_not_called_unjudged(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        run = done(store)
        plan = SamplePlan(SamplingDesign.SIMPLE, 7, size=30, shown_share=0.4)
        row = sampled(store, run, plan)
        entries = store.samples.list_claims_in_served_order(row.id, "ann")
        assert any(each.shown for each in entries)
        label(store, run, drawn(store, row))
        tied = next(each.claim for each in entries if not each.shown)
        label(store, run, [tied], "no", "bo")
        store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
        claim_set = store.claim_sets.find_version_by_name("shop")
        (point,) = compute_trend(store, claim_set).points
        weights = store.claim_sets.compute_label_weights(claim_set.id, FACTS)
    assert (point.unjudged, point.accuracy_bounds) == (0, None)
    assert weights.keys() == {each.claim for each in entries if not each.shown} - {tied}


@pytest.mark.thorough
def test_only_runs_over_the_set_are_in_its_trend(store: Store, claim_set: ClaimSetRow) -> None:
    other = done(store, keys="xyz")
    ragas = judged_all(store, KEYS, spec=spec_of("ragas-faithfulness", SUPPORTED))
    assert [each.run for each in compute_trend(store, claim_set).points] == [1, 2, 3]
    assert [each.run for each in compute_trend(store, claim_set, [RunId(3)]).points] == [3]
    with pytest.raises(NoSharedClaims):
        compute_trend(store, claim_set, [RunId(1), other])
    with pytest.raises(ConfigError, match="whose labels are not those of the claim set"):
        compute_trend(store, claim_set, [ragas])
    store.runs.archive([RunId(3)])
    assert [each.run for each in compute_trend(store, claim_set).points] == [1, 2]
    store.runs.restore([RunId(3)])


@pytest.mark.thorough
def test_a_run_of_some_of_what_was_drawn_has_no_figures_of_the_set(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        claim_set, drawn_keys = set_of_conversations(store)
        done(store, keys=drawn_keys[:5], labels=BETTER)
        done(store, keys=[f"{each}1" for each in KEYS], labels=BETTER)
        done(store, keys=drawn_keys[1:], judge="d")
        whole, part, half, again = compute_trend(store, claim_set).points
        beside = compute_trend(store, claim_set, [part.run, again.run]).points[1]
        there = compare_runs(store, RunId(1), RunId(2), "ann")
        back = compare_runs(store, RunId(2), RunId(1), "ann")
        both = compare_runs(store, RunId(2), RunId(4), "ann")
    assert [each.judged_some_drawn for each in (whole, part, half, again)] == [
        *(False, True, False, True)
    ]
    for each in (part.accuracy, part.kappa, part.recall_no, part.score):
        assert (each.value, each.reason) == (None, WithheldReason.DESIGN_NOT_RANDOM)
    assert whole.score.value is not None
    # One of six drawn conversations was not judged.
    assert part.accuracy_bounds is not None
    low, high = part.accuracy_bounds
    assert high - low == pytest.approx(1 / 6)
    assert low == pytest.approx(part.compared / 30 * (there.report.accuracy_b.value or 0))
    # Beside a run that judged more there are weights, and between two such runs there are none.
    assert (half.change is None, beside.change) == (False, None)
    assert back.weighting_sentence == there.weighting_sentence
    assert (
        "all claims count alike, as both runs judged claims because they" in both.weighting_sentence
    )


@pytest.mark.parametrize("chosen", [True, False])
def test_labels_that_were_chosen_of_what_was_drawn_give_no_figure(
    tmp_path: Path, chosen: bool
) -> None:
    """The last 30 of 90 drawn claims gave runs over these a score of 1, where .6 is true."""
    with Store.open(tmp_path / "s.db") as store:
        keys = [f"{each}{number}" for number in (1, 2) for each in KEYS]
        run = done(store, keys)
        row = sampled(store, run, SamplePlan(SamplingDesign.CONVERSATIONS, 7, size=6))
        order = drawn(store, row)
        label(store, run, order[-10:] if chosen else order[:10])
        store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
        wanted = {each.item for each in store.samples.list_claims_in_served_order(row.id, "ann")}
        items = zip(keys, store.runs.list_item_ids(run), strict=True)
        only = [key for key, item in items if item in wanted]
        for judge in ("b", "c"):
            done(store, only, BETTER, judge)
        claim_set = store.claim_sets.find_version_by_name("shop")
        points = compute_trend(store, claim_set).points
        report = compare_runs(store, RunId(2), RunId(3), "ann")
        everything = done(store, keys, BETTER, "d")
        # Half of what was drawn and half of the rest, with one of the two that have labels.
        entries = store.samples.list_claims_in_served_order(row.id, "ann")
        key_of = dict(zip(store.runs.list_item_ids(run), keys, strict=True))
        drawn_keys = list(dict.fromkeys(key_of[each.item] for each in entries))
        rest = [key for key in keys if key not in drawn_keys]
        half = done(store, [*drawn_keys[1:3], drawn_keys[-1], *rest[:9]], BETTER, "e")
        (of_half,) = compute_trend(store, claim_set, [half]).points
        found = compute_run_agreement(store, everything).report.warnings
        request = GateRequest(labels=1, kappa=0.0)
        notes = check_gate_and_write_certificate_if_passed(store, run, request).notes
    (elsewhere,) = [each.message for each in found if each.code == "sample_of_other_run"]
    assert ("with the weights of the drawing" in elsewhere) is not chosen
    assert (of_half.accuracy_bounds is None) is chosen
    assert (
        any("or come before labelled ones in the drawn order" in each for each in notes) is chosen
    )
    assert [each.is_order_broken for each in points] == [chosen] * 3
    assert {each.judged_some_drawn for each in points} == {False}
    for each in points:
        for figure in (each.accuracy, each.kappa, each.recall_no, each.score):
            assert (figure.reason is WithheldReason.DESIGN_NOT_RANDOM) is chosen
    assert [each.change is None for each in points] == [True, chosen, chosen]
    assert ("do not follow the order" in report.weighting_sentence) is chosen
    assert {each.accuracy_bounds is None for each in points} == {True}
    # No sentence of a report speaks of weights, or promises a rate of another run.
    with Store.open(tmp_path / "s.db") as store:
        found = compute_run_agreement(store, RunId(2)).report.warnings
    said = {each.code: each.message for each in found}
    assert said["design_not_random"].startswith("Too many claims of the sample") is chosen
    assert "A run over all of them has one" not in said["design_not_random"] or not chosen
    assert "with the weights of the drawing" not in said["sample_of_other_run"]


def test_a_stratum_of_which_no_label_counts_is_named(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        run = done(store)
        row = sampled(
            store, run, SamplePlan(SamplingDesign.STRATIFIED, 7, sizes={"judge no": 6}), "verdict"
        )
        label(store, run, drawn(store, row), "no")
        done(store, labels=BETTER, judge="b")
        store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
        found = compute_run_agreement(store, run).report
        points = compute_trend(store, store.claim_sets.find_version_by_name("shop")).points
        sentence = compare_runs(store, RunId(1), RunId(2), "ann").weighting_sentence
    said = [each.message for each in found.warnings if each.code == "stratum_unlabelled"]
    assert said == [
        f"No label counts of the stratum «{name}», which has {size} of 60 claims: nothing is known "
        "of these, so no figure of all of them is given. Draw and label some of it."
        for name, size in (("judge idk", 12), ("judge yes", 36))
    ]
    assert {each.unlabelled_strata for each in points} == {("judge idk", "judge yes")}
    assert points[0].score.value is None
    assert "no label counts of «judge idk», «judge yes», of which nothing is known" in sentence


def set_without_misses(store: Store) -> ClaimSetRow:
    """Four runs over 30 drawn claims of which the first judge's misses are skipped but one, `x`.

    The first two judge all, the third a half, and the fourth what was drawn.
    """
    run = done(store)
    sizes = {"judge yes": 18, "judge no": 6, "judge idk": 6}
    plan = SamplePlan(SamplingDesign.STRATIFIED, 7, sizes=sizes)
    row = sampled(store, run, plan, "verdict")
    texts = {each.claim: each.text for each in store.labelled_units.read_report_units(run).claims}
    claims = drawn(store, row)
    *misses, unfair = (each for each in claims if texts[each] == "Claim 1.0")
    for claim in misses:
        skip(store, run, claim)
    label(store, run, [unfair], "x")
    label(store, run, [each for each in claims if texts[each] == "Claim 1.1"], "no")
    label(store, run, [each for each in claims if texts[each][:7] == "Claim 3"], "yes")
    store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
    done(store, labels=BETTER, judge="k")
    done(store, KEYS[:6], BETTER, "l")
    judge_drawn(store, set(claims))
    return store.claim_sets.find_version_by_name("shop")


def test_each_run_carries_what_its_report_warns_of_its_claims(tmp_path: Path) -> None:
    """Without the claims that it missed a judge has a recall of 1, and nothing else says so."""
    with Store.open(tmp_path / "s.db") as store:
        claim_set = set_without_misses(store)
        points = compute_trend(store, claim_set).points
        settings = ReportSettings(claim_set=claim_set.id)
        reports = [compute_run_agreement(store, each.run, settings).report for each in points]
    assert points[0].recall_no.value == 1
    assert [(each.skipped, each.not_a_claim) for each in points] == [(5, 1), (5, 1), (3, 0), (5, 1)]
    messages = [{each.code: each.message for each in point.warnings} for point in points]
    skipped = (
        "5 of 18 claims of «judge yes» were skipped: if they are the hard ones, the figures are "
        "too good."
    )
    # A report of the drawn claims alone knows no strata, and the trend weighs by them.
    assert [each["skipped_many"] == skipped for each in messages] == [True, True, False, True]
    assert "skipped_many" not in {each.code for each in reports[3].warnings}
    for found, report in zip(points[:3], reports[:3], strict=True):
        assert found.warnings == tuple(
            each
            for each in report.warnings
            if each.code in {"skipped_many", "not_a_claim", "order_broken", "not_checked"}
        )
    assert messages[0]["not_a_claim"].startswith("1 claim left out because annotators labelled")
    # That they are none of a random sample is not so where claims have the weights of the drawing.
    assert "design_not_random" in {each.code for each in reports[3].warnings}
    assert "design_not_random" not in messages[3]


def test_labels_given_with_a_verdict_in_view_are_warned_of(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        run = done(store)
        row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, size=30))
        for claim in drawn(store, row):
            store.label_log.record_verdict(claim, "ann", "yes", run=run, saw_judge=True)
        store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
        claim_set = store.claim_sets.find_version_by_name("shop")
        (point,) = compute_trend(store, claim_set).points
    assert "not_blind" in {each.code for each in point.warnings}


def test_ties_and_suspect_verdicts_are_warned_of(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        run = done(store)
        row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, size=30))
        label(store, run, drawn(store, row), "yes")
        label(store, run, drawn(store, row)[:5], "no", "bo")
        store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
        claim_set = store.claim_sets.find_version_by_name("shop")
        (point,) = compute_trend(store, claim_set).points
        report = compute_run_agreement(store, run, ReportSettings(claim_set=claim_set.id)).report
    assert "ties" in {each.code for each in point.warnings}
    suspect = ReportWarning("suspect_run", Severity.BLOCKING, "", about=(WarningSubject.RATE,))
    assert choose_trend_warnings(replace(report, warnings=(suspect,))) == (suspect,)


def test_a_change_is_the_same_whichever_run_comes_first(tmp_path: Path) -> None:
    """A run of drawn claims has no weights of its own: those of the other run are taken."""
    with Store.open(tmp_path / "s.db") as store:
        _, drawn_keys = set_of_conversations(store)
        done(store, keys=drawn_keys[:5], labels=BETTER)
        there = compare_runs(store, RunId(1), RunId(2), "ann").report
        back = compare_runs(store, RunId(2), RunId(1), "ann").report
    assert (back.a, back.b) == ("openai:j", "openai:j, run 1")
    assert (there.difference.value or 0) * (back.difference.value or 0) < 0
    for name in ("accuracy", "kappa"):
        assert getattr(back, f"{name}_a") == getattr(there, f"{name}_b")
        assert getattr(back, f"{name}_b") == getattr(there, f"{name}_a")
    assert (back.difference.ci_low, back.difference.ci_high) == (
        -(there.difference.ci_high or 0),
        -(there.difference.ci_low or 0),
    )
    assert (back.a_only_correct, back.b_only_correct) == (
        *(there.b_only_correct, there.a_only_correct),
    )
    # Rows are A: five conversations whose claim that is no by run 1 is something else by run 2.
    assert back.judges.table.reference_totals == there.judges.table.judge_totals
    assert back.judges.table.judge_totals == there.judges.table.reference_totals
    assert back.judges.table.reference_totals != back.judges.table.judge_totals
    assert back.judges.bias_index == -(there.judges.bias_index or 0) != 0
    assert back.judges.cohen_kappa == there.judges.cohen_kappa
    # Run 1 has a sixth drawn conversation, of five claims; all that run 2 has is in run 1, too.
    assert (there.n_left_out, back.n_left_out) == (5, 0)


def judge_drawn(
    store: Store, wanted: set[ClaimId], judge: str = "d", labels: Labels | None = None
) -> RunId:
    """Judge some claims alone, in the words of a better judge."""
    said = {each.claim: each for each in store.labelled_units.read_report_units(RunId(1)).claims}
    spec = replace(SPEC, rule=FACTS, judge=f"openai:{judge}", judge_fingerprint=judge)
    by_conversation: dict[ConversationId, list[ClaimUnit]] = {}
    for each in said.values():
        by_conversation.setdefault(each.conversation, []).append(each)
    run = store.runs.create(spec, sorted(by_conversation))
    items = store.runs.list_item_ids(run)
    for item, key in zip(items, sorted(by_conversation), strict=True):
        texts = {each.text for each in by_conversation[key] if each.claim in wanted}
        for window in windows_of(store.conversations.get(key)):
            full = assess(window, labels or {**FIVE, **BETTER})
            some = tuple(each for each in full.verdicts if each.claim.text in texts)
            store.runs.save_window(item, replace(full, verdicts=some))
        store.runs.score_and_finish_item(item, ItemState.DONE, None)
    store.runs.set_state(run, RunState.DONE)
    return run


@pytest.mark.thorough
@pytest.mark.parametrize("design", [SamplingDesign.SIMPLE, SamplingDesign.STRATIFIED])
def test_a_run_of_all_that_was_drawn_keeps_the_weights_of_the_set(
    tmp_path: Path, design: SamplingDesign
) -> None:
    """It says of the labelled claims what it would say had it judged the others, too."""
    keys = [f"{each}{number}" for number in (1, 2, 3) for each in KEYS]
    with Store.open(tmp_path / "s.db") as store:
        first = done(store, keys)
        sizes = {"judge yes": 12, "judge no": 24, "judge idk": 18}
        plan = SamplePlan(design, 7, size=54)
        if design is SamplingDesign.STRATIFIED:
            plan = SamplePlan(design, 7, sizes=sizes)
        row = sampled(store, first, plan, *(("verdict",) if plan.sizes else ()))
        claims = drawn(store, row)
        texts = {
            each.claim: each.text for each in store.labelled_units.read_report_units(first).claims
        }
        bad = [each for each in claims if texts[each].startswith("Claim 1")]
        label(store, first, bad, "no")
        label(store, first, [each for each in claims if each not in bad], "yes")
        store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
        claim_set = store.claim_sets.find_version_by_name("shop")
        part = judge_drawn(store, set(claims))
        whole = done(store, keys, {**FIVE, **BETTER}, judge="k")
        trend = compute_trend(store, claim_set)
        again = judge_drawn(store, set(claims), judge="e", labels=WORSE)
        beside = compute_trend(store, claim_set, [part, again]).points[1]
        settings = ReportSettings(claim_set=claim_set.id)
        alone_compared = compare_runs(store, part, again, "ann", claim_set=claim_set.id)
        compared = alone_compared.report
        reported = compute_run_agreement(store, part, settings, other=again).report
        report = compute_run_agreement(store, part, settings).report
        forth = compare_runs(store, whole, part, "ann", claim_set=claim_set.id).report
        back = compute_run_agreement(store, part, settings, other=whole).report.comparison
        weights = store.claim_sets.compute_label_weights(claim_set.id, FACTS)
        said = {run: judged_words(store, run) for run in (part, again)}
        human = {
            each.claim: each.human for each in store.labelled_units.read_report_units(part).claims
        }
    assert [each.run for each in trend.points] == [first, part, whole]
    _, alone, last = trend.points
    # Of two runs of the drawn claims, too, the change has the weights of the drawing.
    change = beside.change
    assert change is not None
    assert change == replace(compared, holm_p=change.holm_p)
    assert reported.comparison == compared
    right = {
        run: sum(weights[each] for each in weights if said[run][each] == human[each])
        for run in (part, again)
    }
    total = sum(weights.values())
    assert change.accuracy_a.value == pytest.approx(right[part] / total)
    assert change.difference.value == pytest.approx((right[again] - right[part]) / total)
    assert (change.accuracy_a, change.accuracy_b) == (alone.accuracy, beside.accuracy)
    assert change.kappa_a == alone.kappa
    assert change.difference.has_interval
    assert (change.weighted, change.signflip_p is not None) == (
        *(design is SamplingDesign.STRATIFIED, True),
    )
    alike = "all claims count alike" in alone_compared.weighting_sentence
    assert alike is (design is SamplingDesign.SIMPLE)
    assert alone.accuracy_bounds is None
    for name in ("accuracy", "kappa", "recall_no"):
        mine, its = getattr(alone, name), getattr(last, name)
        assert mine.value == pytest.approx(its.value)
        assert mine.has_interval == its.has_interval
    assert alone.score.has_interval
    if design is SamplingDesign.STRATIFIED:
        assert alone.score.value == pytest.approx(last.score.value)
        assert alone.accuracy.value != report.claims.percent_agreement.value
        # So the report says that its own figures are without these weights, and where they are.
        assert "claims, counted alike though drawn by strata, " in report.headline
        (warning,) = (each for each in report.warnings if each.code == "sample_of_other_run")
        assert "faithtui trend shop has them with the weights of the drawing" in warning.message
    else:
        assert "counted alike though" not in report.headline
    assert last.change is not None
    assert last.change.difference.value == pytest.approx(0)
    assert (last.change.accuracy_b, last.change.accuracy_a) == (forth.accuracy_a, forth.accuracy_b)
    assert back is not None
    assert back == replace(last.change, comparisons_made=1, holm_p=back.holm_p)


def judged_words(store: Store, run: RunId) -> dict[ClaimId, str | None]:
    return {each.claim: each.judge for each in store.labelled_units.read_report_units(run).claims}


def set_of_conversations(store: Store) -> tuple[ClaimSetRow, list[str]]:
    """Make a set of six whole conversations of a run over 24, with the keys of these."""
    keys = [f"{each}{number}" for number in (1, 2) for each in KEYS]
    run = done(store, keys)
    row = sampled(store, run, SamplePlan(SamplingDesign.CONVERSATIONS, 7, size=6))
    label(store, run, drawn(store, row), "yes")
    wanted = {each.item for each in store.samples.list_claims_in_served_order(row.id, "ann")}
    items = store.runs.list_item_ids(run)
    store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
    chosen = [key for key, item in zip(keys, items, strict=True) if item in wanted]
    return store.claim_sets.find_version_by_name("shop"), chosen


def test_the_picture_is_xml_in_which_names_are_text(store: Store, claim_set: ClaimSetRow) -> None:
    trend = compute_trend(store, claim_set)
    drawing = trend_svg(trend, "Claim set <shop>")
    assert drawing == trend_svg(trend, "Claim set <shop>")
    root = ET.fromstring(drawing)  # our own file
    texts = [each.text or "" for each in root.iter(f"{SVG}text")]
    assert "Claim set <shop>" in texts
    assert any("<b>k" in each for each in texts)
    assert len([*root.iter(f"{SVG}circle")]) == sum(
        each.value is not None
        for point in trend.points
        for each in (point.accuracy, point.kappa, point.recall_no, point.score)
    )


def test_the_picture_tells_runs_apart_as_the_table_does(
    store: Store, claim_set: ClaimSetRow
) -> None:
    trend = compute_trend(store, claim_set)
    first, second, half = trend.points
    assert second.change is not None
    change = replace(second.change, holm_p=0.0004)
    second = replace(
        second, prompts="12ab34cd99", served_models=("m-2026-05", "m-2026-07"), change=change
    )
    root = ET.fromstring(trend_svg(Trend((first, second, half)), "Claim set shop"))  # our own file
    texts = [each.text or "" for each in root.iter(f"{SVG}text")]
    start = texts.index("12ab34cd") - 2
    assert texts[start : start + 8] == [
        *("2", f"{second.made_at:%Y-%m-%d}", "12ab34cd", "30"),
        estimate_text(second.kappa),
        estimate_text(change.difference),
        "<0.001",
        "openai:<b>k (m-2026-05, m-2026-07)",
    ]
    assert texts[start - 3 : start - 1] == ["–", "–"], "the first run has none before it"
    assert any(each.startswith("CHANGE is of accuracy against the run before") for each in texts)
    assert "kappa" in texts
    assert "-1" not in texts
    worse = replace(first, kappa=replace(first.kappa, value=0.1, ci_low=-0.2))
    assert ">-1</text>" in trend_svg(Trend((worse,)), "Claim set shop")


@pytest.mark.parametrize("name", ["w" * 300, "模型" * 150, "\x1b[2J\u202e<b>&\t\x85 " * 40])
def test_the_text_of_the_picture_stays_inside_it(
    store: Store, claim_set: ClaimSetRow, name: str
) -> None:
    points = compute_trend(store, claim_set).points
    _, second, _ = points
    assert second.change is not None
    low = replace(second.accuracy, value=-0.123, ci_low=-0.456, ci_high=-0.123)
    wide = replace(
        second,
        run=RunId(12345),
        judge=name,
        served_models=(name, name),
        prompts=name,
        kappa=low,
        change=replace(second.change, difference=low, holm_p=0.0),
    )
    drawing = trend_svg(Trend((wide, wide)), name, [name, f"run 1: {name}"])
    root = ET.fromstring(drawing)  # our own file
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    rows: dict[str, list[tuple[float, float]]] = {}
    for each in root.iter(f"{SVG}text"):
        text, x = each.text or "", float(each.get("x", "0"))
        assert text.isprintable(), text
        cells = len(text) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
        # Of a row the width is fixed; digits of a sans-serif of 12 pixels are 7.6 wide.
        wide_as = cells * (6.63 if each.get("class") == "row" else 7.64)
        start = x - {"start": 0, "middle": 0.5, "end": 1}[each.get("text-anchor", "")] * wide_as
        assert (start >= 0, start + wide_as <= width) == (True, True), text
        assert 10 < float(each.get("y", "0")) < height
        if each.get("class") == "row":
            rows.setdefault(each.get("y", ""), []).append((start, start + wide_as))
    for spans in rows.values():
        for (_, end), (start, _) in pairwise(sorted(spans)):
            assert end < start, "two texts of a row meet"


SVG = "{http://www.w3.org/2000/svg}"


def doubted_set(tmp_path: Path) -> Path:
    """Two runs over a set of 30 labels, of which nothing vouches for two."""
    with Store.open(tmp_path / "s.db") as store:
        done(store)
        done(store, labels=BETTER, judge="k")
    shutil.copy(tmp_path / "s.db", tmp_path / "target.db")
    with Store.open(tmp_path / "s.db") as store:
        row = sampled(store, RunId(1), SamplePlan(SamplingDesign.SIMPLE, 7, size=30))
        for claim in drawn(store, row):
            store.label_log.record_verdict(
                claim, "ann", "yes", run=RunId(1), saw_judge=False, sample=row.id
            )
        bundle = store.bundles.make_label_bundle()
    doubtful, sound = bundle.acts[:2], bundle.acts[2:]
    acts = (*(each._replace(unverified=True) for each in doubtful), *sound)
    with Store.open(tmp_path / "target.db") as store:
        store.bundles.merge(replace(bundle, acts=acts))
        (found,) = store.samples.list_samples("ann")
        store.claim_sets.make_claim_set_version_if_changed("shop", found.id, "ann")
    return tmp_path / "target.db"


def test_trend_and_comparison_count_labels_that_nothing_vouches_for(tmp_path: Path) -> None:
    with Store.open(doubted_set(tmp_path)) as doubted:
        trend = compute_trend(doubted, doubted.claim_sets.find_version_by_name("shop"))
        change = compare_runs(doubted, RunId(1), RunId(2), "ann")
    assert [(each.compared, each.unverified) for each in trend.points] == [(30, 2), (30, 2)]
    assert (change.report.n_common, change.unverified) == (30, 2)


@pytest.mark.thorough
def test_p_values_of_several_changes_are_adjusted_for_being_several(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        first = done(store)
        row = sampled(store, first, SamplePlan(SamplingDesign.SIMPLE, 7, size=30))
        label(store, first, drawn(store, row))
        store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
        done(store, labels={1: ("yes", "yes"), 3: ("idk", "yes", "yes")}, judge="k")
        done(store, labels=WORSE, judge="l")
        trend = compute_trend(store, store.claim_sets.find_version_by_name("shop"))
    changes = [each.change for each in trend.points if each.change is not None]
    assert [each.comparisons_made for each in changes] == [2, 2]
    large, small = (each.signflip_p for each in changes)
    assert large is not None
    assert small is not None
    assert small < large
    # Holm: the smallest counts for both, the other for itself.
    assert [each.holm_p for each in changes] == [max(large, 2 * small), 2 * small]


def test_claims_that_match_none_of_the_set_are_counted_by_a_comparison(tmp_path: Path) -> None:
    """One more of the first answer of each conversation, which only the second judge has."""
    with Store.open(tmp_path / "s.db") as store:
        first = done(store)
        row = sampled(store, first, SamplePlan(SamplingDesign.SIMPLE, 7, size=30))
        label(store, first, drawn(store, row))
        store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
        second = done(store, labels={**FIVE, 1: (*FIVE[1], "no")}, judge="k")
        found = compare_runs(
            store, first, second, "ann", claim_set=store.claim_sets.find_version_by_name("shop").id
        )
        plain = compare_runs(store, first, second, "ann")
    assert (found.only_a, found.only_b, found.beyond_a, found.beyond_b) == (0, 0, 0, 12)
    assert (plain.only_a, plain.only_b, plain.beyond_a, plain.beyond_b) == (0, 12, 0, 0)


def checked(store: Store, run: int, **more: object) -> tuple[CheckOutcome, float | None, str]:
    asked = {"labels": 1, "accept": ("few_conversations", "not_checked"), **more}
    order = GateRequest(**asked)  # type: ignore[arg-type]  # the tests' own words
    (found,) = (
        each
        for each in check_gate_and_write_certificate_if_passed(store, RunId(run), order).checks
        if each.criterion is Criterion.CHANGE
    )
    return found.outcome, found.value, found.reason


@pytest.mark.thorough
def test_a_gate_on_change_lets_no_worse_judge_pass(store: Store) -> None:
    better = checked(store, 2, max_drop=0.1, against=RunId(1))
    assert (better[0], better[1] and better[1] > 0) == (CheckOutcome.PASSED, True)
    worse = checked(store, 1, max_drop=0.1, against=RunId(2))
    assert (worse[0], worse[1]) == (CheckOutcome.BELOW, -(better[1] or 0))
    half = checked(store, 3, max_drop=0, against=RunId(2))
    assert half[0] is CheckOutcome.UNDECIDED
    assert "30 claims have a verdict of one of the two runs alone (--accept unpaired_c" in half[2]
    accept = ("few_conversations", "not_checked", "unpaired_claims", "sample_of_other_run")
    same = checked(store, 3, max_drop=0, against=RunId(2), accept=accept)
    why = "the runs differ on 0.0% of the claims, so it is no larger"
    assert (same[0], same[2]) == (CheckOutcome.PASSED, why)
    # They differ on a fifth of the claims, so that no drop can be larger.
    assert checked(store, 1, max_drop=0.2, against=RunId(2))[0] is CheckOutcome.PASSED
    point = {"basis": ThresholdBasis.POINT, "against": RunId(2)}
    drop = better[1] or 0
    assert checked(store, 1, max_drop=drop + 0.001, **point)[0] is CheckOutcome.PASSED
    assert checked(store, 1, max_drop=drop - 0.001, **point)[0] is CheckOutcome.BELOW


@pytest.mark.thorough
def test_a_gate_on_change_holds_runs_of_drawn_claims_against_each_other(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        first = done(store)
        row = sampled(store, first, SamplePlan(SamplingDesign.SIMPLE, 7, size=40))
        claims = drawn(store, row)
        texts = {
            each.claim: each.text for each in store.labelled_units.read_report_units(first).claims
        }
        for claim in claims:
            label(store, first, [claim], "no" if texts[claim].startswith("Claim 1") else "yes")
        store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
        claim_set = store.claim_sets.find_version_by_name("shop")
        good, worse, same = (
            judge_drawn(store, set(claims), name, words)
            for name, words in (("d", None), ("e", WORSE), ("f", None))
        )
        accept = ("few_conversations", "not_checked", "sample_of_other_run", "design_not_random")
        asked = {"claim_set": claim_set.name, "accept": accept}
        dropped = checked(store, worse, max_drop=0.1, against=good, **asked)
        mended = checked(store, good, max_drop=0.1, against=worse, **asked)
        unchanged = checked(store, same, max_drop=0, against=good, **asked)
        change = compare_runs(store, good, worse, "ann", claim_set=claim_set.id).report
        whole = done(store, labels={**FIVE, **BETTER}, judge="k")
        beside = checked(
            store,
            same,
            max_drop=0,
            against=whole,
            **{**asked, "accept": (*accept, "unpaired_claims")},
        )
    assert (dropped[0], dropped[1]) == (CheckOutcome.BELOW, change.difference.value)
    assert (mended[0], mended[1]) == (CheckOutcome.PASSED, -(dropped[1] or 0))
    # That they say the same of what was drawn says nothing of the rest.
    for each in (unchanged, beside):
        assert (each[0], each[1]) == (CheckOutcome.BELOW, 0)
        assert "no larger" not in each[2]


@pytest.mark.thorough
def test_whoever_skips_the_claims_that_got_worse_does_not_pass(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        first = done(store)
        row = sampled(store, first, SamplePlan(SamplingDesign.SIMPLE, 7, size=60))
        texts = {
            each.claim: each.text for each in store.labelled_units.read_report_units(first).claims
        }
        for claim in drawn(store, row):
            if texts[claim] == "Claim 1.0":
                skip(store, first, claim)
            else:
                label(store, first, [claim])
        second = done(store, labels=BETTER, judge="k")
        asked = {"max_drop": 0.1, "against": first, "basis": ThresholdBasis.POINT}
        outcome, value, why = checked(store, second, **asked)
        accept = ("few_conversations", "not_checked", "skipped_many")
        assert checked(store, second, **asked, accept=accept)[0] is CheckOutcome.PASSED
    assert (outcome, value) == (CheckOutcome.UNDECIDED, 0)
    assert "claims are skipped (--accept skipped_many leaves them out)" in why


@pytest.mark.thorough
@pytest.mark.parametrize("differs", [True, False])
def test_few_changed_labels_matter_to_a_change_where_the_runs_differ(
    tmp_path: Path, differs: bool
) -> None:
    with Store.open(tmp_path / "s.db") as store:
        first = done(store)
        row = sampled(store, first, SamplePlan(SamplingDesign.SIMPLE, 7, size=60))
        texts = {
            each.claim: each.text for each in store.labelled_units.read_report_units(first).claims
        }
        claims = drawn(store, row)
        for claim in claims:
            label(store, first, [claim], "no" if texts[claim] == "Claim 1.0" else "yes")
        # Both judges call 3.1 `yes`, the second calls 1.0 `no`.
        name = "Claim 1.0" if differs else "Claim 3.1"
        changed = next(each for each in claims if texts[each] == name)
        for word in ("no", "yes"):
            label(store, first, [changed], word)
        second = done(store, labels=BETTER, judge="k")
        asked = {"max_drop": 0.1, "against": first, "basis": ThresholdBasis.POINT}
        accept = ("few_conversations", "not_checked")
        outcome, _, why = checked(store, second, **asked, accept=accept)
    assert (outcome is CheckOutcome.UNDECIDED) is differs
    assert ("--accept changed_labels counts it as labelled" in why) is differs


def test_warnings_of_labels_leave_a_change_undecided(store: Store) -> None:
    outcome, _, why = checked(store, 2, max_drop=0.1, against=RunId(1), accept=())
    assert outcome is CheckOutcome.UNDECIDED
    assert "--accept few_conversations" in why


@pytest.mark.thorough
def test_unfair_claims_leave_open_how_many_of_the_others_differ(tmp_path: Path) -> None:
    """Accuracy is over fair claims: a share of all claims says nothing of it."""
    with Store.open(tmp_path / "s.db") as store:
        first, second = done(store), done(store, judge="k", labels={1: ("no", "no")})
        row = sampled(store, first, SamplePlan(SamplingDesign.SIMPLE, 7, size=60))
        texts = {
            each.claim: each.text for each in store.labelled_units.read_report_units(first).claims
        }
        for claim in drawn(store, row):
            label(store, first, [claim], "yes" if texts[claim] == "Claim 1.0" else "x")
        accept = ("few_conversations", "not_checked", "not_a_claim")
        asked = {"max_drop": 0.3, "against": first, "basis": ThresholdBasis.POINT}
        outcome, value, _ = checked(store, second, **asked, accept=accept)
    # They differ on a fifth of all claims, and on all fair ones.
    assert (outcome, value) == (CheckOutcome.BELOW, -1)


@pytest.mark.thorough
def test_idk_of_one_run_that_is_left_out_is_a_claim_of_the_other_alone(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        first = done(store)
        second = done(store, judge="k", labels={1: ("idk", "no"), 3: ("idk", "yes", "yes")})
        row = sampled(store, first, SamplePlan(SamplingDesign.SIMPLE, 7, size=60))
        label(store, first, drawn(store, row), "yes")
        asked = {"max_drop": 0.1, "against": first, "idk": IdkRule.EXCLUDE}
        outcome, _, why = checked(store, second, **asked)
    assert outcome is CheckOutcome.UNDECIDED
    assert "12 claims have a verdict of one of the two runs alone" in why


@pytest.mark.thorough
def test_a_change_asks_about_the_labels_that_it_rests_on(tmp_path: Path) -> None:
    """They are those of the earlier run's sample, also where the later one has its own."""
    with Store.open(tmp_path / "s.db") as store:
        first, second = done(store), done(store, judge="k", labels={1: ("no", "no")})
        row = sampled(store, first, SamplePlan(SamplingDesign.SIMPLE, 7, size=30))
        own = sampled(store, second, SamplePlan(SamplingDesign.SIMPLE, 8, size=24), name="own")
        texts = {
            each.claim: each.text for each in store.labelled_units.read_report_units(first).claims
        }
        for claim in {*drawn(store, row), *drawn(store, own)}:
            word = "no" if texts[claim].startswith("Claim 1") else "yes"
            is_own = claim in drawn(store, own)
            run = second if is_own else first
            store.label_log.record_verdict(claim, "ann", word, run=run, saw_judge=not is_own)
        asked = {"max_drop": 0.15, "against": first, "basis": ThresholdBasis.POINT}
        accept = ("few_conversations", "not_checked", "unpaired_claims", "other_samples")
        outcome, _, why = checked(store, second, **asked, accept=accept)
        assert outcome is CheckOutcome.UNDECIDED
        code = why.rpartition("--accept ")[2]
        accepted = checked(store, second, **asked, accept=(*accept, code))
    assert code == "not_blind"
    assert accepted[0] is CheckOutcome.PASSED


def test_a_gate_on_change_finds_the_certified_run(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    order = GateRequest(labels=1, kappa=-1, write=path, claim_set="shop", accept=ACCEPTED_CODES)
    assert (
        check_gate_and_write_certificate_if_passed(store, RunId(2), order).outcome
        is CheckOutcome.PASSED
    )
    again = check_gate_and_write_certificate_if_passed(
        store, RunId(2), GateRequest(certificate=path)
    )
    assert again.outcome is CheckOutcome.PASSED
    # Another judge than the certified one: figures of its own, and no stale certificate.
    worse = check_gate_and_write_certificate_if_passed(
        store, RunId(1), GateRequest(certificate=path, max_drop=0.1, labels=1)
    )
    assert (worse.outcome, worse.broken) == (CheckOutcome.BELOW, ())
    assert any("judge: openai:<b>k was certified, openai:j judged" in each for each in worse.notes)
    assert (
        check_gate_and_write_certificate_if_passed(
            store, RunId(1), GateRequest(certificate=path)
        ).outcome
        is CheckOutcome.STALE
    )
    with pytest.raises(ConfigError, match="would be compared with"):
        check_gate_and_write_certificate_if_passed(
            store, RunId(2), GateRequest(certificate=path, max_drop=0.1)
        )
    with pytest.raises(ConfigError, match="name it with --against RUN"):
        check_gate_and_write_certificate_if_passed(store, RunId(2), GateRequest(max_drop=0.1))
    with pytest.raises(ConfigError, match="expected 0 to 1"):
        check_gate_and_write_certificate_if_passed(
            store, RunId(2), GateRequest(max_drop=1.1, against=RunId(1))
        )
    with Store.open(tmp_path / "other.db") as other:
        run = done(other, labels=BETTER, judge="<b>k")
        found = checked(other, run, max_drop=0.1, certificate=path)
        told = check_gate_and_write_certificate_if_passed(
            other, run, GateRequest(certificate=path)
        ).notes
    assert "claim set shop version 1 is not in this store as it was" in " ".join(told)
    assert (found[0], "not in this store" in found[2]) == (CheckOutcome.UNKNOWN, True)
