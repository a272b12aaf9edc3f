"""Ask what the peer asks, window by window: each document against the window's messages together.

Without `as_peer` the questions are the peer's and the verdicts ours: a statement without a readable
verdict is asked about again. A document that a window has twice is asked about once and counts
twice.

Source: deepeval 4.3.1, metrics/turn_contextual_relevancy, content of the questions as measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from faithtui.domain.conversation import Conversation, normalised
from faithtui.domain.verdicts import Claim, Verdict
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.base import Ask
from faithtui.metrics.concurrency import together
from faithtui.metrics.findings import WindowFindings
from faithtui.metrics.relevance.asking import statements_of
from faithtui.metrics.relevance.common import (
    RelevanceOptions,
    View,
    claim_of,
    homes_of,
    views_of,
    with_peer_reasons,
)
from faithtui.metrics.relevance.questions import judged
from faithtui.metrics.relevance.words import read_word
from faithtui.metrics.strategies.common import told, tried


async def gather(
    metric: RelevanceOptions,
    conversation: Conversation,
    windows: Sequence[Window],
    ask: Ask,
) -> tuple[WindowFindings, ...]:
    """Ask about every window of a conversation; one entry per window."""
    views = views_of(conversation, windows, as_peer=metric.as_peer)
    homes = homes_of(conversation)

    async def of_window(view: View) -> WindowFindings | JudgeError:
        return await tried(
            _ask_window(metric, view, homes, ask.about(view.window.position)), metric.as_peer
        )

    asked = await together((of_window(view) for view in views), at_once=metric.async_mode)
    findings = [
        WindowFindings(failure=told(each)) if isinstance(each, JudgeError) else each
        for each in asked
    ]
    return await with_peer_reasons(metric, views, _same_statements(findings), ask)


async def _ask_window(
    metric: RelevanceOptions, view: View, homes: Mapping[str, int], ask: Ask
) -> WindowFindings:
    if view.why_skipped is not None and not metric.as_peer:
        return WindowFindings(skipped=view.why_skipped, without_context=view.without_context)
    documents = tuple(dict.fromkeys(view.documents))
    replies = await together(
        (
            statements_of(
                ask,
                partial(judged, metric.prompts, each, view.messages, as_peer=metric.as_peer),
                as_peer=metric.as_peer,
            )
            for each in documents
        ),
        at_once=metric.async_mode,
    )
    found = dict(zip(documents, replies, strict=True))
    return WindowFindings(
        verdicts=tuple(
            Verdict(
                claim=claim_of(each.text, document, homes),
                label=read_word(each.said.word, metric.as_peer),
                word=each.said.word,
                reason=each.said.reason,
                confidence=each.said.confidence,
            )
            for document in view.documents
            for each in found[document]
        ),
        truths=view.truths,
        without_context=view.without_context,
    )


def _same_statements(findings: Sequence[WindowFindings]) -> list[WindowFindings]:
    """Make a statement that windows write differently one claim, the first one.

    The judge cuts a document anew in every window; case and white space make no difference.
    """
    first: dict[tuple[str | None, str], Claim] = {}
    return [
        replace(
            found,
            verdicts=tuple(
                replace(
                    each,
                    claim=first.setdefault(
                        (each.claim.document, normalised(each.claim.text)), each.claim
                    ),
                )
                for each in found.verdicts
            ),
        )
        for found in findings
    ]
