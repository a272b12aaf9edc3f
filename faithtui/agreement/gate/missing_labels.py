"""Claims of a sample that enter no figure, counted as wrong and as right for the judge.

A sample speaks for its run only with all of its claims. Who skips the hard ones measures the judge
on the easy ones, so a gate decides only what holds whatever the missing labels would have been.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from faithtui.agreement.idk_recoding import EXCLUDED
from faithtui.agreement.labelled_units import (
    RANDOM_DESIGNS,
    AnswerUnit,
    ClaimUnit,
    DesignKind,
    LabelState,
)
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.figures.claims_and_answers import (
    compute_answer_level_report,
    compute_claim_level_report,
)
from faithtui.agreement.report.model import FAIL, LevelReport
from faithtui.agreement.report.report import PreparedUnits
from faithtui.domain.ids import ClaimId
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, LabelSet
from faithtui.domain.scores import ScoringRule

NO_CLAIM = "not_a_claim"
"""Code of claims that annotators label `x`."""

OVERRULED = "overruled"
"""Code of claims that most annotators decided against others."""

DOUBTFUL = ("changed_labels", "imported_labels", "seen_in_other_run", "exposures_deleted")
"""Codes of labelled claims whose labels nobody can vouch for."""

_NONE_DOUBTFUL: Mapping[ClaimId, Collection[str]] = {}

MISSING_WORDS: Mapping[str, tuple[str, str]] = {
    "skipped_many": ("is skipped", "are skipped"),
    "order_broken": ("is passed over", "are passed over"),
    "labelled_in_view": (
        "was labelled with the judge's verdict in view",
        "were labelled with the judge's verdict in view",
    ),
    "ties": ("is tied between annotators", "are tied between annotators"),
    OVERRULED: (
        "is decided by most annotators against others",
        "are decided by most annotators against others",
    ),
    "changed_labels": (
        "agrees with the judge only since its label was changed",
        "agree with the judge only since their label was changed",
    ),
    "imported_labels": (
        "has a label that came with data after a run had judged it",
        "have a label that came with data after a run had judged them",
    ),
    "seen_in_other_run": (
        "has a blind label by who had another run's verdicts on the conversation in view",
        "have a blind label by who had another run's verdicts on the conversation in view",
    ),
    "exposures_deleted": (
        "has a blind label by who may have seen verdicts that were deleted since",
        "have a blind label by who may have seen verdicts that were deleted since",
    ),
    "stale_labels": ("has a stale label", "have a stale label"),
    "other_words": ("has a label that the metric does not have",) * 2,
    "invalid_verdicts": ("has no readable verdict of the judge",) * 2,
    NO_CLAIM: ("is called x, not a fair claim", "are called x, not a fair claim"),
    "idk_excluded": (
        "is left out as judge or annotators call it idk",
        "are left out as judge or annotators call them idk",
    ),
}
"""Why a claim of a sample is missing, by the code of the report's warning: of one, of several."""

_IN_SHARE = ("ties", OVERRULED, "invalid_verdicts", "idk_excluded")
"""Codes of claims that are missing beside the judge, and not in the share that passes: its interval
knows how often annotators differ."""


@dataclass(frozen=True, slots=True)
class MissingBounds:
    """What figures would be with labels of all missing claims."""

    counts: Mapping[str, int]
    """Missing claims by the code of the warning."""
    against: LevelReport
    """Every missing label contradicts the judge."""
    agreeing: LevelReport
    """Every missing label is the judge's."""
    failing: LevelReport
    """Every missing label fails its claim."""
    passing: LevelReport
    """Every missing label passes its claim."""


