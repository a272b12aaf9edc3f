"""How often the intervals of a report hold the truth, over designs, error rates and sizes.

Runs are drawn whose truth is known, sampled and labelled by the program's own functions, and
reported. `python -m tests.benchmarks.coverage` from the repository root prints the table;
`--replications`, `--designs`, `--errors`, `--sizes` and `--groups` make it smaller, `--kinds` adds
runs in which few conversations have most of what is unfaithful.

A run has 900 claims in so many groups. One claim in so many is unfaithful (the error rate); the
judge flags 70 % of these, and half as many of the others as the error rate. Annotators and judge
say `idk` of 8 % of the other claims, half of the time of the same. Shares differ between groups
such that two claims of one group are correlated by 0.1.
"""

import argparse
import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from faithtui.agreement.gate.accuracy_transfer import (
    estimate_other_run_pass_rate,
    find_judge_sensitivity_and_specificity,
)
from faithtui.agreement.labelled_units import ClaimUnit, LabelState
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.figures.claims_and_answers import compute_claim_level_report
from faithtui.agreement.report.model import LevelReport
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.sampling.draw import (
    FrameUnit,
    SamplePlan,
    SamplingDesign,
    make_sample_draw,
)
from faithtui.agreement.sampling.label_designs import (
    LabelledSample,
    SampledClaim,
    find_label_design,
)
from faithtui.agreement.statistics import coefficients, detection
from faithtui.agreement.statistics.figures import estimate_figures
from faithtui.agreement.statistics.matrices import MatrixStack, collapse_counts_to_two
from faithtui.agreement.statistics.posterior import (
    draw_confusion_matrices,
    widen_interval_to_posterior_draws,
)
from faithtui.domain.estimates import LEVEL, Estimate, EstimateStatus
from faithtui.domain.ids import ClaimId, ConversationId, ItemId, SampleId
from faithtui.domain.labels.label_sets import FAITHFULNESS, NOT_A_CLAIM
from faithtui.domain.scores import ScoringRule

CLAIMS = 900
SENSITIVITY = 0.7
FALSE_ALARMS = 0.5
"""Share of faithful claims that the judge flags, in error rates."""
IDK = 0.08
CORRELATION = 0.1
LABELS = ("yes", "idk", "no")
DESIGNS = ("simple", "stratified", "conversations", "half", "unfair")
"""`half`: stratified, and only the first half of the drawn order is labelled. `unfair`: stratified,
and annotators call `UNFAIR` of the flagged claims no fair claims, `x`, and the truth is that of the
others."""
UNFAIR = 0.6
KINDS = ("even", "bad", "large")
"""`even`: as above. `bad`: half of the unfaithful claims are in a tenth of the conversations, at
error rates up to 0.2. `large`: a conversation has two fifths of the claims, and of these five times
as many are unfaithful; no truth to expect of future runs is known."""
BAD, LARGE = 0.1, 0.4
ERRORS = (0.02, 0.05, 0.1, 0.3)
SIZES = (20, 60, 100, 300)
GROUPS = (10, 40, 100)
RULE = ScoringRule(passing=("yes", "idk"), when_empty=None)


@dataclass(frozen=True, slots=True)
class Setting:
    """What is simulated."""

    design: str
    error: float
    size: int
    """Claims that are drawn; of whole conversations as many as have them on average."""
    groups: int
    kind: str = "even"
    """One of `KINDS`."""


@dataclass(slots=True)
class Coverage:
    """What became of a figure's interval in all replications of a setting."""

    shown: int = 0
    holds_run: int = 0
    holds_future: int = 0
    width: float = 0.0
    """Sum over those shown."""


@dataclass(frozen=True, slots=True)
class Population:
    """A run whose truth is known."""

    groups: list[int]
    human: list[int]
    judge: list[int]
    is_fair: list[bool]


