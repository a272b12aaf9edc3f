"""Annotators: each against the judge, against each other, blind against shown."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, combinations

import numpy as np

from faithtui.agreement.labelled_units import AnswerUnit, ClaimUnit, Opinion
from faithtui.agreement.report.claim_columns import (
    ComparedClaims,
    encode_labels,
    encode_optional_flag,
    make_coded_columns,
    select_by_position,
)
from faithtui.agreement.report.compute import FigureContext
from faithtui.agreement.report.model import (
    FAIL,
    PASS,
    AnchoringReport,
    HumanReport,
    PairReport,
    RaterReport,
)
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.statistics import ratings
from faithtui.agreement.statistics.coefficients import MeasurementLevel
from faithtui.agreement.statistics.intervals import IntervalScale
from faithtui.agreement.statistics.matrices import (
    Floats,
    GroupedMatrix,
    Ints,
    count_confusion_by_group,
)
from faithtui.agreement.statistics.score_differences import estimate_share_difference
from faithtui.domain.labels.label_events import HASTY_S, Action
from faithtui.domain.labels.label_sets import NOT_A_CLAIM
from faithtui.domain.scores import ScoringRule

MOST_PAIRS = 45
"""Pairs of annotators listed: those of ten. More are a table nobody reads."""


class ReviewerLabels:
    """Human labels of claims one by one, without final labels.

    Args:
        compared: What the figures of the report are about.
        with_audit: Also claims that were drawn to be labelled with the judge's verdict in view.
    """

    def __init__(self, compared: ComparedClaims, *, with_audit: bool = False) -> None:
        claims, context = compared.all, compared.figure_context
        inside = (
            compared.places_compared_in_sample_shown_included
            if with_audit
            else compared.places_in_figures
        )
        rows = select_by_position(claims.rows, inside)
        by_claim = [row.opinions for row in rows]
        numbers = np.fromiter(map(len, by_claim), np.int32, len(by_claim))
        owners = np.repeat(np.arange(len(by_claim), dtype=np.int32), numbers)
        opinions = list(chain.from_iterable(by_claim))
        wanted = ("reviewer", "verdict", "action", "blind", "seconds", "code")
        columns = make_coded_columns(opinions, Opinion._fields, wanted)

        orders = np.fromiter((each.order for each in opinions), np.int64, len(opinions))
        self.last_log_places: Ints = np.zeros(len(by_claim), np.int64)
        """Place in the log of the last label that each claim's consensus rests on."""
        np.maximum.at(self.last_log_places, owners, orders)
        codes = columns["code"]
        self.code_names: list[str | None] = codes.distinct_values
        """Different reason codes, None among them."""
        has_code = codes.flag_values(lambda code: code is not None)
        self.codes: Ints = codes.codes[has_code]
        """Each reason code, by place in `code_names`."""
        self.coded_claims: Ints = owners[has_code]
        """Place of the claim that each code is about, among those the figures are about."""
        own = np.flatnonzero(
            columns["action"].flag_values(lambda action: action is not Action.ADJUDICATED)
        )
        self.names: list[str] = columns["reviewer"].distinct_values
        reviewers = columns["reviewer"].codes
        self.reviewers: Ints = reviewers[own]
        """Who gave each label, by place in `names`; words of no label set included."""
        blind = columns["blind"].map_to_numbers(encode_optional_flag)
        self.blind: Ints = blind[own]
        seconds = np.array([*columns["seconds"].distinct_values, None], np.float64)
        self.seconds: Floats = seconds[columns["seconds"].codes][own]
        """NaN where none were taken."""
        verdicts = encode_labels(columns["verdict"], context.categories)
        valid = own[verdicts[own] >= 0]
        self.valid_reviewers: Ints = reviewers[valid]
        """The same of labels of the metric."""
        self.valid_blind: Ints = blind[valid]
        self.units = compared.pair_with_judge_labels(inside[owners[valid]], verdicts[valid])
        """The valid ones beside the judge."""
        self.context = context

    @cached_property
    def confusion_by_group(self) -> GroupedMatrix:
        """Them by group."""
        return self.context.count_some_units_by_group(self.units)


def compare_judge_with_each_rater(
    given: ReviewerLabels, in_figures: ReviewerLabels
) -> tuple[RaterReport, ...]:
    """Hold the judge against each annotator, by name.

    Args:
        given: All labels, which show how annotators worked.
        in_figures: Those that figures rest on: none that were drawn to be given in view.
    """
    context, count = in_figures.context, len(given.names)
    numbers = np.array([given.names.index(name) for name in in_figures.names], np.int32)
    reviewers = numbers[in_figures.valid_reviewers]
    wholes = context.count_units_by_part_and_group(in_figures.units, reviewers, count)
    differs = ~context.list_agreement_flags(in_figures.units)
    labels = np.bincount(given.reviewers, minlength=count).tolist()
    blind = np.bincount(given.reviewers[given.blind == 1], minlength=count).tolist()
    overrides = np.bincount(reviewers[differs], minlength=count).tolist()
    found = []
    for reviewer, number in sorted((name, number) for number, name in enumerate(given.names)):
        if not labels[number]:
            continue
        seconds = given.seconds[given.reviewers == number]
        timed = seconds[~np.isnan(seconds)]
        found.append(
            RaterReport(
                reviewer=reviewer,
                labels=labels[number],
                blind=blind[number],
                overrides=overrides[number],
                median_seconds=float(np.median(timed)) if len(timed) else None,
                hasty=int((timed < HASTY_S).sum()),
                agreement=context.compute_agreement(wholes[number]),
            )
        )
    return tuple(found)


