"""What a question to a judge is about, as data.

A judge that reads prompts gets the rendered text and ignores this. A judge that computes its
answers (the embedded one, and the scripted ones of the tests) works from these values and never
has to take a prompt apart. Both answer in the same JSON, described beside each task.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExtractTruths:
    """List the facts of each document.

    Reply: `{"d0": ["fact", …], "d1": […]}`, one key per document.
    """

    documents: tuple[str, ...]
    limit: int | None = None
    """At most so many facts per document; None: all."""


@dataclass(frozen=True, slots=True)
class ExtractPooledTruths:
    """List the facts of several documents taken together, as deepeval asks.

    Reply: `{"truths": ["fact", …]}`.
    """

    documents: tuple[str, ...]
    limit: int | None = None
    """At most so many facts in all; None: all."""


@dataclass(frozen=True, slots=True)
class ExtractClaims:
    """List the factual statements of each answer.

    Reply: `{"a0": ["claim", …], "a1": […]}`, one key per answer.
    """

    answers: tuple[str, ...]
    questions: tuple[str, ...] = ()
    """User messages that belong to the answers, only to resolve references."""
    history: tuple[str, ...] = ()
    """Earlier messages, each prefixed with its role, only to resolve references."""


@dataclass(frozen=True, slots=True)
class ExtractPooledClaims:
    """List the factual statements of several answers taken together, as deepeval asks.

    Reply: `{"claims": ["claim", …]}`.
    """

    answers: tuple[str, ...]
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceGroup:
    """Claims that are all to be compared with the same truths."""

    claims: tuple[str, ...]
    truths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FindEvidence:
    """For each claim, name the truths of its group that support and that contradict it.

    Claims are numbered c0, c1, … and truths t0, t1, … through all groups, in order.

    Reply: `{"c0": {"reason": str, "supports": ["t0", …], "contradicts": […], "verdict": word}, …}`.
    `verdict` is the judge's word on the claim given the truths of its group. A judge that has one
    adds `"confidence"`, the probability in [0, 1] that the claim is supported.
    """

    groups: tuple[EvidenceGroup, ...]


@dataclass(frozen=True, slots=True)
class JudgeClaims:
    """Give each claim a verdict against all truths.

    Reply: `{"c0": {"reason": str, "verdict": word}, …}`, optionally with `"confidence"` as above.
    """

    claims: tuple[str, ...]
    truths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgeClaimList:
    """Give each claim a verdict against all truths, as an unnumbered list, as deepeval asks.

    Reply: `{"verdicts": [{"verdict": word, "reason": str}, …]}` in the order of the claims.
    """

    claims: tuple[str, ...]
    truths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplainScore:
    """Put into one to three sentences why a window got its score.

    Reply: `{"reason": str}`.
    """

    score: float
    findings: tuple[str, ...]
    """Reasons of the verdicts that cost something; () when nothing did."""


@dataclass(frozen=True, slots=True)
class ConcludeReasons:
    """Put into one to three sentences why a conversation got its score.

    Reply: `{"reason": str}`.
    """

    score: float
    success: bool | None
    reasons: tuple[str, ...]
    """Reasons of the windows, in order."""


Task = (
    ExtractTruths
    | ExtractPooledTruths
    | ExtractClaims
    | ExtractPooledClaims
    | FindEvidence
    | JudgeClaims
    | JudgeClaimList
    | ExplainScore
    | ConcludeReasons
)