def draw_population(setting: Setting, generator: np.random.Generator) -> Population:
    """Draw a run."""
    groups, alike = setting.groups, (1 - CORRELATION) / CORRELATION
    sizes = np.maximum(generator.multinomial(CLAIMS, generator.dirichlet(np.full(groups, 6.0))), 1)
    unfaithful = np.full(groups, setting.error)
    if setting.kind == "bad":
        is_bad_group = generator.permutation(groups) < BAD * groups
        unfaithful *= np.where(is_bad_group, 0.5 / BAD, 0.5 / (1 - BAD))
    elif setting.kind == "large":
        sizes[0] = round(sizes[1:].sum() * LARGE / (1 - LARGE))
        unfaithful[0] *= 5
    group = np.repeat(np.arange(groups), sizes)
    error, flagged, alarmed = (
        generator.beta(share * alike, (1 - share) * alike)[group]
        for share in (
            unfaithful,
            np.full(groups, SENSITIVITY),
            np.full(groups, setting.error * FALSE_ALARMS),
        )
    )
    chance = generator.random((6, len(group)))
    is_bad = chance[0] < error
    is_flagged = chance[1] < np.where(is_bad, flagged, alarmed)
    human_idk = chance[2] < IDK
    judge_idk = np.where(chance[3] < 0.5, human_idk, chance[4] < IDK)
    return Population(
        group.tolist(),
        np.where(is_bad, 2, human_idk.astype(np.int64)).tolist(),
        np.where(is_flagged, 2, judge_idk.astype(np.int64)).tolist(),
        (~is_flagged | (chance[5] >= UNFAIR) | (setting.design != "unfair")).tolist(),
    )


def expect_cells(setting: Setting) -> np.ndarray:
    """Give the confusion matrix of the population that runs are drawn from; rows human labels."""
    error = setting.error
    cells = np.zeros((3, 3))
    for human, share, same in (
        (0, (1 - error) * (1 - IDK), 0.0),
        (1, (1 - error) * IDK, 1.0),
        (2, error, IDK),
    ):
        flagged = SENSITIVITY if human == 2 else error * FALSE_ALARMS
        idk = 0.5 * same + 0.5 * IDK
        cells[human] = share * np.array([(1 - flagged) * (1 - idk), (1 - flagged) * idk, flagged])
    if setting.design == "unfair":
        cells[:, 2] *= 1 - UNFAIR
    # So many units that what depends on their number, as alpha does, no longer shows.
    return cells * (np.nan if setting.kind == "large" else 1e9)


def compute_truth(cells: np.ndarray) -> dict[str, float]:
    """Compute all figures of a confusion matrix."""
    whole = MatrixStack(cells)
    strict = MatrixStack(collapse_counts_to_two(cells[None, ..., None], LABELS, ("no",))[0, ..., 0])
    found = {
        "percent": coefficients.percent_agreement(whole),
        "kappa": coefficients.cohen_kappa(whole),
        "alpha": coefficients.krippendorff_alpha(whole),
        "AC1": coefficients.gwet_ac1(whole),
        "prevalence": detection.prevalence(strict),
        "precision": detection.precision(strict),
        "recall": detection.recall(strict),
        "specificity": detection.specificity(strict),
        "npv": detection.npv(strict),
        "F1": detection.f1(strict),
        "balanced": detection.balanced_accuracy(strict),
        "MCC": detection.mcc(strict),
        "rate": 1 - detection.prevalence(strict),
    }
    return {name: float(value) for name, value in found.items()}


