"""Questions that several metrics ask, so that equal questions share one reply.

A text goes into a prompt with the marks of its images; the images themselves go beside it.
"""

from collections.abc import Iterable, Sequence

from faithtui.domain.claims.verdicts import Truth
from faithtui.domain.conversation import Conversation, Image, Passage
from faithtui.domain.judging.tasks import (
    ConcludeReasons,
    ExplainScore,
    ExtractClaims,
    ExtractPooledClaims,
    ExtractPooledTruths,
    ExtractTruths,
    JudgeClaimList,
    JudgeClaims,
)
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.text.location import find_span
from faithtui.errors import ImagesNotSupported
from faithtui.metrics.base import JudgeTraits, Question
from faithtui.metrics.prompt_texts import (
    FIRST_VERSION,
    PromptSet,
    fence_text,
    fence_texts,
    format_numbered_lines,
)
from faithtui.metrics.reply_shapes import (
    ParsedFact,
    ParsedVerdict,
    make_facts_reply_shape,
    make_keyed_lists_reply_shape,
    make_keyed_verdicts_reply_shape,
    make_one_list_reply_shape,
    make_one_text_reply_shape,
    make_verdict_list_reply_shape,
)

STEPS = {
    "system": (),
    "truths": ("documents", "limit"),
    "quoted-truths": ("documents", "limit"),
    "pooled-truths": ("documents", "limit"),
    "claims": ("history", "questions", "answers"),
    "pooled-claims": ("questions", "answers"),
    "verdicts": ("truths", "claims"),
    "verdict-list": ("truths", "claims"),
    "reason": ("score", "findings"),
    "final-reason": ("score", "success", "reasons"),
}
"""Shared prompt texts and the holes each must have; a metric names those it uses."""

IMAGE_RULE = (
    "An attached image belongs to the text that names it. What it plainly shows is stated there; "
    "what is unclear or hidden is not."
)
"""Said only where there is an image."""

HISTORY_MESSAGES = 4
"""Earlier messages shown with an answer: two exchanges, where what "it" stands for is named."""

HISTORY_LETTERS = 4_000
"""Of each of them: all but what somebody pasted in."""

_FIRST_HISTORY_LETTERS = 120
"""The same in the first version of the prompts."""


def refuse_unsupported_images(conversation: Conversation, judge: JudgeTraits) -> None:
    """Refuse a conversation with images for a judge that takes none, before anything is asked.

    Raises:
        ImagesNotSupported: The judge would judge what it cannot see.
    """
    if conversation.images and not judge.takes_images:
        raise ImagesNotSupported(
            "the conversation holds images and this judge takes none; choose another judge"
        )


def list_documents(conversation: Conversation, turns: Sequence[int]) -> list[Passage]:
    """List the documents of the assistant turns among these, in order, repeats kept."""
    return [
        Passage(document.text, document.images)
        for turn in turns
        if conversation.turns[turn].role == "assistant"
        for document in conversation.turns[turn].retrieval_context or ()
    ]


def list_messages(conversation: Conversation, turns: Sequence[int], role: str) -> list[Passage]:
    """List the messages of one role among these turns, in order."""
    return [
        Passage(conversation.turns[turn].content, conversation.turns[turn].images)
        for turn in turns
        if conversation.turns[turn].role == role
    ]


def list_images(passages: Iterable[Passage]) -> tuple[Image, ...]:
    """List the images of some passages, without repeats."""
    return tuple(dict.fromkeys(image for passage in passages for image in passage.images))


def format_passages_with_image_marks(passages: Sequence[Passage]) -> tuple[str, ...]:
    """Write passages with the marks of their images."""
    return tuple(passage.text_with_marks for passage in passages)


def format_passage_blocks(kind: str, letter: str, passages: Sequence[Passage]) -> str:
    """Set passages that are read for what they state between marks, their images with them."""
    written = fence_texts(kind, letter, format_passages_with_image_marks(passages))
    return f"{IMAGE_RULE}\n{written}" if list_images(passages) else written


