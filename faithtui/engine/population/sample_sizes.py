"""How many claims of which stratum are drawn from a population."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from faithtui.agreement.sampling.label_plan import (
    FEWEST,
    PlanStratum,
    PlanTarget,
    allocate_labels,
    count_claims_to_draw,
    limit_labels_per_stratum,
    plan_fewest_labels_for_target,
    plan_labels_for_budget,
    predict_half_widths,
)
from faithtui.errors import ConfigError

FEWEST_UNCERTAIN: Final = 5
"""Claims of each band of uncertainty at least, or all of it: of fewer, nothing can be said of how
conversations differ."""
LEAST_UNCERTAINTY: Final = 0.05
"""Uncertainty that the most certain claims are drawn by: none may have no chance at all."""
INTRACLASS_CORRELATION: Final = 0.2
"""Correlation taken for two claims of one conversation, where whole ones are drawn."""


class PopulationDesign(StrEnum):
    """How a sample is drawn from a population."""

    SIMPLE = "simple"
    STRATIFIED = "stratified"
    UNCERTAINTY = "uncertainty"
    """Each claim with a chance proportional to the uncertainty of its band."""
    CONVERSATIONS = "conversations"
    """Whole conversations, with all their claims."""


@dataclass(frozen=True, slots=True)
class StratumFacts:
    """A stratum of a population, and what is expected of it."""

    name: str
    claims: int
    is_flagged: bool | None
    """The judge calls its claims unfaithful; None: some of them."""
    share: float
    """Share of unfaithful claims that is assumed, in [0, 1]."""
    without_verdict: int
    uncertainty: float
    """Mean, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class SizeRequest:
    """How large a sample is wanted."""

    design: PopulationDesign
    size: int | None = None
    """Claims, or conversations, to draw; None: as many as `precision` needs."""
    precision: float | None = None
    """Half width of the 95 % interval of the share that passes, above 0."""
    shown_share: float = 0.0
    """Share of the claims that is served with the judge's verdict in view, in [0, 1): their labels
    count in no figure."""


def choose_total_sizes_by_stratum(
    strata: Sequence[StratumFacts],
    request: SizeRequest,
    before: Mapping[str, int],
    conversations: int,
) -> dict[str, int]:
    """Say how much of each stratum all draws together shall have.

    Args:
        strata: All claims of the population; one where whole conversations are drawn.
        request: What is wanted.
        before: What was drawn of each already; nothing of a stratum that is not named.
        conversations: Conversations with a claim.

    Returns:
        Claims, or conversations; never less than before.

    Raises:
        ConfigError: There are more strata than claims to draw, or nothing is left to draw.
    """
    whole = {each.name: each.claims for each in strata}
    if request.design is PopulationDesign.CONVERSATIONS:
        whole = dict.fromkeys(whole, conversations)
    drawn = {name: before.get(name, 0) for name in whole}
    if drawn == whole:
        raise ConfigError("everything of the population is in the sample already")
    if request.size is None:
        planned = _choose_sizes_for_precision(strata, request, conversations)
        sizes = {name: max(drawn[name], planned[name]) for name in whole}
        if sizes == drawn:
            raise ConfigError(
                f"± {request.precision:g} is expected of what is drawn already; ask for a smaller "
                "--precision, or name a --size"
            )
        return sizes
    total = min(sum(drawn.values()) + request.size, sum(whole.values()))
    if total < len(strata):
        raise ConfigError(
            f"{len(strata)} strata need {len(strata)} claims at least, one each; ask for a larger "
            "--size, or name less in --stratify"
        )
    by_conversation = request.design is PopulationDesign.CONVERSATIONS
    planned = (
        dict.fromkeys(whole, total) if by_conversation else _allocate_claims(strata, request, total)
    )
    return _allocate_additional_claims(drawn, planned, total - sum(drawn.values()))