def compute_bounds_over_missing_labels(
    prepared: PreparedUnits,
    unit: tuple[str, str],
    accepted: Collection[str] = (),
    doubtful: Mapping[ClaimId, Collection[str]] = _NONE_DOUBTFUL,
) -> MissingBounds | None:
    """Compute the figures of claims under the worst and the best that missing labels could be.

    Args:
        prepared: The units of a report.
        unit: What a claim is called, one and many.
        accepted: Codes of what may be left out.
        doubtful: Labelled claims whose labels nobody can vouch for, with the warnings' codes.

    Returns:
        None when nothing is missing that is not accepted.
    """
    compared = prepared.compared
    # A claim is missing while one of its reasons is not accepted.
    found = [
        (place, code)
        for place, code in list_claims_missing_from_figures(compared, doubtful)
        if code not in accepted
    ]
    if not found:
        return None
    missing, codes = dict(found), [code for _, code in found]
    words = _Words.from_extreme_labels(prepared.labels, prepared.recoded_rule)

    def report_with_labels_filled_in(imputed: Mapping[int, ClaimUnit]) -> LevelReport:
        rows = [imputed.get(place, row) for place, row in enumerate(compared.all.rows)]
        filled = ComparedClaims(rows, compared.labels, compared.design, compared.settings)
        return compute_claim_level_report(filled, prepared.recoded_rule, unit)

    rows = compared.all.rows
    # The share that passes has half of each tie already, and needs no verdict of the judge.
    by_hand = [
        place
        for place, code in missing.items()
        if code not in _IN_SHARE or rows[place].human == EXCLUDED
    ]
    return MissingBounds(
        {code: codes.count(code) for code in MISSING_WORDS if code in codes},
        against=report_with_labels_filled_in(
            {place: words.fill_in_disagreement(rows[place]) for place in missing}
        ),
        agreeing=report_with_labels_filled_in(
            {place: words.fill_in_agreement(rows[place]) for place in missing}
        ),
        failing=report_with_labels_filled_in(
            {place: _fill_in_human_label(rows[place], words.failing) for place in by_hand}
        ),
        passing=report_with_labels_filled_in(
            {place: _fill_in_human_label(rows[place], words.passing) for place in by_hand}
        ),
    )


def compute_bounds_over_doubtful_answers(
    prepared: PreparedUnits,
    accepted: Collection[str] = (),
    doubtful: Mapping[ClaimId, Collection[str]] = _NONE_DOUBTFUL,
) -> MissingBounds | None:
    """Compute the figures of answers under the worst and the best that doubtful labels could be.

    Args:
        prepared: The units of a report.
        accepted: Codes of what may be counted as it is labelled.
        doubtful: Answers whose labels nobody can vouch for, with the warnings' codes.

    Returns:
        None when no answer is doubtful for what is not accepted.
    """
    codes: list[str] = []
    places: list[int] = []
    answers = prepared.readings.answers
    for place, answer in enumerate(answers):
        found = doubtful.get(answer.claim, ()) if answer.claim is not None else ()
        if asked := [each for each in found if each not in accepted]:
            codes.extend(asked)
            places.append(place)
    if not places:
        return None
    rule = prepared.rule

    def report_with_labels(does_label_pass: Callable[[AnswerUnit], bool]) -> LevelReport:
        filled = list(answers)
        for place in places:
            word = rule.passing[0] if does_label_pass(answers[place]) else FAIL
            filled[place] = replace(answers[place], human=word, opinions=())
        settings = prepared.compared.settings
        return compute_answer_level_report(filled, prepared.readings.unrated, rule, settings)

    return MissingBounds(
        {code: codes.count(code) for code in MISSING_WORDS if code in codes},
        against=report_with_labels(lambda answer: not answer.passes),
        agreeing=report_with_labels(lambda answer: bool(answer.passes)),
        failing=report_with_labels(lambda answer: False),
        passing=report_with_labels(lambda answer: True),
    )


