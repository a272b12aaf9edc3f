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
from faithtui.metrics.concurrency import together
from faithtui.metrics.findings import WindowFindings
from faithtui.metrics.strategies.common import FaithfulnessOptions, with_peer_reasons
from faithtui.metrics.strategies.comparison import ask_undecided, compare
from faithtui.metrics.strategies.derivation import Known, derive
from faithtui.metrics.strategies.extraction import read


async def gather(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    ask: Ask,
    given: Sequence[Claim] | None = None,
) -> tuple[WindowFindings, ...]:
    """Ask about a conversation; one entry per window."""
    windows = metric.windows(conversation)
    known = Known()
    is_read = [asyncio.Event() for _ in windows]

    async def reading() -> None:
        await read(metric, conversation, windows, ask, given, known, is_read)

    async def comparing() -> None:
        await compare(metric, conversation, windows, ask, known, is_read)

    await together((part() for part in (reading, comparing)), at_once=metric.async_mode)
    await ask_undecided(metric, windows, ask, known)
    findings = [derive(metric, conversation, window, known) for window in windows]
    return await with_peer_reasons(metric, findings, ask)
