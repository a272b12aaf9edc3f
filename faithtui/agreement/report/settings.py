"""What a report was asked for, and what it warns of."""

from dataclasses import dataclass
from enum import StrEnum

from faithtui.agreement.idk_recoding import IdkRule
from faithtui.agreement.labelled_units import Duplicates
from faithtui.domain.estimates import LEVEL
from faithtui.domain.ids import ClaimSetId, SampleId

MANY_HASTY = 1 / 3
"""Share of an annotator's labels that took less, from which on they are said to be hasty."""
FEW_MINORITY = 10
"""Units that annotators call unfaithful below which recall says little."""


class ReportLevel(StrEnum):
    """What is counted."""

    CLAIMS = "claims"
    ANSWERS = "answers"


class Severity(StrEnum):
    """How much a warning matters."""

    INFO = "info"
    CAUTION = "caution"
    BLOCKING = "blocking"


class IntervalMethod(StrEnum):
    """How intervals of agreement figures are made."""

    JACKKNIFE = "jackknife"
    """Leave one group out at a time; Student t."""
    BOOTSTRAP = "bootstrap"
    """Draw groups with replacement; percentiles. Needs a seed."""


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """What a report was asked for. Equal settings and labels give equal reports."""

    level: float = LEVEL
    """Confidence level of the intervals, in (0, 1)."""
    duplicates: Duplicates = "first_window"
    """Which of a claim's windows the judge's label is taken from."""
    idk: IdkRule = IdkRule.THREE
    """How `idk` is treated; its words, `pass` and `fail` among them, are accepted too."""
    interval: IntervalMethod = IntervalMethod.JACKKNIFE
    resamples: int = 2_000
    """Under `BOOTSTRAP`."""
    seed: int = 0
    """Of the bootstrap and of drawn permutations."""
    ordinal: bool = False
    """Labels are on a scale, in their order; adds the coefficients that use it."""
    blind_only: bool = False
    """Labels given with the judge in view do not count."""
    sample: SampleId | None = None
    """The sample to rest on; None: the one with the most labels of those labelled in order."""
    claim_set: ClaimSetId | None = None
    """The version of a claim set to rest on; None: as `sample` says."""
    target: float = 0.1
    """Half-width that the interval of the watched figure shall reach."""
    metadata_keys: tuple[str, ...] = ()
    """Keys of the conversations' metadata to break agreement down by."""

    def __post_init__(self) -> None:
        """Turn a plain word into the rule it names."""
        # A plain word would be compared by identity with the members, and match none of them.
        object.__setattr__(self, "idk", IdkRule(self.idk))


class WarningSubject(StrEnum):
    """What a warning can be about: JSON pointers into the report."""

    COVERAGE = "/coverage"
    AGREEMENT = "/agreement/judge_vs_consensus"
    """All coefficients."""
    PERCENT = "/agreement/judge_vs_consensus/percent"
    KAPPA = "/agreement/judge_vs_consensus/cohen_kappa"
    DETECTION = "/detection"
    RATE = "/rate"
    """Share of units that pass, by human labels."""
    SCORES = "/scores"
    CALIBRATION = "/calibration"
    DESIGN = "/design"
    HUMANS = "/agreement/between_humans"
    ANCHORING = "/agreement/blind_vs_shown"
    COMPARISON = "/comparison"


@dataclass(frozen=True, slots=True)
class ReportWarning:
    """A warning about the figures."""

    code: str
    """Stable word, such as `few_items`."""
    severity: Severity
    message: str
    """One plain sentence."""
    level: ReportLevel | None = None
    """The level it is about; None: the whole report."""
    about: tuple[WarningSubject, ...] = ()
    """Figures concerned; (): the level as a whole."""
