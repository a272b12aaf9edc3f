"""The claims of a run as columns, and which of them the figures of a report count.

A report looks at one field of a million claims at a time.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np

from faithtui.agreement.labelled_units import (
    ClaimReading,
    DesignKind,
    DesignReading,
    LabelState,
    Opinion,
)
from faithtui.agreement.report.compute import FigureContext, Frame, Units
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.statistics.matrices import Flags, GroupedMatrix, Ints, number_keys
from faithtui.domain.ids import ClaimId
from faithtui.domain.label_sets import LabelSet, Polarity

ValueT = TypeVar("ValueT")

DRAWN = (DesignKind.SIMPLE, DesignKind.STRATIFIED, DesignKind.CLUSTER)
"""Designs that rest on a random sample."""


def take_field(rows: Sequence[tuple[Any, ...]], fields: Sequence[str], name: str) -> list[Any]:
    """Take one field of rows."""
    return list(map(itemgetter(fields.index(name)), rows))


def map_values(values: Sequence[ValueT], to_number: Callable[[ValueT], int]) -> Ints:
    """Turn values of which few are different into numbers; shape (values,)."""
    codes, names = number_keys(values)
    return np.array([to_number(name) for name in names], np.int64)[codes]


def number_labels(values: Sequence[Hashable], labels: Sequence[str]) -> Ints:
    """Give the place of each label; -1 for what is no label. Shape (values,)."""
    place: Mapping[Hashable, int] = {name: number for number, name in enumerate(labels)}
    return map_values(values, lambda name: place.get(name, -1))


class ClaimColumns:
    """Claims by field; a column is made when it is first looked at.

    Args:
        rows: Claims.
        labels: The metric's labels; columns hold their places.
    """

    def __init__(self, rows: Sequence[ClaimReading], labels: Sequence[str]) -> None:
        self.rows = rows
        self.labels = labels

    def _take(self, name: str) -> list[Any]:
        return take_field(self.rows, ClaimReading._fields, name)

    def __len__(self) -> int:
        """Count them."""
        return len(self.rows)

    @cached_property
    def _numbered_groups(self) -> tuple[Ints, list[str]]:
        return number_keys(self._take("group"))

    @property
    def groups(self) -> Ints:
        """Number of each claim's group, from 0."""
        return self._numbered_groups[0]

    @property
    def group_count(self) -> int:
        """Number of groups."""
        return len(self._numbered_groups[1])

    @cached_property
    def conversation_count(self) -> int:
        """Number of conversations."""
        return len(set(self._take("conversation")))

    @cached_property
    def keys(self) -> list[str]:
        """Key of each claim's conversation."""
        return self._take("key")

    @cached_property
    def turns(self) -> list[int]:
        """Turn of each claim."""
        return self._take("turn")

    @cached_property
    def judge(self) -> Ints:
        """Place of the judge's label; -1: none."""
        return number_labels(self._take("judge"), self.labels)

    @cached_property
    def human_words(self) -> list[str | None]:
        """What people say of each."""
        return self._take("human")

    @cached_property
    def human(self) -> Ints:
        """Place of people's label; -1: none, or another word."""
        return number_labels(self.human_words, self.labels)

    @cached_property
    def windows(self) -> Ints:
        """Windows that hold each claim."""
        return np.fromiter(self._take("windows"), np.int64, len(self.rows))

    @cached_property
    def is_steady(self) -> Flags:
        """Whether the judge said the same in all windows."""
        return np.array(self._take("steady"), dtype=np.bool_)

    @cached_property
    def reviewers(self) -> Ints:
        """People with a verdict that counts."""
        return np.fromiter(self._take("reviewers"), np.int64, len(self.rows))

    @cached_property
    def blind(self) -> Ints:
        """1: all verdicts were given blind; 0: not all; -1: not known."""
        return map_values(self._take("blind"), number_flag)

    @cached_property
    def opinions(self) -> list[tuple[Opinion, ...]]:
        """What each person said of each claim."""
        return self._take("opinions")

    @cached_property
    def confidences(self) -> list[float | None]:
        """The judge's probability that each is supported."""
        return self._take("confidence")

    @cached_property
    def states(self) -> list[LabelState]:
        """How each stands with people."""
        return self._take("state")

    @cached_property
    def is_drawn(self) -> Flags:
        """Whether each is of the sample."""
        return np.array([place is not None for place in self._take("position")], dtype=np.bool_)

    def number_strata(self, names: Sequence[str]) -> Ints:
        """Give the place of each claim's stratum; -1: outside."""
        return number_labels(self._take("stratum"), names)


def number_flag(flag: bool | None) -> int:
    """Give 1 for yes, 0 for no, -1 for not known."""
    return -1 if flag is None else int(flag)


