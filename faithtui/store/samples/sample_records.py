"""What is read of drawn queues: a queue in a list, its claims, and what was said in it."""

from dataclasses import dataclass
from datetime import datetime

from faithtui.agreement.population import Population
from faithtui.agreement.sampling.draw import SampleKind, SamplingDesign, Stratum
from faithtui.domain.ids import ClaimId, ItemId, RunId, SampleId
from faithtui.domain.labels.label_events import LabelEvent


@dataclass(frozen=True, slots=True)
class SampleRow:
    """A sample in a list, with the progress of one annotator."""

    id: SampleId
    uid: str
    name: str
    kind: SampleKind
    run: RunId
    reviewer: str
    """Who drew it."""
    design: SamplingDesign
    stratified_by: tuple[str, ...]
    seed: int
    blind: bool
    shown_share: float
    frame: int
    strata: tuple[Stratum, ...]
    created_at: datetime
    closed_at: datetime | None
    decision: str | None
    size: int
    answered_claims: frozenset[ClaimId]
    """Claims the annotator has labelled in this sample."""
    skipped_claims: frozenset[ClaimId]
    """Claims the annotator skipped, without those labelled since."""
    pace_s: float | None
    """Median of the annotator's seconds for the newest claims; None while there are too few."""
    population: Population | None = None
    """What it was drawn from where only drawn conversations are in the store; None: its run."""

    @property
    def answered(self) -> int:
        """How many claims the annotator has labelled in this sample."""
        return len(self.answered_claims)

    @property
    def skipped(self) -> int:
        """How many claims the annotator skipped."""
        return len(self.skipped_claims)

    @property
    def remaining(self) -> int:
        """Claims without a label of the annotator."""
        return self.size - self.answered

    @property
    def eta_s(self) -> float | None:
        """Seconds to the end at this pace; None when it is not known."""
        return None if self.pace_s is None else self.pace_s * self.remaining


@dataclass(frozen=True, slots=True)
class SampleEntry:
    """A claim of a sample, in the order in which it is served."""

    position: int
    item: ItemId
    claim: ClaimId
    stratum: str
    probability: float
    shown: bool
    """Served with the judge's verdict in view."""
    answered: bool
    """The annotator has labelled it in this sample."""
    skipped: bool
    """The annotator skipped it."""


@dataclass(frozen=True, slots=True)
class StratumRow:
    """How far an annotator has come with a stratum of a sample."""

    stratum: Stratum
    size: int
    """Claims drawn from it; with whole conversations more than were drawn conversations."""
    labelled: int
    """Claims of these that the annotator has labelled, without those that are `shown`."""
    shown: int = 0
    """Claims of these that were drawn to be shown with the judge's verdict: in no figure."""

    @property
    def weight_now(self) -> float | None:
        """How many claims each labelled one stands for.

        None while there are none, and of whole conversations, which count when they are through.
        """
        if not self.labelled or self.size != self.stratum.drawn:
            return None
        return self.stratum.population / self.labelled

    @property
    def weight_when_sample_is_done(self) -> float | None:
        """The same at the end of the sample; None where nothing was drawn, or all is shown.

        Of whole conversations, how many each drawn one stands for.
        """
        of_conversations = self.size != self.stratum.drawn
        counted = self.stratum.drawn - (0 if of_conversations else self.shown)
        return self.stratum.population / counted if counted > 0 else None


@dataclass(frozen=True, slots=True)
class SampleLabel:
    """An annotator's label and the verdict on a claim of a sample."""

    event: LabelEvent
    """With a label, as the annotator gave it, `x` included."""
    judge: str | None
    group: str
    """What must stay together when conversations are left out."""
    shown: bool
    """Drawn to be served with the judge's verdict in view: no figure rests on it."""
