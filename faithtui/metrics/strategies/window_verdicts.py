"""From the evidence a judge named to the verdicts of a window. Pure.

In a window a claim is contradicted if a contradicting truth is in view. Else the judge's verdict
on exactly the truths in view stands where there is one, else the claim is supported if a whole
sufficient set of truths is in view. Else the judge's verdict stands where it was given with the
same truths bearing on the claim as in this window; none is a special case of that. Everywhere else
the claim has to be asked for that window (see `comparison`). Nothing ever raises the judge's
verdict.

Where the verdict and the evidence of one reply contradict each other, and asking again did not
help, the verdict holds: its evidence is shown and decides nothing.

Source: the rules of the recorded cases of deepeval 4.3.1 (fixtures/parity), whose judge depends on
the truths it is shown alone; there it weighs both kinds of truth itself, here `no` wins.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from faithtui.domain.claims.verdicts import STANCES, Claim, Evidence, Stance, Truth, Verdict
from faithtui.domain.conversation import Conversation, Passage
from faithtui.domain.windows import Window
from faithtui.errors import JudgeReplyInvalid
from faithtui.metrics.questions import list_documents
from faithtui.metrics.reply_shapes import ParsedVerdict
from faithtui.metrics.strategies.faithfulness_labels import FaithfulnessOptions
from faithtui.metrics.window_scores import WindowFindings, has_context

TruthSet = frozenset[str]
"""Texts of truths."""

SUPPORTED_IN_VIEW: Final = (
    "Truths in view are sufficient for it; one that contradicts it is out of view."
)


@dataclass(frozen=True, slots=True)
class ClaimFinding:
    """What a judge said of a claim that it compared with some truths."""

    truths: TruthSet
    """What the claim was compared with."""
    verdict: ParsedVerdict | None
    """None: the judge never answered for this claim."""
    label: str | None
    """Its verdict; None where there is none that can be read."""
    sufficient: tuple[TruthSet, ...] = ()
    """Sets of which each is enough for the whole claim; none holds another one."""
    partial: TruthSet = frozenset()
    contradicts: TruthSet = frozenset()

    named: TruthSet = field(init=False)
    """The truths that bear on the claim, by the judge's account."""

    def __post_init__(self) -> None:
        """Put together once what every window looks at."""
        named = self.partial.union(self.contradicts, *self.sufficient)
        object.__setattr__(self, "named", named)

    def applies_to_truths(self, in_view: TruthSet) -> bool:
        """Whether it is about a window with these truths: about one of them, or about none."""
        return not self.truths.isdisjoint(in_view) or self.truths == in_view

    @property
    def contradiction(self) -> str | None:
        """What the evidence says where the verdict says something else; None where they agree.

        Where no truth was named there is nothing to contradict: the verdict is the judge's. So is a
        `no` beside truths for a part: it may hold against a claim that the rest is stated nowhere.
        """
        if self.label is None:
            return None
        if self.contradicts:
            return None if self.label == "no" else "a truth was named that contradicts the claim"
        if self.sufficient:
            return None if self.label == "yes" else "truths were named as sufficient for it"
        if self.partial and self.label == "yes":
            return "truths were named for a part of it only"
        return None


@dataclass(frozen=True, slots=True)
class ClaimDecision:
    """A claim's label in a window, and the finding it comes from."""

    label: str | None
    finding: ClaimFinding
    follows: bool
    """It follows from truths that were named, so the judge's verdict may have been another one."""


def decide_claim(
    findings: Sequence[ClaimFinding], in_view: TruthSet, *, as_peer: bool = False
) -> ClaimDecision | None:
    """Decide a claim by the truths in view.

    Args:
        findings: Of this claim, in the order of asking.
        in_view: Truths of the window.
        as_peer: Take replies whose verdict cannot be read, too.

    Returns:
        None when the judge did not say enough: the claim has to be asked for this window.
    """
    agreeing = [
        each
        for each in findings
        if each.contradiction is None and _is_finding_counted(each, as_peer)
    ]
    for finding in agreeing:
        if not finding.contradicts.isdisjoint(in_view):
            return ClaimDecision("no", finding, follows=True)
    readable = [each for each in findings if _is_finding_counted(each, as_peer)]
    for finding in readable:
        # Sets that other questions named would raise what was said of exactly these truths.
        if finding.truths == in_view:
            return ClaimDecision(finding.label, finding, follows=False)
    for finding in findings:
        # What was not said about a truth in view may have been a `no`.
        if not _is_finding_counted(finding, as_peer) and finding.applies_to_truths(in_view):
            return ClaimDecision(None, finding, follows=False)
    for finding in agreeing:
        if any(each <= in_view for each in finding.sufficient):
            return ClaimDecision("yes", finding, follows=True)
    bearing = frozenset[str]().union(*(each.named for each in findings))
    for finding in readable:
        if finding.truths & bearing == in_view & bearing:
            return ClaimDecision(finding.label, finding, follows=False)
    return None


def _is_finding_counted(finding: ClaimFinding, as_peer: bool) -> bool:
    return as_peer or finding.label is not None


