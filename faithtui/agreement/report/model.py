"""The values of an agreement report; `report` computes them, screens and files draw from them.

Two levels, never mixed: unique claims (human labels against the judge's) and answers (the human
label of a whole answer against its pass or fail). Unreviewed is not agreed: a unit without a human
label is counted in the coverage and enters no figure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, overload

from faithtui.agreement.confusion_matrix import ConfusionMatrix
from faithtui.agreement.labelled_units import ClaimUnit, LabelDesign, ScoredUnit
from faithtui.agreement.report.figures.rater_comparison import SelfAgreement
from faithtui.agreement.report.settings import ReportLevel, ReportSettings, ReportWarning
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import ClaimId, ConversationId
from faithtui.domain.probes.perturbations import Effect, ProbeKind

PASS, FAIL = "yes", "no"
"""The two categories of the answer level."""

CLAIM_NOUNS = ("claim", "claims")
ANSWER_NOUNS = ("answer", "answers")


@dataclass(frozen=True, slots=True)
class VerdictCount:
    """How many units the judge gave one label, and how many of those annotators reviewed."""

    judge: str | None
    """None: the judge gave no verdict."""
    units: int
    reviewed: int
    skipped: int = 0
    """Skipped by an annotator, labelled by nobody."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of every unit.

    units = compared + unreviewed + not_a_claim + idk_excluded + tied + other_words + no_verdict
    + vacuous + unscored.
    """

    units: int
    """Units of the run at this level."""
    conversations: int
    """Conversations of all units."""
    groups: int
    """Groups (conversations, passages) of all units; fewer than `conversations` when several
    belong together."""
    verdict_rows: int
    """Units counted once per window that holds them; equal to `units` for answers."""
    compared: int
    """Units in the table: annotators and judge both gave a label."""
    compared_groups: int
    """Groups of the compared units."""
    agreed: int
    """Compared units with the same label on both sides."""
    overridden: int
    """Compared units with different labels."""
    unreviewed: int
    """No human label."""
    not_a_claim: int
    """Labelled `x`: not a fair claim. 0 for answers."""
    other_words: int
    """The human label is not in the label set."""
    no_verdict: int
    """Reviewed, and the judge gave no verdict. 0 for answers."""
    vacuous: int
    """Reviewed answers without claims: their score says nothing about the judge. 0 for claims."""
    unscored: int
    """Reviewed answers without a score, or without a threshold to pass. 0 for claims."""
    missing_verdicts: int
    """Claims without a judge's verdict, reviewed or not. 0 for answers."""
    labelled_by_two_or_more: int
    """Reviewed units with labels of two or more annotators."""
    blind: int
    """Units in the figures that annotators labelled before they saw the judge's verdict."""
    shown: int
    """Units in the figures that annotators labelled with it in view; the rest is not known."""
    by_verdict: tuple[VerdictCount, ...]
    """One per category in order, then None for missing verdicts; units sum to `total`."""
    skipped: int = 0
    """Of the unreviewed: skipped by an annotator."""
    bulk_accepted: int = 0
    """Of the unreviewed: labelled in bulk or by accepting the judge's verdict only."""
    stale: int = 0
    """Of the unreviewed: labelled with a judge's verdict in view that has changed since."""
    outside: int = 0
    """Compared units that are not of the sample the figures rest on, and so are left out of
    them."""
    audit: int = 0
    """Compared units that were drawn to be labelled with the judge's verdict in view: they measure
    its pull, and are left out of all other figures."""
    tied: int = 0
    """Ties that nobody adjudicated."""
    tied_in_figures: int = 0
    """Of these, those that the figures rest on: of a sample, drawn and served blind."""
    several_in_figures: int = 0
    """The same of `labelled_by_two_or_more`."""
    idk_excluded: int = 0
    """Reviewed units that the rule for `idk` leaves out, by the human label or the judge's."""
    idk_excluded_in_figures: int = 0
    """Of these, those that the figures would rest on otherwise."""
    not_a_claim_in_figures: int = 0
    """The same of `not_a_claim`."""
    unverified: int = 0
    """Units in the figures with a label of a bundle of which nothing says that it is what was
    exported."""

    @property
    def in_figures(self) -> int:
        """Compared units that the figures rest on."""
        return self.compared - self.outside - self.audit

    @property
    def reviewed(self) -> int:
        """Units with a human label, usable or not."""
        return self.units - self.unreviewed

    @property
    def group_word(self) -> str:
        """What to call the groups in a sentence, in the plural."""
        return "conversations" if self.groups == self.conversations else "groups"


