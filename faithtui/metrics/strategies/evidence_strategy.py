"""Ask about everything once, and derive the verdict of every window.

Per interaction: the truths of its new documents and the claims of its answers. For every few
interactions: one question that compares their claims with all truths in view and the earlier claims
in view with the new truths. So every (claim, truth) pair that shares a window is compared once.
`window_verdicts` turns the evidence into each window's verdicts; a claim that it cannot decide in
a window is asked about again, with all truths of that window.

Differences from the peer (deepeval 4.3.1), stated in docs/metrics/turn-faithfulness.md: an answer
is read with the messages just before as reference only, and `no` wins over `yes` where both kinds
of truth are in view. Under `as_peer` with a limit on truths, truths are drawn from each window as a
whole, because there the limit is one of the window.
"""

from collections.abc import Sequence

from faithtui.domain.claims.verdicts import Claim
from faithtui.domain.conversation import Conversation
from faithtui.domain.windows import Window
from faithtui.metrics.base import Questions, ask_branches
from faithtui.metrics.strategies.comparison import Comparisons, ask_about_undecided_claims
from faithtui.metrics.strategies.extraction import make_truth_and_claim_extractors
from faithtui.metrics.strategies.faithfulness_labels import (
    FaithfulnessOptions,
    add_deepeval_reasons,
)
from faithtui.metrics.strategies.window_verdicts import ConversationEvidence, derive_window_findings
from faithtui.metrics.window_scores import WindowFindings


def gather_by_evidence(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    given: Sequence[Claim] | None = None,
) -> Questions[tuple[WindowFindings, ...]]:
    """Ask about a conversation; one entry per window."""
    windows = metric.windows(conversation)
    known = ConversationEvidence()
    readers = make_truth_and_claim_extractors(metric, conversation, windows, given, known)
    comparisons = Comparisons(metric, conversation, windows, known)

    def ask_about_interaction(window: Window) -> Questions[None]:
        yield from ask_branches((read(window) for read in readers), at_once=metric.async_mode)
        comparisons.record_interaction_extracted(window)
        if metric.async_mode:
            # Whoever reads the last thing that a comparison needs asks it, so that it waits for
            # nothing else.
            yield from comparisons.ask_ready_comparisons()

    yield from ask_branches(map(ask_about_interaction, windows), at_once=metric.async_mode)
    yield from comparisons.ask_ready_comparisons()
    comparisons.write_findings_to_evidence()
    yield from ask_about_undecided_claims(metric, windows, known)
    findings = [derive_window_findings(metric, conversation, window, known) for window in windows]
    return (yield from add_deepeval_reasons(metric, findings))
