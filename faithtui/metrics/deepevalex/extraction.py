"""Truths of every document and claims of every answer, each asked for once.

The questions are those of turn faithfulness with the strategy `evidence`, letter for letter, so
that the metrics share their replies: documents are grouped as they are new in the conversation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from faithtui.domain.claims.verdicts import Claim, Truth
from faithtui.domain.conversation import Passage
from faithtui.domain.text.location import find_span
from faithtui.errors import JudgeError
from faithtui.metrics.base import Questions, ask_branches
from faithtui.metrics.deepevalex.replies import ask_with_deepevalex_errors
from faithtui.metrics.prompt_texts import PromptSet
from faithtui.metrics.questions import (
    make_claims_question,
    make_truth_from_fact,
    make_truths_question,
)
from faithtui.metrics.single_answers import AnsweredInteraction
from faithtui.metrics.strategies.faithfulness_labels import ask_or_return_error

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was drawn from a conversation, or why it could not be."""

    truths: dict[Passage, tuple[Truth, ...] | JudgeError] = field(default_factory=dict)
    claims: dict[int, tuple[Claim, ...] | JudgeError] = field(default_factory=dict)
    """By position of the window."""

    def get_claims_and_truths_of_answer(
        self, answered: AnsweredInteraction
    ) -> tuple[tuple[Claim, ...], tuple[Truth, ...]]:
        """Give the claims of one answer and the truths of its documents, without repeats.

        Raises:
            JudgeError: One of the questions behind them failed.
        """
        truths: dict[str, Truth] = {}
        for document in answered.contexts or ():
            for truth in _raise_if_error(self.truths.get(document, ())):
                truths.setdefault(truth.text, truth)
        return _raise_if_error(self.claims[answered.window.position]), tuple(truths.values())


def extract_claims_and_truths(
    prompts: PromptSet,
    limit: int | None,
    every: Sequence[AnsweredInteraction],
    judged: Sequence[AnsweredInteraction],
    given: Sequence[Claim] | None,
) -> Questions[Extraction]:
    """Ask for truths and claims.

    Args:
        prompts: Texts.
        limit: At most so many truths per document; None: all.
        every: All interactions of the conversation, in order.
        judged: Those that need truths and claims.
        given: Claims to take in place of any that would be drawn; None draws them.

    Raises:
        JudgeAuthFailed, JudgeQuotaExceeded: No other question can succeed either.
    """
    found = Extraction()
    needed = {document for each in judged for document in each.contexts or ()}

    def extract_truths(documents: tuple[Passage, ...]) -> Questions[None]:
        question = make_truths_question(prompts, documents, limit)
        reply = yield from ask_or_return_error(
            ask_with_deepevalex_errors(question, "truths", None), as_peer=False
        )
        for position, document in enumerate(documents):
            found.truths[document] = (
                reply
                if isinstance(reply, JudgeError)
                else tuple(make_truth_from_fact(fact, document) for fact in reply[position][:limit])
            )

    def extract_claims(answered: AnsweredInteraction) -> Questions[None]:
        found.claims[answered.window.position] = (
            (yield from _ask_claims(prompts, answered))
            if given is None
            else tuple(claim for claim in given if claim.turn in answered.turns)
        )

    yield from ask_branches(
        chain(
            (
                extract_truths(new)
                for new in _group_documents_by_first_interaction(every)
                if needed.intersection(new)
            ),
            (extract_claims(each) for each in judged),
        )
    )
    return found


def _ask_claims(
    prompts: PromptSet, answered: AnsweredInteraction
) -> Questions[tuple[Claim, ...] | JudgeError]:
    answers = {
        turn: answer
        for turn, answer in zip(answered.turns, answered.answers, strict=True)
        if answer.text_with_marks.strip()
    }
    question = make_claims_question(
        prompts, tuple(answers.values()), answered.questions, answered.history
    )
    reply = yield from ask_or_return_error(
        ask_with_deepevalex_errors(question, "claims", None), as_peer=False
    )
    if isinstance(reply, JudgeError):
        return reply
    return tuple(
        Claim(turn, text, find_span(text, answer.text))
        for (turn, answer), found in zip(answers.items(), reply, strict=True)
        for text in found
    )


def _group_documents_by_first_interaction(
    every: Sequence[AnsweredInteraction],
) -> list[tuple[Passage, ...]]:
    """Group the documents that are not blank by the first interaction that has them."""
    first: dict[Passage, int] = {}
    for each in every:
        for document in each.contexts or ():
            if document.text_with_marks.strip():
                first.setdefault(document, each.window.position)
    return [
        tuple(document for document, home in first.items() if home == position)
        for position in dict.fromkeys(first.values())
    ]


def _raise_if_error(found: tuple[T, ...] | JudgeError) -> tuple[T, ...]:
    if isinstance(found, JudgeError):
        raise found
    return found
