"""`faithtui split`: which conversations are for learning, tuning and testing."""

from collections.abc import Mapping
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
from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    StoreOption,
    make_reviewer_option,
    merge_common_options,
)
from faithtui.cli.stores import open_store
from faithtui.errors import ConfigError

if TYPE_CHECKING:
    from faithtui.domain.split_rule import Split
    from faithtui.store.samples.splits import SplitCount, StoredSplit, TestOpening

ACTIONS = ("show", "make")


def split(
    context: typer.Context,
    action: Annotated[
        str,
        typer.Argument(
            metavar="[ACTION]",
            help="`show` prints the split, `make` creates it; it cannot be changed later. [show]",
            show_default=False,
        ),
    ] = "show",
    shares: Annotated[
        str | None,
        typer.Option(
            metavar="T,D,T", help="Percent of the groups in train, dev and test. [60,20,20]"
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Seed of the split; another seed gives another split. [0]"),
    ] = None,
    reviewer: Annotated[str | None, make_reviewer_option("Who makes it.")] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Split the conversations into train, dev and test.

    Without `make`, show the split. Conversations of one group stay together, and conversations
    imported later are split by the same rule. Take examples for judges from train, compare judges
    on dev, and test them on test, where each use is counted.

    Example: faithtui split make --shares 60,20,20
    """
    from faithtui.config import load_settings
    from faithtui.domain.estimates import FEWEST_GROUPS
    from faithtui.domain.split_rule import SPLITS
    from faithtui.domain.text.suggestions import format_known_names
    from faithtui.engine.review.samples.store_split import save_store_split

    options = merge_common_options(context, store, json, reviewer)
    if action not in ACTIONS:
        raise ConfigError(f"`{action}` is no action; known: {format_known_names(action, ACTIONS)}")
    if action == "show" and (shares is not None or seed is not None):
        raise ConfigError("--shares and --seed belong to `faithtui split make`")
    settings = load_settings()
    with open_store(options.store, settings) as opened:
        if action == "make":
            wanted = None if shares is None else _parse_split_percents(shares)
            made: StoredSplit | None = save_store_split(
                opened, options.reviewer or settings.reviewer, wanted, seed
            )
        else:
            made = opened.splits.read_split_rule()
        counts = {} if made is None else opened.splits.count_conversations_per_split(made.rule)
        openings = opened.splits.list_test_openings()
    if options.json:
        print_json(None if made is None else _split_to_json(made, counts, openings))
    elif made is None:
        print_to_stderr("the conversations are not split yet: faithtui split make")
    else:
        _print_split(made, counts, openings)
        few = [each for each in SPLITS if 0 < counts[each].groups < FEWEST_GROUPS]
        if few:
            print_to_stderr(
                f"fewer than {FEWEST_GROUPS} groups in {' and '.join(few)}: figures there have no "
                "interval until more conversations are imported"
            )


def _parse_split_percents(text: str) -> list[int]:
    """Read percents.

    Raises:
        ConfigError: They are no whole numbers.
    """
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise ConfigError(
            f"--shares is `{text}`; expected percent of train, dev and test, such as 60,20,20"
        ) from error


def _print_split(
    made: "StoredSplit",
    counts: "Mapping[Split, SplitCount]",
    openings: "tuple[TestOpening, ...]",
) -> None:
    from faithtui.domain.split_rule import SPLITS

    rule = made.rule
    print_text(
        f"made by {made.made_by} on {made.created_at:%Y-%m-%d}, seed {rule.seed}; it is frozen"
    )
    print_table(
        [
            TableColumn("SPLIT"),
            TableColumn("SHARE", "right"),
            TableColumn("GROUPS", "right"),
            TableColumn("CONVERSATIONS", "right"),
        ],
        [
            (each, f"{share} %", str(counts[each].groups), str(counts[each].conversations))
            for each, share in zip(SPLITS, rule.shares, strict=True)
        ],
    )
    print_text(f"test split opened {plural(len(openings), 'time')}")
    for each in openings:
        when = f"{each.created_at:%Y-%m-%d %H:%M} UTC"
        runs = ", ".join(map(str, each.runs))
        print_text(f"  {when} by {each.opened_by}: {each.command}, run {runs}")


def _split_to_json(
    made: "StoredSplit",
    counts: "Mapping[Split, SplitCount]",
    openings: "tuple[TestOpening, ...]",
) -> dict[str, object]:
    from faithtui.domain.split_rule import SPLITS

    return {
        "seed": made.rule.seed,
        "shares": dict(zip(SPLITS, made.rule.shares, strict=True)),
        "made_by": made.made_by,
        "made_at": made.created_at.isoformat(),
        "conversations": {each: counts[each].conversations for each in SPLITS},
        "groups": {each: counts[each].groups for each in SPLITS},
        "test_openings": [
            {
                "command": each.command,
                "runs": list(each.runs),
                "by": each.opened_by,
                "at": each.created_at.isoformat(),
            }
            for each in openings
        ],
    }
