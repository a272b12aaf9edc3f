"""The claims of a run as columns, and which of them the figures of a report count.

A report looks at one field of a million claims at a time.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from faithtui.agreement.idk_recoding import EXCLUDED
from faithtui.agreement.labelled_units import (
    RANDOM_DESIGNS,
    ClaimUnit,
    DesignKind,
    LabelDesign,
    count_votes_or_final_verdict,
    list_most_voted_labels,
)
from faithtui.agreement.report.compute import FigureContext, UnitColumns, WeightedFrame
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.statistics.matrices import Flags, Floats, GroupedMatrix, Ints
from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, LabelSet, Polarity

ValueT = TypeVar("ValueT")


_CHUNK_ROWS = 10_000
"""Rows that are taken apart together: they stay in the processor's cache for all their fields."""


class CodedColumn:
    """Values of one field, numbered by their first occurrence."""

    __slots__ = ("_numbers", "_parts")

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._parts: list[npt.NDArray[np.integer[Any]]] = []

    def append_values(self, values: Sequence[Hashable]) -> None:
        """Add the values of some more rows."""
        numbers = self._numbers
        for value in dict.fromkeys(values):
            numbers.setdefault(value, len(numbers))
        if len(numbers) == 1:
            self._parts.append(np.zeros(len(values), np.uint8))
        elif len(numbers) <= 256:
            # Twice as fast as an iterator, and an eighth of the memory.
            codes = bytes(map(numbers.__getitem__, values))
            self._parts.append(np.frombuffer(codes, np.uint8))
        else:
            codes32 = np.fromiter(map(numbers.__getitem__, values), np.int32, len(values))
            self._parts.append(codes32)

    @property
    def distinct_values(self) -> list[Any]:
        """The different values; the place of each is its number."""
        return list(self._numbers)

    @property
    def codes(self) -> npt.NDArray[np.integer[Any]]:
        """Number of each value; shape (values,)."""
        if len(self._parts) != 1:
            self._parts = [np.concatenate(self._parts) if self._parts else np.zeros(0, np.uint8)]
        return self._parts[0]

    def map_to_numbers(self, to_number: Callable[[Any], int]) -> Ints:
        """Turn the values into numbers that fit 32 bits; shape (values,)."""
        table = np.array([to_number(name) for name in self._numbers], np.int32)
        return table[self.codes] if len(table) else np.zeros(0, np.int32)

    def flag_values(self, is_set: Callable[[Any], bool]) -> Flags:
        """Say of each value whether a condition holds; shape (values,)."""
        return self.map_to_numbers(is_set).astype(np.bool_)


def make_coded_columns(
    rows: Sequence[tuple[Any, ...]], fields: Sequence[str], wanted: Sequence[str]
) -> dict[str, CodedColumn]:
    """Take rows apart.

    Args:
        rows: All of one kind.
        fields: Names of their fields.
        wanted: Fields to take.
    """
    found = {name: CodedColumn() for name in wanted}
    places = [(fields.index(name), found[name]) for name in wanted]
    for start in range(0, len(rows), _CHUNK_ROWS):
        columns = list(zip(*rows[start : start + _CHUNK_ROWS], strict=True))
        for place, column in places:
            column.append_values(columns[place])
    return found


def encode_labels(column: CodedColumn, labels: Sequence[str]) -> Ints:
    """Give the place of each label; -1 for what is no label. Shape (values,)."""
    place = {name: number for number, name in enumerate(labels)}
    return column.map_to_numbers(lambda name: place.get(name, -1))


def select_by_position(values: Sequence[ValueT], places: Ints) -> Sequence[ValueT]:
    """Take values by their places, rising; all of them are not copied."""
    if len(places) == len(values):
        return values
    return [values[place] for place in places.tolist()]


_FIELDS = (
    *("group", "conversation", "key", "turn", "judge", "human", "reviewers", "windows", "blind"),
    "confidence",
)
"""Fields of `ClaimUnit` that every report looks at."""


