"""One answer put to a judge over the chunks of its context, one question after the other.

Source: llama-index-core 0.14.25, evaluation/faithfulness.py and the response synthesizers behind
it, as measured.
"""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from faithtui.domain.conversation import Image
from faithtui.domain.judging.tasks import SupportAnswer
from faithtui.errors import (
    ContextWindowTooSmall,
    JudgeRefused,
    JudgeReplyInvalid,
    JudgeReplyTruncated,
)
from faithtui.metrics.base import Question, Questions, ReplyMismatch, ReplyShape, ask
from faithtui.metrics.context_packs import (
    estimate_tokens,
    pack_contexts,
    pack_contexts_as_llamaindex,
    split_with_overlap,
)
from faithtui.metrics.llamaindex.templates import CallerTemplate
from faithtui.metrics.prompt_texts import PromptSet, fence_text
from faithtui.metrics.questions import format_passages_with_image_marks, list_images
from faithtui.metrics.single_answers import AnsweredInteraction

FIRST_SPARE_TOKENS = 500
"""Kept free when the context is packed: replies will stand in later questions."""

LATER_SPARE_TOKENS = 5
"""Kept free when a later question is put together and its reply is known."""

PEER_PROMPT_TOKENS = {"question": 241, "refine": 79}
"""Size of the peer's own prompts without their values, as measured. Under the peer's rules the
context is packed as if ours were as long, so that it falls into the same chunks."""

EMPTY = "Empty Response"
"""What the peer reads where the judge said nothing."""

_THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RefinedReply:
    """What a judge said about an answer, once the context was shown."""

    label: str | None
    """`yes`, `no`, or None when it is not known."""
    word: str | None
    """The reply that decided, as it came; None when nothing was asked."""
    reason: str
    """By which rule the reply has that label."""


@dataclass(frozen=True, slots=True)
class RefineSettings:
    """How the questions are put."""

    prompts: PromptSet
    own: Mapping[str, CallerTemplate]
    """The caller's templates by step; they replace ours and have no system text."""
    context_window: int
    """Tokens the judge reads and writes at once."""
    num_output: int
    """Tokens of a reply."""
    as_peer: bool


def judge_answer_over_context_chunks(
    one: AnsweredInteraction, contexts: Sequence[str], manner: RefineSettings
) -> Questions[RefinedReply]:
    """Show the contexts, chunk after chunk, and read what the judge says about the answer.

    By our rules every reply begins with YES or NO, the first YES settles it, and a chunk without
    such a reply leaves the verdict open unless a later one says YES. By the peer's rules the last
    reply that is not empty decides, and the letters `yes` anywhere in it pass.

    Args:
        one: The answer.
        contexts: What its turns retrieved, with the marks of images; not empty.
        manner: How to ask.

    Raises:
        ContextWindowTooSmall: No room is left for any context.
        JudgeError: A question failed. By the peer's rules a reply that cannot be used is no
            failure but an empty reply.
    """
    refine = _judge_chunks_as_llamaindex if manner.as_peer else _judge_chunks_until_yes
    return refine(_RemainingChunks(one, contexts, manner))


class _RemainingChunks:
    """The chunks that are still to be shown for one answer."""

    def __init__(
        self, one: AnsweredInteraction, contexts: Sequence[str], manner: RefineSettings
    ) -> None:
        self._window = one.window.position
        self._response = "\n".join(format_passages_with_image_marks(one.answers))
        self._of_answer = list_images(one.answers)
        self._settings = manner
        longest = max(
            self._estimate_prompt_tokens("question", ""), self._estimate_prompt_tokens("refine", "")
        )
        pack = pack_contexts_as_llamaindex if manner.as_peer else pack_contexts
        chunks = pack(contexts, self._compute_tokens_left_for_chunk(longest, FIRST_SPARE_TOKENS))
        self._left = deque(chunks)
        self._unseen = list(list_images(one.contexts or ()))
        # A mark that was cut in two stands in no chunk; its image goes with the first.
        self._unplaced = [
            image for image in self._unseen if not any(image.mark in chunk for chunk in chunks)
        ]

    @property
    def is_done(self) -> bool:
        """Whether every chunk was shown."""
        return not self._left

    def ask_with_next_chunk(self, earlier: str | None) -> Questions[str]:
        """Show the next chunk.

        Args:
            earlier: The reply so far; None asks as for a first chunk.

        Raises:
            JudgeError: The question failed.
        """
        chunk = self._left.popleft()
        step = "question"
        if earlier is not None:
            step = "refine"
            chunk = self._cut_to_fit(chunk, earlier)
        question = Question(
            step=step,
            task=SupportAnswer(self._response, chunk, earlier),
            system="" if step in self._settings.own else self._settings.prompts.render("system"),
            prompt=self._render_prompt(step, chunk, earlier or ""),
            reply=ReplyShape(
                None, _read_as_text if self._settings.as_peer else _require_first_word_yes_or_no
            ),
            max_tokens=self._settings.num_output,
            images=(*self._take_images_first_shown_in_chunk(chunk), *self._of_answer),
        )
        return (yield from ask(question, self._window))

    def _cut_to_fit(self, chunk: str, earlier: str) -> str:
        """Cut off what does not fit beside a long earlier reply; the rest comes next.

        The peer puts the parts back in reverse order: the last one is asked about first.
        """
        room = self._compute_tokens_left_for_chunk(
            self._estimate_prompt_tokens("refine", earlier), LATER_SPARE_TOKENS
        )
        parts = (split_with_overlap if self._settings.as_peer else _split_chunk_to_token_limit)(
            chunk, room
        )
        self._left.extendleft(parts if self._settings.as_peer else parts[::-1])
        return self._left.popleft()

    def _compute_tokens_left_for_chunk(self, prompt_tokens: int, spare: int) -> int:
        window, output = self._settings.context_window, self._settings.num_output
        room = window - prompt_tokens - output - spare
        if room <= 0:
            raise ContextWindowTooSmall(
                f"a context window of {window} tokens leaves no room for context beside "
                f"{prompt_tokens} tokens of question and answer, {output} for the reply and "
                f"{spare} to spare; choose a judge that reads more, or set context_window"
            )
        return room

    def _estimate_prompt_tokens(self, step: str, earlier: str) -> int:
        """Estimate the size of a question without its chunk."""
        if self._settings.as_peer and step not in self._settings.own:
            ours = estimate_tokens(
                self._settings.prompts.examples
            )  # the peer has none to be as long as
            return (
                PEER_PROMPT_TOKENS[step]
                + ours
                + estimate_tokens(self._response)
                + estimate_tokens(earlier)
            )
        system = "" if step in self._settings.own else self._settings.prompts.render("system")
        return estimate_tokens(system) + estimate_tokens(self._render_prompt(step, "", earlier))

    def _render_prompt(self, step: str, chunk: str, earlier: str) -> str:
        own = self._settings.own.get(step)
        if own is not None:
            return own.format(context_str=chunk, query_str=self._response, existing_answer=earlier)
        holes = {
            "context": fence_text("context", "c", chunk),
            "answer": fence_text("answer", "a", self._response),
        }
        if step == "refine":
            holes["earlier"] = fence_text("reply", "r", earlier)
        return self._settings.prompts.render(step, **holes)

    def _take_images_first_shown_in_chunk(self, chunk: str) -> list[Image]:
        """Take the images whose marks stand in a chunk for the first time."""
        now = [image for image in self._unseen if image.mark in chunk or image in self._unplaced]
        self._unseen = [image for image in self._unseen if image not in now]
        return now


