"""Strata of a population: their names, how many claims they have, and what is expected of them."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faithtui.agreement.population import BUNDLES
from faithtui.agreement.sampling.draw import CONVERSATIONS, SamplingDesign
from faithtui.domain.text.visible_text import make_visible_line
from faithtui.engine.population.results_scan import (
    STRATIFY_KEYS,
    ClaimPlace,
    ResultsScan,
    StratumCount,
    StratumValues,
)
from faithtui.engine.population.sample_sizes import StratumFacts
from faithtui.engine.review.samples.label_plans import assume_unfaithful_share
from faithtui.engine.shards.results_schema import NO_VERDICT
from faithtui.errors import ConfigError, InputError
from faithtui.metrics.registry import find_metric
from faithtui.store.samples.sampling_frames import name_verdict_stratum
from faithtui.store.schema.json_columns import scoring_rule_from_json


@dataclass(frozen=True, slots=True)
class PopulationStrata:
    """Strata of a population: their names, and what is known of them."""

    names: Mapping[StratumValues, str]
    facts: tuple[StratumFacts, ...]
    """By name."""
    values: Mapping[str, StratumValues]
    counts: tuple[tuple[tuple[int, ...], ...], ...]
    """As of `Population`."""
    labels: tuple[str | None, ...]


def read_strata_counts(
    scan: ResultsScan, settings: Mapping[str, Any], design: SamplingDesign
) -> PopulationStrata:
    """Count the strata of a population, in the words of its metric."""
    metric = settings["metric"]
    entry = find_metric(metric).spec
    words = {name: entry.labels.find_label_name_for_word(name) for name in ("yes", "no", "idk")}
    words[NO_VERDICT] = None
    labels = (*entry.labels.names, None)
    counted = scan.count_claims_by_stratum()
    _refuse_unknown_metadata_keys(scan.stratified_by, counted)
    names = make_stratum_names(
        metric, scan.stratified_by, sorted({each.values for each in counted}, key=str)
    )
    if design is SamplingDesign.CONVERSATIONS:
        names = {(): CONVERSATIONS}
    ordered = sorted(names, key=lambda each: names[each])
    place = {values: number for number, values in enumerate(ordered)}
    column = {label: number for number, label in enumerate(labels)}
    counts = [[[0] * len(labels) for _ in ordered] for _ in range(BUNDLES)]
    uncertain: defaultdict[StratumValues, float] = defaultdict(float)
    for each in counted:
        counts[each.bundle][place[each.values]][column[_find_metric_label_name(words, each)]] += (
            each.claims
        )
        uncertain[each.values] += each.uncertainty
    passing = scoring_rule_from_json(settings["rule"]).passing
    failing = [name for name in entry.labels.names if name not in passing]
    facts = []
    for values in ordered if counted else ():
        totals = {
            label: sum(bundle[place[values]][number] for bundle in counts)
            for label, number in column.items()
        }
        by_name = {name_verdict_stratum(label): count for label, count in totals.items() if count}
        share, is_flagged = assume_unfaithful_share(by_name, entry.labels, failing)
        claims = sum(totals.values())
        facts.append(
            StratumFacts(
                names[values],
                claims,
                is_flagged,
                share,
                totals[None],
                uncertain[values] / claims,
            )
        )
    return PopulationStrata(
        names,
        tuple(facts),
        {name: values for values, name in names.items()},
        tuple(tuple(map(tuple, bundle)) for bundle in counts),
        labels,
    )


def _refuse_unknown_metadata_keys(keys: Sequence[str], counted: Sequence[StratumCount]) -> None:
    """Refuse a key of the metadata that no conversation has: most likely it is a slip.

    Raises:
        ConfigError: There is one.
    """
    for place, key in enumerate(keys):
        is_missing = bool(counted) and all(each.values[place] is None for each in counted)
        if is_missing and key not in STRATIFY_KEYS:
            raise ConfigError(
                f"no judged conversation has {make_visible_line(key)!r} in its metadata; "
                f"--stratify takes {', '.join(STRATIFY_KEYS)} and keys of the metadata"
            )


def _find_metric_label_name(words: Mapping[str, str | None], counted: StratumCount) -> str | None:
    """Say what a label of the results is called by the metric.

    Raises:
        InputError: It is none.
    """
    if counted.label not in words:
        raise InputError(
            f"a claim has the label {make_visible_line(counted.label)!r}; expected yes, no, idk or "
            f"{NO_VERDICT}",
            field="label",
        )
    return words[counted.label]


def make_stratum_names(
    metric: str, keys: Sequence[str], values: Sequence[StratumValues]
) -> dict[StratumValues, str]:
    """Name strata by their values; no two alike."""
    labels = find_metric(metric).spec.labels
    names: dict[StratumValues, str] = {}
    used: Counter[str] = Counter()
    for each in sorted(values, key=str):
        parts = []
        for key, value in zip(keys, each, strict=True):
            if key == "verdict":
                parts.append(name_verdict_stratum(labels.find_label_name_for_word(value or "")))
            elif key == "turn":
                parts.append("no turn" if value is None else f"turns {value}")
            else:
                shown = make_visible_line(key.removeprefix("metadata."))
                parts.append(f"{shown} {'unknown' if value is None else make_visible_line(value)}")
        name = " · ".join(parts)
        used[name] += 1
        names[each] = name if used[name] == 1 else f"{name} ({used[name]})"
    return names


def format_stratum_values(values: StratumValues) -> list[str]:
    """Say the values of a stratum in words."""
    return ["unknown" if each is None else make_visible_line(each) for each in values]


def find_stratum_name(place: ClaimPlace, strata: PopulationStrata, design: SamplingDesign) -> str:
    """Name the stratum of a claim; of whole conversations there is one."""
    if design is SamplingDesign.CONVERSATIONS:
        return CONVERSATIONS
    return strata.names[place.values]
