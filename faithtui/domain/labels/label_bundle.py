"""Human labels that can travel: label events with names that hold in every store.

Nothing in here is a database key. A conversation is named by its source and key, a claim by its
conversation, kind, turn and digest, a run by what it was and when, an event by its `uid`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from faithtui.domain.claims.verdicts import ClaimKind
from faithtui.domain.conversation import Span
from faithtui.domain.labels.label_events import Event

LARGEST_CLOCK = 1 << 53
"""A logical clock beyond this is no count of events; every later one would have to go beyond it."""


@dataclass(frozen=True, slots=True)
class ConversationName:
    """A conversation, whichever store it is in."""

    source: str
    key: str
    content_hash: str
    """Of its turns; see `conversation.content_hash`. Other turns are another conversation."""


@dataclass(frozen=True, slots=True)
class ClaimName:
    """What an event is about."""

    conversation: ConversationName
    kind: ClaimKind
    turn: int
    digest: str
    """Of the normalised text; of a statement, of its document and the normalised text."""
    document: str | None = None
    """Hash of the document that a statement belongs to; None for the other kinds."""


@dataclass(frozen=True, slots=True)
class BundleClaim:
    """What a claim says, for stores in which nobody extracted it."""

    text: str
    """Empty for a whole answer."""
    span: Span | None = None
    imported: bool = False
    """It came with the data."""


@dataclass(frozen=True, slots=True)
class RunName:
    """A run, recognised in copies of the store it was made in."""

    metric: str
    judge: str
    judge_fingerprint: str
    prompt_digest: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class BundleSampleClaim:
    """A claim of a sample."""

    claim: ClaimName
    stratum: str
    probability: float
    """In (0, 1]."""
    shown: bool
    """Served with the judge's verdict in view."""


@dataclass(frozen=True, slots=True)
class BundleSample:
    """How a queue was drawn, and what was drawn."""

    uid: str
    name: str
    kind: str
    run: RunName
    reviewer: str
    design: str
    stratified_by: tuple[str, ...]
    seed: int
    blind: bool
    shown_share: float
    frame: int
    strata: tuple[tuple[str, int, int], ...]
    """Name, population and drawn of each."""
    created_at: datetime
    closed_at: datetime | None
    decision: str | None
    claims: tuple[BundleSampleClaim, ...]
    """In drawn order."""
    population: Mapping[str, object] | None = None
    """Counts of what it was drawn from where only drawn conversations are in the store, as JSON
    values; None: it was drawn from its run."""


@dataclass(frozen=True, slots=True)
class BundleGuideline:
    """A version of the guideline."""

    digest: str
    text: str
    author: str
    created_at: datetime
    metric: str | None = None
    """The metric it is for; None: every metric."""
    built_in: bool = False
    """It is a metric's default, and never in force where another version is."""


BundleEvent: TypeAlias = Event[str, ClaimName, str, RunName]
"""An event, named by its `uid`, as the sample is that the claim was served from."""


@dataclass(frozen=True, slots=True)
class LabelBundle:
    """Events and all they refer to."""

    acts: tuple[BundleEvent, ...] = ()
    """In the order of the log: by clock, then by `uid`."""
    claims: Mapping[ClaimName, BundleClaim] = field(default_factory=dict)
    """Every claim that an event or a sample names."""
    samples: tuple[BundleSample, ...] = ()
    guidelines: tuple[BundleGuideline, ...] = ()
    """In the order in which they were set."""
