"""How often claims are drawn, over many seeds: as often as their probability says.

The numbers of draws are such that a share which is as it should be is outside of the allowed
distance once in ten thousand runs of a test; seeds are fixed, so that a test that passed passes.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.engine.population.results_scan import ClaimPlace, ResultsScan, StratumValues
from faithtui.engine.population.sample_sizes import (
    LEAST_UNCERTAINTY,
    PopulationDesign,
    SizeRequest,
    StratumFacts,
    choose_total_sizes_by_stratum,
)
from tests.engine.population.results import make_population, write_results

FAR = 3.9
"""Standard deviations that chance leaves once in ten thousand."""


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ResultsScan]:
    """40 conversations of three claims each."""
    made = make_population(40)
    folder = write_results(tmp_path_factory.mktemp("few") / "all", {"a": made[:15], "b": made[15:]})
    with ResultsScan(str(folder)) as opened:
        yield opened


def name(place: ClaimPlace) -> tuple[str, int]:
    return place.key, place.position


def count_populations(scan: ResultsScan) -> Counter[StratumValues]:
    found: Counter[StratumValues] = Counter()
    for each in scan.count_claims_by_stratum():
        found[each.values] += each.claims
    return found


def check_shares(drawn: Counter[tuple[str, int]], draws: int, share: float) -> None:
    """Check that no claim is drawn more or less often than its chance allows."""
    allowed = FAR * math.sqrt(share * (1 - share) / draws)
    for claim, count in drawn.items():
        assert abs(count / draws - share) <= allowed, claim


def test_claims_of_one_conversation_have_random_numbers_of_their_own(scan: ResultsScan) -> None:
    """Else they would be drawn together, each with the right chance."""
    scan.set_strata((), 0)
    populations = count_populations(scan)
    places = scan.choose_random_claims_per_stratum(populations, populations)
    assert len({each.number for each in places}) == len(places) == 120


@pytest.mark.parametrize(
    "draws", [40, pytest.param(2000, marks=pytest.mark.thorough)], ids=["few", "many"]
)
def test_every_claim_of_a_stratum_has_the_same_chance(scan: ResultsScan, draws: int) -> None:
    scan.set_strata(("verdict",), 0)
    populations = count_populations(scan)
    sizes = {values: min(count, 6) for values, count in populations.items()}
    drawn: dict[StratumValues, Counter[tuple[str, int]]] = {each: Counter() for each in sizes}
    for seed in range(draws):
        scan.set_strata(("verdict",), seed)
        places = scan.choose_random_claims_per_stratum(populations, sizes)
        assert Counter(each.values for each in places) == sizes
        for each in places:
            drawn[each.values][name(each)] += 1
    for values, counts in drawn.items():
        check_shares(counts, draws, sizes[values] / populations[values])
        if draws > 1000:
            assert len(counts) == populations[values]


@pytest.mark.parametrize(
    "draws", [40, pytest.param(2000, marks=pytest.mark.thorough)], ids=["few", "many"]
)
def test_every_conversation_has_the_same_chance(scan: ResultsScan, draws: int) -> None:
    drawn: Counter[tuple[str, int]] = Counter()
    for seed in range(draws):
        scan.set_strata((), seed)
        places = scan.choose_conversations_and_list_claims(40, 8)
        keys = Counter(each.key for each in places)
        assert len(keys) == 8
        assert set(keys.values()) == {3}
        drawn.update((key, 0) for key in keys)
    check_shares(drawn, draws, 8 / 40)


@pytest.mark.parametrize(
    "draws", [40, pytest.param(2000, marks=pytest.mark.thorough)], ids=["few", "many"]
)
def test_the_union_of_two_draws_has_known_chances(scan: ResultsScan, draws: int) -> None:
    """A simple sample of 20, to which a draw by verdict adds what is missing of 8 each.

    Weighted by one over their chance in the union, the claims of every conversation stand for as
    many as there are, though how many a stratum gave in the first draw is chance.
    """
    scan.set_strata(("verdict",), 0)
    populations = count_populations(scan)
    whole = sum(populations.values())
    halves: defaultdict[tuple[StratumValues, bool], float] = defaultdict(float)
    for seed in range(draws):
        scan.set_strata(("verdict",), seed)
        first = scan.choose_random_claims_per_stratum({(): whole}, {(): 20})
        known = Counter(each.values for each in first)
        sizes = {values: max(known[values], min(8, count)) for values, count in populations.items()}
        both = scan.choose_random_claims_per_stratum(populations, sizes)
        names = [name(each) for each in both]
        assert len(set(names)) == len(names) == sum(sizes.values())
        assert {name(each) for each in first} <= set(names)
        for each in both:
            is_first = int(each.key[1:]) < 20
            halves[each.values, is_first] += populations[each.values] / sizes[each.values]
    scan.set_strata(("verdict",), 0)
    everything = scan.choose_random_claims_per_stratum(populations, populations)
    truth = Counter((each.values, int(each.key[1:]) < 20) for each in everything)
    for part, count in truth.items():
        population = populations[part[0]]
        if population <= 8:
            assert halves[part] == pytest.approx(count * draws)
            continue
        share = count / population
        # At least eight claims of a stratum are drawn, without replacement.
        deviation = population * math.sqrt(share * (1 - share) / 8 / draws)
        assert abs(halves[part] / draws - count) <= FAR * deviation, part


def test_chances_are_proportional_to_uncertainty(scan: ResultsScan) -> None:
    scan.set_strata(("uncertainty",), 3)
    totals: Counter[StratumValues] = Counter()
    uncertain: dict[StratumValues, float] = dict.fromkeys(count_populations(scan), 0.0)
    for each in scan.count_claims_by_stratum():
        totals[each.values] += each.claims * 1000
        uncertain[each.values] += each.uncertainty
    facts = [
        StratumFacts(str(values), count, None, 0.1, 0, uncertain[values] / count * 1000)
        for values, count in totals.items()
    ]
    request = SizeRequest(PopulationDesign.UNCERTAINTY, 3000)
    sizes = choose_total_sizes_by_stratum(facts, request, {}, 1000)
    assert sum(sizes.values()) == 3000
    ratios = [
        sizes[each.name] / each.claims / max(LEAST_UNCERTAINTY, each.uncertainty) for each in facts
    ]
    assert max(ratios) / min(ratios) < 1.02
    assert max(each.uncertainty for each in facts) > 5 * min(each.uncertainty for each in facts)


def test_a_claim_is_drawn_by_what_it_is_called_and_nothing_else(
    scan: ResultsScan, tmp_path: Path
) -> None:
    made = make_population(40)
    folder = write_results(tmp_path / "all", {each.key: [each] for each in made[::-1]})
    for seed in (1, 2):
        scan.set_strata(("verdict",), seed)
        populations = count_populations(scan)
        sizes = dict.fromkeys(populations, 4)
        with ResultsScan(str(folder)) as other:
            other.set_strata(("verdict",), seed)
            here, there = (
                each.choose_random_claims_per_stratum(populations, sizes) for each in (scan, other)
            )
            assert {each.values: [] for each in here} == {each.values: [] for each in there}
            assert sorted(map(name, here)) == sorted(map(name, there))