class ClaimColumns:
    """Claims by field.

    Args:
        rows: Claims.
        labels: The metric's labels; columns hold their places.
    """

    def __init__(self, rows: Sequence[ClaimUnit], labels: Sequence[str]) -> None:
        self.rows = rows
        self.labels = labels
        self._columns = make_coded_columns(
            rows,
            ClaimUnit._fields,
            _FIELDS,
        )

    def __len__(self) -> int:
        """Count them."""
        return len(self.rows)

    def _load_column(self, name: str) -> CodedColumn:
        """Take a field that most reports do not look at."""
        if name not in self._columns:
            self._columns |= make_coded_columns(self.rows, ClaimUnit._fields, (name,))
        return self._columns[name]

    @property
    def group_numbers(self) -> Ints:
        """Number of each claim's group, from 0."""
        return self._columns["group"].codes

    @cached_property
    def group_count(self) -> int:
        """Number of groups."""
        return len(self._columns["group"].distinct_values)

    @property
    def conversation_numbers(self) -> Ints:
        """Number of each claim's conversation, from 0."""
        return self._columns["conversation"].codes

    @property
    def conversation_ids(self) -> list[ConversationId]:
        """The conversations; the place of each is its number."""
        return self._columns["conversation"].distinct_values

    @property
    def conversation_count(self) -> int:
        """Number of conversations."""
        return len(self._columns["conversation"].distinct_values)

    @property
    def conversation_keys(self) -> CodedColumn:
        """Key of each claim's conversation."""
        return self._columns["key"]

    @property
    def turns(self) -> CodedColumn:
        """Turn of each claim."""
        return self._columns["turn"]

    @cached_property
    def judge_labels(self) -> Ints:
        """Place of the judge's label; -1: none."""
        return encode_labels(self._columns["judge"], self.labels)

    @cached_property
    def is_judge_excluded(self) -> Flags:
        """Whether the judge's label is left out by the rule for `idk`."""
        return self._columns["judge"].flag_values(lambda word: word == EXCLUDED)

    @cached_property
    def is_human_excluded(self) -> Flags:
        """Whether the human label is left out by the rule for `idk`."""
        excluded = self._columns["human"].flag_values(lambda word: word == EXCLUDED)
        return excluded & ~self.is_tied

    @cached_property
    def _votes_where_several_reviewed(self) -> Mapping[int, Counter[str]]:
        """Votes on claims with several annotators, by place; a final label stands for all."""
        words = {each: each for each in (*self.labels, NOT_A_CLAIM, EXCLUDED)}
        several = np.flatnonzero(self.has_several_reviewers).tolist()
        return {
            place: count_votes_or_final_verdict(self.rows[place].opinions, words)
            for place in several
        }

    @cached_property
    def votes_on_tied_claims(self) -> Mapping[int, Counter[str]]:
        """Votes on ties that nobody adjudicated, by place."""
        votes = self._votes_where_several_reviewed.items()
        return {place: found for place, found in votes if len(list_most_voted_labels(found)) > 1}

    @cached_property
    def places_decided_by_majority(self) -> frozenset[int]:
        """Places of claims with a majority against others that nobody adjudicated."""
        votes = self._votes_where_several_reviewed.items()
        return frozenset(
            place
            for place, found in votes
            if len(found) > 1 and place not in self.votes_on_tied_claims
        )

    @cached_property
    def is_tied(self) -> Flags:
        """Whether it is a tie."""
        found = np.zeros(len(self), np.bool_)
        found[[*self.votes_on_tied_claims]] = True
        return found

    @cached_property
    def human_labels(self) -> Ints:
        """Place of the human label; -1: none, another word, or several alike."""
        return np.where(self.is_tied, -1, encode_labels(self._columns["human"], self.labels))

    @cached_property
    def is_unreviewed(self) -> Flags:
        """Whether there is no human label."""
        return self._columns["human"].flag_values(lambda word: word is None)

    @cached_property
    def is_fair(self) -> Flags:
        """Whether it is not labelled `x`, nor left out by the rule for `idk`."""
        left_out = (NOT_A_CLAIM, EXCLUDED)
        return self._columns["human"].flag_values(lambda word: word not in left_out) | self.is_tied

    @property
    def window_counts(self) -> CodedColumn:
        """Windows that hold each claim."""
        return self._columns["windows"]

    @property
    def is_same_in_all_windows(self) -> Flags:
        """Whether the judge said the same in all windows."""
        return self._load_column("steady").flag_values(bool)

    @property
    def has_several_reviewers(self) -> Flags:
        """Whether two annotators or more gave a label that counts."""
        return self._columns["reviewers"].flag_values(lambda number: number >= 2)

    @property
    def blind_flags(self) -> Ints:
        """1: all labels were given blind; 0: not all; -1: not known."""
        return self._columns["blind"].map_to_numbers(encode_optional_flag)

    @property
    def confidences(self) -> Floats:
        """The judge's probability that each is supported; NaN: none."""
        column = self._columns["confidence"]
        return np.asarray(np.array([*column.distinct_values, None], np.float64)[column.codes])

    @property
    def label_states(self) -> CodedColumn:
        """Whether each is labelled."""
        return self._load_column("state")

    @cached_property
    def is_drawn_with_judge_shown(self) -> Flags:
        """Whether each was drawn to be labelled with the judge's verdict in view."""
        return self._load_column("audit").flag_values(bool)

    @cached_property
    def is_of_sample(self) -> Flags:
        """Whether each was drawn."""
        return self._load_column("position").flag_values(lambda place: place is not None)

    @cached_property
    def is_drawn_blind(self) -> Flags:
        """Whether each is of the part of the sample that figures rest on."""
        return self.is_of_sample & ~self.is_drawn_with_judge_shown

    def encode_strata(self, names: Sequence[str]) -> Ints:
        """Give the place of each claim's stratum; -1: outside."""
        return encode_labels(self._load_column("stratum"), names)


