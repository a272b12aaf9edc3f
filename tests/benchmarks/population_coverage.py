"""How often intervals on a sample of a population hold its truth, over designs and error rates.

Populations are made whose truth is known, drawn from as `faithtui sample` draws (sizes by
`choose_total_sizes_by_stratum`, the claims with the smallest random numbers of each stratum),
labelled and reported by the program's own functions. `python -m
tests.benchmarks.population_coverage` from the repository root prints the table; `--replications`,
`--designs`, `--errors`, `--sizes` and `--conversations` make it smaller.

Conversations have 2 to 14 claims. Claims and judge are those of `coverage.py`; where two in five
conversations are, of the language `de`, errors are three times as frequent as in the others. The
judge is uncertain of its errors: uncertainty is uniform above 0.4 for these and uniform below 0.7
for the others. `two draws` is a simple sample of a third of the claims, to which a stratified draw
adds the rest.
"""

import argparse
import multiprocessing
from dataclasses import dataclass
from itertools import product

import numpy as np

from faithtui.agreement.labelled_units import ClaimUnit, LabelState
from faithtui.agreement.population import BUNDLES, Population, PopulationStratum
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.figures.claims_and_answers import compute_claim_level_report
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.sampling.draw import CONVERSATIONS, SamplingDesign, Stratum
from faithtui.agreement.sampling.label_designs import (
    LabelledSample,
    SampledClaim,
    find_label_design,
)
from faithtui.domain.ids import ClaimId, ConversationId, ItemId, SampleId
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.engine.population.sample_sizes import (
    PopulationDesign,
    SizeRequest,
    StratumFacts,
    choose_total_sizes_by_stratum,
)
from tests.benchmarks.coverage import (
    CORRELATION,
    FALSE_ALARMS,
    IDK,
    LABELS,
    RULE,
    SENSITIVITY,
    Coverage,
    compute_truth,
    list_estimates,
    not_held,
)

DESIGNS = ("simple", "stratified", "uncertainty", "conversations", "two draws")
ERRORS = (0.02, 0.1, 0.3)
SIZES = (60, 100, 400)
SHARE_DE = 0.4
TIMES = 3.0
"""Errors of conversations in `de` over those of the others."""
_ASSUMED = {0: 0.05, 1: 0.2, 2: 0.5}
"""Shares of unfaithful claims that are assumed, by the judge's label."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is simulated."""

    design: str
    error: float
    size: int
    """Claims that are drawn; of whole conversations as many as have them on average."""
    conversations: int


@dataclass(frozen=True, slots=True)
class MadeClaims:
    """A population whose truth is known, claim by claim."""

    conversation: np.ndarray
    human: np.ndarray
    judge: np.ndarray
    language: np.ndarray
    uncertainty: np.ndarray

    def count_cells(self) -> np.ndarray:
        """Count the confusion matrix."""
        cells = np.zeros((3, 3))
        np.add.at(cells, (self.human, self.judge), 1)
        return cells


def make_claims(setting: Setting, generator: np.random.Generator) -> MadeClaims:
    """Make a population."""
    number, alike = setting.conversations, (1 - CORRELATION) / CORRELATION
    conversation = np.repeat(np.arange(number), generator.integers(2, 15, number))
    is_de = generator.random(number) < SHARE_DE
    # Such that the mean is the error rate.
    low = setting.error / (1 - SHARE_DE + TIMES * SHARE_DE)
    mean = np.where(is_de, TIMES * low, low)
    error, flagged, alarmed = (
        generator.beta(share * alike, (1 - share) * alike, number)[conversation]
        for share in (mean, np.full(number, SENSITIVITY), mean * FALSE_ALARMS)
    )
    chance = generator.random((6, len(conversation)))
    is_bad = chance[0] < error
    is_flagged = chance[1] < np.where(is_bad, flagged, alarmed)
    human_idk = chance[2] < IDK
    judge_idk = np.where(chance[3] < 0.5, human_idk, chance[4] < IDK)
    human = np.where(is_bad, 2, human_idk.astype(np.int64))
    judge = np.where(is_flagged, 2, judge_idk.astype(np.int64))
    wrong = is_bad != is_flagged
    uncertainty = np.where(wrong, 0.4 + 0.6 * chance[5], 0.7 * chance[5])
    return MadeClaims(conversation, human, judge, is_de[conversation].astype(np.int64), uncertainty)


