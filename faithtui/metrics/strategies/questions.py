"""Questions about documents that both strategies ask."""

from collections.abc import Sequence

from faithtui.domain.conversation import Conversation
from faithtui.domain.tasks import ExtractPooledTruths, ExtractTruths
from faithtui.metrics.base import Question
from faithtui.metrics.prompting import blocks
from faithtui.metrics.shapes import lists_by_key, one_list
from faithtui.metrics.strategies.common import FaithfulnessOptions, limit_phrase


def documents_of(conversation: Conversation, turns: Sequence[int]) -> list[str]:
    """List the documents of the assistant turns among these, in order, repeats kept."""
    return [
        document.text
        for turn in turns
        if conversation.turns[turn].role == "assistant"
        for document in conversation.turns[turn].retrieval_context or ()
    ]


def pooled_truths(
    metric: FaithfulnessOptions, documents: Sequence[str]
) -> Question[tuple[str, ...]]:
    """Ask for the truths of several documents together."""
    limit = metric.truths_extraction_limit
    shown = tuple(documents)
    return Question(
        step="truths",
        task=ExtractPooledTruths(shown, None if limit is None else max(0, limit)),
        system=metric.prompts.render("system"),
        prompt=metric.prompts.render(
            "pooled-truths",
            documents=blocks("document", "d", shown),
            limit=limit_phrase(limit, "of all documents together"),
        ),
        reply=one_list("truths", as_peer=metric.as_peer),
        max_tokens=1000 + sum(len(text) for text in shown) // 2,
    )


def truths_by_document(
    metric: FaithfulnessOptions, documents: tuple[str, ...]
) -> Question[tuple[tuple[str, ...], ...]]:
    """Ask for the truths of each document."""
    limit = metric.truths_extraction_limit
    return Question(
        step="truths",
        task=ExtractTruths(documents, limit),
        system=metric.prompts.render("system"),
        prompt=metric.prompts.render(
            "truths",
            documents=blocks("document", "d", documents),
            limit=limit_phrase(limit, "of each document"),
        ),
        reply=lists_by_key([f"d{n}" for n in range(len(documents))], as_peer=metric.as_peer),
        max_tokens=1000 + sum(len(text) for text in documents) // 2,
    )
