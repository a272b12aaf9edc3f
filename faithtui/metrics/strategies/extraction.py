"""Read a conversation for `evidence`: truths of every document and claims of every answer, once.

Each interaction is read by itself, so that the comparisons of a window can begin as soon as its own
interactions are read, and so that one more interaction leaves all earlier questions as they were.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial

from faithtui.domain.conversation import Conversation, Passage
from faithtui.domain.text.location import locate
from faithtui.domain.verdicts import Claim, Truth
from faithtui.domain.windows import Window
from faithtui.errors import JudgeError
from faithtui.metrics.base import Ask
from faithtui.metrics.concurrency import together
from faithtui.metrics.questions import (
    claims_by_answer,
    documents_of,
    pooled_truths,
    said_by,
    truths_by_document,
)
from faithtui.metrics.strategies.common import FaithfulnessOptions, told, tried
from faithtui.metrics.strategies.derivation import Known, unique


async def read(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    windows: Sequence[Window],
    ask: Ask,
    given: Sequence[Claim] | None,
    known: Known,
    is_read: Sequence[asyncio.Event],
) -> None:
    """Read every interaction, its documents and its answers at the same time.

    Args:
        metric: Options.
        conversation: All of it.
        windows: One per interaction.
        ask: The judge.
        given: Claims to take in place of any that would be drawn; None draws them.
        known: Filled with what is found, or with why it is not.
        is_read: One per interaction, set when it is.
    """
    parts = (
        _truths_reader(metric, conversation, windows, ask, known),
        partial(_claims, metric, conversation, windows, ask, given, known),
    )

    async def interaction(window: Window) -> None:
        await together((part(window) for part in parts), at_once=metric.async_mode)
        is_read[window.position].set()

    await together((interaction(window) for window in windows), at_once=metric.async_mode)


def _truths_reader(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    windows: Sequence[Window],
    ask: Ask,
    known: Known,
) -> Callable[[Window], Coroutine[object, object, None]]:
    """Choose how the documents of an interaction are read.

    Under the peer's rules a limit on truths is one of the window, so they are drawn from there.
    """
    if metric.as_peer and metric.truths_extraction_limit is not None:
        return partial(_truths_of_window, metric, conversation, ask, known)
    return partial(
        _truths_of_documents, metric, _new_documents(metric, conversation, windows), ask, known
    )


async def _truths_of_window(
    metric: FaithfulnessOptions, conversation: Conversation, ask: Ask, known: Known, window: Window
) -> None:
    question = pooled_truths(
        metric.prompts,
        documents_of(conversation, window.turns),
        metric.truths_extraction_limit,
        as_peer=True,
    )
    facts = await ask.about(window.position)(question)
    known.show(window, unique([Truth(fact) for fact in facts]))


def _new_documents(
    metric: FaithfulnessOptions, conversation: Conversation, windows: Sequence[Window]
) -> list[tuple[Passage, ...] | None]:
    """Give each interaction the documents that none before it has; None: nothing to ask there."""
    seen: set[Passage] = set()
    new: list[tuple[Passage, ...] | None] = []
    for window in windows:
        documents = tuple(
            document
            for document in dict.fromkeys(
                documents_of(conversation, own_turns(windows, window.position))
            )
            if document not in seen and (document.shown.strip() or metric.as_peer)
        )
        seen.update(documents)
        new.append(documents or None)
    if metric.as_peer and windows and not seen:
        # The peer asks even without a document, and may fail there.
        new[0] = ()
    return new


async def _truths_of_documents(
    metric: FaithfulnessOptions,
    new: Sequence[tuple[Passage, ...] | None],
    ask: Ask,
    known: Known,
    window: Window,
) -> None:
    """Ask about the new documents of an interaction; none is asked about twice."""
    documents, limit = new[window.position], metric.truths_extraction_limit
    if documents is None:
        return
    question = truths_by_document(metric.prompts, documents, limit, as_peer=metric.as_peer)
    reply = await tried(ask.about(window.position)(question), metric.as_peer)
    for position, document in enumerate(documents):
        known.documents[document] = (
            told(reply)
            if isinstance(reply, JudgeError)
            else _located(reply[position], document, limit)
        )


async def _claims(
    metric: FaithfulnessOptions,
    conversation: Conversation,
    windows: Sequence[Window],
    ask: Ask,
    given: Sequence[Claim] | None,
    known: Known,
    window: Window,
) -> None:
    """Ask for the claims of an interaction's answers, unless they are given."""
    own = own_turns(windows, window.position)
    if given is not None:
        known.claims[window.position] = tuple(each for each in given if each.turn in own)
        return
    answers = {
        turn: passage
        for turn in own
        for passage in said_by(conversation, [turn], "assistant")
        if passage.shown.strip() or metric.as_peer
    }
    if not answers:
        known.claims[window.position] = ()
        return
    question = claims_by_answer(
        metric.prompts,
        tuple(answers.values()),
        said_by(conversation, own, "user"),
        [
            f"{conversation.turns[turn].role}: {conversation.turns[turn].content}"
            for turn in window.turns
            if turn not in own
        ],
        as_peer=metric.as_peer,
    )
    reply = await tried(ask.about(window.position)(question), metric.as_peer)
    if isinstance(reply, JudgeError):
        known.failures[window.position] = told(reply)
        return
    known.claims[window.position] = tuple(
        Claim(turn, text, locate(text, answer.text))
        for (turn, answer), found in zip(answers.items(), reply, strict=True)
        for text in found
    )


def own_turns(windows: Sequence[Window], interaction: int) -> tuple[int, ...]:
    """Give the turns of one interaction: those that its window has and the window before lacks.

    With a window size below 1 every window is empty, and so is this.
    """
    before = set(windows[interaction - 1].turns) if interaction else set()
    return tuple(turn for turn in windows[interaction].turns if turn not in before)


def _located(facts: Sequence[str], document: Passage, limit: int | None) -> tuple[Truth, ...]:
    """Keep at most `limit` truths of a document, whatever the judge sent."""
    return tuple(Truth(fact, document.shown, locate(fact, document.text)) for fact in facts[:limit])
