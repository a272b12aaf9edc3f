"""How often intervals hold the truth where a run judged a part of what a sample was drawn from.

Labels are drawn and given in one run; another run judged some of its claims, and rests on them.
`python -m tests.benchmarks.partial_runs` from the repository root prints the table. The truth is
that of the claims which the other run judged, and that of the population they come from.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from faithtui.agreement.labelled_units import DesignKind
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.figures.claims_and_answers import compute_claim_level_report
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.report.trend_points import estimate_accuracy_kappa_and_recall
from faithtui.agreement.sampling.draw import FrameUnit, SamplingDesign, Stratum
from faithtui.agreement.sampling.label_designs import (
    LabelledSample,
    SampledClaim,
    find_label_design,
    restrict_sample_to_run,
)
from faithtui.domain.ids import ClaimId, ItemId, RunId, SampleId
from faithtui.domain.labels.label_sets import FAITHFULNESS
from tests.benchmarks import coverage
from tests.benchmarks.coverage import RULE, Coverage, Population, Setting

PARTS = ("half of the conversations", "own words", "conversations drawn", "claims drawn")
"""Which claims the other run judged. `own words`: those whose wording matched, nine in ten of the
faithful ones and half of the unfaithful; it has the others too, worded otherwise. `conversations
drawn`: those that have a drawn claim. `claims drawn`: nothing but these."""


@dataclass(slots=True)
class PartCoverage:
    """What became of a figure in all replications."""

    part: Coverage
    whole: int = 0
    """Held the truth of all claims that were drawn from."""


def choose_part(
    part: str, population: Population, drawn: set[int], generator: np.random.Generator
) -> set[int]:
    """Choose the places of the claims that the other run judged."""
    chance = generator.random(len(population.groups))
    match part:
        case "half of the conversations":
            wanted = set(range(0, max(population.groups) + 1, 2))
            return {place for place, group in enumerate(population.groups) if group in wanted}
        case "own words":
            matched = np.where(np.array(population.human) == 2, 0.5, 0.9)
            return {int(place) for place in np.flatnonzero(chance < matched)}
        case "conversations drawn":
            wanted = {population.groups[place] for place in drawn}
            return {place for place, group in enumerate(population.groups) if group in wanted}
        case _:
            return drawn


def rest_on_part(
    compared: ComparedClaims, judged: set[int], *, words_the_rest_otherwise: bool = False
) -> ComparedClaims:
    """Rest a run that judged some claims on the sample of the run that judged all of them.

    Args:
        compared: The other run.
        judged: Places of the claims that this one judged too.
        words_the_rest_otherwise: It has as many further claims as it did not judge of those.
    """
    rows = compared.all.rows
    design = compared.design
    kinds = {
        DesignKind.SIMPLE: SamplingDesign.SIMPLE,
        DesignKind.STRATIFIED: SamplingDesign.STRATIFIED,
        DesignKind.CLUSTER: SamplingDesign.CONVERSATIONS,
    }
    by_strata = design.kind is DesignKind.STRATIFIED
    only = design.strata[0].name
    frame = [
        FrameUnit(ItemId(each.conversation), each.claim, str(each.stratum) if by_strata else only)
        for each in rows
    ]
    order = sorted(
        (each for each in rows if each.position is not None), key=lambda each: each.position or 0
    )
    strata = tuple(Stratum(each.name, each.population, each.drawn) for each in design.strata)
    if design.kind is DesignKind.CLUSTER:
        strata = (Stratum(only, design.conversations, design.drawn_conversations),)
    sample = LabelledSample(
        SampleId(1),
        "simulated",
        1,
        kinds[design.kind],
        len(rows),
        ("verdict",) if by_strata else (),
        strata,
        tuple(
            SampledClaim(
                each.claim,
                ItemId(each.conversation),
                str(each.stratum) if by_strata else only,
            )
            for each in order
        ),
        drawn_in=RunId(1),
    )
    kept = {ClaimId(place + 1) for place in judged}
    claims = [each for each in rows if each.claim in kept]
    beyond = len(rows) - len(kept) if words_the_rest_otherwise else 0
    own = {ClaimId(len(rows) + 1 + number) for number in range(beyond)}
    found = find_label_design(claims, restrict_sample_to_run(sample, frame, kept | own))
    return ComparedClaims(tuple(claims), FAITHFULNESS, found, ReportSettings())


def rest_on_drawn(compared: ComparedClaims) -> ComparedClaims:
    """Rest a run that judged what was drawn, and nothing else, on the sample of another run."""
    rows = compared.all.rows
    return rest_on_part(
        compared, {place for place, each in enumerate(rows) if each.position is not None}
    )


def compute_truth_of(population: Population, places: set[int]) -> dict[str, float]:
    """Compute all figures of some claims of a run."""
    cells = np.zeros((3, 3))
    chosen = sorted(places)
    human, judge = (np.array(each)[chosen] for each in (population.human, population.judge))
    np.add.at(cells, (human, judge), 1)
    return coverage.compute_truth(cells)


def simulate(setting: Setting, part: str, replications: int) -> dict[str, PartCoverage]:
    """Draw runs, label them, and report another one that judged a part."""
    found: dict[str, PartCoverage] = {}
    for seed in range(replications):
        generator = np.random.default_rng([seed, setting.groups])
        population = coverage.draw_population(setting, generator)
        compared = coverage.label_run(population, setting, seed)
        drawn = {place for place, each in enumerate(compared.all.rows) if each.position is not None}
        judged = choose_part(part, population, drawn, generator)
        otherwise = part == "own words"
        rested = rest_on_part(compared, judged, words_the_rest_otherwise=otherwise)
        report = compute_claim_level_report(rested, RULE)
        truth = compute_truth_of(population, judged)
        whole = compute_truth_of(population, set(range(len(population.groups))))
        for name, each in coverage.list_estimates(report):
            counted = found.setdefault(name, PartCoverage(Coverage()))
            if each.ci_low is None or each.ci_high is None:
                continue
            key = name.split(",")[0]
            counted.part.shown += 1
            counted.part.width += each.ci_high - each.ci_low
            # The share that passes is that of all claims of the run, however they are worded.
            is_rate = otherwise and key == "rate"
            counted.part.holds_run += not coverage.not_held(
                (whole if is_rate else truth)[key], each
            )
            counted.whole += not coverage.not_held(whole[key], each)
    return found


def simulate_weighted(setting: Setting, replications: int) -> dict[str, Coverage]:
    """Draw runs, label them, and give another judge the weights that judged what was drawn alone.

    It finds 60 % of the unfaithful claims and flags 8 % of the others; the truth is that of all
    claims, which it did not judge.
    """
    found: dict[str, Coverage] = {}
    for seed in range(replications):
        generator = np.random.default_rng([seed, setting.groups])
        population = coverage.draw_population(setting, generator)
        compared = coverage.label_run(population, setting, seed)
        human, chance = np.array(population.human), generator.random(len(population.human))
        judge = np.where(chance < np.where(human == 2, 0.6, 0.08), 2, np.minimum(human, 1))
        words = [coverage.LABELS[each] for each in judge.tolist()]
        rows = tuple(
            row._replace(judge=word) for row, word in zip(compared.all.rows, words, strict=True)
        )
        other = ComparedClaims(rows, compared.labels, compared.design, compared.settings)
        figures = estimate_accuracy_kappa_and_recall(
            rest_on_drawn(other).claims_weighted_for_comparison_with_other_judge
        )
        truth = compute_truth_of(replace(population, judge=judge.tolist()), set(range(len(human))))
        for name, each in zip(("percent", "kappa", "recall"), figures, strict=True):
            counted = found.setdefault(name, Coverage())
            if each.ci_low is None or each.ci_high is None:
                continue
            counted.shown += 1
            counted.width += each.ci_high - each.ci_low
            counted.holds_run += not coverage.not_held(truth[name], each)
    return found


def list_rows(
    settings: list[tuple[Setting, str]], replications: int
) -> Iterator[tuple[Setting, str, str, Coverage, int]]:
    """Simulate all settings, figure by figure."""
    for setting, part in settings:
        for name, each in simulate(setting, part, replications).items():
            yield setting, part, name, each.part, each.whole


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--parts", nargs="+", default=PARTS)
    parser.add_argument("--designs", nargs="+", default=("simple", "stratified", "conversations"))
    parser.add_argument("--errors", nargs="+", type=float, default=(0.1, 0.3))
    parser.add_argument("--sizes", nargs="+", type=int, default=(300,))
    parser.add_argument("--groups", nargs="+", type=int, default=(40, 100))
    given = parser.parse_args()
    settings = [
        (Setting(*rest), part)
        for part, *rest in product(
            given.parts, given.designs, given.errors, given.sizes, given.groups
        )
    ]
    print("part design error n groups figure shown part whole width", sep="\t", flush=True)
    for setting in dict.fromkeys(setting for setting, _ in settings):
        for name, each in simulate_weighted(setting, given.replications).items():
            shown = max(each.shown, 1)
            print("drawn, weighted", setting, name, each.shown, each.holds_run / shown, sep="\t")
    for setting, part, name, each, whole in list_rows(settings, given.replications):
        shown = max(each.shown, 1)
        print(
            part, setting.design, setting.error, setting.size, setting.groups, name,
            f"{each.shown / given.replications:.3f}", f"{each.holds_run / shown:.3f}",
            f"{whole / shown:.3f}", f"{each.width / shown:.3f}", sep="\t", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
