"""What a run's judge and annotators agree on, as one value that screens and files draw from.

Two levels, never mixed: unique claims (human labels against the judge's) and answers (the human
label of a whole answer against its pass or fail). Unreviewed is not agreed: a unit without a human
label is counted in the coverage and enters no figure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from faithtui.agreement.idk_recoding import FAITHFUL, UNFAITHFUL, IdkRule, recode_label
from faithtui.agreement.labelled_units import (
    ClaimUnit,
    RunUnits,
    count_votes_or_final_verdict,
    list_most_voted_labels,
)
from faithtui.agreement.report.claim_columns import ComparedClaims
from faithtui.agreement.report.compare import PairedUnit, compare_judges, recode_pairs_as_in_report
from faithtui.agreement.report.figures.annotators import (
    ReviewerLabels,
    compare_blind_with_shown_verdicts,
    compare_judge_with_each_rater,
    compute_human_agreement,
    compute_human_agreement_on_answers,
)
from faithtui.agreement.report.figures.claims_and_answers import (
    compute_answer_level_report,
    compute_claim_level_report,
)
from faithtui.agreement.report.figures.marked_evidence import (
    compute_evidence_overlap,
    compute_extraction_recall,
)
from faithtui.agreement.report.figures.population_pass_rates import compute_population_report
from faithtui.agreement.report.figures.rater_comparison import SelfAgreement
from faithtui.agreement.report.figures.score_comparison import (
    compare_answer_scores_with_ratings,
    compare_judge_scores_with_human_scores,
    compute_calibration_report,
    count_claims_consistent_across_windows,
)
from faithtui.agreement.report.headline import format_headline
from faithtui.agreement.report.label_progress import compute_interval_progress
from faithtui.agreement.report.label_updates import update_claim_report_without_intervals
from faithtui.agreement.report.model import (
    CLAIM_NOUNS,
    AgreementReport,
    ComparisonReport,
    ProbeTrial,
    choose_primary_level_report,
)
from faithtui.agreement.report.settings import ReportSettings
from faithtui.agreement.report.slices import make_breakdowns
from faithtui.agreement.report.warnings import list_warnings
from faithtui.domain.field_types import require_type
from faithtui.domain.ids import ClaimId
from faithtui.domain.integrity.run_summary import Soundness
from faithtui.domain.labels.label_sets import NOT_A_CLAIM, Label, LabelSet, Polarity
from faithtui.domain.scores import ScoringRule


@dataclass(frozen=True, slots=True)
class JudgingDescription:
    """Who judged what, in words."""

    metric: str = ""
    judge: str = ""
    """Name of the judge, for sentences and for the comparison with another one."""
    unit: tuple[str, str] = CLAIM_NOUNS
    """What the metric judges, one and many."""
    answers_are_claims: bool = False
    """What the metric judges are the answers themselves. The claim level has them then, and the
    answer level stays empty: the same labels would be shown as evidence twice."""
    confidence: str = "stated"
    """Where the judge's confidence comes from: `stated`, `token_probability`, `vote_share`."""
    soundness: Soundness = Soundness.SOUND
    """Whether what the judge wrote can be found where it must come from."""
    integrity: str = ""
    """The same in a sentence; "" when nothing stands against it."""
    unfinished: str = ""
    """How far the run is, in a sentence; "" when it is finished."""


@dataclass(frozen=True, slots=True)
class OtherJudge:
    """Another run, on the claims that both judged."""

    name: str
    units: tuple[PairedUnit, ...]


