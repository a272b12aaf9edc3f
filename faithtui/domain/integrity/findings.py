"""What can look wrong in what a judge said about a conversation, and what is needed to find it.

A finding is a place to look at, never a verdict: checks are lexical or arithmetic, and each says in
a few words what it saw. docs/integrity.md explains every kind.
"""

from dataclasses import dataclass
from enum import StrEnum

from faithtui.domain.claims.verdicts import ClaimKind
from faithtui.domain.conversation import Turn
from faithtui.domain.ids import ClaimId, TruthId
from faithtui.domain.integrity.prompt_echo import NO_PROMPTS, PromptWords
from faithtui.domain.integrity.run_summary import TextCounts
from faithtui.domain.labels.label_sets import LabelSet


class FindingKind(StrEnum):
    """What a finding is about, in the order of lists: the surest errors first."""

    MISSING_VERDICT = "missing-verdict"
    UNKNOWN_WORD = "unknown-word"
    SURPLUS_VERDICT = "surplus-verdict"
    AGAINST_EVIDENCE = "against-evidence"
    AGAINST_REASON = "against-reason"
    FLIP = "flip"
    ASKS_JUDGE = "asks-judge"
    PHANTOM = "phantom"
    INVENTED_TRUTH = "invented-truth"
    ECHOED_PROMPT = "echoed-prompt"
    INVENTED_QUOTE = "invented-quote"
    LOST_FACT = "lost-fact"
    FAILED_WINDOW = "failed-window"
    WINDOW_ORDER = "window-order"
    NO_CLAIMS = "no-claims"
    NO_CONTEXT = "no-context"
    TURN_LEFT_OUT = "turn-left-out"
    CHANGED = "changed"


WEIGHTS: dict[FindingKind, int] = {
    FindingKind.MISSING_VERDICT: 8,
    FindingKind.UNKNOWN_WORD: 8,
    FindingKind.AGAINST_EVIDENCE: 8,
    FindingKind.AGAINST_REASON: 6,
    FindingKind.FLIP: 5,
    FindingKind.PHANTOM: 4,
    FindingKind.ECHOED_PROMPT: 4,
    FindingKind.INVENTED_QUOTE: 4,
    FindingKind.LOST_FACT: 3,
    FindingKind.CHANGED: 1,
}
"""How suspicious a claim is for each finding of a kind, for the order of a queue. Set by hand:
errors that are certain before errors that are likely before what merely calls for a look."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that looks wrong."""

    kind: FindingKind
    detail: str
    """What was seen, in a few words on one line."""
    claim: ClaimId | None = None
    window: int | None = None
    """Position of the window."""
    turn: int | None = None
    """Position of the turn."""


@dataclass(frozen=True, slots=True)
class CheckedVerdict:
    """The judge's verdict on a claim in one window."""

    window: int
    label: str | None
    word: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A unique claim with the judge's verdict of it."""

    id: ClaimId
    kind: ClaimKind
    turn: int
    text: str
    document: int | None
    """Index of the document a statement belongs to; None for the other kinds."""
    verdicts: tuple[CheckedVerdict, ...]
    """One per window that holds it, in order."""
    sufficient: tuple[frozenset[TruthId], ...] = ()
    """Sets of truths of which the judge said that each is enough for the whole claim."""
    partial: frozenset[TruthId] = frozenset()
    """Truths the judge named for a part of it."""
    opposes: frozenset[TruthId] = frozenset()
    """Truths the judge named against it."""

    @property
    def named_truths(self) -> frozenset[TruthId]:
        """All truths the judge named for it."""
        return self.partial.union(self.opposes, *self.sufficient)


@dataclass(frozen=True, slots=True)
class CheckedTruth:
    """A fact the judge drew, or a message it compared with."""

    id: TruthId
    text: str
    document: int | None
    """Index of its document; None when the judge saw several at once."""
    windows: frozenset[int]
    """Positions of the windows in whose view it is."""
    quote: str | None = None
    """What the judge says the document's words for it are; None: it was not asked."""


@dataclass(frozen=True, slots=True)
class CheckedWindow:
    """A stored window."""

    position: int
    turns: tuple[int, ...]
    claims: int
    """Unique claims it holds."""
    failure: str | None
    """Why it has no verdicts, where it failed."""
    without_context: bool
    skipped: bool = False
    """The metric does not apply to it, so that it is no wonder that it has no claims."""
    surplus: tuple[str | None, ...] = ()
    """Words beyond the last claim."""


@dataclass(frozen=True, slots=True)
class JudgedConversation:
    """Everything a judge said about one conversation, as the checks need it."""

    turns: tuple[Turn, ...]
    documents: tuple[str, ...]
    """Texts, each once."""
    retrieved: tuple[tuple[int, ...], ...]
    """For each turn, indexes of its documents."""
    windows: tuple[CheckedWindow, ...]
    """In order."""
    claims: tuple[CheckedClaim, ...]
    truths: tuple[CheckedTruth, ...]
    labels: LabelSet
    """Words of the metric."""
    truths_are_facts: bool
    """Truths were drawn from documents; else they are messages, of which none can be lost."""
    complete: bool
    """Everything that was to be judged has been."""
    names_evidence: bool = False
    """The judge was asked to name the truths that decide; a `yes` without any is odd then."""
    prompts: PromptWords = NO_PROMPTS
    """What the questions say themselves."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What the checks say of a conversation."""

    findings: tuple[Finding, ...]
    """By kind in the order of `FindingKind`, then as they come in the conversation; () when nothing
    looks wrong."""
    counts: TextCounts
