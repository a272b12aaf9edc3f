"""What is to be drawn of results, and whether it adds to what was drawn of them before."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from faithtui.agreement.sampling.draw import SamplingDesign
from faithtui.engine.population.sample_sizes import PopulationDesign
from faithtui.errors import ConfigError
from faithtui.store.samples.sample_records import SampleRow

USUAL_SIZE: Final = 400
"""Claims to draw by default: the share that passes to about ± 0.02 to 0.04."""


USUAL_CONVERSATIONS: Final = 50
"""Conversations to draw where whole ones are by default."""


FIRST_SEED: Final = 1
"""Seed of a first draw by default."""


DESIGNS: Final[Mapping[PopulationDesign, SamplingDesign]] = {
    PopulationDesign.SIMPLE: SamplingDesign.SIMPLE,
    PopulationDesign.STRATIFIED: SamplingDesign.STRATIFIED,
    PopulationDesign.UNCERTAINTY: SamplingDesign.STRATIFIED,
    PopulationDesign.CONVERSATIONS: SamplingDesign.CONVERSATIONS,
}


@dataclass(frozen=True, slots=True)
class PopulationRequest:
    """What is to be drawn of results."""

    design: PopulationDesign | None = None
    """None: as drawn before, else stratified."""
    stratified_by: tuple[str, ...] | None = None
    """What strata are made of; None: as drawn before, else the verdict."""
    size: int | None = None
    """Claims, or conversations, to draw; None: what `precision` needs, else the usual."""
    precision: float | None = None
    """Half width wanted of the share that passes."""
    seed: int | None = None
    """None: as drawn before, else 1."""
    blind: bool = True
    shown_share: float = 0.0
    """Share of the claims of a blind sample that is served with the judge's verdict in view."""


def check_request(request: PopulationRequest) -> None:
    """Refuse numbers out of range.

    Raises:
        ConfigError: One is, or two contradict each other.
    """
    if request.size is not None and request.size < 1:
        raise ConfigError(f"--size is {request.size}; expected 1 or more")
    if request.precision is not None and not 0 < request.precision < 0.5:
        raise ConfigError(f"--precision is {request.precision:g}; expected above 0, below 0.5")
    if request.size is not None and request.precision is not None:
        raise ConfigError("--size and --precision are two answers to one question; leave one out")
    if not 0 <= request.shown_share < 1:
        raise ConfigError(
            f"the share served with the judge's verdict in view is {request.shown_share:g}; "
            "expected 0 or more, below 1"
        )
    keys = request.stratified_by or ()
    if len(set(keys)) < len(keys) or not all(keys):
        raise ConfigError("--stratify names something twice, or nothing between two commas")


def fill_in_request_defaults(
    request: PopulationRequest, before: SampleRow | None
) -> PopulationRequest:
    """Say what is not asked for: as it was drawn before, else as it is usual.

    Raises:
        ConfigError: It does not add to what was drawn before.
    """
    design, keys = request.design, request.stratified_by
    if before is not None:
        was = _get_population_design(before)
        if design is None and was is PopulationDesign.SIMPLE and keys:
            design = PopulationDesign.STRATIFIED  # its one stratum is split
        design = design or was
        if keys is None and design in (was, PopulationDesign.UNCERTAINTY):
            keys = before.stratified_by
        if request.seed not in (None, before.seed):
            raise ConfigError(
                f"sample {before.id} of these results was drawn with seed {before.seed}; leave out "
                "--seed to add to it, or draw into another store with --store"
            )
        request = replace(
            request, seed=before.seed, blind=before.blind, shown_share=before.shown_share
        )
    if design is None:
        design = PopulationDesign.STRATIFIED
    if design in (PopulationDesign.SIMPLE, PopulationDesign.CONVERSATIONS):
        if request.stratified_by:
            raise ConfigError(
                f"--design {design} has no strata; leave out --stratify, or choose --design "
                "stratified"
            )
        keys = ()
    if keys is None:
        keys = () if design is PopulationDesign.UNCERTAINTY else ("verdict",)
    if design is PopulationDesign.UNCERTAINTY and "uncertainty" not in keys:
        keys = (*keys, "uncertainty")
    if before is not None:
        keys = _sort_earlier_strata_keys_first(before, design, keys)
    size = request.size
    if size is None and request.precision is None:
        by_conversation = design is PopulationDesign.CONVERSATIONS
        size = USUAL_CONVERSATIONS if by_conversation else USUAL_SIZE
    seed = FIRST_SEED if request.seed is None else request.seed
    return replace(request, design=design, stratified_by=keys, size=size, seed=seed)


def _get_population_design(row: SampleRow) -> PopulationDesign:
    match row.design:
        case SamplingDesign.SIMPLE:
            return PopulationDesign.SIMPLE
        case SamplingDesign.CONVERSATIONS:
            return PopulationDesign.CONVERSATIONS
        case SamplingDesign.STRATIFIED if "uncertainty" in row.stratified_by:
            return PopulationDesign.UNCERTAINTY
        case SamplingDesign.STRATIFIED:
            return PopulationDesign.STRATIFIED


def _sort_earlier_strata_keys_first(
    before: SampleRow, design: PopulationDesign, keys: tuple[str, ...]
) -> tuple[str, ...]:
    """Put what strata were made of before first: a stratum may be split, and not put together.

    Raises:
        ConfigError: What was drawn before has no known chance in the strata that are asked for.
    """
    whole = SamplingDesign.CONVERSATIONS in (before.design, DESIGNS[design])
    if whole and before.design is not DESIGNS[design]:
        raise ConfigError(
            f"sample {before.id} of these results is of design {before.design}: whole "
            "conversations and single claims do not add up; draw into another store with --store"
        )
    lost = [key for key in before.stratified_by if key not in keys]
    if lost:
        raise ConfigError(
            f"sample {before.id} of these results was drawn by "
            f"{_join_names(before.stratified_by)}; name {_join_names(lost)} in --stratify too, or "
            "leave it out to draw as before, or "
            "draw into another store with --store"
        )
    return (*before.stratified_by, *(key for key in keys if key not in before.stratified_by))


def _join_names(names: Iterable[str]) -> str:
    """Write names as --stratify takes them: one with a comma or a quotation mark in such marks."""
    return ", ".join(
        '"' + each.replace('"', '""') + '"' if {",", '"'} & set(each) else each for each in names
    )


def describe_sample_design(plan: PopulationRequest) -> str:
    """Name a sample after how it is drawn."""
    match plan.design:
        case PopulationDesign.SIMPLE:
            return "simple random"
        case PopulationDesign.CONVERSATIONS:
            return "whole conversations"
        case _:
            return f"by {', '.join(plan.stratified_by or ())}"