def predict_precision(
    strata: Sequence[StratumFacts], sizes: Mapping[str, int], request: SizeRequest, mean_size: float
) -> float | None:
    """Foresee the half width of the share that passes.

    Args:
        strata: All claims.
        sizes: What is drawn of each.
        request: How.
        mean_size: Claims of a conversation in the mean.

    Returns:
        None where a stratum gives no label.
    """
    counting = 1 - request.shown_share
    labels = {name: max(1, math.floor(size * counting)) for name, size in sizes.items() if size}
    effect = 1.0
    if request.design is PopulationDesign.CONVERSATIONS:
        labels = {name: round(size * mean_size) for name, size in labels.items()}
        effect = _find_design_effect(mean_size)
    return predict_half_widths(_make_plan_strata(strata, 0.0), labels, design_effect=effect).rate


def _choose_sizes_for_precision(
    strata: Sequence[StratumFacts], request: SizeRequest, conversations: int
) -> dict[str, int]:
    half = request.precision
    assert half is not None
    claims = sum(each.claims for each in strata)
    if request.design is PopulationDesign.STRATIFIED:
        counting = _make_plan_strata(strata, request.shown_share)
        found = plan_fewest_labels_for_target(counting, PlanTarget(half), fewest=FEWEST)
        return count_claims_to_draw(found.sizes, counting, request.shown_share)
    by_conversation = request.design is PopulationDesign.CONVERSATIONS
    mean_size = claims / max(1, conversations)

    def make_sizes(total: int) -> dict[str, int]:
        if by_conversation:
            return {strata[0].name: total}
        return _allocate_claims(strata, request, total)

    def reaches(total: int) -> bool:
        width = predict_precision(strata, make_sizes(total), request, mean_size)
        return width is not None and width <= half

    sizes = range(len(strata), conversations if by_conversation else claims)
    return make_sizes(sizes.start + bisect_left(sizes, True, key=reaches))


def _allocate_claims(
    strata: Sequence[StratumFacts], request: SizeRequest, total: int
) -> dict[str, int]:
    """Share a number of claims out among strata."""
    counting = _make_plan_strata(strata, 0.0)
    if request.design is PopulationDesign.UNCERTAINTY:
        weights = {
            each.name: each.claims * max(LEAST_UNCERTAINTY, each.uncertainty) for each in strata
        }
        return allocate_labels(counting, total, weights, FEWEST_UNCERTAIN)
    return dict(plan_labels_for_budget(counting, total, fewest=FEWEST).sizes)


def _make_plan_strata(
    strata: Sequence[StratumFacts], shown_share: float
) -> tuple[PlanStratum, ...]:
    found = [
        PlanStratum(
            each.name,
            each.claims,
            each.is_flagged,
            each.share,
            without_verdict=each.without_verdict,
        )
        for each in strata
    ]
    return limit_labels_per_stratum(found, shown_share)


def _find_design_effect(mean_size: float) -> float:
    return 1 + INTRACLASS_CORRELATION * max(0.0, mean_size - 1)


def _allocate_additional_claims(
    drawn: Mapping[str, int], planned: Mapping[str, int], more: int
) -> dict[str, int]:
    """Add to what was drawn, where most is missing of what is planned for all draws together."""
    missing = {name: max(0, planned[name] - drawn[name]) for name in drawn}
    wanted = sum(missing.values())
    if wanted <= more:
        return {name: drawn[name] + missing[name] for name in drawn}
    parts = {name: count * more / wanted for name, count in missing.items()}
    added = {name: math.floor(part) for name, part in parts.items()}
    empty = [name for name in drawn if not drawn[name] and not added[name] and missing[name]]
    added |= dict.fromkeys(empty, 1)
    for name in sorted(parts, key=lambda each: (added[each] - parts[each], each)):
        if sum(added.values()) < more and added[name] < missing[name]:
            added[name] += 1
    while sum(added.values()) > more:
        # A first claim of every stratum goes before a further one of another.
        added[max(added, key=lambda each: (drawn[each] + added[each] > 1, added[each], each))] -= 1
    return {name: drawn[name] + added[name] for name in drawn}
