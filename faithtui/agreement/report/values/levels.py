"""What a report says of claims, or of answers: counts, table, coefficients, detection, rate."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, overload

from faithtui.agreement.labelled_units import ClaimReading, DesignReading
from faithtui.agreement.report.values.settings import Level
from faithtui.agreement.statistics.figures import Table
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import ClaimId, ConversationId


@dataclass(frozen=True, slots=True)
class VerdictCount:
    """How many units the judge gave one label, and how many of those people reviewed."""

    judge: str | None
    """None: the judge gave no verdict."""
    units: int
    reviewed: int
    skipped: int = 0
    """Put off by somebody, answered by nobody."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of every unit.

    total = compared + unreviewed + not_a_claim + other_words + no_verdict + vacuous + unscored.
    """

    total: int
    """Units of the run at this level."""
    conversations: int
    """Conversations of all units."""
    groups: int
    """Groups (conversations, passages) of all units; fewer than `conversations` when several
    belong together."""
    rows: int
    """Units counted once per window that holds them; equal to `total` for answers."""
    compared: int
    """Units in the table: people and judge both gave a label."""
    compared_groups: int
    """Groups of the compared units."""
    agreed: int
    """Compared units with the same label on both sides."""
    overridden: int
    """Compared units with different labels."""
    unreviewed: int
    """No person's verdict."""
    not_a_claim: int
    """People said `x`: not a fair claim. 0 for answers."""
    other_words: int
    """People's word is not in the label set."""
    no_verdict: int
    """Reviewed, and the judge gave no verdict. 0 for answers."""
    vacuous: int
    """Reviewed answers without claims: their score says nothing about the judge. 0 for claims."""
    unscored: int
    """Reviewed answers without a score, or without a threshold to pass. 0 for claims."""
    missing_verdicts: int
    """Claims without a judge's verdict, reviewed or not. 0 for answers."""
    several_reviewers: int
    """Reviewed units with verdicts of two or more people."""
    blind: int
    """Compared units people labelled before they saw the judge's verdict."""
    shown: int
    """Compared units people labelled with the judge's verdict in view; the rest is not known."""
    by_verdict: tuple[VerdictCount, ...]
    """One per category in order, then None for missing verdicts; units sum to `total`."""
    skipped: int = 0
    """Of the unreviewed: put off by somebody."""
    bulk: int = 0
    """Of the unreviewed: answered in bulk or by accepting the judge's word only."""
    stale: int = 0
    """Of the unreviewed: answered with a judge's word in view that is another one by now."""
    outside: int = 0
    """Compared units that are not of the sample the figures rest on, and so are left out of
    them."""

    @property
    def reviewed(self) -> int:
        """Units with a person's verdict, usable or not."""
        return self.total - self.unreviewed

    @property
    def group_word(self) -> str:
        """What to call the groups in a sentence, in the plural."""
        return "conversations" if self.groups == self.conversations else "groups"


@dataclass(frozen=True, slots=True)
class ClassReport:
    """How one label fares: the judge's use of it against people's."""

    label: str
    human: int
    """Compared units people gave this label."""
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
    """Finding unfaithful units, as a yes-or-no question put to judge and people."""

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
    """Share of unfaithful units, by people."""
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
    """Who gave a verdict that counts."""
    blind: bool = False
    """All of them before the judge's word was known."""


class Differing(Sequence[Disagreement]):
    """Claims with different labels, made when they are looked at: a run may have 100,000.

    Args:
        claims: With a label of the judge and another one of people.
    """

    __slots__ = ("claims",)

    def __init__(self, claims: Sequence[ClaimReading]) -> None:
        self.claims = claims

    def __len__(self) -> int:
        """Count them."""
        return len(self.claims)

    @overload
    def __getitem__(self, at: int) -> Disagreement: ...
    @overload
    def __getitem__(self, at: slice) -> "Differing": ...
    def __getitem__(self, at: int | slice) -> "Disagreement | Differing":
        """Give one, or some of them."""
        if isinstance(at, slice):
            return Differing(self.claims[at])
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
        return isinstance(other, Differing) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """Hash what they say."""
        return hash(tuple(self))


@dataclass(frozen=True, slots=True)
class MarginTest:
    """Whether two sides use the labels equally often, as if units were independent."""

    name: str
    """`mcnemar_mid_p` for two labels, `bowker` for more."""
    statistic: float | None
    df: int
    p: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two sides agree on the same units."""

    table: Table
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
    scott_pi: Estimate
    krippendorff_alpha: Estimate
    gwet_ac1: Estimate
    weighted_kappa: Estimate | None
    """Quadratic weights; None unless the labels are a scale."""
    gwet_ac2: Estimate | None
    """Quadratic weights; None unless the labels are a scale."""
    max_kappa: float | None
    """Largest kappa these margins allow; None where kappa has no value."""
    prevalence_index: float | None
    """Both positive minus both negative, over all; by the strict positive class."""
    bias_index: float | None
    """Reference's share of the positive class minus the other side's."""
    margins: MarginTest | None
    """None where units weigh differently: the test is one of counts."""

    @property
    def n(self) -> int:
        """Units compared."""
        return self.table.n


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
class Rate:
    """The share of units that pass."""

    judge: Estimate
    """By the judge, over all units with its label."""
    labelled: Estimate
    """By people, over the labelled units, whatever way they were chosen."""
    this_run: Estimate
    """By people, had they labelled every unit of this run; withheld without a random sample."""
    future: Estimate
    """By people, of conversations like these that are still to come; withheld likewise."""
    estimator: RateEstimator
    bounds: tuple[float, float] | None
    """Without a random sample: what the rate of this run cannot leave, in [0, 1]."""
    assumptions: tuple[str, ...]
    """What must hold for the corrected rates, one phrase each."""


@dataclass(frozen=True, slots=True)
class LevelReport:
    """Agreement at one level."""

    level: Level
    unit: tuple[str, str]
    """What is counted, one and many, in the metric's words: `claim`, `claims`."""
    coverage: Coverage
    design: DesignReading
    agreement: Agreement
    """Judge against people; `agreement.n` = coverage.compared - coverage.outside."""
    unjudged: tuple[int, ...]
    """Reviewed units without a judge's verdict, by people's label in the order of
    `table.categories`. A column of its own beside the table: such a unit never agrees, and it
    enters no coefficient, because a coefficient compares two verdicts and there is only one."""
    classes: tuple[ClassReport, ...]
    """One per category of the table, in order."""
    strict: Detection
    """Unfaithful is what contradicts: labels of bad polarity."""
    lenient: Detection | None
    """Unfaithful is whatever is not supported, unsure included; None for answers."""
    rate: Rate
    disagreements: Sequence[Disagreement]
    """In the order of the readings."""
    weights: tuple[tuple[str, float], ...] = ()
    """Of a sample by strata: how many units a compared one of each stratum stands for; without
    strata that have none."""

    @property
    def table(self) -> Table:
        """Rows people, columns judge; every unit counted once."""
        return self.agreement.table

    @property
    def percent(self) -> Estimate:
        """Share of units with the same label from both."""
        return self.agreement.percent

    @property
    def chance(self) -> float | None:
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
