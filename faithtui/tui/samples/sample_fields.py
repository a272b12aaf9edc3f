"""What is typed into the forms that draw samples, read as numbers."""

import re
from collections.abc import Mapping, Sequence

from faithtui.agreement.sampling.label_plan import (
    PlanStratum,
    PlanTarget,
    count_claims_to_draw,
    limit_labels_per_stratum,
    list_missed_half_widths,
    plan_fewest_labels_for_target,
    plan_labels_for_budget,
)
from faithtui.errors import ConfigError
from faithtui.tui.theme.amounts import GROUP_COMMA

_GROUPS = re.compile(r"[ ,](?=\d{3}(?!\d))")
"""What stands between the digits of a large number."""

PLAN = "plan"
"""Typed instead of numbers: as the label plan says."""


def parse_number(text: str, name: str, least: int = 1) -> int:
    """Read a whole number, as it is shown or bare: `1,200`, `1200`.

    Raises:
        ConfigError: It is none, or too small.
    """
    try:
        number = int(_GROUPS.sub("", text.strip()))
    except ValueError as error:
        raise ConfigError(f"{name}: a whole number is expected") from error
    if number < least:
        raise ConfigError(f"{name}: {least} or more is expected")
    return number


def parse_share(text: str) -> float:
    """Read a share in [0, 1].

    Raises:
        ConfigError: It is none.
    """
    try:
        share = float(text.strip().replace(",", "."))
    except ValueError as error:
        raise ConfigError("shown: a number from 0 to 1 is expected") from error
    if not 0 <= share <= 1:
        raise ConfigError("shown: a number from 0 to 1 is expected")
    return share


def parse_stratum_sizes(text: str, populations: Mapping[str, int]) -> dict[str, int]:
    """Read one number per stratum, or `all`, in the order of the strata.

    Args:
        text: Numbers with blanks or commas between; empty: none. A comma before three digits is
            part of a number, as numbers are shown: `1,000`.
        populations: Claims of each stratum, in the order in which they are listed.

    Returns:
        Claims per stratum; {} where nothing was typed.

    Raises:
        ConfigError: Not as many as strata, or not numbers.
    """
    words = GROUP_COMMA.sub("", text).replace(",", " ").split()
    if not words:
        return {}
    if len(words) != len(populations):
        raise ConfigError(
            f"per stratum: {len(populations)} numbers are expected, one for each stratum below; "
            "all takes everything"
        )
    return {
        name: count if word == "all" else parse_number(word, "per stratum", 0)
        for word, (name, count) in zip(words, populations.items(), strict=True)
    }


def parse_plan_as_stratum_sizes(
    text: str, size: int, strata: Sequence[PlanStratum], shown_share: float = 0.0
) -> dict[str, int]:
    """Read `plan`, or `plan 0.05`, as numbers of claims.

    Args:
        text: With a number: the half width wanted of the share that passes; else for `size`.
        size: Claims.
        strata: What the plan starts from.
        shown_share: Share of the claims that show the judge, whose labels do not count.

    Returns:
        Claims to draw per stratum.

    Raises:
        ConfigError: What follows is no half width, or labels cannot give it.
    """
    width = text.strip().removeprefix(PLAN).strip().replace(",", ".")
    if shown_share == 1:
        raise ConfigError("plan: no label counts while every claim shows the judge")
    counting = limit_labels_per_stratum(strata, shown_share)
    if not width:
        sizes = plan_labels_for_budget(counting, max(1, round(size * (1 - shown_share)))).sizes
        return count_claims_to_draw(sizes, strata, shown_share)
    try:
        wanted = float(width)
    except ValueError as error:
        raise ConfigError("plan: a half width is expected, such as plan 0.05") from error
    if not 0 < wanted <= 0.5:
        raise ConfigError("plan: a half width above 0, up to 0.5, is expected")
    target = PlanTarget(rate=wanted)
    found = plan_fewest_labels_for_target(counting, target)
    for _, _, half in list_missed_half_widths(found, target):
        raise ConfigError(
            f"plan {wanted:g} cannot be reached: all labels that can count give ±{half:.3f}"
        )
    return count_claims_to_draw(found.sizes, strata, shown_share)
