"""A judge that answers in plain text, by a list, behind the engine's own asker."""

from collections.abc import Sequence
from typing import TypeVar

from faithtui.domain.claims.verdicts import Assessment, Conclusion
from faithtui.domain.conversation import Conversation, Document, Image, Turn
from faithtui.domain.judging.tasks import SupportAnswer
from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.metric_driver import assess_conversation
from faithtui.engine.calls.reply_cache import MemoryReplyCache
from faithtui.errors import JudgeError
from faithtui.judges.base import ImageData, JudgeReply, JudgeRequest, LocalJudge, StopReason
from faithtui.metrics.llamaindex_faithfulness import LlamaIndexFaithfulness
from faithtui.metrics.registry import build

T = TypeVar("T")

KEY = "llamaindex-faithfulness"

Said = str | JudgeError | StopReason


class PlainJudge(LocalJudge):
    """Gives its replies in the order of the questions, `NO` after the last."""

    ref = "plain"
    fingerprint = "plain"

    def __init__(
        self,
        replies: Sequence[Said] = (),
        *,
        context_window: int | None = 3900,
        takes_images: bool = False,
    ) -> None:
        self._replies = list(replies)
        self.context_window = context_window
        self.takes_images = takes_images
        self.requests: list[JudgeRequest] = []

    async def send(self, request: JudgeRequest) -> JudgeReply:
        self.requests.append(request)
        said = self._replies.pop(0) if self._replies else "NO"
        if isinstance(said, JudgeError):
            raise said
        if isinstance(said, StopReason):
            return JudgeReply("yes and no", stop=said)
        return JudgeReply(said)

    async def aclose(self) -> None:
        pass

    @property
    def steps(self) -> list[str]:
        return [request.step for request in self.requests]

    @property
    def tasks(self) -> list[SupportAnswer]:
        return [each.task for each in self.requests if isinstance(each.task, SupportAnswer)]

    @property
    def contexts(self) -> list[str]:
        return [task.context for task in self.tasks]


def metric(**options: object) -> LlamaIndexFaithfulness:
    made = build(KEY, options)
    assert isinstance(made, LlamaIndexFaithfulness)
    return made


def exchange(answer: str, *contexts: str, known: bool = True) -> tuple[Turn, Turn]:
    documents = tuple(Document(text) for text in contexts) if known else None
    return Turn("user", "Why?"), Turn("assistant", answer, documents)


def make_conversation(*turns: Turn) -> Conversation:
    return Conversation("test", "1", turns, "1")


def answer(text: str, *contexts: str, known: bool = True) -> Conversation:
    return make_conversation(*exchange(text, *contexts, known=known))


async def no_wait(seconds: float) -> None:
    """Wait for nothing."""


def picture(image: Image) -> ImageData:
    return ImageData(image.sha256, image.media_type, image.mark, b"picture")


async def judged(
    metric: LlamaIndexFaithfulness, conversation: Conversation, judge: PlainJudge
) -> tuple[list[Assessment], Conclusion]:
    """Run the metric as the engine does."""
    asker = Asker(judge, MemoryReplyCache(), concurrency=1, pause=no_wait, load_image=picture)
    found, conclusion = await assess_conversation(metric, conversation, asker.bind_to_item(None))
    return list(found), conclusion


def odd_words(count: int, prefix: str = "w0x") -> str:
    """Words of which the number of tokens is known: four each below 1000."""
    return " ".join(f"{prefix}{n}" for n in range(count))