@dataclass(frozen=True, slots=True)
class ClassReport:
    """How one label fares: the judge's use of it against the annotators'."""

    label: str
    human: int
    """Compared units annotators gave this label."""
    judge: int
    """Compared units the judge gave this label."""
    both: int
    """Compared units both gave this label."""
    precision: Estimate
    """both / judge."""
    recall: Estimate
    """both / human."""
    f1: Estimate
    """2 both / (human + judge); the specific agreement of this label."""


@dataclass(frozen=True, slots=True)
class Detection:
    """Detection of unfaithful units: judge against human labels, yes or no."""

    positive: tuple[str, ...]
    """Labels that count as unfaithful."""
    tp: int
    """Unfaithful for both."""
    fp: int
    """Flagged by the judge only."""
    fn: int
    """Missed by the judge."""
    tn: int
    """Faithful for both."""
    prevalence: Estimate
    """Share of unfaithful units, by human labels."""
    precision: Estimate
    recall: Estimate
    specificity: Estimate
    npv: Estimate
    f1: Estimate
    balanced_accuracy: Estimate
    mcc: Estimate


class Disagreement(NamedTuple):
    """One compared unit with different labels."""

    claim: ClaimId | None
    """None for an answer."""
    conversation: ConversationId
    key: str
    """The conversation's own id."""
    turn: int
    """Position of the assistant turn, from 0."""
    judge: str
    human: str
    text: str
    """The claim; for an answer its score and the threshold, in words."""
    raters: tuple[str, ...] = ()
    """Who gave a label that counts."""
    blind: bool = False
    """All of them before the judge's verdict was known."""
    answer_text: str | None = None
    """What the answer says; None for a claim, and where texts were not asked for."""


class LazyDisagreements(Sequence[Disagreement]):
    """Claims with different labels, made when they are looked at: a run may have 100,000.

    Args:
        claims: With a verdict and a human label that differ.
    """

    __slots__ = ("claims",)

    def __init__(self, claims: Sequence[ClaimUnit]) -> None:
        self.claims = claims

    def __len__(self) -> int:
        """Count them."""
        return len(self.claims)

    @overload
    def __getitem__(self, at: int) -> Disagreement: ...
    @overload
    def __getitem__(self, at: slice) -> "LazyDisagreements": ...
    def __getitem__(self, at: int | slice) -> "Disagreement | LazyDisagreements":
        """Give one, or some of them."""
        if isinstance(at, slice):
            return LazyDisagreements(self.claims[at])
        claim = self.claims[at]
        return Disagreement(
            claim.claim,
            claim.conversation,
            claim.key,
            claim.turn,
            str(claim.judge),
            str(claim.human),
            claim.text,
            tuple([each.reviewer for each in claim.opinions]),
            claim.blind is True,
        )

    def __eq__(self, other: object) -> bool:
        """Compare what they say."""
        return isinstance(other, LazyDisagreements) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """Hash what they say."""
        return hash(tuple(self))


