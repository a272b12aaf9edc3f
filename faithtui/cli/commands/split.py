"""`faithtui split`: which conversations are for learning, tuning and testing."""

from collections.abc import Mapping
from pathlib import Path

from faithtui.cli.output import Column, plural, print_json, print_table, print_text, print_to_stderr
from faithtui.cli.stores import open_store
from faithtui.config import load_settings
from faithtui.domain.estimates import FEWEST_GROUPS
from faithtui.domain.splits import SPLITS, Split
from faithtui.engine.review.splits import make_split
from faithtui.errors import ConfigError
from faithtui.store.samples.splits import SplitCount, StoredSplit, TestOpening

ACTIONS = ("show", "make")


def run_split_action(
    store: Path | None,
    action: str,
    shares: str | None,
    seed: int | None,
    reviewer: str | None,
    *,
    as_json: bool,
) -> int:
    """Show the split, or make it; 0 also where there is none, which is said."""
    if action not in ACTIONS:
        raise ConfigError(f"`{action}` is no action; known: {', '.join(ACTIONS)}")
    if action == "show" and (shares is not None or seed is not None):
        raise ConfigError("--shares and --seed belong to `faithtui split make`")
    settings = load_settings()
    with open_store(store, settings) as opened:
        if action == "make":
            wanted = None if shares is None else _read_shares(shares)
            made: StoredSplit | None = make_split(
                opened, reviewer or settings.reviewer, wanted, seed
            )
        else:
            made = opened.splits.read_split()
        counts = {} if made is None else opened.splits.counts(made.rule)
        openings = opened.splits.openings()
    if as_json:
        print_json(None if made is None else _as_json(made, counts, openings))
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
    return 0


def _read_shares(text: str) -> list[int]:
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
    made: StoredSplit, counts: Mapping[Split, SplitCount], openings: tuple[TestOpening, ...]
) -> None:
    rule = made.rule
    print_text(
        f"made by {made.made_by} on {made.created_at:%Y-%m-%d}, seed {rule.seed}; it is frozen"
    )
    print_table(
        [
            Column("SPLIT"),
            Column("SHARE", "right"),
            Column("GROUPS", "right"),
            Column("CONVERSATIONS", "right"),
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


def _as_json(
    made: StoredSplit, counts: Mapping[Split, SplitCount], openings: tuple[TestOpening, ...]
) -> dict[str, object]:
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