def draw_places(
    claims: MadeClaims, setting: Setting, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a sample.

    Returns:
        Stratum of every claim, places of the drawn ones, and what is drawn of each stratum.
    """
    design = {"two draws": "stratified"}.get(setting.design, setting.design)
    strata = np.zeros(len(claims.judge), np.int64)
    if design == "stratified":
        strata = claims.judge * 2 + claims.language
    if design == "uncertainty":
        strata = np.minimum((claims.uncertainty * 5).astype(np.int64), 4)
    _, strata = np.unique(strata, return_inverse=True)
    number = int(strata.max()) + 1
    population = np.bincount(strata, minlength=number)
    if design == "conversations":
        of_each = generator.random(setting.conversations)
        mean = len(strata) / setting.conversations
        size = max(5, round(setting.size / mean))
        chosen = np.argsort(of_each)[:size]
        places = np.flatnonzero(np.isin(claims.conversation, chosen))
        return strata, places, np.array([size])
    random_numbers = generator.random(len(strata))
    facts = [
        StratumFacts(
            f"{place:03}",
            int(population[place]),
            bool((claims.judge[strata == place] == 2).all()) if design == "stratified" else None,
            float(np.mean([_ASSUMED[int(each)] for each in claims.judge[strata == place]])),
            0,
            float(claims.uncertainty[strata == place].mean()),
        )
        for place in range(number)
    ]
    before: dict[str, int] = {}
    size = setting.size
    if setting.design == "two draws":
        first = np.argsort(random_numbers)[: size // 3]
        found = np.bincount(strata[first], minlength=number)
        before = {f"{place:03}": int(found[place]) for place in range(number)}
        size -= size // 3
    request = SizeRequest(PopulationDesign(design), size)
    sizes = choose_total_sizes_by_stratum(facts, request, before, setting.conversations)
    drawn = np.array([sizes[f"{place:03}"] for place in range(number)])
    places = np.concatenate(
        [
            np.flatnonzero(strata == place)[
                np.argsort(random_numbers[strata == place])[: drawn[place]]
            ]
            for place in range(number)
        ]
    )
    return strata, places, drawn


def label_sample(
    claims: MadeClaims, setting: Setting, generator: np.random.Generator
) -> ComparedClaims:
    """Draw a sample, label all of it, and put it before a report as the store does."""
    strata, places, drawn = draw_places(claims, setting, generator)
    design = {
        "simple": SamplingDesign.SIMPLE,
        "conversations": SamplingDesign.CONVERSATIONS,
    }.get(setting.design, SamplingDesign.STRATIFIED)
    number = len(drawn)
    names = (
        [CONVERSATIONS]
        if design is SamplingDesign.CONVERSATIONS
        else [f"{place:03}" for place in range(number)]
    )
    bundle = generator.integers(0, BUNDLES, setting.conversations)[claims.conversation]
    cells = (bundle * number + strata) * 4 + claims.judge
    counts = np.bincount(cells, minlength=BUNDLES * number * 4).reshape(BUNDLES, number, 4)
    population = Population(
        "simulated",
        "simulated",
        {"scored": setting.conversations},
        setting.conversations,
        {},
        0,
        (*LABELS, None),
        (),
        tuple(
            PopulationStratum(name, (), int(count))
            for name, count in zip(names, drawn, strict=True)
        ),
        tuple(tuple(map(tuple, each)) for each in counts.tolist()),
    )
    whole = (
        [setting.conversations]
        if design is SamplingDesign.CONVERSATIONS
        else np.bincount(strata, minlength=number).tolist()
    )
    by_strata = design is SamplingDesign.STRATIFIED
    units = tuple(
        ClaimUnit(
            ClaimId(place + 1),
            ConversationId(int(claims.conversation[place]) + 1),
            f"c{claims.conversation[place]}",
            f"g{claims.conversation[place]}",
            1,
            "",
            LABELS[claims.judge[place]],
            LABELS[claims.human[place]],
            1,
            1,
            True,
            True,
            LabelState.LABELLED,
            stratum=names[strata[place]] if by_strata else None,
            position=position,
        )
        for position, place in enumerate(places.tolist())
    )
    sample = LabelledSample(
        SampleId(1),
        "simulated",
        1,
        design,
        len(strata),
        (),
        tuple(
            Stratum(name, size, int(count))
            for name, size, count in zip(names, whole, drawn, strict=True)
        ),
        tuple(
            SampledClaim(each.claim, ItemId(each.conversation), each.stratum or names[0])
            for each in units
        ),
        population=population,
    )
    return ComparedClaims(units, FAITHFULNESS, find_label_design(units, sample), ReportSettings())


def simulate(setting: Setting, replications: int, first: int = 0) -> dict[str, Coverage]:
    """Make populations, draw from them and report.

    Args:
        setting: What is simulated.
        replications: How many.
        first: Number of the first; the numbers are the seeds.

    Returns:
        By figure; `holds_run` of the population's own truth, `holds_future` of that of all such
        populations.
    """
    found: dict[str, Coverage] = {}
    many = Setting(setting.design, setting.error, setting.size, 60_000)
    future = compute_truth(make_claims(many, np.random.default_rng(7)).count_cells())
    for seed in range(first, first + replications):
        generator = np.random.default_rng([seed, setting.conversations])
        claims = make_claims(setting, generator)
        run = compute_truth(claims.count_cells())
        report = compute_claim_level_report(label_sample(claims, setting, generator), RULE)
        for name, each in list_estimates(report):
            counted = found.setdefault(name, Coverage())
            if each.ci_low is None or each.ci_high is None:
                continue
            truth = name.split(",")[0]
            counted.shown += 1
            counted.width += each.ci_high - each.ci_low
            counted.holds_run += not not_held(run[truth], each)
            counted.holds_future += not not_held(future[truth], each)
    return found


def _simulate_all(arguments: tuple[Setting, int]) -> tuple[Setting, dict[str, Coverage]]:
    setting, replications = arguments
    return setting, simulate(setting, replications)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=400)
    parser.add_argument("--designs", nargs="+", default=DESIGNS)
    parser.add_argument("--errors", nargs="+", type=float, default=ERRORS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--conversations", nargs="+", type=int, default=(200, 3000))
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    given = parser.parse_args()
    settings = [
        Setting(*each)
        for each in product(given.designs, given.errors, given.sizes, given.conversations)
    ]
    print("design error n conversations figure shown population future width", flush=True)
    with multiprocessing.Pool(given.jobs) as pool:
        work = [(each, given.replications) for each in settings]
        for setting, found in pool.imap(_simulate_all, work):
            for name, each in found.items():
                shown = max(each.shown, 1)
                print(
                    setting.design.replace(" ", "-"),
                    setting.error,
                    setting.size,
                    setting.conversations,
                    name.replace(", ", "/").replace(" ", "-"),
                    f"{each.shown / given.replications:.3f}",
                    f"{each.holds_run / shown:.3f}",
                    f"{each.holds_future / shown:.3f}",
                    f"{each.width / shown:.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