@dataclass(frozen=True, slots=True)
class MarginTest:
    """Whether two sides use the labels equally often, as if units were independent."""

    name: str
    """`mcnemar_mid_p` for two labels, `stuart_maxwell` for more."""
    statistic: float | None
    df: int
    p: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two sides agree on the same units."""

    table: ConfusionMatrix[int]
    """Rows the reference, columns who is compared with it; every unit counted once."""
    clusters: int
    """Groups of these units."""
    weighted: tuple[tuple[float, ...], ...] | None
    """The same with each unit weighted by one over its probability of being labelled; None when
    all weights are equal. The figures below are computed from it where it is there."""
    percent: Estimate
    chance: float | None
    """Agreement expected by chance, as kappa computes it; None when nothing was compared."""
    cohen_kappa: Estimate
    weighted_kappa: Estimate | None
    """Quadratic weights; None unless the labels are a scale."""
    scott_pi: Estimate
    krippendorff_alpha: Estimate
    gwet_ac1: Estimate
    gwet_ac2: Estimate | None
    """Quadratic weights; None unless the labels are a scale."""
    prevalence_index: float | None
    """Both positive minus both negative, over all; by the strict positive class."""
    bias_index: float | None
    """Reference's share of the positive class minus the other side's."""
    max_kappa: float | None
    """Largest kappa these margins allow; None where kappa has no value."""
    marginal_test: MarginTest | None
    """None where units weigh differently: the test is one of counts."""

    @property
    def n(self) -> int:
        """Units compared."""
        return self.table.n

    def swap_sides(self) -> "Agreement":
        """Make the other side the reference."""
        return replace(
            self,
            table=self.table.transpose(),
            weighted=None if self.weighted is None else tuple(zip(*self.weighted, strict=True)),
            bias_index=None if self.bias_index is None else 0.0 - self.bias_index,
        )


class Bounds(NamedTuple):
    """A lower and an upper limit."""

    low: float
    high: float


class RateEstimator(StrEnum):
    """How the corrected rate was made. Exported word for word."""

    NONE = "none"
    POST_STRATIFIED = "post_stratified"
    """A random sample, split by the judge's verdict afterwards."""
    STRATIFIED = "stratified"
    """Strata that were drawn each at its own density, or all units."""
    BOUNDS = "bounds"
    """No random sample: only what the rate cannot leave."""


@dataclass(frozen=True, slots=True)
class PassRate:
    """The share of units that pass."""

    judge_raw: Estimate
    """By the judge, over all units with its label."""
    label_mean: Estimate
    """By human labels, over the labelled units, whatever way they were chosen."""
    corrected_this_run: Estimate
    """As if annotators had labelled every unit of this run; withheld without a random sample."""
    corrected_future: Estimate
    """By human labels, of conversations like these that are still to come; withheld likewise."""
    estimator: RateEstimator
    bounds: Bounds | None
    """Without a random sample: what the rate of this run cannot leave, in [0, 1]."""
    assumptions: tuple[str, ...]
    """What must hold for the corrected rates, one phrase each."""


@dataclass(frozen=True, slots=True)
class LevelReport:
    """Agreement at one level."""

    level: ReportLevel
    unit: tuple[str, str]
    """What is counted, one and many, in the metric's words: `claim`, `claims`."""
    coverage: Coverage
    design: LabelDesign
    agreement: Agreement
    """Judge against annotators; `agreement.n` = coverage.compared - outside - audit."""
    unjudged: tuple[int, ...]
    """Reviewed units without a judge's verdict, by the human label in the order of
    `table.categories`. A column of its own beside the table: such a unit never agrees, and it
    enters no coefficient, because a coefficient compares two verdicts and there is only one."""
    classes: tuple[ClassReport, ...]
    """One per category of the table, in order."""
    strict: Detection
    """Unfaithful is what contradicts: labels of bad polarity."""
    lenient: Detection | None
    """Unfaithful is whatever is not supported, unsure included; None for answers."""
    rate: PassRate
    disagreements: Sequence[Disagreement]
    """In the order of the readings."""
    weights: tuple[tuple[str, float], ...] = ()
    """Of a sample by strata: how many units a compared one of each stratum stands for; without
    strata that have none."""

    @property
    def table(self) -> ConfusionMatrix[int]:
        """Rows annotators, columns judge; every unit counted once."""
        return self.agreement.table

    @property
    def percent_agreement(self) -> Estimate:
        """Share of units with the same label from both."""
        return self.agreement.percent

    @property
    def chance_agreement(self) -> float | None:
        """Agreement expected by chance."""
        return self.agreement.chance

    @property
    def cohen_kappa(self) -> Estimate:
        """Cohen's kappa."""
        return self.agreement.cohen_kappa

    @property
    def krippendorff_alpha(self) -> Estimate:
        """Krippendorff's nominal alpha."""
        return self.agreement.krippendorff_alpha

    @property
    def gwet_ac1(self) -> Estimate:
        """Gwet's AC1."""
        return self.agreement.gwet_ac1


