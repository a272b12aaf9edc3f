"""Truths of every document and claims of every answer, each asked for once.

The questions are those of turn faithfulness with the strategy `evidence`, letter for letter, so
that the metrics share their replies: documents are grouped as they are new in the conversation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from faithtui.domain.conversation import Passage
from faithtui.domain.text.location import locate
from faithtui.domain.verdicts import Claim, Truth
from faithtui.errors import JudgeError
from faithtui.metrics.answers import Answered
from faithtui.metrics.base import Ask
from faithtui.metrics.concurrency import together
from faithtui.metrics.deepevalex.reading import asked
from faithtui.metrics.prompting import PromptSet
from faithtui.metrics.questions import claims_by_answer, truths_by_document
from faithtui.metrics.strategies.common import tried

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was drawn from a conversation, or why it could not be."""

    truths: dict[Passage, tuple[Truth, ...] | JudgeError] = field(default_factory=dict)
    claims: dict[int, tuple[Claim, ...] | JudgeError] = field(default_factory=dict)
    """By position of the window."""

    def of(self, each: Answered) -> tuple[tuple[Claim, ...], tuple[Truth, ...]]:
        """Give the claims of one answer and the truths of its documents, without repeats.

        Raises:
            JudgeError: One of the questions behind them failed.
        """
        truths: dict[str, Truth] = {}
        for document in each.contexts or ():
            for truth in _or_raise(self.truths.get(document, ())):
                truths.setdefault(truth.text, truth)
        return _or_raise(self.claims[each.window.position]), tuple(truths.values())


async def extract(
    prompts: PromptSet,
    limit: int | None,
    every: Sequence[Answered],
    judged: Sequence[Answered],
    ask: Ask,
    given: Sequence[Claim] | None,
) -> Extracted:
    """Ask for truths and claims.

    Args:
        prompts: Texts.
        limit: At most so many truths per document; None: all.
        every: All interactions of the conversation, in order.
        judged: Those that need truths and claims.
        ask: The judge.
        given: Claims to take in place of any that would be drawn; None draws them.

    Raises:
        JudgeAuthFailed, JudgeQuotaExceeded: No other question can succeed either.
    """
    found = Extracted()
    needed = {document for each in judged for document in each.contexts or ()}

    async def truths_of(documents: tuple[Passage, ...]) -> None:
        question = truths_by_document(prompts, documents, limit)
        reply = await tried(asked(ask, question, "truths"), as_peer=False)
        for position, document in enumerate(documents):
            found.truths[document] = (
                reply
                if isinstance(reply, JudgeError)
                else _located(reply[position][:limit], document)
            )

    async def claims_of(each: Answered) -> None:
        found.claims[each.window.position] = (
            await _claims(prompts, each, ask)
            if given is None
            else tuple(claim for claim in given if claim.turn in each.turns)
        )

    await together(
        chain(
            (truths_of(new) for new in _new_documents(every) if needed.intersection(new)),
            (claims_of(each) for each in judged),
        )
    )
    return found


async def _claims(prompts: PromptSet, each: Answered, ask: Ask) -> tuple[Claim, ...] | JudgeError:
    answers = {
        turn: answer
        for turn, answer in zip(each.turns, each.answers, strict=True)
        if answer.shown.strip()
    }
    question = claims_by_answer(prompts, tuple(answers.values()), each.questions, each.history)
    reply = await tried(asked(ask, question, "claims"), as_peer=False)
    if isinstance(reply, JudgeError):
        return reply
    return tuple(
        Claim(turn, text, locate(text, answer.text))
        for (turn, answer), found in zip(answers.items(), reply, strict=True)
        for text in found
    )


def _new_documents(every: Sequence[Answered]) -> list[tuple[Passage, ...]]:
    """Group the documents that are not blank by the first interaction that has them."""
    first: dict[Passage, int] = {}
    for each in every:
        for document in each.contexts or ():
            if document.shown.strip():
                first.setdefault(document, each.window.position)
    return [
        tuple(document for document, home in first.items() if home == position)
        for position in dict.fromkeys(first.values())
    ]


def _located(facts: Sequence[str], document: Passage) -> tuple[Truth, ...]:
    return tuple(Truth(fact, document.shown, locate(fact, document.text)) for fact in facts)


def _or_raise(found: tuple[T, ...] | JudgeError) -> tuple[T, ...]:
    if isinstance(found, JudgeError):
        raise found
    return found