@dataclass(slots=True)
class ConversationEvidence:
    """What is known about one conversation while it is being asked about."""

    documents: dict[Passage, tuple[Truth, ...] | str] = field(default_factory=dict)
    """Truths of each document, or why it has none; those without text or image are left out."""
    truths: dict[int, tuple[Truth, ...]] = field(default_factory=dict)
    """By window: truths in view, without repeats."""
    in_view: dict[int, TruthSet] = field(default_factory=dict)
    """By window: their texts."""
    claims: dict[int, tuple[Claim, ...]] = field(default_factory=dict)
    """By interaction: claims of its answers, repeats kept."""
    failures: dict[int, str] = field(default_factory=dict)
    """By interaction: why it has no claims, so that windows that hold it cannot be judged."""
    window_failures: dict[int, str] = field(default_factory=dict)
    """By window: a document in its view has no truths."""
    findings: dict[str, list[ClaimFinding]] = field(default_factory=dict)
    """By text of the claim, in the order of asking."""
    lost: dict[str, dict[str, str]] = field(default_factory=dict)
    """By text of the claim and of the truth: why the two could not be compared."""
    undecided: dict[str, str] = field(default_factory=dict)
    """By text of the claim: why the judge could not be asked about it in a window."""

    def collect_window_truths(self, conversation: Conversation, window: Window) -> None:
        """Collect the truths in a window's view, unless they were drawn from it as a whole."""
        if window.position in self.truths:
            return
        found: list[Truth] = []
        for document in list_documents(conversation, window.turns):
            truths = self.documents.get(document, ())
            if isinstance(truths, str):
                self.window_failures[window.position] = truths
            else:
                found.extend(truths)
        self.set_window_truths(window, drop_repeated_truths(found))

    def set_window_truths(self, window: Window, truths: tuple[Truth, ...]) -> None:
        """Take truths, each once, as those in a window's view."""
        self.truths[window.position] = truths
        self.in_view[window.position] = frozenset(truth.text for truth in truths)

    def list_claims(self, window: Window) -> Iterator[Claim]:
        """Give the claims of a window's answers, in order, repeats kept."""
        for interaction in window.interactions:
            yield from self.claims.get(interaction, ())

    def find_window_failure(self, window: Window) -> str | None:
        """Say why a window cannot be judged; None when nothing it needs has failed."""
        for interaction in window.interactions:
            if interaction in self.failures:
                return self.failures[interaction]
        if window.position in self.window_failures:
            return self.window_failures[window.position]
        for claim in self.list_claims(window):
            lost = self.lost.get(claim.text, {})
            for truth in self.truths[window.position] if lost else ():
                if truth.text in lost:
                    return lost[truth.text]
        return None


def derive_window_findings(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    window: Window,
    known: ConversationEvidence,
) -> WindowFindings:
    """Work out a window's verdicts from the evidence in its view.

    Raises:
        JudgeReplyInvalid: Under `as_peer`, a verdict is a word that the schema does not allow.
    """
    failure = known.find_window_failure(window)
    if failure is not None:
        return WindowFindings(failure=failure)
    truths = known.truths[window.position]
    in_view = known.in_view[window.position]
    places = {truth.text: place for place, truth in enumerate(truths)}
    verdicts = []
    for claim in known.list_claims(window):
        findings = known.findings.get(claim.text, ())
        decision = decide_claim(findings, in_view, as_peer=metric.as_peer)
        if decision is None:
            return WindowFindings(failure=known.undecided[claim.text])
        verdicts.append(
            _make_verdict(claim, decision, tuple(_list_evidence(findings, truths, places)))
        )
    return WindowFindings(
        verdicts=tuple(verdicts),
        truths=truths,
        without_context=not has_context(conversation, window),
    )


def drop_repeated_truths(truths: Sequence[Truth]) -> tuple[Truth, ...]:
    """Keep the first truth of each text."""
    first: dict[str, Truth] = {}
    for truth in truths:
        first.setdefault(truth.text, truth)
    return tuple(first.values())


def keep_minimal_truth_sets(sets: Collection[TruthSet]) -> tuple[TruthSet, ...]:
    """Keep the sets that hold none of the others, each once."""
    return tuple(dict.fromkeys(each for each in sets if not any(other < each for other in sets)))


def _make_verdict(claim: Claim, decision: ClaimDecision, evidence: tuple[Evidence, ...]) -> Verdict:
    parsed_verdict = decision.finding.verdict
    if parsed_verdict is None:
        return Verdict(claim, None, evidence=evidence)
    if decision.follows and decision.label == "yes" != decision.finding.label:
        # The judge's verdict, reason and probability are about truths that are out of view here.
        return Verdict(claim, decision.label, None, SUPPORTED_IN_VIEW, None, evidence)
    if parsed_verdict.breaks_schema and not decision.follows:
        raise JudgeReplyInvalid(
            f"the verdict {parsed_verdict.word!r} is not in the vocabulary the judge was bound to",
            raw=parsed_verdict.word or "",
        )
    return Verdict(
        claim,
        decision.label,
        parsed_verdict.word,
        parsed_verdict.reason,
        parsed_verdict.confidence,
        evidence,
    )


def _list_evidence(
    findings: Sequence[ClaimFinding], truths: Sequence[Truth], places: Mapping[str, int]
) -> Iterator[Evidence]:
    """List what was named for a claim among the truths in view: what supports it comes first.

    A set counts as support where all of it is in view; else its truths speak for a part.

    Args:
        findings: Of this claim.
        truths: Those in view.
        places: Where each text stands among them.
    """
    sets = keep_minimal_truth_sets([each for finding in findings for each in finding.sufficient])
    of_several = [each for each in sets if len(each) > 1]
    named: dict[Stance, TruthSet] = {
        "supports": frozenset[str]().union(*(each for each in sets if each <= places.keys())),
        "contradicts": frozenset[str]().union(*(each.contradicts for each in findings)),
    }
    named["partial"] = (
        frozenset[str]().union(*(each.named for each in findings))
        - named["supports"]
        - named["contradicts"]
    )
    for stance in STANCES:
        for text in sorted(named[stance] & places.keys(), key=places.__getitem__):
            numbers = tuple(
                number
                for number, each in enumerate(of_several, start=1)
                if stance == "supports" and text in each and each <= places.keys()
            )
            yield Evidence(truths[places[text]], stance, numbers)
