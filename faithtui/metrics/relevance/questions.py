"""Questions about documents and the user messages they may serve."""

from collections.abc import Sequence

from faithtui.domain.conversation import Passage
from faithtui.domain.judging.tasks import ExplainRelevance, JudgeDocument, RelateDocument
from faithtui.metrics.base import Question, ReplyShape
from faithtui.metrics.prompt_texts import PromptSet, fence_text, fence_texts, format_numbered_lines
from faithtui.metrics.questions import format_passages_with_image_marks, list_images, list_texts
from faithtui.metrics.relevance.replies import JudgedStatement, make_statements_reply_shape
from faithtui.metrics.reply_shapes import make_one_text_reply_shape

STEPS = {
    "system": (),
    "relate": ("which", "messages", "document"),
    "judge": ("which", "messages", "document"),
    "reason": ("score", "messages", "irrelevant", "relevant"),
    "final-reason": ("score", "success", "reasons"),
}
"""Prompt texts and the holes each must have."""

VERDICT_STEPS = ("relate", "judge")
"""Those that ask for a verdict."""

_EVERY = "every statement the document makes, each once, in the document's order"


def describe_wanted_statements(
    chosen: Sequence[str] | None, times: int, *, contradictory: bool = False, as_peer: bool
) -> str:
    """Put into words for a prompt which statements of a document are wanted.

    Args:
        chosen: Statements as the judge wrote them; None: all that the document makes.
        times: How often they were asked about before. It is part of the words, because a question
            that is asked twice letter for letter is answered once.
        contradictory: Earlier answers about them contradict themselves.
        as_peer: Want one irrelevant statement for a document without any, as deepeval 4.3.1 does.
    """
    if chosen is not None:
        again = f" (already asked: {times})" if times else ""
        if contradictory:
            again = (
                " (earlier answers said no beside messages that they serve; decide anew, and let"
                " verdict and messages say the same)"
            )
        return (
            f"only these{again}, each copied letter for letter, in this order:\n"
            f"{format_numbered_lines('s', chosen)}"
        )
    if as_peer:
        return (
            f"{_EVERY}; for a document that makes none, one entry with its text as the statement "
            'and the verdict "no"'
        )
    return f"{_EVERY}; an empty list when it makes none"


def make_statement_messages_question(
    prompts: PromptSet,
    document: Passage,
    messages: Sequence[Passage],
    which: str,
    *,
    as_peer: bool,
) -> Question[tuple[JudgedStatement, ...]]:
    """Ask for the statements of a document, each with the numbers of the messages it serves."""
    return _make_question_about_document(
        prompts,
        document,
        messages,
        which,
        prompt="relate",
        task=RelateDocument(document.text, list_texts(messages)),
        reply=make_statements_reply_shape(
            "statements", messages=[f"q{n}" for n in range(len(messages))], as_peer=as_peer
        ),
    )


def make_statement_relevance_question(
    prompts: PromptSet,
    document: Passage,
    messages: Sequence[Passage],
    which: str,
    *,
    as_peer: bool,
) -> Question[tuple[JudgedStatement, ...]]:
    """Ask for the statements of a document, each relevant to the messages together or not."""
    return _make_question_about_document(
        prompts,
        document,
        messages,
        which,
        prompt="judge",
        task=JudgeDocument(document.text, list_texts(messages)),
        reply=make_statements_reply_shape("verdicts", messages=None, as_peer=as_peer),
    )


def _make_question_about_document(
    prompts: PromptSet,
    document: Passage,
    messages: Sequence[Passage],
    which: str,
    *,
    prompt: str,
    task: RelateDocument | JudgeDocument,
    reply: ReplyShape[tuple[JudgedStatement, ...]],
) -> Question[tuple[JudgedStatement, ...]]:
    return Question(
        step="verdicts",
        task=task,
        system=prompts.render("system"),
        prompt=prompts.render(
            prompt,
            which=which,
            messages=fence_texts("message", "q", format_passages_with_image_marks(messages)),
            document=fence_text("document", "d0", document.text_with_marks),
        ),
        reply=reply,
        max_tokens=1000 + len(document.text),
        images=list_images([*messages, document]),
        says_something=_has_verdict_or_no_statements,
    )


def _has_verdict_or_no_statements(found: Sequence[JudgedStatement]) -> bool:
    """Whether a reply has a verdict; one without any statement says that there is none."""
    return not found or any(each.verdict.word is not None for each in found)


def make_relevance_reason_question(
    prompts: PromptSet,
    score: float,
    messages: Sequence[Passage],
    *,
    irrelevant: Sequence[str],
    relevant: Sequence[str],
) -> Question[str]:
    """Ask why a window got its score, as deepeval does."""
    return Question(
        step="reason",
        task=ExplainRelevance(score, list_texts(messages), tuple(irrelevant), tuple(relevant)),
        system=prompts.render("system"),
        prompt=prompts.render(
            "reason",
            score=f"{score:.2f}",
            messages=fence_texts("message", "q", format_passages_with_image_marks(messages)),
            irrelevant=format_numbered_lines("i", irrelevant),
            relevant=format_numbered_lines("r", relevant),
        ),
        reply=make_one_text_reply_shape("reason", as_peer=True),
        max_tokens=400,
    )