def encode_optional_flag(flag: bool | None) -> int:
    """Give 1 for yes, 0 for no, -1 for not known."""
    return -1 if flag is None else int(flag)


class ComparedClaims:
    """Claims that annotators and judge both labelled, as the figures of a report count them.

    Args:
        claims: All of a run.
        labels: The metric's vocabulary.
        design: How the labelled ones were chosen.
        settings: What is asked for.
    """

    def __init__(
        self,
        claims: Sequence[ClaimUnit],
        labels: LabelSet,
        design: LabelDesign,
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
        """Whether annotators and judge both gave a label, of all claims."""
        return np.asarray((self.all.judge_labels >= 0) & (self.all.human_labels >= 0))

    @cached_property
    def places_in_figures(self) -> Ints:
        """Places of the compared claims that the figures are about: of a sample, those in it."""
        return np.flatnonzero(self.is_compared & self.may_be_in_figures)

    @cached_property
    def may_be_in_figures(self) -> Flags:
        """Whether figures rest on each claim if it is labelled: of a sample, on what was drawn."""
        if self.design.kind in RANDOM_DESIGNS:
            return self.all.is_drawn_blind
        return np.ones(len(self.all), np.bool_)

    @property
    def rows_that_may_be_in_figures(self) -> Sequence[ClaimUnit]:
        """The claims that `may_be_in_figures` holds of."""
        return select_by_position(self.all.rows, np.flatnonzero(self.may_be_in_figures))

    @cached_property
    def has_claims_drawn_with_judge_shown(self) -> bool:
        """Whether some of the sample was drawn to be labelled with the judge's verdict in view."""
        return self.design.kind in RANDOM_DESIGNS and bool(self.all.is_drawn_with_judge_shown.any())

    @property
    def places_compared_in_sample_shown_included(self) -> Ints:
        """The same with the claims that were served with the judge's verdict in view."""
        return np.flatnonzero(self.is_compared & self.all.is_of_sample)

    @cached_property
    def weighted_frame(self) -> WeightedFrame | None:
        """What a sample by strata stands for; None where every unit weighs the same."""
        if self.design.kind is not DesignKind.STRATIFIED:
            return None
        names = tuple(each.name for each in self.design.strata)
        drawable, unfair = self._count_drawable_and_unfair_claims()
        labelled = self.stratum_place_of_claims[self.places_in_figures]
        seen = np.bincount(labelled[labelled >= 0], minlength=len(names)) + unfair.sum(axis=1)
        weights = np.where(seen > 0, drawable.sum(axis=1) / np.maximum(seen, 1), 0.0)
        return WeightedFrame(names, drawable, unfair, tuple(weights.tolist()))

    def _count_drawable_and_unfair_claims(self) -> tuple[Ints, Ints]:
        """Count what a sample by strata was drawn from, and drawn claims that are labelled `x`.

        Returns:
            By stratum and group; where only what was drawn was judged, by stratum alone.
        """
        if self.unfair_and_drawable_counts is not None:
            unfair, verdicts = (each.sum(axis=1) for each in self.unfair_and_drawable_counts)
            return verdicts, unfair
        populations = np.array([[each.population] for each in self.design.strata], np.int64)
        is_unfair = (
            self.all.is_drawn_blind & ~self.all.is_fair & (self.stratum_place_of_claims >= 0)
        )
        unfair = np.bincount(self.stratum_place_of_claims[is_unfair], minlength=len(populations))
        return populations, unfair[:, None]

    @cached_property
    def claims_weighted_for_comparison_with_other_judge(self) -> "ComparedClaims":
        """The same claims as they are counted beside another judge.

        With the weights of the drawing where this run judged all that was drawn and not the rest,
        whose verdicts a report would have to know.
        """
        drawing = self.design.as_drawn
        if drawing is None:
            return self
        return ComparedClaims(self.all.rows, self.labels, drawing, self.settings)

    @cached_property
    def stratum_place_of_claims(self) -> Ints:
        """Place of each claim's stratum among those of the sample; -1: outside."""
        return self.all.encode_strata([each.name for each in self.design.strata])

    @cached_property
    def figure_context(self) -> FigureContext:
        """How figures are computed."""
        return FigureContext(
            self.labels.names,
            self.bad,
            self.settings,
            self.weighted_frame,
            self.unfair_and_drawable_counts,
        )

    @cached_property
    def population_counts(self) -> Ints | None:
        """Count the claims that are not in the store, of which drawn ones are.

        Returns:
            By stratum (one unless the sample was drawn by strata), label of the judge (the last:
            none) and bundle; None where the run is what was drawn from.
        """
        if self.design.population is None:
            return None
        found = self.design.population.count_claims_by_stratum_and_label(self.labels.names)
        if self.design.kind is DesignKind.STRATIFIED:
            return found
        return np.asarray(found.sum(axis=0, keepdims=True))

    @cached_property
    def group_count(self) -> int:
        """Number of groups; each bundle of a population counts as one, after those in the store."""
        bundles = 0 if self.population_counts is None else self.population_counts.shape[2]
        return self.all.group_count + bundles

    @cached_property
    def unfair_and_drawable_counts(self) -> tuple[Ints, Ints] | None:
        """Count what the labelled claims were drawn from, see `FigureContext.frame_counts`."""
        if self.design.kind not in RANDOM_DESIGNS or self.design.follows_draw:
            return None
        claims, size, group_count = self.all, len(self.labels.names), self.group_count
        by_strata = self.design.kind is DesignKind.STRATIFIED
        strata = self.stratum_place_of_claims if by_strata else np.zeros(len(claims), np.int64)
        number = len(self.design.strata) if by_strata else 1
        inside = (claims.judge_labels >= 0) & (strata >= 0)
        pairs = (strata * np.int64(size) + claims.judge_labels) * np.int64(group_count)
        pairs += claims.group_numbers
        is_unfair = inside & claims.is_drawn_blind & ~claims.is_fair
        unfair, verdicts = (
            np.bincount(pairs[some], minlength=number * size * group_count).reshape(
                number, size, group_count
            )
            for some in (is_unfair, inside)
        )
        if self.population_counts is not None:
            # Drawn claims are among those of the bundles already.
            verdicts = np.zeros_like(verdicts)
            verdicts[..., claims.group_count :] = self.population_counts[:, :size]
        return unfair, verdicts

    @cached_property
    def compared_label_columns(self) -> UnitColumns:
        """The consensus beside the judge's label, in the order of `places_in_figures`."""
        return self.pair_with_judge_labels(
            self.places_in_figures, self.all.human_labels[self.places_in_figures]
        )

    @cached_property
    def whole_matrix(self) -> GroupedMatrix:
        """The units by group; of a sample by strata, weights are estimated anew without each."""
        return self.figure_context.count_all_units_by_group(self.compared_label_columns)

    @cached_property
    def matrix_with_fixed_weights(self) -> GroupedMatrix:
        """The same as a part of the whole: weights stay when a group is left out."""
        return (
            self.whole_matrix
            if self.weighted_frame is None
            else self.figure_context.count_some_units_by_group(self.compared_label_columns)
        )

    def pair_with_judge_labels(self, places: Ints, reference: Ints) -> UnitColumns:
        """Put labels beside those of the judge.

        Args:
            places: Of claims with a label of the judge.
            reference: Place of the label that each is compared with.
        """
        return UnitColumns(
            self.all.group_numbers[places],
            reference * len(self.labels.names) + self.all.judge_labels[places],
            self.group_count,
            None if self.weighted_frame is None else self.stratum_place_of_claims[places],
        )

    @cached_property
    def weights_by_stratum(self) -> Mapping[str, float]:
        """How many units a labelled one stands for, by stratum; without those that have none."""
        if self.weighted_frame is None:
            return {}
        named = zip(self.weighted_frame.strata, self.weighted_frame.weights, strict=True)
        return {name: weight for name, weight in named if weight}


class CountedLabel(NamedTuple):
    """The labels of a claim as the figures of a report count them."""

    judge: str
    """"" where it is in no share of the judge: without a verdict, labelled `x`, or left out by
    the rule for `idk`."""
    human: str
    """The human label, `x` and what is left out by the rule for `idk` included; "" without one, for
    ties, and where the figures rest on a sample that the label is not of."""


def list_counted_labels(compared: ComparedClaims) -> Iterator[CountedLabel]:
    """List how the figures of a report count each claim, in the order of the run."""
    claims = compared.all
    names = (*compared.labels.names, "")
    judge = np.where(claims.is_fair, claims.judge_labels, -1).tolist()
    is_counted = ((claims.human_labels >= 0) | ~claims.is_fair) & compared.may_be_in_figures
    for row, place, counted in zip(claims.rows, judge, is_counted.tolist(), strict=True):
        yield CountedLabel(names[place], str(row.human) if counted else "")


def compute_inverse_probability_weights(compared: ComparedClaims) -> dict[ClaimId, float]:
    """Give the compared claims of a random sample one over their probability of being labelled.

    Args:
        compared: The claims of a run.

    Returns:
        At least 1 each; 1 in a census. Empty without a random sample: nobody knows what such a
        label stands for. Claims outside the sample, and those that were not compared, are left
        out.
    """
    design = compared.design
    inside = [compared.all.rows[place] for place in compared.places_in_figures.tolist()]
    if not inside:
        return {}
    match design.kind:
        case DesignKind.CENSUS:
            return {each.claim: 1.0 for each in inside}
        case DesignKind.SIMPLE | DesignKind.CLUSTER if compared.unfair_and_drawable_counts:
            unfair, verdicts = compared.unfair_and_drawable_counts
            weight = float(verdicts.sum() / (len(inside) + unfair.sum()))
            return {each.claim: weight for each in inside}
        case DesignKind.STRATIFIED:
            known = compared.weights_by_stratum
            return {each.claim: known[each.stratum] for each in inside if each.stratum is not None}
        case DesignKind.CLUSTER if design.drawn_conversations:
            weight = design.conversations / design.drawn_conversations
            return {each.claim: weight for each in inside}
        case _:
            return {}
