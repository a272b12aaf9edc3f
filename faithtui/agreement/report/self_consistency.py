"""How steady a person is: second blind verdicts against the first ones on the same claims."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from faithtui.agreement.statistics.figures import KAPPA, PERCENT, cross_table, measure
from faithtui.domain.annotations import COUNTED, GIVING, Action, LabelAct, standing_acts
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import ClaimId


@dataclass(frozen=True, slots=True)
class Again:
    """A second verdict, and the one that stood before it."""

    first: LabelAct
    second: LabelAct


@dataclass(frozen=True, slots=True)
class Repeat:
    """A second verdict in the words of a run, with what statistics need to know."""

    reviewer: str
    group: str
    """What the claim belongs together with."""
    first: str
    second: str
    gap_s: float
    """Seconds between the two."""


@dataclass(frozen=True, slots=True)
class Steadiness:
    """How often a person says the same again."""

    reviewer: str
    same: Estimate
    """Share of claims with the same verdict, in [0, 1]."""
    kappa: Estimate
    """Cohen's kappa of second and first verdicts."""
    gap_s: float
    """Median of the seconds between the two."""

    @property
    def n(self) -> int:
        """Claims that were judged again."""
        return self.same.n


def repeats_of(log: Iterable[LabelAct]) -> tuple[Again, ...]:
    """Find second verdicts and the verdicts that stood before them.

    Args:
        log: Acts in the order of the log; any claims, any people. What was withdrawn does not
            count.

    Returns:
        In the order of the log. A second verdict without a counted first one is left out; a third
        one is compared with the first, because a repeat changes nothing.
    """
    stood: dict[tuple[ClaimId, str], LabelAct] = {}
    found: list[Again] = []
    for act in standing_acts(log):
        key = (act.claim, act.reviewer)
        if act.action is Action.REPEATED:
            first = stood.get(key)
            if act.verdict is not None and first is not None:
                found.append(Again(first, act))
        elif act.action in GIVING:
            if act.action in COUNTED and act.verdict is not None:
                stood[key] = act
            else:
                stood.pop(key, None)
    return tuple(found)


def steadiness(repeats: Sequence[Repeat], categories: Sequence[str]) -> tuple[Steadiness, ...]:
    """Compute how steady each person is.

    Args:
        repeats: Any order, any people; words that are not in `categories` are left out.
        categories: Words that a verdict may be, `x` included.

    Returns:
        One per person with a repeat, in the order of names.
    """
    by_person: dict[str, list[Repeat]] = {}
    for each in repeats:
        if each.first in categories and each.second in categories:
            by_person.setdefault(each.reviewer, []).append(each)
    found: list[Steadiness] = []
    for reviewer, own in sorted(by_person.items()):
        table = cross_table(((each.group, each.first, each.second) for each in own), categories)
        found.append(
            Steadiness(
                reviewer,
                measure(PERCENT, table),
                measure(KAPPA, table),
                median(each.gap_s for each in own),
            )
        )
    return tuple(found)
