"""Ask what the peer asks, window by window: each document against the window's messages together.

Without `as_peer` the questions are the peer's and the verdicts ours: a statement without a readable
verdict is asked about again. A document that a window has twice is asked about once and counts
twice.

Source: deepeval 4.3.1, metrics/turn_contextual_relevancy, content of the questions as measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from faithtui.domain.claims.verdicts import Claim, Verdict
from faithtui.domain.conversation import Conversation, normalise_text
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.base import Questions, ask_branches
from faithtui.metrics.relevance.questions import make_statement_relevance_question
from faithtui.metrics.relevance.verdict_questions import ask_statements_until_all_have_verdicts
from faithtui.metrics.relevance.window_passages import (
    RelevanceOptions,
    WindowView,
    add_deepeval_relevance_reasons,
    make_claim_from_statement,
    make_window_views,
    map_documents_to_first_turns,
)
from faithtui.metrics.relevance.words import read_relevance_label
from faithtui.metrics.strategies.faithfulness_labels import ask_or_return_error, format_failure
from faithtui.metrics.window_scores import WindowFindings


def gather_relevance_by_window(
    metric: RelevanceOptions, conversation: Conversation, windows: Sequence[Window]
) -> Questions[tuple[WindowFindings, ...]]:
    """Ask about every window of a conversation; one entry per window."""
    views = make_window_views(conversation, windows, as_peer=metric.as_peer)
    first_turns = map_documents_to_first_turns(conversation)
    asked = yield from ask_branches(
        (
            ask_or_return_error(_ask_window(metric, view, first_turns), metric.as_peer)
            for view in views
        ),
        at_once=metric.async_mode,
    )
    findings = [
        WindowFindings(failure=format_failure(each)) if isinstance(each, JudgeError) else each
        for each in asked
    ]
    return (
        yield from add_deepeval_relevance_reasons(metric, views, _unify_equal_statements(findings))
    )


def _ask_window(
    metric: RelevanceOptions, view: WindowView, first_turns: Mapping[str, int]
) -> Questions[WindowFindings]:
    if view.explain_skip is not None and not metric.as_peer:
        return WindowFindings(skipped=view.explain_skip, without_context=view.without_context)
    documents = tuple(dict.fromkeys(view.documents))
    replies = yield from ask_branches(
        (
            ask_statements_until_all_have_verdicts(
                view.window.position,
                partial(
                    make_statement_relevance_question,
                    metric.prompts,
                    each,
                    view.messages,
                    as_peer=metric.as_peer,
                ),
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
                claim=make_claim_from_statement(each.text, document, first_turns),
                label=read_relevance_label(each.verdict.word, metric.as_peer),
                word=each.verdict.word,
                reason=each.verdict.reason,
                confidence=each.verdict.confidence,
            )
            for document in view.documents
            for each in found[document]
        ),
        truths=view.messages_as_truths,
        without_context=view.without_context,
    )


def _unify_equal_statements(findings: Sequence[WindowFindings]) -> list[WindowFindings]:
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
                        (each.claim.document, normalise_text(each.claim.text)), each.claim
                    ),
                )
                for each in found.verdicts
            ),
        )
        for found in findings
    ]
