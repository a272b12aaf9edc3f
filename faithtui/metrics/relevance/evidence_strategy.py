"""Ask about every document once, and derive the verdicts of every window.

A document is compared with the messages it can meet: those of all interactions that share a window
with one that retrieved it. The judge names for each statement the messages it serves; what a window
makes of that is arithmetic:

- a statement is relevant in a window when a message it serves is in view;
- one that serves only messages out of view is not;
- one for which no message was named has the judge's verdict, `no`, or `yes` without a message.

A `no` is never raised by the messages beside it: such a statement is asked about once more, and
then the verdict holds.

A document retrieved once meets at most 2 * window_size - 1 interactions, and no question shows
more: one that comes back again and again meets the others in further questions, about the same
statements.

Difference from the peer (deepeval 4.3.1): there a statement is compared with all messages of a
window together, here with each of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from faithtui.domain.claims.verdicts import Claim, Evidence, Truth, Verdict
from faithtui.domain.conversation import Conversation, Passage
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.base import Questions, ask_branches
from faithtui.metrics.relevance.questions import make_statement_messages_question
from faithtui.metrics.relevance.verdict_questions import ask_statements_until_all_have_verdicts
from faithtui.metrics.relevance.window_passages import (
    RelevanceOptions,
    WindowView,
    add_deepeval_relevance_reasons,
    drop_repeated_passages,
    make_claim_from_statement,
    make_window_views,
    map_documents_to_first_turns,
)
from faithtui.metrics.relevance.words import read_relevance_label
from faithtui.metrics.reply_shapes import ParsedVerdict
from faithtui.metrics.strategies.faithfulness_labels import ask_or_return_error, format_failure
from faithtui.metrics.window_scores import WindowFindings


@dataclass(frozen=True, slots=True)
class DocumentReply:
    """What came of one question about a document."""

    messages: frozenset[str]
    """Messages it was compared with, as shown."""
    verdicts: tuple[ParsedVerdict, ...] = ()
    """One per statement of the document; `supports` are messages as shown."""
    failure: str | None = None
    """Why nothing came of it."""


@dataclass(frozen=True, slots=True)
class DocumentReplies:
    """A document's statements and what they met."""

    claims: tuple[Claim, ...]
    replies: tuple[DocumentReply, ...]
    """Not empty. The first one found the statements."""

    def list_replies_about_messages(
        self, messages: Mapping[str, Truth]
    ) -> tuple[DocumentReply, ...]:
        """Choose the meetings that decide in a window with these messages."""
        first = self.replies[0]
        if first.failure is not None:
            return (first,)
        met = tuple(each for each in self.replies if not each.messages.isdisjoint(messages))
        return met or (first,)


def gather_relevance_by_evidence(
    metric: RelevanceOptions, conversation: Conversation, windows: Sequence[Window]
) -> Questions[tuple[WindowFindings, ...]]:
    """Ask about a conversation; one entry per window."""
    views = make_window_views(conversation, windows, as_peer=metric.as_peer)
    first_turns = map_documents_to_first_turns(conversation)
    plans = _group_messages_by_question(metric, views)
    first = {
        document: view.window.position for view in reversed(views) for document in view.documents
    }
    read = yield from ask_branches(
        (
            # What a document costs belongs to the first window that has it.
            _ask_about_document(metric, document, groups, first_turns, first[document])
            for document, groups in plans.items()
        ),
        at_once=metric.async_mode,
    )
    readings = dict(zip(plans, read, strict=True))
    findings = [_derive_window_findings(metric, view, readings) for view in views]
    return (yield from add_deepeval_relevance_reasons(metric, views, findings))


def _group_messages_by_question(
    metric: RelevanceOptions, views: Sequence[WindowView]
) -> dict[Passage, list[tuple[Passage, ...]]]:
    """Group the messages each document can meet, one group per question."""
    meets: dict[Passage, set[int]] = {}
    for view in views:
        if metric.as_peer or view.explain_skip is None:
            for document in view.documents:
                meets.setdefault(document, set()).update(view.window.interactions)
    most = 2 * metric.window_size - 1
    plans: dict[Passage, list[tuple[Passage, ...]]] = {}
    for document, interactions in meets.items():
        ordered = sorted(interactions)
        groups: list[tuple[Passage, ...]] = []
        met: set[str] = set()
        for start in range(0, len(ordered), most):
            here = (each for at in ordered[start : start + most] for each in views[at].newest)
            new = drop_repeated_passages([each for each in here if each.text_with_marks not in met])
            met.update(each.text_with_marks for each in new)
            # The peer asks about a document even where nobody said anything.
            if new or not groups:
                groups.append(new)
        plans[document] = groups
    return plans