def list_texts(passages: Sequence[Passage]) -> tuple[str, ...]:
    """Give the bare texts of passages."""
    return tuple(passage.text for passage in passages)


def make_truths_question(
    prompts: PromptSet, documents: Sequence[Passage], limit: int | None, *, as_peer: bool = False
) -> Question[tuple[tuple[ParsedFact, ...], ...]]:
    """Ask for the truths of each document, with the words that state them where the text does.

    Under the peer's rules no words are asked for, as the peer asks for none.
    """
    step = "truths" if as_peer or "quoted-truths" not in prompts.texts else "quoted-truths"
    is_quoted = '"quote"' in prompts.texts[step]
    letters = sum(len(each.text) for each in documents)
    return Question(
        step="truths",
        task=ExtractTruths(list_texts(documents), limit),
        system=prompts.render("system"),
        prompt=prompts.render(
            step,
            documents=format_passage_blocks("document", "d", documents),
            limit=_format_limit(limit, "of each document"),
        ),
        reply=make_facts_reply_shape(
            [f"d{n}" for n in range(len(documents))], is_quoted=is_quoted, as_peer=as_peer
        ),
        # Facts and their words are about as long as the documents together.
        max_tokens=1000 + (letters if is_quoted else letters // 2),
        images=list_images(documents),
    )


def make_truth_from_fact(fact: ParsedFact, document: Passage) -> Truth:
    """Make a truth of a fact: it stands where its quote does, else where its own words do.

    One whose quote stands nowhere is kept, and the checks find it: that a quote is invented does
    not say that the fact is.
    """
    span = find_span(fact.quote or fact.text, document.text)
    return Truth(fact.text, document.text_with_marks, span, fact.quote)


def make_pooled_truths_question(
    prompts: PromptSet, documents: Sequence[Passage], limit: int | None, *, as_peer: bool = False
) -> Question[tuple[str, ...]]:
    """Ask for the truths of several documents together."""
    return Question(
        step="truths",
        task=ExtractPooledTruths(list_texts(documents), None if limit is None else max(0, limit)),
        system=prompts.render("system"),
        prompt=prompts.render(
            "pooled-truths",
            documents=format_passage_blocks("document", "d", documents),
            limit=_format_limit(limit, "of all documents together"),
        ),
        reply=make_one_list_reply_shape("truths", as_peer=as_peer),
        max_tokens=1000 + sum(len(each.text) for each in documents) // 2,
        images=list_images(documents),
    )


def make_claims_question(
    prompts: PromptSet,
    answers: Sequence[Passage],
    questions: Sequence[Passage],
    history: Sequence[str],
    *,
    as_peer: bool = False,
) -> Question[tuple[tuple[str, ...], ...]]:
    """Ask for the claims of each answer.

    Args:
        prompts: Texts.
        answers: What is read.
        questions: User messages it answers, only to resolve references.
        history: Earlier messages, each prefixed with its role, for the same; the last few are
            shown, very long ones shortened.
        as_peer: Keep claims as written.
    """
    most = _FIRST_HISTORY_LETTERS if prompts.version == FIRST_VERSION else HISTORY_LETTERS
    recent = tuple(_shorten_message(message, most) for message in history[-HISTORY_MESSAGES:])
    return Question(
        step="claims",
        task=ExtractClaims(list_texts(answers), list_texts(questions), recent),
        system=prompts.render("system"),
        prompt=prompts.render(
            "claims",
            history=fence_text("earlier", "h", "\n".join(recent)) if recent else "(none)",
            questions=fence_texts("question", "q", format_passages_with_image_marks(questions)),
            answers=format_passage_blocks("answer", "a", answers),
        ),
        reply=make_keyed_lists_reply_shape([f"a{n}" for n in range(len(answers))], as_peer=as_peer),
        max_tokens=600 + sum(len(each.text) for each in answers),
        images=list_images([*questions, *answers]),
    )


def make_pooled_claims_question(
    prompts: PromptSet,
    answers: Sequence[Passage],
    questions: Sequence[Passage],
    *,
    as_peer: bool = False,
) -> Question[tuple[str, ...]]:
    """Ask for the claims of several answers together."""
    return Question(
        step="claims",
        task=ExtractPooledClaims(list_texts(answers), list_texts(questions)),
        system=prompts.render("system"),
        prompt=prompts.render(
            "pooled-claims",
            questions=fence_texts("question", "q", format_passages_with_image_marks(questions)),
            answers=format_passage_blocks("answer", "a", answers),
        ),
        reply=make_one_list_reply_shape("claims", as_peer=as_peer),
        max_tokens=600 + sum(len(each.text) for each in answers),
        images=list_images([*questions, *answers]),
    )


def make_verdicts_question(
    prompts: PromptSet, claims: Sequence[str], truths: Sequence[str]
) -> Question[tuple[ParsedVerdict | None, ...]]:
    """Ask for one verdict per numbered claim."""
    return Question(
        step="verdicts",
        task=JudgeClaims(tuple(claims), tuple(truths)),
        system=prompts.render("system"),
        prompt=prompts.render(
            "verdicts",
            truths=format_numbered_lines("t", truths),
            claims=format_numbered_lines("c", claims),
        ),
        reply=make_keyed_verdicts_reply_shape(
            [f"c{n}" for n in range(len(claims))], FAITHFULNESS.names
        ),
        max_tokens=400 + 120 * len(claims),
    )


def make_verdict_list_question(
    prompts: PromptSet, claims: Sequence[str], truths: Sequence[str], words: Sequence[str]
) -> Question[tuple[ParsedVerdict, ...]]:
    """Ask for an unnumbered list of verdicts, as deepeval does."""
    return Question(
        step="verdicts",
        task=JudgeClaimList(tuple(claims), tuple(truths)),
        system=prompts.render("system"),
        prompt=prompts.render(
            "verdict-list",
            truths=format_numbered_lines("t", truths),
            claims=format_numbered_lines("c", claims),
        ),
        reply=make_verdict_list_reply_shape(words),
        max_tokens=400 + 120 * len(claims),
    )


def make_reason_question(
    prompts: PromptSet, score: float, findings: Sequence[str], *, as_peer: bool = False
) -> Question[str]:
    """Ask why a window got its score, from the reasons of what cost it something."""
    return Question(
        step="reason",
        task=ExplainScore(score, tuple(findings)),
        system=prompts.render("system"),
        prompt=prompts.render(
            "reason", score=f"{score:.2f}", findings=_format_bullet_list(findings)
        ),
        reply=make_one_text_reply_shape("reason", as_peer=as_peer),
        max_tokens=400,
    )


def make_final_reason_question(
    prompts: PromptSet,
    score: float,
    success: bool | None,
    reasons: Sequence[str],
    *,
    as_peer: bool = False,
) -> Question[str]:
    """Ask why a conversation got its score, from the reasons of its windows."""
    verdict = {None: "no threshold was set", True: "passed", False: "failed"}[success]
    return Question(
        step="final-reason",
        task=ConcludeReasons(score, success, tuple(reasons)),
        system=prompts.render("system"),
        prompt=prompts.render(
            "final-reason",
            score=f"{score:.2f}",
            success=verdict,
            reasons=_format_bullet_list(reasons),
        ),
        # deepeval keeps a final reason as it came; the reason of a window must be a text.
        reply=make_one_text_reply_shape("reason", as_peer=as_peer, anything=True),
        max_tokens=400,
    )


def _format_limit(limit: int | None, of_what: str) -> str:
    """Put a limit into words for a prompt."""
    if limit is None:
        return "all facts"
    return f"at most the {max(0, limit)} most important facts {of_what}"


def _shorten_message(message: str, most: int) -> str:
    """Put a message on one line, as much of it as is shown."""
    line = " ".join(message.split())
    if len(line) <= most:
        return line
    return f"{line[:most].rsplit(' ', 1)[0]} ..."


def _format_bullet_list(findings: Sequence[str]) -> str:
    return "\n".join(f"- {' '.join(text.split())}" for text in findings) or "(none)"
