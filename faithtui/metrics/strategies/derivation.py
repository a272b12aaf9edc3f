"""From the evidence a judge named to the verdicts of a window. Pure.

In a window a claim is contradicted if a contradicting truth is in view, else supported if a
supporting one is, else not addressed. A claim for which the judge named no truth at all keeps the
judge's word on it. A claim that the judge never compared with a truth in view, though asked to,
has no verdict there unless another truth contradicts it.

Source: the set semantics under which the recorded cases of deepeval 4.3.1 replay exactly; there
the judge weighs both kinds of truth itself, here `no` wins.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from faithtui.domain.assessment import Claim, Evidence, Truth, Verdict
from faithtui.domain.conversation import Conversation
from faithtui.domain.windows import Window
from faithtui.errors import JudgeReplyInvalid
from faithtui.metrics.findings import WindowFindings, has_context
from faithtui.metrics.shapes import Said
from faithtui.metrics.strategies.common import FaithfulnessOptions, read_word


@dataclass(frozen=True, slots=True)
class Finding:
    """One comparison of a claim with some truths."""

    truths: frozenset[str]
    """Texts of the truths it was compared with."""
    said: Said | None
    """None: the judge never answered for this claim."""
    answered: bool
    """Whether what it said can be used."""
    supports: frozenset[str]
    """Texts of truths."""
    contradicts: frozenset[str]

    @property
    def named(self) -> frozenset[str]:
        """Texts of the truths that bear on the claim, by the judge's account."""
        return self.supports | self.contradicts


@dataclass(slots=True)
class Known:
    """What is known about one conversation while it is being asked about."""

    truths: dict[int, tuple[Truth, ...]] = field(default_factory=dict)
    """By window: truths in view, without repeats."""
    claims: dict[int, tuple[Claim, ...]] = field(default_factory=dict)
    """By interaction: claims of its answers, repeats kept."""
    failures: dict[int, str] = field(default_factory=dict)
    """By interaction: why it has no claims, so that windows that hold it cannot be judged."""
    window_failures: dict[int, str] = field(default_factory=dict)
    """By window: a document in its view has no truths."""
    findings: dict[str, list[Finding]] = field(default_factory=dict)
    """By text of the claim, in the order of asking; the first is that of its home window."""
    lost: dict[str, dict[str, str]] = field(default_factory=dict)
    """By text of the claim and of the truth: why the two could not be compared."""

    def is_open(self, claim: str, in_view: Collection[str]) -> bool:
        """Whether the judge named truths for a claim, always, and none of them is in view."""
        return all(
            found.named and found.named.isdisjoint(in_view) for found in self.findings[claim]
        )

    def failure_of(self, window: Window, claims: Sequence[Claim]) -> str | None:
        """Say why a window cannot be judged; None when it can."""
        for interaction in window.interactions:
            if interaction in self.failures:
                return self.failures[interaction]
        if window.position in self.window_failures:
            return self.window_failures[window.position]
        for claim in claims:
            lost = self.lost.get(claim.text, {})
            for truth in self.truths[window.position]:
                if truth.text in lost:
                    return lost[truth.text]
        return None


def derive(
    metric: FaithfulnessOptions, conversation: Conversation, window: Window, known: Known
) -> WindowFindings:
    """Work out a window's verdicts from the evidence in its view.

    Raises:
        JudgeReplyInvalid: Under `as_peer`, a verdict is a word that the schema does not allow.
    """
    claims = [
        claim for interaction in window.interactions for claim in known.claims.get(interaction, ())
    ]
    failure = known.failure_of(window, claims)
    if failure is not None:
        return WindowFindings(failure=failure)
    truths = known.truths[window.position]
    return WindowFindings(
        verdicts=tuple(
            _verdict(metric, claim, truths, known.findings.get(claim.text, ())) for claim in claims
        ),
        truths=truths,
        without_context=not has_context(conversation, window),
    )


def _verdict(
    metric: FaithfulnessOptions,
    claim: Claim,
    truths: Sequence[Truth],
    findings: Sequence[Finding],
) -> Verdict:
    """Decide a claim by the truths in view."""
    in_view = {truth.text: truth for truth in truths}
    contradicting = [
        (finding, text) for finding in findings for text in in_view if text in finding.contradicts
    ]
    supporting = [
        (finding, text) for finding in findings for text in in_view if text in finding.supports
    ]
    unanswered = [
        finding
        for finding in findings
        if not (finding.answered or metric.as_peer or finding.truths.isdisjoint(in_view))
    ]
    if contradicting:
        label, said = "no", contradicting[0][0].said
    elif unanswered:
        label, said = None, unanswered[0].said
    elif supporting:
        label, said = "yes", supporting[0][0].said
    else:
        return _without_evidence(metric, claim, findings)
    return Verdict(
        claim=claim,
        label=label,
        word=said.word if said else None,
        reason=said.reason if said else None,
        confidence=said.confidence if said else None,
        evidence=tuple(Evidence(in_view[text], "supports") for _, text in supporting)
        + tuple(Evidence(in_view[text], "contradicts") for _, text in contradicting),
    )


def _without_evidence(
    metric: FaithfulnessOptions, claim: Claim, findings: Sequence[Finding]
) -> Verdict:
    """Decide a claim when no truth that was named for it is in view.

    The home comparison's word stands when it named nothing. When it did, its word was about truths
    that are out of view now; a peer's scripted judge then answers as it does where nothing bears.
    """
    usable = [finding for finding in findings if finding.answered or metric.as_peer]
    if not usable:
        return Verdict(claim, "idk", None, "No truth is in view to compare the claim with.")
    of_nothing = [finding for finding in usable if not finding.named]
    stands = of_nothing[:1] if metric.as_peer else [each for each in usable[:1] if not each.named]
    if not stands:
        return Verdict(claim, "idk", None, "No truth that bears on the claim is in view.")
    said = stands[0].said
    if said is None:
        return Verdict(claim, None)
    if said.breaks_schema:
        raise JudgeReplyInvalid(
            f"the verdict {said.word!r} is not in the vocabulary the judge was bound to",
            raw=said.word or "",
        )
    return Verdict(
        claim, read_word(said.word, metric.as_peer), said.word, said.reason, said.confidence
    )