def _ask_about_document(
    metric: RelevanceOptions,
    document: Passage,
    groups: Sequence[tuple[Passage, ...]],
    first_turns: Mapping[str, int],
    window: int,
) -> Questions[DocumentReplies]:
    """Find a document's statements, and compare them with every group of messages."""
    statements: tuple[str, ...] | None = None
    meetings: list[DocumentReply] = []
    for messages in groups:
        shown = frozenset(each.text_with_marks for each in messages)
        reply = yield from ask_or_return_error(
            ask_statements_until_all_have_verdicts(
                window,
                partial(
                    make_statement_messages_question,
                    metric.prompts,
                    document,
                    messages,
                    as_peer=metric.as_peer,
                ),
                chosen=statements,
                names_messages=True,
                as_peer=metric.as_peer,
            ),
            metric.as_peer,
        )
        if isinstance(reply, JudgeError):
            meetings.append(DocumentReply(shown, failure=format_failure(reply)))
        else:
            statements = statements or tuple(each.text for each in reply)
            numbers = {f"q{number}": each.text_with_marks for number, each in enumerate(messages)}
            meetings.append(
                DocumentReply(
                    shown, tuple(_replace_message_numbers(each.verdict, numbers) for each in reply)
                )
            )
        if not statements:
            break
    return DocumentReplies(
        tuple(make_claim_from_statement(each, document, first_turns) for each in statements or ()),
        tuple(meetings),
    )


def _replace_message_numbers(verdict: ParsedVerdict, numbers: Mapping[str, str]) -> ParsedVerdict:
    """Replace the numbers of messages by their texts."""
    return replace(
        verdict, supports=tuple(dict.fromkeys(numbers[each] for each in verdict.supports))
    )


def _derive_window_findings(
    metric: RelevanceOptions, view: WindowView, readings: Mapping[Passage, DocumentReplies]
) -> WindowFindings:
    """Work out a window's verdicts from what its documents serve."""
    if view.explain_skip is not None and not metric.as_peer:
        return WindowFindings(skipped=view.explain_skip, without_context=view.without_context)
    truths = {truth.text: truth for truth in view.messages_as_truths}
    verdicts: list[Verdict] = []
    for document in view.documents:
        reading = readings[document]
        meetings = reading.list_replies_about_messages(truths)
        failure = next((each.failure for each in meetings if each.failure is not None), None)
        if failure is not None:
            return WindowFindings(failure=failure)
        verdicts += (
            _decide_statement_verdict(
                claim, [each.verdicts[position] for each in meetings], truths, metric.as_peer
            )
            for position, claim in enumerate(reading.claims)
        )
    return WindowFindings(
        verdicts=tuple(verdicts),
        truths=view.messages_as_truths,
        without_context=view.without_context,
    )


def _decide_statement_verdict(
    claim: Claim, replies: Sequence[ParsedVerdict], in_view: Mapping[str, Truth], as_peer: bool
) -> Verdict:
    """Decide a statement in one window, from what was said where it met messages in view."""
    serving = [
        (each, text)
        for each in replies
        if as_peer or read_relevance_label(each.word, as_peer) == "yes"
        for text in each.supports
        if text in in_view
    ]
    if serving:
        first = serving[0][0]
        return Verdict(
            claim=claim,
            label="yes",
            word=first.word,
            reason=first.reason,
            confidence=first.confidence,
            evidence=tuple(Evidence(in_view[text], "supports") for _, text in serving),
        )
    unnamed: dict[str | None, ParsedVerdict] = {}
    for each in replies:
        label = read_relevance_label(each.word, as_peer)
        if not each.supports or label != "yes":
            unnamed.setdefault(label, each)
    for label in ("yes", None, "no"):
        if label in unnamed:
            own = unnamed[label]
            return Verdict(claim, label, own.word, own.reason, own.confidence)
    return Verdict(claim, "no", None, "It serves only messages that are out of view.")