def _split_chunk_to_token_limit(chunk: str, room: int) -> tuple[str, ...]:
    return pack_contexts((chunk,), room)


def _judge_chunks_until_yes(asking: _RemainingChunks) -> Questions[RefinedReply]:
    earlier, unread, asked = None, None, 0
    while not asking.is_done:
        asked += 1
        try:
            earlier = yield from asking.ask_with_next_chunk(earlier)
        except (JudgeReplyTruncated, JudgeRefused):
            raise
        except JudgeReplyInvalid as error:
            unread = error.raw
            continue
        if _read_first_word(earlier) == "yes":
            which = "the reply" if asked == 1 else f"the reply to part {asked} of the context"
            return RefinedReply("yes", earlier, f"{which} begins with YES")
    if unread is not None:
        return RefinedReply(
            None, unread, f"a reply ({quote_reply(unread)}) begins with neither YES nor NO"
        )
    every = "the reply begins" if asked == 1 else f"the replies to all {asked} parts begin"
    return RefinedReply("no", earlier, f"{every} with NO")


def _judge_chunks_as_llamaindex(asking: _RemainingChunks) -> Questions[RefinedReply]:
    last = None
    while not asking.is_done:
        try:
            last = (yield from asking.ask_with_next_chunk(last)) or last
        except (JudgeReplyTruncated, JudgeRefused) as error:
            # The peer knows neither: half an answer and a refusal are replies like others.
            last = error.raw or last
        except JudgeReplyInvalid:
            continue
    word = last if last is not None else EMPTY
    passing = "yes" in word.lower()
    where = "occur" if passing else "occur nowhere"
    return RefinedReply(
        "yes" if passing else "no",
        word,
        f'the letters "yes" {where} in the reply ({quote_reply(word)}), which is '
        "LlamaIndex's rule",
    )


def make_no_context_reply(*, as_peer: bool) -> RefinedReply:
    """Say what follows when there is no context at all: nothing is asked, and nothing supports."""
    reason = "retrieval returned nothing that could support the answer"
    if as_peer:
        reason += f"; LlamaIndex then reads {quote_reply(EMPTY)}"
    return RefinedReply("no", EMPTY if as_peer else None, reason)


def quote_reply(reply: str) -> str:
    """Quote a reply in a sentence: on one line, shortened where it is long."""
    line = " ".join(reply.split())
    return f"“{line if len(line) <= 80 else line[:79] + '…'}”"


def _read_as_text(value: object, structured: bool) -> str:
    return str(value)


def _require_first_word_yes_or_no(value: object, structured: bool) -> str:
    """Take a reply whose first word is YES or NO.

    Raises:
        Mismatch: It begins in another way.
    """
    reply = str(value)
    if _read_first_word(reply) not in ("yes", "no"):
        raise ReplyMismatch("the first word must be YES or NO")
    return reply


def _read_first_word(reply: str) -> str:
    """Read the first word in lower case, without marks around it and thoughts before it."""
    words = re.split(
        r"[\s—–]", _THOUGHT.sub("", reply).lstrip("*_`#>\"'“”‘’([{-— \t\r\n"), maxsplit=1
    )
    return words[0].strip("*_`\"'“”‘’()[]{}.,:;!").casefold()