@dataclass(frozen=True, slots=True)
class RaterReport:
    """One annotator, and the judge against them."""

    reviewer: str
    labels: int
    """Labels that count, on units of this run."""
    blind: int
    """Of those, given before the judge's verdict was known."""
    overrides: int
    """Of the labels that figures rest on, those that differ from the judge."""
    median_seconds: float | None
    """Median of the seconds a unit was on screen; None where none were taken."""
    hasty: int
    """Labels that took less than `HASTY_S`."""
    agreement: Agreement
    """The annotator is the reference."""


@dataclass(frozen=True, slots=True)
class PairReport:
    """Two annotators on the same units; the first of them is the reference."""

    a: str
    b: str
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class HumanReport:
    """Inter-annotator agreement: what can be asked of a judge at most."""

    raters: int
    units: int
    """Units with labels of two or more annotators."""
    percent: Estimate
    krippendorff_alpha: Estimate
    gwet_ac1: Estimate
    fleiss_kappa: Estimate
    pairs: tuple[PairReport, ...]


@dataclass(frozen=True, slots=True)
class AnchoringReport:
    """Whether seeing the judge's verdict pulls annotators towards it."""

    blind: Agreement
    """Judge against human labels given before its verdict was known."""
    shown: Agreement
    """Judge against labels given with its verdict in view."""
    difference: Estimate
    """Agreement shown minus agreement blind, in [-1, 1]."""


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """The judge's score of each answer against the human label of the whole answer."""

    answers: int
    """Answers annotators rated or labelled."""
    unscored: int
    """Of those left out: no score."""
    n_vacuous: int
    """Of the answers left out: no claims."""
    judge_mean: float | None
    """Mean judge's score of the answers in `spearman`, in [0, 1]."""
    human_mean: float | None
    """Mean rating of the same answers, in [0, 1]."""
    spearman: Estimate
    """Judge's score against annotators' mean rating."""
    auroc: Estimate
    """Probability that an answer annotators pass scores above one they fail; ties count half."""


@dataclass(frozen=True, slots=True)
class JudgeConsistency:
    """Whether the judge says the same about a claim in every window that holds it."""

    repeated: int
    """Claims in several windows."""
    steady: int
    """Of those, the ones with one label throughout."""
    share: Estimate
    """steady / repeated."""


@dataclass(frozen=True, slots=True)
class SuggestedThreshold:
    """The threshold that is best by human labels."""

    value: float
    rule: str
    """What makes it the best: `youden`."""
    chosen_on: str
    """`cross_validated`, or `same_labels`, which flatters."""
    detection: Detection
    """Counted on what `chosen_on` says."""


@dataclass(frozen=True, slots=True)
class ThresholdReport:
    """Passing from a score on: at the threshold in force, and at a better one."""

    current: float
    at_current: Detection
    """Positive is failing."""
    suggested: SuggestedThreshold | None
    """None where none can be chosen."""
    curve: tuple[tuple[float, float, float], ...]
    """(threshold, recall, specificity) on these labels, rising."""


@dataclass(frozen=True, slots=True)
class UnitScoreReport:
    """The judge's score of windows or conversations against the same formula on human labels."""

    level: ScoredUnit
    n: int
    """Units with a score of both, and something judged in them."""
    n_partially_labelled: int
    """Left out: not every claim has a human label, though some have."""
    n_vacuous: int
    """Left out: nothing was judged in them, so they have no score, or one that a rule fixes."""
    judge_mean: float | None
    human_mean: float | None
    bias: Estimate
    """Mean of judge minus human, in [-1, 1]."""
    mae: Estimate
    """Mean absolute difference."""
    limits_of_agreement: Bounds | None
    """Bias plus and minus 1.96 standard deviations of the difference."""
    spearman: Estimate
    kendall_tau_b: Estimate
    icc_2_1: Estimate
    """ICC(2,1): absolute agreement of single scores."""
    auroc: Estimate
    """The judge's score against whether the annotators' passes; undefined without a threshold."""
    corrected: Estimate
    """Mean score to expect if annotators labelled everything: PPI++ from the units with both scores
    and the judge's scores of the others. Withheld unless whole units were drawn at random."""
    threshold: ThresholdReport | None
    """None without a threshold, or with fewer than ten units."""
    unscored: int = 0
    """Left out: the judge's labels or the annotators' make no score."""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Units whose confidence lies close together."""

    low: float
    high: float
    n: int
    mean_confidence: float
    """Mean confidence."""
    observed: float
    """Share that annotators support."""
    ci_low: float
    ci_high: float


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """Whether the judge's confidence that a claim is supported is what it says."""

    source: str
    """Where the confidence comes from: `stated`, `token_probability` or `vote_share`."""
    n: int
    weighted: bool
    """Units stand for others, as in the figures of the report; `n` is of the units alone."""
    brier: Estimate
    brier_skill: float | None
    """1 minus Brier over the Brier of always saying the base rate."""
    ece: float | None
    """Expected calibration error; None below 200 units, or when noise would show as much."""
    ece_noise_floor: float | None
    """Mean expected calibration error of a perfectly calibrated judge with these confidences."""
    few: bool
    """Too few units for the error to be told from noise."""
    bins: tuple[ReliabilityBin, ...]


