"""The values an agreement report is made of; `report` computes them.

Two levels, never mixed: unique claims (people's verdicts against the judge's) and answers (people's
label of a whole answer against its pass or fail). Unreviewed is not agreed: a unit without a
person's verdict is counted in the coverage and enters no figure.
"""

from dataclasses import dataclass
from enum import StrEnum

from faithtui.domain.agreement import Table
from faithtui.domain.estimates import Estimate
from faithtui.domain.ids import ClaimId, ConversationId


class Level(StrEnum):
    """What is counted."""

    CLAIMS = "claims"
    ANSWERS = "answers"


class Severity(StrEnum):
    """How much a warning matters."""

    INFO = "info"
    CAUTION = "caution"
    BLOCKING = "blocking"


class Design(StrEnum):
    """How the reviewed units were chosen."""

    NONE = "none"
    """No unit has a person's verdict."""
    CONVENIENCE = "convenience"
    """Some have, and nothing says they were drawn at random."""
    CENSUS = "census"
    """All have."""


class Figure(StrEnum):
    """What a warning can be about."""

    COVERAGE = "coverage"
    AGREEMENT = "agreement"
    """All coefficients."""
    PERCENT = "percent"
    KAPPA = "cohen_kappa"
    DETECTION = "detection"
    RATE = "rate"
    """Share of units that pass, by people."""
    SCORES = "scores"


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning about the figures."""

    code: str
    """Stable word, such as `few_items`."""
    severity: Severity
    message: str
    """One plain sentence."""
    level: Level | None = None
    """The level it is about; None: the whole report."""
    about: tuple[Figure, ...] = ()
    """Figures concerned; (): the level as a whole."""


@dataclass(frozen=True, slots=True)
class VerdictCount:
    """How many units the judge gave one label, and how many of those people reviewed."""

    judge: str | None
    """None: the judge gave no verdict."""
    units: int
    reviewed: int


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


@dataclass(frozen=True, slots=True)
class Disagreement:
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


@dataclass(frozen=True, slots=True)
class LevelReport:
    """Agreement at one level."""

    level: Level
    unit: tuple[str, str]
    """What is counted, one and many, in the metric's words: `claim`, `claims`."""
    coverage: Coverage
    design: Design
    table: Table
    """Rows people, columns judge; n = coverage.compared."""
    unjudged: tuple[int, ...]
    """Reviewed units without a judge's verdict, by people's label in the order of
    `table.categories`. A column of its own beside the table: such a unit never agrees, and it
    enters no coefficient, because a coefficient compares two verdicts and there is only one."""
    percent: Estimate
    chance: float | None
    """Agreement expected by chance, as kappa computes it; None when nothing was
    compared."""
    cohen_kappa: Estimate
    krippendorff_alpha: Estimate
    gwet_ac1: Estimate
    classes: tuple[ClassReport, ...]
    """One per category of the table, in order."""
    strict: Detection
    """Unfaithful is what contradicts: labels of bad polarity."""
    lenient: Detection | None
    """Unfaithful is whatever is not supported, unsure included; None for answers."""
    judge_rate: Estimate
    """Share of units that pass by the judge, over all units with a judge's label."""
    human_rate: Estimate
    """Share of units that pass by people. Withheld unless every unit was reviewed."""
    disagreements: tuple[Disagreement, ...]
    """In the order of the readings."""


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """The judge's score of each answer against what people said of the answer as a whole."""

    answers: int
    """Answers people rated or labelled."""
    vacuous: int
    """Of those left out: no claims."""
    unscored: int
    """Of those left out: no score."""
    spearman: Estimate
    """Judge's score against people's mean rating."""
    auroc: Estimate
    """Probability that an answer people pass scores above one they fail; ties count half."""
    judge_mean: float | None
    """Mean judge's score of the answers in `spearman`, in [0, 1]."""
    human_mean: float | None
    """Mean rating of the same answers, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Consistency:
    """Whether the judge says the same about a claim in every window that holds it."""

    repeated: int
    """Claims in several windows."""
    steady: int
    """Of those, the ones with one label throughout."""
    share: Estimate
    """steady / repeated. It caps the agreement the judge can reach."""


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """Everything a run's agreement screen and report files say."""

    headline: str
    """One plain sentence: the level, n, and kappa with its interval."""
    warnings: tuple[Caution, ...]
    """Most severe first."""
    claims: LevelReport
    answers: LevelReport
    scores: ScoreReport
    consistency: Consistency
    passing: tuple[str, ...]
    """People's labels that count as a pass for an answer; all other labels fail it."""
    bar: float | None
    """What an answer's score must reach to pass; None: no threshold."""
    level: float
    """Confidence level of the intervals, in (0, 1)."""
    digest: str
    """Of the readings: equal for two reports that speak of the same labels."""

    @property
    def primary(self) -> LevelReport:
        """The level the headline speaks of, see `primary_level`."""
        return primary_level(self.claims, self.answers)

    @property
    def levels(self) -> tuple[LevelReport, LevelReport]:
        """Both levels, claims first."""
        return (self.claims, self.answers)


def primary_level(claims: LevelReport, answers: LevelReport) -> LevelReport:
    """Pick the level to speak of first.

    Claims, unless only answers were compared, or nothing was compared and only answers labelled.
    """
    for weight in ("compared", "reviewed"):
        for level in (claims, answers):
            if getattr(level.coverage, weight):
                return level
    return claims
