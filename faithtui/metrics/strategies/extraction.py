"""Read a conversation for `evidence`: truths of every document and claims of every answer, once.

Each interaction is read by itself, so that the comparisons of a window can begin as soon as its own
interactions are read, and so that one more interaction leaves all earlier questions as they were.
"""

from collections.abc import Callable, Sequence
from functools import partial

from faithtui.domain.claims.verdicts import Claim, Truth
from faithtui.domain.conversation import Conversation, Passage
from faithtui.domain.text.location import find_span
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.base import Questions, ask
from faithtui.metrics.questions import (
    list_documents,
    list_messages,
    make_claims_question,
    make_pooled_truths_question,
    make_truth_from_fact,
    make_truths_question,
)
from faithtui.metrics.reply_shapes import ParsedFact
from faithtui.metrics.strategies.faithfulness_labels import (
    FaithfulnessOptions,
    ask_or_return_error,
    format_failure,
)
from faithtui.metrics.strategies.window_verdicts import ConversationEvidence, drop_repeated_truths


def make_truth_and_claim_extractors(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    windows: Sequence[Window],
    given: Sequence[Claim] | None,
    known: ConversationEvidence,
) -> tuple[Callable[[Window], Questions[None]], ...]:
    """Make what reads one interaction: its documents, and its answers.

    Under the peer's rules a limit on truths is one of the window, so they are drawn from there.

    Args:
        metric: Options.
        conversation: All of it.
        windows: One per interaction.
        given: Claims to take in place of any that would be drawn; None draws them.
        known: Filled with what is found, or with why it is not.
    """
    read_answers = partial(
        _ask_and_record_interaction_claims, metric, conversation, windows, given, known
    )
    if metric.as_peer and metric.truths_extraction_limit is not None:
        return partial(_ask_and_record_window_truths, metric, conversation, known), read_answers
    new = _group_documents_by_first_interaction(metric, conversation, windows)
    return partial(_ask_and_record_new_document_truths, metric, new, known), read_answers


def _ask_and_record_window_truths(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    known: ConversationEvidence,
    window: Window,
) -> Questions[None]:
    question = make_pooled_truths_question(
        metric.prompts,
        list_documents(conversation, window.turns),
        metric.truths_extraction_limit,
        as_peer=True,
    )
    facts = yield from ask(question, window.position)
    known.set_window_truths(window, drop_repeated_truths([Truth(fact) for fact in facts]))


def _group_documents_by_first_interaction(
    metric: FaithfulnessOptions, conversation: Conversation, windows: Sequence[Window]
) -> list[tuple[Passage, ...] | None]:
    """Give each interaction the documents that none before it has; None: nothing to ask there."""
    seen: set[Passage] = set()
    new: list[tuple[Passage, ...] | None] = []
    for window in windows:
        documents = tuple(
            document
            for document in dict.fromkeys(
                list_documents(conversation, list_turns_new_in_window(windows, window.position))
            )
            if document not in seen and (document.text_with_marks.strip() or metric.as_peer)
        )
        seen.update(documents)
        new.append(documents or None)
    if metric.as_peer and windows and not seen:
        # The peer asks even without a document, and may fail there.
        new[0] = ()
    return new


def _ask_and_record_new_document_truths(
    metric: FaithfulnessOptions,
    new: Sequence[tuple[Passage, ...] | None],
    known: ConversationEvidence,
    window: Window,
) -> Questions[None]:
    """Ask about the new documents of an interaction; none is asked about twice."""
    documents, limit = new[window.position], metric.truths_extraction_limit
    if documents is None:
        return
    question = make_truths_question(metric.prompts, documents, limit, as_peer=metric.as_peer)
    reply = yield from ask_or_return_error(ask(question, window.position), metric.as_peer)
    for position, document in enumerate(documents):
        known.documents[document] = (
            format_failure(reply)
            if isinstance(reply, JudgeError)
            else _make_truths_up_to_limit(reply[position], document, limit)
        )


def _ask_and_record_interaction_claims(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    windows: Sequence[Window],
    given: Sequence[Claim] | None,
    known: ConversationEvidence,
    window: Window,
) -> Questions[None]:
    """Ask for the claims of an interaction's answers, unless they are given."""
    own = list_turns_new_in_window(windows, window.position)
    if given is not None:
        known.claims[window.position] = tuple(each for each in given if each.turn in own)
        return
    answers = {
        turn: passage
        for turn in own
        for passage in list_messages(conversation, [turn], "assistant")
        if passage.text_with_marks.strip() or metric.as_peer
    }
    if not answers:
        known.claims[window.position] = ()
        return
    question = make_claims_question(
        metric.prompts,
        tuple(answers.values()),
        list_messages(conversation, own, "user"),
        [
            f"{conversation.turns[turn].role}: {conversation.turns[turn].content}"
            for turn in window.turns
            if turn not in own
        ],
        as_peer=metric.as_peer,
    )
    reply = yield from ask_or_return_error(ask(question, window.position), metric.as_peer)
    if isinstance(reply, JudgeError):
        known.failures[window.position] = format_failure(reply)
        return
    known.claims[window.position] = tuple(
        Claim(turn, text, find_span(text, answer.text))
        for (turn, answer), found in zip(answers.items(), reply, strict=True)
        for text in found
    )


def list_turns_new_in_window(windows: Sequence[Window], interaction: int) -> tuple[int, ...]:
    """Give the turns of one interaction: those that its window has and the window before lacks.

    With a window size below 1 every window is empty, and so is this.
    """
    before = set(windows[interaction - 1].turns) if interaction else set()
    return tuple(turn for turn in windows[interaction].turns if turn not in before)


def _make_truths_up_to_limit(
    facts: Sequence[ParsedFact], document: Passage, limit: int | None
) -> tuple[Truth, ...]:
    """Keep at most `limit` truths of a document, whatever the judge sent."""
    return tuple(make_truth_from_fact(fact, document) for fact in facts[:limit])