class Slice(StrEnum):
    """By what agreement is broken down. Exported word for word."""

    CONVERSATION = "conversation"
    TURN = "turn_position"
    METRIC = "metric"
    MODEL = "judge_model"
    VERDICT = "verdict"
    RATER = "rater"
    WINDOWS = "window_count"
    CODE = "reason_code"
    METADATA = "metadata"
    """A key of the conversations' metadata. Parts may overlap: a list has several values."""


@dataclass(frozen=True, slots=True)
class SliceRow:
    """One part."""

    key: str
    """Its name; "" for conversations without a value of the metadata."""
    n: int
    clusters: int
    percent: Estimate
    cohen_kappa: Estimate | None
    """None where the judge says the same throughout, so that there is nothing beyond chance."""
    recall: Estimate
    """Of what annotators call unfaithful, strict."""
    precision: Estimate


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Agreement by part, worst first."""

    by: Slice
    rows: tuple[SliceRow, ...]
    suppressed: int
    """Parts with fewer units than a figure needs; not shown."""
    better: int = 0
    """Parts that agree at least as well as all in `rows`, where there are too many to list."""
    metadata_key: str = ""
    """With `METADATA`: which key, as it was asked for."""


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """Two judges on the same units, each held against annotators."""

    a: str
    b: str
    n_common: int
    """Units both judged and annotators labelled; of a sample only those in it."""
    n_left_out: int
    """Units that the report's own figures of A rest on, and that B gave no label. Without any, the
    figures of A here are those of the report."""
    clusters: int
    weighted: bool
    """Units stand for others, as in the figures of the report; counts are of the units alone."""
    judges: Agreement
    """Judge A against judge B on all units both judged; annotators do not enter."""
    accuracy_a: Estimate
    accuracy_b: Estimate
    difference: Estimate
    """Accuracy of B minus that of A, in [-1, 1]."""
    kappa_a: Estimate
    """Of judge A with annotators, on these units."""
    kappa_b: Estimate
    kappa_difference: Estimate
    """Kappa of B with annotators minus that of A, in [-2, 2]."""
    b_only_correct: int
    """Only B agrees with annotators."""
    a_only_correct: int
    signflip_p: float | None
    """Signs of whole groups flipped; None without a difference."""
    clustered_mcnemar_p: float | None
    """McNemar for grouped pairs."""
    mcnemar_mid_p: float | None
    """Mid-p, as if units were independent; None where they weigh differently, as it is of
    counts."""
    comparisons_made: int
    """How many comparisons were made together."""
    holm_p: float | None
    """`signflip_p`, adjusted for them."""

    def swap_judges(self, n_left_out: int) -> "ComparisonReport":
        """Call B the first judge; the weights stay those of A's report.

        Args:
            n_left_out: Units that the figures of a report on B rest on, and that A gave no label.
        """
        return replace(
            self,
            a=self.b,
            b=self.a,
            n_left_out=n_left_out,
            judges=self.judges.swap_sides(),
            accuracy_a=self.accuracy_b,
            accuracy_b=self.accuracy_a,
            difference=_negate_estimate(self.difference),
            kappa_a=self.kappa_b,
            kappa_b=self.kappa_a,
            kappa_difference=_negate_estimate(self.kappa_difference),
            b_only_correct=self.a_only_correct,
            a_only_correct=self.b_only_correct,
        )


def _negate_estimate(found: Estimate) -> Estimate:
    value, low, high = (
        None if each is None else 0.0 - each for each in (found.value, found.ci_high, found.ci_low)
    )
    return replace(found, value=value, ci_low=low, ci_high=high)


@dataclass(frozen=True, slots=True)
class ProgressPoint:
    """The watched figure after so many labels."""

    labels: int
    value: float | None
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True, slots=True)
class ConfidenceSequences:
    """Intervals of this run that hold however often one looks at them."""

    labels: int
    """Labels in the drawn order before the first claim that nobody has answered or skipped."""
    later: int
    """Labels after it, which cannot count."""
    rate: tuple[float, float]
    """Share that passes."""
    recall: tuple[float, float]
    """Of the claims whose label is one of `positive`."""
    positive: tuple[str, ...]
    """Labels that count as unfaithful in the strict sense: no `idk`, unless it is read as one."""


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """How far labelling is from an interval as narrow as wanted."""

    target: str
    """The watched figure: `cohen_kappa`, or `percent` where kappa is not to be had."""
    target_half_width: float
    half_width: float | None
    """Now; None without an interval."""
    labels_still_needed: int | None
    """Labels still to give, at most as many as units without one, which may not be enough; None
    when it cannot be said."""
    stop: bool
    """Narrow enough, and enough groups and unfaithful units for the interval to be trusted."""
    history: tuple[ProgressPoint, ...]
    sequences: ConfidenceSequences | None = None
    """Rate and recall at every look; None without a sample that has them."""


@dataclass(frozen=True, slots=True)
class EvidenceReport:
    """What the judge points at, against what annotators marked as evidence, in words."""

    claims: int
    """Claims with marks and a verdict of the judge; each counts once."""
    annotators: int
    uncited: int
    """Of these claims, those for which the judge points at nothing: every figure is 0 there."""
    precision: Estimate
    """Of the words that the judge points at, the share that is marked; mean over claims."""
    recall: Estimate
    """Of the words that are marked, the share that the judge points at; mean over claims."""
    f1: Estimate
    """Of each claim the harmonic mean of both; mean over claims."""
    iou: Estimate
    """Words of both over words of either; mean over claims."""


@dataclass(frozen=True, slots=True)
class ExtractionReport:
    """How many of the claims of an answer the judge extracted, on answers declared complete."""

    answers: int
    """Declared complete by an annotator."""
    annotators: int
    fair: int
    """Claims that the judge extracted from them, but for those labelled `x`."""
    unfair: int
    """Claims labelled `x`, which enter nowhere."""
    unlabelled: int
    """Of the fair ones, those without a label: nobody said that they are fair."""
    missed: int
    """Claims that annotators added."""
    recall: Estimate
    """Fair claims over fair and missed ones."""


@dataclass(frozen=True, slots=True)
class ProbeFigures:
    """What one kind of change does to a judge's verdicts."""

    kind: ProbeKind
    effect: Effect
    probes: int
    """Changed claims that the judge gave a verdict on before and after.

    Changes that break a claim are made of supported ones it called yes. Injected instructions
    demand a yes, so they are tried where it said something else: this share is of verdicts that
    could be turned, whatever the labels are.
    """
    changed: int
    """Those on which the verdict changed."""
    share: float
    low: float
    """95 % interval of the share, by Wilson; claims of one text are taken as independent."""
    high: float


