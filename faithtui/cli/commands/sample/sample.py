"""`faithtui sample`: draw claims of measured results into a store, to speak of all of them."""

import csv
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.output import (
    TableColumn,
    plural,
    print_hint,
    print_json,
    print_table,
    print_text,
)
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    StoreOption,
    make_reviewer_option,
    merge_common_options,
    override_configured_reviewer,
)
from faithtui.cli.stores import open_store
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.engine.population.population_sample import PopulationSample
    from faithtui.engine.population.sample_sizes import PopulationDesign


def sample(
    context: typer.Context,
    results: Annotated[
        str,
        typer.Argument(
            metavar="RESULTS",
            help="A folder that `faithtui measure` wrote, or its address, such as s3://bucket/all.",
        ),
    ],
    size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of claims to draw; with --design conversations, of conversations. "
            "[400, or 50]",
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            metavar="WIDTH",
            help="Draw as many as give the share that passes this half width, such as 0.03, "
            "instead of --size.",
        ),
    ] = None,
    design: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How to draw: simple, stratified, uncertainty or conversations. [as drawn "
            "before, or stratified]",
        ),
    ] = None,
    stratify: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="What strata are formed by: verdict, source, turn, score, uncertainty or keys "
            "of the metadata; several with commas. Put a key that contains a comma in "
            "quotation marks, as in 'verdict,\"city, country\"'. [as drawn before, or "
            "verdict]",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The same seed draws the same claims. [as drawn before, or 1]"
        ),
    ] = None,
    blind: Annotated[
        bool | None,
        typer.Option(
            "--blind/--shown", help="Hide the judge until a claim is answered. [blind, or as set]"
        ),
    ] = None,
    reviewer: Annotated[str | None, make_reviewer_option("Who draws.")] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Draw claims of measured results into a store, to report on all results.

    Stores the conversations of the drawn claims, and how many claims each stratum of the results
    has. `faithtui report` and `faithtui gate` then give figures of all results. Drawing again adds
    to the sample. Needs DuckDB: pip install 'faithtui[sample]'.

    Example: faithtui sample RESULTS --size 400 --stratify verdict,source
    """
    from faithtui.config import load_settings_with_origins
    from faithtui.engine.population.population_sample import (
        draw_and_store_population_sample,
        sample_to_json,
    )
    from faithtui.engine.population.sample_request import PopulationRequest, check_request

    options = merge_common_options(context, store, json, reviewer)
    settings = override_configured_reviewer(load_settings_with_origins(), options.reviewer).settings
    is_blind = settings.blind if blind is None else blind
    request = PopulationRequest(
        design=_parse_population_design(design),
        stratified_by=None if stratify is None else _split_names_at_commas(stratify),
        size=size,
        precision=precision,
        seed=seed,
        blind=is_blind,
        shown_share=settings.audit_share if is_blind else 0.0,
    )
    check_request(request)  # before a store is made for nothing
    with open_store(options.store, settings, create=True) as opened:
        found = draw_and_store_population_sample(opened, results, request, settings.reviewer)
    if options.json:
        print_json(sample_to_json(found))
        return
    _print_sample(found)


def _parse_population_design(name: str | None) -> "PopulationDesign | None":
    """Read a design.

    Raises:
        ConfigError: There is none of this name.
    """
    from faithtui.domain.text.suggestions import format_known_names
    from faithtui.engine.population.sample_sizes import PopulationDesign

    if name is None:
        return None
    try:
        return PopulationDesign(name)
    except ValueError:
        known = format_known_names(name, PopulationDesign)
        raise ConfigError(f"--design is `{name}`; expected one of {known}") from None


def _split_names_at_commas(text: str) -> tuple[str, ...]:
    """Read names with commas between them, as in a line of CSV; "" is none.

    Raises:
        ConfigError: A quotation mark is not closed, or a line break stands outside of such marks.
    """
    if text.count('"') % 2:
        raise ConfigError(
            f"--stratify {text} has a quotation mark that is not closed; a name with a comma or a "
            "quotation mark stands in such marks, and one within them is written twice: "
            "'verdict,\"city, country\"'"
        )
    try:
        (names,) = csv.reader([text.strip()], skipinitialspace=True)
    except csv.Error as error:
        raise ConfigError(
            "--stratify has a line break outside of quotation marks; expected names with commas "
            "between them, on one line"
        ) from error
    return tuple(each.strip() for each in names)


def _print_sample(found: "PopulationSample") -> None:
    from faithtui.agreement.population_text import describe_population, describe_unmeasured_results
    from faithtui.agreement.sampling.draw import SamplingDesign

    row = found.row
    assert row.population is not None
    population = row.population
    unit = "conversation" if row.design is SamplingDesign.CONVERSATIONS else "claim"
    print_text(f"population: {describe_population(population)}")
    for sentence in describe_unmeasured_results(population):
        print_text(sentence)
    print_text("")
    print_table(
        [
            TableColumn("stratum"),
            TableColumn(f"{unit}s", "right"),
            TableColumn("drawn", "right"),
            TableColumn("chance", "right"),
        ],
        [
            (
                each.name or "all",
                f"{each.population:,}",
                f"{each.drawn:,}",
                f"{each.draw_probability:.4%}",
            )
            for each in row.strata
        ],
    )
    print_text("")
    more = f" ({plural(found.added, 'claim')} by this draw)" if found.added < row.size else ""
    print_text(
        f"sample {row.id} of run {row.run}: {plural(row.size, 'claim')}{more}, seed {row.seed}"
    )
    if found.precision is not None:
        print_text(
            f"once labelled, the share that passes is known to about ± {found.precision:.3f}"
        )
    print_hint(f"next: faithtui label {row.run} --sample {row.id}")