class PreparedUnits:
    """Readings as the settings want them counted, with their tables."""

    def __init__(
        self,
        readings: RunUnits,
        labels: LabelSet,
        rule: ScoringRule,
        settings: ReportSettings | None = None,
    ) -> None:
        """Count readings; the arguments are those of `agreement_report`."""
        wanted = settings or ReportSettings()
        if wanted.ordinal:
            # The scale is from support to contradiction, whatever order the metric declares.
            worse = labels.severity_by_label
            labels = LabelSet(tuple(sorted(labels.labels, key=lambda label: worse[label.name])))
        self.readings = readings
        self.rule = rule
        self.labels = labels if wanted.idk is IdkRule.THREE else _TWO_LABELS
        """What verdicts are read as."""
        self.recoded_rule = (
            replace(rule, passing=(FAITHFUL,)) if self.labels is _TWO_LABELS else rule
        )
        """The rule in these words."""
        self.recoded_words = {
            name: name
            if self.labels is not _TWO_LABELS
            else recode_label(name, wanted.idk, labels, rule.passing)
            for name in labels.names
        }
        """What each label of the metric is read as."""
        design = readings.design
        if design.population is not None:
            design = replace(design, population=design.population.recode_labels(self.recoded_words))
        self.compared = ComparedClaims(
            self.recode_claims(readings.claims), self.labels, design, wanted
        )

    @cached_property
    def units_by_claim(self) -> Mapping[ClaimId, ClaimUnit]:
        """The readings as they are, by claim."""
        return {each.claim: each for each in self.readings.claims}

    def recode_claims(self, claims: Sequence[ClaimUnit]) -> Sequence[ClaimUnit]:
        """Read the labels of claims; words that are no label of the metric stay what they are."""
        if self.labels is not _TWO_LABELS:
            return claims
        known = self.recoded_words
        return tuple(
            claim._replace(
                judge=self.recode_single_label(claim.judge),
                human=self._recode_consensus(claim),
                opinions=tuple(
                    each._replace(verdict=known.get(each.verdict, each.verdict))
                    for each in claim.opinions
                ),
            )
            for claim in claims
        )

    def _recode_consensus(self, claim: ClaimUnit) -> str | None:
        """Read the human labels together: `yes` and `idk` are two votes for one label."""
        if claim.reviewers > 1:
            words = {**self.recoded_words, NOT_A_CLAIM: NOT_A_CLAIM}
            winners = list_most_voted_labels(count_votes_or_final_verdict(claim.opinions, words))
            if len(winners) == 1:
                return winners[0]
        return self.recode_single_label(claim.human)

    def recode_single_label(self, label: str | None) -> str | None:
        """Read one label."""
        return None if label is None else self.recoded_words.get(label, label)

    def recode_pairs(self, units: Sequence[PairedUnit]) -> tuple[PairedUnit, ...]:
        """Read the labels of units that two judges have, as the figures of A count them."""
        read = (
            replace(
                each,
                a=self.recoded_words.get(each.a, each.a),
                b=self.recoded_words.get(each.b, each.b),
                human=self.recode_single_label(each.human),
            )
            for each in units
        )
        words = self.labels.names
        return recode_pairs_as_in_report(
            (each for each in read if each.a in words and each.b in words),
            self.compared.claims_weighted_for_comparison_with_other_judge,
        )


_TWO_LABELS = LabelSet(
    (
        Label(FAITHFUL, "F", "faithful", Polarity.GOOD),
        Label(UNFAITHFUL, "U", "unfaithful", Polarity.BAD),
    )
)
"""Labels where unsure ones are one or the other."""


def agreement_report(
    readings: RunUnits,
    labels: LabelSet,
    rule: ScoringRule,
    settings: ReportSettings | None = None,
    *,
    judged: JudgingDescription | None = None,
    other: OtherJudge | None = None,
    repeats: tuple[SelfAgreement, ...] = (),
) -> AgreementReport:
    """Compare a run's judge with annotators.

    Args:
        readings: Of the run, in the order disagreements are listed.
        labels: The metric's vocabulary; its order is the order of the tables.
        rule: The run's scoring rule: which labels pass, and from where on a score passes.
        settings: What is asked for; None: the usual.
        judged: Who judged what.
        other: A second judge to compare with.
        repeats: The self-agreement of each annotator.

    Raises:
        InputError: One of the first four is of another type.
    """
    require_type(readings, RunUnits, "readings", "a RunUnits")
    require_type(labels, LabelSet, "labels", "the LabelSet of the metric")
    require_type(rule, ScoringRule, "rule", "the ScoringRule of the run")
    require_type(settings, ReportSettings | None, "settings", "a ReportSettings, or None")
    prepared = PreparedUnits(readings, labels, rule, settings)
    comparison = None
    if other is not None:
        who = judged or JudgingDescription()
        comparison = compare_with_second_judge(prepared, who.judge, other)
    return compute_report_of_prepared_units(
        prepared, judged=judged, comparison=comparison, repeats=repeats
    )