@dataclass(frozen=True, slots=True)
class ProbeTrial:
    """A judge asked about changed claims."""

    judge: str
    """As `--judge` names it."""
    fingerprint: str
    """Of the judge that was asked."""
    claims: int
    """Labelled claims that were changed."""
    seed: int
    figures: tuple[ProbeFigures, ...]
    """Kinds that found nothing to change are left out."""
    same_judge: bool = True
    """The run was judged by the same version, with the same parameters."""


@dataclass(frozen=True, slots=True)
class RateSlice:
    """The share that passes in a part of a population."""

    key: str
    """What parts are made by."""
    value: str
    """Which part it is."""
    claims: int
    """Of the population."""
    judge: float | None
    """Share that passes by the judge, in [0, 1], counted; None: it gave no verdict there."""
    corrected: Estimate
    """Share that passes by annotators, had they labelled all of it."""


@dataclass(frozen=True, slots=True)
class PopulationReport:
    """What the figures of a sample are about, where only drawn claims are in the store."""

    results: str
    """Where it lies."""
    conversations: int
    """All, whatever became of them."""
    judged: int
    """Those with a claim."""
    claims: int
    states: Mapping[str, int]
    """Conversations by what became of them."""
    failed_share: float
    """Share of the conversations that could not be judged: no figure is about them."""
    open_shards: int
    """Shards that were not whole, and are no part of it."""
    mean_scores: Mapping[str, float | None]
    """Means of the judge's scores over all conversations that have them."""
    bounds: Bounds | None
    """What the corrected share would be if failed conversations had been judged: none of their
    claims passing, and all; None where none failed, or there is no corrected share."""
    slices: tuple[RateSlice, ...]
    """Parts by what strata are made of, those with labels enough."""
    few: int
    """Parts with fewer labels."""


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """Everything a run's agreement screen and report files say."""

    headline: str
    """One plain sentence: the level, n, and what may be concluded."""
    warnings: tuple[ReportWarning, ...]
    """Most severe first."""
    claims: LevelReport
    answers: LevelReport
    scores: ScoreReport
    """Answers against annotators' ratings of them."""
    unit_scores: tuple[UnitScoreReport, ...]
    """Windows and conversations; those without any unit are left out."""
    consistency: JudgeConsistency
    raters: tuple[RaterReport, ...]
    """By name."""
    humans: HumanReport | None
    """At the claim level; None unless two annotators labelled the same unit."""
    anchoring: AnchoringReport | None
    """None unless some verdicts were blind and some were not."""
    repeats: tuple[SelfAgreement, ...]
    """The self-agreement of each annotator who labelled units again."""
    calibration: CalibrationReport | None
    """None when the judge gives no confidence, or nothing with one is labelled."""
    breakdowns: tuple[Breakdown, ...]
    comparison: ComparisonReport | None
    progress: ProgressReport
    settings: ReportSettings
    passing: tuple[str, ...]
    """Human labels that count as a pass for an answer; all other labels fail it."""
    threshold: float | None
    """What an answer's score must reach to pass; None: no threshold."""
    answer_humans: HumanReport | None = None
    """At the answer level, pass or fail; None unless two annotators labelled the same answer."""
    evidence: EvidenceReport | None = None
    """None unless evidence was marked on claims that the judge gave a verdict on."""
    extraction: ExtractionReport | None = None
    """None unless answers were declared complete."""
    probes: ProbeTrial | None = None
    """None unless the judge's probes were given."""
    population: PopulationReport | None = None
    """None where the run is what labelled claims were drawn from."""

    def get_level(self, level: ReportLevel) -> LevelReport:
        """Give the figures of a level."""
        return self.claims if level is ReportLevel.CLAIMS else self.answers

    def get_human_agreement_at_level(self, level: ReportLevel) -> HumanReport | None:
        """Give inter-annotator agreement at a level."""
        return self.humans if level is ReportLevel.CLAIMS else self.answer_humans

    @property
    def confidence_level(self) -> float:
        """Confidence level of the intervals, in (0, 1)."""
        return self.settings.level

    @property
    def primary_level_report(self) -> LevelReport:
        """The level the headline speaks of, see `choose_primary_level_report`."""
        return choose_primary_level_report(self.claims, self.answers, self.settings)

    @property
    def level_reports(self) -> tuple[LevelReport, LevelReport]:
        """Both levels, claims first."""
        return (self.claims, self.answers)


def choose_primary_level_report(
    claims: LevelReport, answers: LevelReport, settings: ReportSettings
) -> LevelReport:
    """Pick the level to speak of first.

    Claims, unless only answers were compared, or nothing was compared and only answers labelled, or
    the first few labels of claims give kappa no interval while that of answers has one. Whoever
    names a sample or a claim set asks about its claims, however few are labelled.
    """
    if settings.sample is not None or settings.claim_set is not None:
        return claims
    if answers.cohen_kappa.ci_low is not None and claims.cohen_kappa.ci_low is None:
        return answers
    for weight in ("compared", "reviewed"):
        for level in (claims, answers):
            if getattr(level.coverage, weight):
                return level
    return claims
