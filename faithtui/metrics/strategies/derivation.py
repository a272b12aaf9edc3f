"""From the evidence a judge named to the verdicts of a window. Pure.

In a window a claim is contradicted if a contradicting truth is in view, else supported if a
supporting one is, else not addressed. A claim for which the judge named no truth at all keeps the
judge's word on it. A claim that the judge never compared with a truth in view, though asked to,
has no verdict there unless another truth contradicts it.

Source: the set semantics under which the recorded cases of deepeval 4.3.1 replay exactly; there
the judge weighs both kinds of truth itself, here `no` wins.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from faithtui.domain.assessment import Claim, Evidence, Truth, Verdict
from faithtui.domain.conversation import Conversation, Passage
from faithtui.domain.windows import Window
from faithtui.errors import JudgeReplyInvalid
from faithtui.metrics.findings import WindowFindings, has_context
from faithtui.metrics.questions import documents_of
from faithtui.metrics.shapes import Said
from faithtui.metrics.strategies.common import FaithfulnessOptions, read_word

SUPPORTED_IN_VIEW = "A truth in view supports it; one that contradicts it is out of view."


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

    documents: dict[Passage, tuple[Truth, ...] | str] = field(default_factory=dict)
    """Truths of each document, or why it has none; those without text or image are left out."""
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

    def look(self, conversation: Conversation, window: Window) -> None:
        """Collect the truths in a window's view, unless they were drawn from it as a whole."""
        if window.position in self.truths:
            return
        found: list[Truth] = []
        for document in documents_of(conversation, window.turns):
            truths = self.documents.get(document, ())
            if isinstance(truths, str):
                self.window_failures[window.position] = truths
            else:
                found.extend(truths)
        self.truths[window.position] = unique(found)

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
            for truth in self.truths[window.position] if lost else ():
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
    in_view = {truth.text: truth for truth in truths}
    return WindowFindings(
        verdicts=tuple(
            _verdict(metric, claim, in_view, known.findings.get(claim.text, ())) for claim in claims
        ),
        truths=truths,
        without_context=not has_context(conversation, window),
    )


def unique(truths: Sequence[Truth]) -> tuple[Truth, ...]:
    """Keep the first truth of each text."""
    first: dict[str, Truth] = {}
    for truth in truths:
        first.setdefault(truth.text, truth)
    return tuple(first.values())


def _verdict(
    metric: FaithfulnessOptions,
    claim: Claim,
    in_view: Mapping[str, Truth],
    findings: Sequence[Finding],
) -> Verdict:
    """Decide a claim by the truths in view, given by their texts."""
    contradicting = [
        (finding, text)
        for finding in findings
        if finding.contradicts
        for text in in_view
        if text in finding.contradicts
    ]
    supporting = [
        (finding, text)
        for finding in findings
        if finding.supports
        for text in in_view
        if text in finding.supports
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
        if said is not None and supporting[0][0].contradicts:
            # The judge's reason and probability are about a truth that is out of view here.
            said = replace(said, reason=SUPPORTED_IN_VIEW, confidence=None)
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