def compute_report_of_prepared_units(
    prepared: PreparedUnits,
    *,
    judged: JudgingDescription | None = None,
    comparison: ComparisonReport | None = None,
    repeats: tuple[SelfAgreement, ...] = (),
    probes: ProbeTrial | None = None,
    with_parts: bool = True,
) -> AgreementReport:
    """Compare a run's judge with annotators; see `agreement_report`.

    Args:
        prepared: The run's units.
        judged: Who judged what.
        comparison: With a second judge.
        repeats: The self-agreement of each annotator.
        probes: What changes to claims do to the judge's verdicts; no figure rests on it.
        with_parts: Also break agreement down by part, and compare scores of windows and
            conversations: a third of the time, and no figure of a whole level rests on it.
    """
    who = judged or JudgingDescription()
    readings, rule, compared = prepared.readings, prepared.rule, prepared.compared
    context, wanted = compared.figure_context, compared.settings
    claim_level = compute_claim_level_report(compared, prepared.recoded_rule, who.unit)
    given = ReviewerLabels(compared)
    everything = (
        given
        if not compared.has_claims_drawn_with_judge_shown
        else ReviewerLabels(compared, with_audit=True)
    )
    # A metric that judges whole answers has all of them, rated or not, among its claims.
    answers, unrated = ((), ()) if who.answers_are_claims else (readings.answers, readings.unrated)
    answer_level = compute_answer_level_report(answers, unrated, rule, wanted)
    found = AgreementReport(
        headline=format_headline(
            choose_primary_level_report(claim_level, answer_level, wanted),
            prepared.recoded_rule.passing,
            who.judge,
        ),
        warnings=(),
        claims=claim_level,
        answers=answer_level,
        scores=compare_answer_scores_with_ratings(readings.answers, rule, wanted.level),
        unit_scores=compare_judge_scores_with_human_scores(
            readings.scores, rule, readings.design, wanted
        )
        if with_parts
        else (),
        consistency=count_claims_consistent_across_windows(compared.all, wanted.level),
        raters=compare_judge_with_each_rater(everything, given),
        humans=compute_human_agreement(compared.rows_that_may_be_in_figures, context),
        answer_humans=compute_human_agreement_on_answers(answers, rule, wanted),
        anchoring=compare_blind_with_shown_verdicts(everything),
        repeats=repeats,
        calibration=compute_calibration_report(compared, who.confidence),
        breakdowns=make_breakdowns(compared, given, who.metric, who.judge, readings.metadata)
        if with_parts
        else (),
        comparison=comparison,
        progress=compute_interval_progress(compared, given, prepared.recoded_rule.passing),
        settings=wanted,
        passing=rule.passing,
        threshold=rule.effective_threshold,
        evidence=compute_evidence_overlap(readings.evidence, wanted.level),
        extraction=compute_extraction_recall(readings.extraction, wanted.level),
        probes=probes,
        population=compute_population_report(
            compared, prepared.recoded_rule, claim_level.rate.corrected_this_run
        ),
    )
    return replace(
        found, warnings=list_warnings(found, who.soundness, who.integrity, who.unfinished)
    )


def compare_with_second_judge(
    prepared: PreparedUnits, judge: str, other: OtherJudge
) -> ComparisonReport:
    """Compare a run's judge with another one, with the weights of the run's labels."""
    pairs = [(judge, other.name, prepared.recode_pairs(other.units))]
    return compare_judges(pairs, prepared.compared.claims_weighted_for_comparison_with_other_judge)[
        0
    ]


def update_claim_figures_without_intervals(
    prepared: PreparedUnits,
    report: AgreementReport,
    before: Sequence[ClaimUnit],
    after: Sequence[ClaimUnit],
    judge: str = "",
) -> AgreementReport:
    """Bring the figures of claims up to date without intervals, which take longer.

    The time it takes depends on the number of changed claims alone. Rates, annotators, parts,
    scores and progress stay as they were.

    Args:
        prepared: What the report was computed from.
        report: As it was.
        before: Claims as they were read for it.
        after: The same claims, as annotators label them now.
        judge: Name of the judge, for the headline.
    """
    old, new = prepared.recode_claims(before), prepared.recode_claims(after)
    level = update_claim_report_without_intervals(prepared.compared, report.claims, old, new)
    return replace(
        report,
        claims=level,
        headline=format_headline(
            choose_primary_level_report(level, report.answers, report.settings),
            prepared.recoded_rule.passing,
            judge,
        ),
    )
