"""Ask about everything once, and derive the verdict of every window.

Per interaction: the truths of its new documents and the claims of its answers. For every few
interactions: one question that compares their claims with all truths in view and the earlier claims
in view with the new truths. So every (claim, truth) pair that shares a window is compared once.
`derivation` turns the evidence into each window's verdicts; a claim that it cannot decide in
a window is asked about again, with all truths of that window.

Differences from the peer (deepeval 4.3.1), stated in docs/metrics/turn-faithfulness.md: an answer
is read with the messages just before as reference only, and `no` wins over `yes` where both kinds
of truth are in view. Under `as_peer` with a limit on truths, truths are drawn from each window as a
whole, because there the limit is one of the window.
"""

import asyncio
from collections.abc import Sequence

from faithtui.domain.conversation import Conversation
from faithtui.domain.verdicts import Claim
from faithtui.metrics.base import Ask
from faithtui.metrics.concurrency import await_all
from faithtui.metrics.findings import WindowFindings
from faithtui.metrics.strategies.common import FaithfulnessOptions, add_peer_reasons
from faithtui.metrics.strategies.comparison import ask_comparisons, ask_undecided
from faithtui.metrics.strategies.derivation import ConversationEvidence, derive_findings
from faithtui.metrics.strategies.extraction import extract_interactions


async def gather_by_evidence(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    ask: Ask,
    given: Sequence[Claim] | None = None,
) -> tuple[WindowFindings, ...]:
    """Ask about a conversation; one entry per window."""
    windows = metric.windows(conversation)
    known = ConversationEvidence()
    is_read = [asyncio.Event() for _ in windows]

    async def run_extraction() -> None:
        await extract_interactions(metric, conversation, windows, ask, given, known, is_read)

    async def run_comparison() -> None:
        await ask_comparisons(metric, conversation, windows, ask, known, is_read)

    await await_all(
        (part() for part in (run_extraction, run_comparison)), at_once=metric.async_mode
    )
    await ask_undecided(metric, windows, ask, known)
    findings = [derive_findings(metric, conversation, window, known) for window in windows]
    return await add_peer_reasons(metric, findings, ask)