def label_run(population: Population, setting: Setting, seed: int) -> ComparedClaims:
    """Draw a sample of a run by the program's own functions, and label it."""
    judge = [LABELS[each] for each in population.judge]
    frame = [
        FrameUnit(ItemId(group + 1), ClaimId(place + 1), judge[place])
        for place, group in enumerate(population.groups)
    ]
    design = {
        "simple": SamplingDesign.SIMPLE,
        "conversations": SamplingDesign.CONVERSATIONS,
    }.get(setting.design, SamplingDesign.STRATIFIED)
    size = setting.size
    if design is SamplingDesign.CONVERSATIONS:
        size = max(2, round(size * setting.groups / len(frame)))
    draw = make_sample_draw(frame, SamplePlan(design, seed, size))
    served = draw.claims
    if setting.design == "half":
        served = served[: len(served) // 2]
    place_of = {each.unit.claim: place for place, each in enumerate(draw.claims)}
    labelled = {each.unit.claim for each in served}
    stratified = design is SamplingDesign.STRATIFIED
    said = [
        LABELS[human] if is_fair else NOT_A_CLAIM
        for human, is_fair in zip(population.human, population.is_fair, strict=True)
    ]
    claims = [
        ClaimUnit(
            each.claim,
            ConversationId(each.item),
            f"c{each.item}",
            f"g{each.item}",
            1,
            "",
            judge[place],
            said[place] if each.claim in labelled else None,
            int(each.claim in labelled),
            1,
            True,
            True if each.claim in labelled else None,
            LabelState.LABELLED if each.claim in labelled else LabelState.UNREVIEWED,
            stratum=each.stratum if stratified else None,
            position=place_of.get(each.claim),
        )
        for place, each in enumerate(frame)
    ]
    sample = LabelledSample(
        SampleId(1),
        "simulated",
        seed,
        design,
        len(frame),
        ("verdict",) if stratified else (),
        draw.strata,
        tuple(SampledClaim(each.unit.claim, each.unit.item, each.stratum) for each in draw.claims),
    )
    found = find_label_design(claims, sample)
    return ComparedClaims(tuple(claims), FAITHFULNESS, found, ReportSettings())


def list_estimates(report: LevelReport) -> Iterator[tuple[str, Estimate]]:
    """Give the figures of a report by the names of `compute_truth`, and the two rates."""
    agreement, strict = report.agreement, report.strict
    yield "percent", agreement.percent
    yield "kappa", agreement.cohen_kappa
    yield "alpha", agreement.krippendorff_alpha
    yield "AC1", agreement.gwet_ac1
    yield "prevalence", strict.prevalence
    yield "precision", strict.precision
    yield "recall", strict.recall
    yield "specificity", strict.specificity
    yield "npv", strict.npv
    yield "F1", strict.f1
    yield "balanced", strict.balanced_accuracy
    yield "MCC", strict.mcc
    yield "rate, this run", report.rate.corrected_this_run
    yield "rate, future", report.rate.corrected_future


def simulate(setting: Setting, replications: int, first: int = 0) -> dict[str, Coverage]:
    """Draw runs and report them.

    Args:
        setting: What is simulated.
        replications: How many runs.
        first: Number of the first; the numbers are the seeds.

    Returns:
        By figure; this run's truth is that of its 900 claims, the future's that of the population.
    """
    found: dict[str, Coverage] = {}
    future = compute_truth(expect_cells(setting))
    for seed in range(first, first + replications):
        population = draw_population(setting, np.random.default_rng([seed, setting.groups]))
        cells = np.zeros((3, 3))
        fair = np.array(population.is_fair)
        pairs = np.array([population.human, population.judge])[:, fair]
        np.add.at(cells, tuple(pairs), 1)
        run = compute_truth(cells)
        report = compute_claim_level_report(label_run(population, setting, seed), RULE)
        other, share = judge_other_run(setting, seed)
        certified = estimate_other_run_pass_rate(
            find_judge_sensitivity_and_specificity(report, RULE.passing), share, LEVEL
        )
        run["certified rate"] = future["certified rate"] = other
        for name, each in (*list_estimates(report), ("certified rate", certified)):
            counted = found.setdefault(name, Coverage())
            if each.ci_low is None or each.ci_high is None:
                continue
            truth = name.split(",")[0]
            counted.shown += 1
            counted.width += each.ci_high - each.ci_low
            # What has no value in this run cannot be missed.
            counted.holds_run += not not_held(run[truth], each)
            counted.holds_future += not not_held(future[truth], each)
    return found


def count_misses_of_draws(setting: Setting, replications: int) -> dict[str, tuple[int, int]]:
    """Draw runs and take the intervals of the drawn matrices alone, which reports only widen.

    Args:
        setting: What is simulated.
        replications: How many runs; the numbers are the seeds.

    Returns:
        By figure, how many intervals miss the truth of the population, and how many there are.
    """
    found = dict.fromkeys((*_WHOLE_FIGURES, *_STRICT_FIGURES), (0, 0))
    truth = compute_truth(expect_cells(setting))
    for seed in range(replications):
        population = draw_population(setting, np.random.default_rng([seed, setting.groups]))
        whole = label_run(population, setting, seed).whole_matrix
        strict = whole.collapse_to_two_categories(("no",))
        for statistics, matrix in ((_WHOLE_FIGURES, whole), (_STRICT_FIGURES, strict)):
            drawn = draw_confusion_matrices(matrix)
            for name, each in estimate_figures(statistics, matrix).items():
                if each.value is None:
                    continue
                point = replace(each, ci_low=each.value, ci_high=each.value)
                interval = widen_interval_to_posterior_draws(
                    point, statistics[name].compute(drawn), LEVEL
                )
                missed, shown = found[name]
                found[name] = (missed + not_held(truth[name], interval), shown + 1)
    return found


_WHOLE_FIGURES = {"percent": coefficients.PERCENT, "kappa": coefficients.KAPPA}
_STRICT_FIGURES = {
    "recall": detection.RECALL,
    "specificity": detection.SPECIFICITY,
    "precision": detection.PRECISION,
    "npv": detection.NPV,
    "F1": detection.F1,
    "prevalence": detection.PREVALENCE,
}


def judge_other_run(setting: Setting, seed: int) -> tuple[float, Estimate]:
    """Draw another run of the same population, which nobody labels.

    Returns:
        The share that passes by annotators, had they labelled it, and the share by the judge.
    """
    found = draw_population(setting, np.random.default_rng([seed, setting.groups, 1]))
    fair = np.array(found.is_fair)
    human, judge = (np.array(each)[fair] for each in (found.human, found.judge))
    passed = float((judge != 2).mean())
    return float((human != 2).mean()), Estimate(
        passed, EstimateStatus.OK, len(judge), setting.groups
    )


def not_held(truth: float, estimate: Estimate) -> bool:
    """Say whether an interval misses the truth by more than rounding."""
    assert estimate.ci_low is not None
    assert estimate.ci_high is not None
    return truth < estimate.ci_low - 1e-9 or truth > estimate.ci_high + 1e-9


def _simulate_all(arguments: tuple[Setting, int]) -> tuple[Setting, dict[str, Coverage]]:
    setting, replications = arguments
    return setting, simulate(setting, replications)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=600)
    parser.add_argument("--designs", nargs="+", default=DESIGNS)
    parser.add_argument("--errors", nargs="+", type=float, default=ERRORS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--groups", nargs="+", type=int, default=GROUPS)
    parser.add_argument("--kinds", nargs="+", default=KINDS[:1])
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    given = parser.parse_args()
    settings = [
        Setting(*each)
        for each in product(given.designs, given.errors, given.sizes, given.groups, given.kinds)
    ]
    print("design error n groups kind figure shown run future width", flush=True)
    with multiprocessing.Pool(given.jobs) as pool:
        work = [(each, given.replications) for each in settings]
        for setting, found in pool.imap(_simulate_all, work):
            for name, each in found.items():
                shown = max(each.shown, 1)
                print(
                    setting.design,
                    setting.error,
                    setting.size,
                    setting.groups,
                    setting.kind,
                    name.replace(", ", "/").replace(" ", "-"),
                    f"{each.shown / given.replications:.3f}",
                    f"{each.holds_run / shown:.3f}",
                    f"{each.holds_future / shown:.3f}",
                    f"{each.width / shown:.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
