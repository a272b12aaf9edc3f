"""`faithtui claim-set`: labelled claims with their design, under a name, for any judge."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithtui.cli.output import (
    TableColumn,
    plural,
    print_json,
    print_table,
    print_text,
    print_to_stderr,
)
from faithtui.cli.output_options import JsonOption, make_command_group
from faithtui.cli.shared_options import (
    ForceOption,
    StoreOption,
    make_reviewer_option,
    merge_common_options,
    parse_path_as_typed,
)
from faithtui.cli.stores import open_store

if TYPE_CHECKING:
    from faithtui.store.samples.claim_sets import ClaimSetRow

claim_set = make_command_group(
    "claim-set",
    "Keep labelled claims with their design under a name, to measure any judge on them.\n\n"
    "Example: faithtui claim-set make NAME --sample 1",
)

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="Its name, NAME@2 for an earlier version.")
]


@claim_set.command("make")
def make_claim_set(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Letters, digits, dots, hyphens.")],
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="ID", help="The sample that was labelled. [the claims the set has already]"
        ),
    ] = None,
    reviewer: Annotated[str | None, make_reviewer_option("Who makes it.")] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Make a claim set of a drawn sample, or a new version of it.

    It keeps the claims that could be drawn, their strata and the drawn order. Without --sample, the
    set gets a new version if its labels changed; otherwise the version stays.

    Example: faithtui claim-set make NAME --sample 1
    """
    from faithtui.config import load_settings
    from faithtui.domain.ids import SampleId

    options = merge_common_options(context, store, json, reviewer)
    settings = load_settings()
    with open_store(options.store, settings) as opened:
        opened.refuse_corrupted_rows()
        row, is_new = opened.claim_sets.make_claim_set_version_if_changed(
            name,
            None if sample is None else SampleId(sample),
            options.reviewer or settings.reviewer,
        )
    if options.json:
        print_json({**_as_json(row), "new": is_new})
        return
    print_text(f"{row.title}: {plural(row.drawn, 'drawn claim')} of {row.frame}")
    if not is_new:
        print_to_stderr("nothing changed since this version was made")


@claim_set.command("list")
def list_sets(context: typer.Context, store: StoreOption = None, json: JsonOption = False) -> None:
    """List the claim sets of a store with their versions.

    Example: faithtui claim-set list
    """
    options = merge_common_options(context, store, json)
    with open_store(options.store) as opened:
        rows = opened.claim_sets.list_versions()
    if options.json:
        print_json([_as_json(each) for each in rows])
        return
    if not rows:
        print_to_stderr("there is no claim set yet: faithtui claim-set make NAME --sample ID")
        return
    print_table(
        [
            TableColumn("SET", flexible=True),
            TableColumn("VERSION", "right"),
            TableColumn("METRIC"),
            TableColumn("DRAWN", "right"),
            TableColumn("OF", "right"),
            TableColumn("DESIGN"),
            TableColumn("MADE"),
            TableColumn("LABELS"),
        ],
        [
            (
                each.name,
                str(each.version),
                each.metric,
                str(each.drawn),
                str(each.frame),
                each.design.value,
                f"{each.created_at:%Y-%m-%d} by {each.made_by}",
                "changed since" if each.has_new_labels else "as they were",
            )
            for each in rows
        ],
    )


@claim_set.command()
def export(
    context: typer.Context,
    name: NameArgument,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", parser=parse_path_as_typed, metavar="FILE", help="Where to write it."
        ),
    ],
    force: ForceOption = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Write a claim set into a file: conversations, passages, claims, labels and design.

    Example: faithtui claim-set export NAME -o NAME.jsonl
    """
    from faithtui.engine.review.samples.claim_set_files import export_claim_set

    options = merge_common_options(context, store, json)
    with open_store(options.store) as opened:
        export_claim_set(
            opened, opened.claim_sets.find_version_by_name(name).id, output, force=force
        )
    if options.json:
        print_json([str(output)])
    else:
        print_text(str(output))


@claim_set.command("import")
def import_set(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="As `faithtui claim-set export` writes it.")
    ],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Import a claim set of another store, completely or not at all.

    What is already in the store stays unchanged; importing twice changes nothing.

    Example: faithtui claim-set import NAME.jsonl
    """
    from faithtui.engine.review.samples.claim_set_files import import_claim_set

    options = merge_common_options(context, store, json)
    with open_store(options.store, create=True) as opened:
        found = import_claim_set(opened, file)
    if options.json:
        print_json(
            {
                **_as_json(found.row),
                "new": found.is_new,
                "new_conversations": found.new_conversations,
                "new_acts": found.merged.new,
            }
        )
        return
    print_text(
        f"{found.row.title}: {plural(found.row.drawn, 'drawn claim')} of {found.row.frame}, "
        f"{plural(found.new_conversations, 'new conversation')}, "
        f"{plural(found.merged.new, 'new act')}"
    )
    if found.row.has_new_labels:
        print_to_stderr(
            "its claims have other labels here than when this version was made: "
            f"faithtui claim-set make {found.row.name} makes a version of them"
        )


@claim_set.command()
def delete(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name.")],
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Delete all versions of a claim set; its claims, their labels and runs over it stay.

    Example: faithtui claim-set delete NAME
    """
    options = merge_common_options(context, store, json)
    with open_store(options.store) as opened:
        count = opened.claim_sets.delete_all_versions(name)
    if options.json:
        print_json({"versions": count})
    else:
        print_text(f"deleted: {plural(count, 'version')} of {name}")


def _as_json(row: "ClaimSetRow") -> dict[str, object]:
    return {
        "name": row.name,
        "version": row.version,
        "digest": row.digest,
        "metric": row.metric,
        "window_size": row.window_size,
        "design": row.design.value,
        "stratified_by": list(row.stratified_by),
        "seed": row.seed,
        "claims": row.frame,
        "drawn": row.drawn,
        "strata": [
            {"name": each.name, "population": each.population, "drawn": each.drawn}
            for each in row.strata
        ],
        "made_by": row.made_by,
        "created_at": row.created_at.isoformat(),
        "labels_changed_since": row.has_new_labels,
    }