class ComparedClaims:
    """Claims that people and judge both labelled, as the figures of a report count them.

    Args:
        claims: All of a run.
        labels: The metric's vocabulary.
        design: How the labelled ones were chosen.
        settings: What is asked for.
    """

    def __init__(
        self,
        claims: Sequence[ClaimReading],
        labels: LabelSet,
        design: DesignReading,
        settings: ReportSettings,
    ) -> None:
        self.labels = labels
        self.design = design
        self.settings = settings
        self.all = ClaimColumns(claims, labels.names)
        """Every claim of the run."""
        self.bad = tuple(each.name for each in labels.labels if each.polarity is Polarity.BAD)
        """Unfaithful in the strict sense."""
        self.not_good = tuple(
            each.name for each in labels.labels if each.polarity is not Polarity.GOOD
        )
        """Unfaithful in the lenient sense."""

    @cached_property
    def is_compared(self) -> Flags:
        """Whether people and judge both gave a label, of all claims."""
        return np.asarray((self.all.judge >= 0) & (self.all.human >= 0))

    @cached_property
    def inside(self) -> Ints:
        """Places of the compared claims that the figures are about: of a sample, those in it."""
        compared = self.is_compared
        if self.design.kind in DRAWN:
            compared = compared & self.all.is_drawn
        return np.flatnonzero(compared)

    @cached_property
    def frame(self) -> Frame | None:
        """What a sample by strata stands for; None where every unit weighs the same."""
        if self.design.kind is not DesignKind.STRATIFIED:
            return None
        names = tuple(each.name for each in self.design.strata)
        strata, claims = self.strata, self.all
        inside = (claims.judge >= 0) & (strata >= 0)
        populations = np.bincount(
            strata[inside] * claims.group_count + claims.groups[inside],
            minlength=len(names) * claims.group_count,
        ).reshape(len(names), claims.group_count)
        labelled = strata[self.inside]
        counted = np.bincount(labelled[labelled >= 0], minlength=len(names))
        weights = np.where(
            counted > 0, populations.sum(axis=1) / np.maximum(counted, 1), 0.0
        ).tolist()
        return Frame(names, populations, tuple(weights))

    @cached_property
    def strata(self) -> Ints:
        """Place of each claim's stratum among those of the sample; -1: outside."""
        return self.all.number_strata([each.name for each in self.design.strata])

    @cached_property
    def context(self) -> FigureContext:
        """How figures are computed."""
        return FigureContext(self.labels.names, self.bad, self.settings, self.frame)

    @cached_property
    def units(self) -> Units:
        """People's consensus beside the judge's label, in the order of `inside`."""
        return self.pair_up(self.inside, self.all.human[self.inside])

    @cached_property
    def whole(self) -> GroupedMatrix:
        """The units by group; of a sample by strata, weights are estimated anew without each."""
        return self.context.count_whole(self.units)

    @cached_property
    def part(self) -> GroupedMatrix:
        """The same as a part of the whole: weights stay when a group is left out."""
        return self.whole if self.frame is None else self.context.count_part(self.units)

    def pair_up(self, places: Ints, reference: Ints) -> Units:
        """Put labels beside those of the judge.

        Args:
            places: Of claims with a label of the judge.
            reference: Place of the label that each is compared with.
        """
        return Units(
            self.all.groups[places],
            reference * len(self.labels.names) + self.all.judge[places],
            self.all.group_count,
            None if self.frame is None else self.strata[places],
        )

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """How many units a labelled one stands for, by stratum; without those that have none."""
        if self.frame is None:
            return {}
        named = zip(self.frame.strata, self.frame.weights, strict=True)
        return {name: weight for name, weight in named if weight}


def weigh_claims(
    claims: Sequence[ClaimReading], labels: LabelSet, design: DesignReading
) -> dict[ClaimId, float]:
    """Give the compared claims of a random sample one over their probability of being labelled.

    Args:
        claims: All of a run.
        labels: The metric's vocabulary.
        design: How the labelled ones were chosen.

    Returns:
        At least 1 each; 1 in a census. Empty without a random sample: nobody knows what such a
        label stands for. Claims outside the sample, and those that were not compared, are left
        out.
    """
    compared = ComparedClaims(claims, labels, design, ReportSettings())
    inside = [claims[place] for place in compared.inside.tolist()]
    if not inside:
        return {}
    match design.kind:
        case DesignKind.CENSUS:
            return {each.claim: 1.0 for each in inside}
        case DesignKind.SIMPLE:
            weight = float((compared.all.judge >= 0).sum() / len(inside))
            return {each.claim: weight for each in inside}
        case DesignKind.STRATIFIED:
            known = compared.weights
            return {each.claim: known[each.stratum] for each in inside if each.stratum is not None}
        case DesignKind.CLUSTER if design.drawn_conversations:
            weight = design.conversations / design.drawn_conversations
            return {each.claim: weight for each in inside}
        case _:
            return {}
