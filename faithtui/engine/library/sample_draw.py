"""`draw_sample`: what `faithtui sample` does, for notebooks and scripts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from faithtui.domain.field_types import require_type
from faithtui.errors import ConfigError
from faithtui.paths import expand_home


def draw_sample(
    results: str | Path,
    store: str | Path,
    *,
    size: int | None = None,
    precision: float | None = None,
    design: Literal["simple", "stratified", "uncertainty", "conversations"] | None = None,
    stratify: Sequence[str] | None = None,
    seed: int | None = None,
    blind: bool = True,
    reviewer: str | None = None,
) -> dict[str, object]:
    """Draw claims of measured results into a store, so that its report speaks of all results.

    Drawing again from the same results into the same store adds to the sample.

    Args:
        results: A folder that `faithtui measure` wrote, or its address, such as `s3://bucket/all`.
        store: The file of the store; it is made when it is not there.
        size: Claims to draw, or conversations; None: what `precision` needs, else 400, or 50.
        precision: Half width wanted of the share that passes, above 0 and below 0.5.
        design: None: as drawn before, else `stratified`.
        stratify: What strata are made of: `verdict`, `source`, `turn`, `score`, `uncertainty` or
            keys of the metadata; None: as drawn before, else the verdict.
        seed: The same seed draws the same claims; None: as drawn before, else 1.
        blind: The queue hides the judge's verdict until a claim is answered.
        reviewer: Who draws; None: the one of the settings.

    Returns:
        As `faithtui sample --json` prints it: `run`, `sample`, `claims`, `added`, `strata` with
        the chance of a claim of each, `population` and more.

    Raises:
        ConfigError: DuckDB is not installed, or what is asked for cannot be drawn.
        InputError: The results cannot be read, or `results` or `store` is of another type.
        StoreError: The store cannot take them. Nothing of the draw is in it.
    """
    from faithtui.config import load_settings
    from faithtui.engine.population.population_sample import (
        draw_and_store_population_sample,
        sample_to_json,
    )
    from faithtui.engine.population.sample_request import PopulationRequest
    from faithtui.engine.population.sample_sizes import PopulationDesign
    from faithtui.store.store import Store

    require_type(results, str | Path, "results", "a folder or an address")
    require_type(store, str | Path, "store", "a path")
    if isinstance(stratify, str):
        raise ConfigError(f"stratify is a text; expected a list such as [{stratify!r}]")
    try:
        chosen = None if design is None else PopulationDesign(design)
    except ValueError:
        known = ", ".join(PopulationDesign)
        raise ConfigError(f"design is {design!r}; expected one of {known}") from None
    request = PopulationRequest(
        design=chosen,
        stratified_by=None if stratify is None else tuple(stratify),
        size=size,
        precision=precision,
        seed=seed,
        blind=blind,
    )
    with Store.open(expand_home(store)) as opened:
        who = load_settings().reviewer if reviewer is None else reviewer
        return sample_to_json(draw_and_store_population_sample(opened, str(results), request, who))