def compute_human_agreement_on_answers(
    answers: Sequence[AnswerUnit], rule: ScoringRule, settings: ReportSettings
) -> HumanReport | None:
    """Compare annotators with each other on whole answers, which they pass or fail by a rule."""
    read = [
        replace(
            answer,
            opinions=tuple(
                each._replace(verdict=PASS if each.verdict in rule.passing else FAIL)
                for each in answer.opinions
                if each.verdict != NOT_A_CLAIM and (not rule.labels or each.verdict in rule.labels)
            ),
        )
        for answer in answers
        if len(answer.opinions) > 1
    ]
    return compute_human_agreement(read, FigureContext((PASS, FAIL), (FAIL,), settings))


def compute_human_agreement(
    units: Sequence[ClaimUnit | AnswerUnit], context: FigureContext
) -> HumanReport | None:
    """Compare annotators with each other; None unless two of them labelled the same unit.

    The judge does not enter, and every unit counts once: who labels a second time is not drawn by
    the sample's design.
    """
    several = [unit for unit in units if len(unit.opinions) > 1]
    shared = [
        (unit.group, words)
        for unit in several
        if len(words := _list_annotator_labels_of_unit(unit, context)) > 1
    ]
    if not shared:
        return None
    whole = ratings.group_ratings(
        ((group, [word for _, word in words]) for group, words in shared), context.categories
    )
    level = context.settings.level
    measured = MeasurementLevel.ORDINAL if context.settings.ordinal else MeasurementLevel.NOMINAL
    return HumanReport(
        raters=len(
            {
                reviewer
                for unit in units
                for reviewer, _ in _list_annotator_labels_of_unit(unit, context)
            }
        ),
        units=len(shared),
        percent=ratings.estimate_rating_figure(
            ratings.percent_agreement.bind(), whole, IntervalScale.LOGIT, level
        ),
        krippendorff_alpha=ratings.estimate_rating_figure(
            ratings.krippendorff_alpha.bind(measured), whole, IntervalScale.ATANH, level
        ),
        gwet_ac1=ratings.estimate_rating_figure(
            ratings.gwet_ac1.bind(), whole, IntervalScale.ATANH, level
        ),
        fleiss_kappa=ratings.estimate_rating_figure(
            ratings.fleiss_kappa.bind(), whole, IntervalScale.ATANH, level
        ),
        pairs=tuple(_compute_agreement_of_annotator_pairs(shared, context)),
    )


def _list_annotator_labels_of_unit(
    unit: ClaimUnit | AnswerUnit, context: FigureContext
) -> list[tuple[str, str]]:
    """List who said what of a unit, in words of the metric."""
    return [
        (each.reviewer, each.verdict)
        for each in unit.opinions
        if each.action is not Action.ADJUDICATED and each.verdict in context.categories
    ]


def _compute_agreement_of_annotator_pairs(
    shared: Sequence[tuple[str, list[tuple[str, str]]]], context: FigureContext
) -> Iterator[PairReport]:
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    for group, words in shared:
        for (first, one), (second, other) in combinations(sorted(words), 2):
            found[first, second].append((group, one, other))
    most = Counter({pair: len(rows) for pair, rows in found.items()}).most_common(MOST_PAIRS)
    for pair in sorted(pair for pair, _ in most):
        whole = count_confusion_by_group(found[pair], context.categories)
        yield PairReport(*pair, context.compute_agreement(whole))


def compare_blind_with_shown_verdicts(given: ReviewerLabels) -> AnchoringReport | None:
    """Compare labels given blind with labels given with the judge's verdict in view.

    Both weigh as the sample has it.

    Returns:
        None unless there are both.
    """
    context, units = given.context, given.units
    is_blind, is_shown = given.valid_blind == 1, given.valid_blind == 0
    if not is_blind.any() or not is_shown.any():
        return None
    weights = context.weigh_units(units)
    counted = (is_blind | is_shown) & (weights > 0)
    blind, shown = (
        context.compute_agreement(
            context.count_some_units_by_group(units.select_units(np.flatnonzero(each)))
        )
        for each in (is_blind, is_shown)
    )
    difference = estimate_share_difference(
        units.groups[counted],
        is_shown[counted],
        context.list_agreement_flags(units)[counted],
        weights[counted],
        context.settings.level,
    )
    return AnchoringReport(blind=blind, shown=shown, difference=difference)