def list_claims_missing_from_figures(
    compared: ComparedClaims, doubtful: Mapping[ClaimId, Collection[str]] = _NONE_DOUBTFUL
) -> Iterator[tuple[int, str]]:
    """Find the claims that should enter the figures and do not, or with a label that is disputed.

    Of a sample these are the drawn claims up to the last one that was served, in its stratum or
    of its conversations; elsewhere labelled ones that cannot be compared, and skipped ones.

    Args:
        compared: The claims.
        doubtful: Labelled claims whose labels nobody can vouch for, with the warnings' codes.

    Yields:
        Places, rising, each with a warning's code; one that is missing for several reasons comes
        with each of them.
    """
    is_sample = compared.design.kind in RANDOM_DESIGNS
    inside = compared.is_compared.tolist()
    ends = _find_last_served_position_by_stratum(compared) if is_sample else {}
    ties, outvoted = compared.all.votes_on_tied_claims, compared.all.places_decided_by_majority
    for place, row in enumerate(compared.all.rows):
        if is_sample and (row.position is None or row.audit):
            continue
        if inside[place]:
            # Two names can outvote whoever is right, and one person can have both.
            if place in outvoted:
                yield place, OVERRULED
            for code in sorted(doubtful.get(row.claim, ())):
                yield place, code
            continue
        if place in ties:
            yield place, "ties"
            continue
        if row.human == NOT_A_CLAIM:
            # Five misses that are labelled `x` can be every miss there is.
            if compared.all.judge_labels[place] >= 0:
                yield place, NO_CLAIM
            continue
        if EXCLUDED in (row.human, row.judge):
            # What neither of them decided can be no miss.
            if compared.all.human_labels[place] >= 0 or compared.all.judge_labels[place] >= 0:
                yield place, "idk_excluded"
            continue
        match row.state:
            case LabelState.LABELLED:
                known = compared.all.human_labels[place] >= 0
                yield place, "invalid_verdicts" if known else "other_words"
            case LabelState.SKIPPED:
                yield place, "skipped_many"
            case LabelState.STALE if is_sample:
                yield place, "stale_labels"
            case LabelState.IN_VIEW if is_sample:
                yield place, "labelled_in_view"
            case _ if is_sample and (row.position or 0) < ends.get(
                _get_stratum_if_stratified(row, compared), 0
            ):
                yield place, "order_broken"


def _find_last_served_position_by_stratum(compared: ComparedClaims) -> dict[str | None, int]:
    """Say up to which place of the drawn order claims were served, by stratum."""
    ends: dict[str | None, int] = {}
    last: dict[int, int] = {}
    served: set[int] = set()
    for row in compared.all.rows:
        if row.position is None:
            continue
        last[row.conversation] = max(last.get(row.conversation, 0), row.position)
        if row.state is not LabelState.UNREVIEWED:
            served.add(row.conversation)
            queue = _get_stratum_if_stratified(row, compared)
            ends[queue] = max(ends.get(queue, 0), row.position)
    if compared.design.kind is DesignKind.CLUSTER:
        # A conversation is drawn whole: a started one is served to its end.
        return {None: 1 + max((last[each] for each in served), default=-1)}
    return ends


def _get_stratum_if_stratified(row: ClaimUnit, compared: ComparedClaims) -> str | None:
    return row.stratum if compared.design.kind is DesignKind.STRATIFIED else None


@dataclass(frozen=True, slots=True)
class _Words:
    """What a missing label may be, in the words of the report."""

    good: str
    bad: str
    passing: str
    failing: str

    @classmethod
    def from_extreme_labels(cls, labels: LabelSet, rule: ScoringRule) -> "_Words":
        """Choose the labels furthest from each other."""
        mildest_first = sorted(labels.names, key=labels.severity_by_label.__getitem__)
        good, bad = mildest_first[0], mildest_first[-1]
        return cls(
            good,
            bad,
            next((each for each in mildest_first if each in rule.passing), good),
            next((each for each in reversed(mildest_first) if each not in rule.passing), bad),
        )

    def fill_in_disagreement(self, row: ClaimUnit) -> ClaimUnit:
        """Let judge and human label differ as far as they can; without both words nothing can."""
        if row.judge not in (None, EXCLUDED):
            return _fill_in_human_label(row, self.good if row.judge == self.bad else self.bad)
        if row.human is None:
            return row
        return row._replace(judge=self.good if row.human == self.bad else self.bad)

    def fill_in_agreement(self, row: ClaimUnit) -> ClaimUnit:
        """Let them be the same."""
        if row.judge is None or row.judge == EXCLUDED:
            return row._replace(judge=row.human)
        return _fill_in_human_label(row, row.judge)


def _fill_in_human_label(row: ClaimUnit, word: str) -> ClaimUnit:
    return row._replace(human=word, state=LabelState.LABELLED, reviewers=1, opinions=(), blind=True)
