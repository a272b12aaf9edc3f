"""The questions behind the stored replies of a conversation, put together again.

A question is not stored, only its key: a hash of all that determines its reply. The metric is taken
through the conversation once more, with stored replies alone, and each question it puts is
recognised by its key: what is shown is word for word what was asked, or nothing. No judge is asked.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TypeVar

from faithtui.domain.conversation import Image
from faithtui.domain.ids import ItemId
from faithtui.engine.calls.ask import Asker, BoundAsk
from faithtui.engine.calls.metric_driver import AnswerOutstanding, assess_conversation
from faithtui.engine.calls.reply_cache import QuestionContext, compute_question_key
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.engine.runs.run_execution import (
    find_claims_to_judge,
    open_run_judge,
    rebuild_and_check_metric,
)
from faithtui.errors import ConfigError, FaithtuiError
from faithtui.judges.base import ImageData, JudgeReply, JudgeRequest, LocalJudge
from faithtui.judges.providers.endpoints import is_in_process_judge
from faithtui.metrics.base import JudgeTraits, Question
from faithtui.store.records import CallRow, RunRow, StoredReply
from faithtui.store.store import Store

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredQuestions:
    """What was asked in some calls."""

    requests: Mapping[int, JudgeRequest]
    """By id of the call; those that could not be put together again are left out."""
    problem: str | None = None
    """Why none or not all could; None: all could."""
    reused: tuple[CallRow, ...] = ()
    """Calls made for other conversations or runs whose stored replies answered questions here, in
    the order of the questions; `window` is the position of the window that asks here."""


def rebuild_questions(store: Store, item: ItemId, calls: Iterable[CallRow]) -> StoredQuestions:
    """Put the questions of a conversation together again. Meant for a thread: it may take a second.

    Args:
        store: Open store.
        item: Conversation of a run.
        calls: Calls that were made for it.
    """
    wanted = {call.key: call for call in calls}
    row = store.runs.read_run(store.runs.read_item_rows([item])[0].run)
    asked: dict[str, tuple[JudgeRequest, int | None]] = {}
    problem: str | None = None
    try:
        asyncio.run(_replay_stored_replies(store, row, item, asked))
    except FaithtuiError as error:
        problem = str(error)
    found = {call.id: asked[key][0] for key, call in wanted.items() if key in asked}
    fingerprint = row.spec.judge_fingerprint
    for key, call in wanted.items():
        if call.id not in found and call.replicate:
            again = (replace(each, replicate=call.replicate) for each, _ in asked.values())
            same = (each for each in again if compute_question_key(fingerprint, each) == key)
            request = next(same, None)
            if request is not None:
                found[call.id] = request
    if len(found) < len(wanted) and problem is None:
        problem = "from the run's prompts and options it comes out differently here"
    reused = _list_reused_calls(store, item, asked)
    found |= {call.id: asked[call.key][0] for call in reused}
    return StoredQuestions(found, problem, reused)


def _list_reused_calls(
    store: Store, item: ItemId, asked: Mapping[str, tuple[JudgeRequest, int | None]]
) -> tuple[CallRow, ...]:
    """List the calls of others that answered questions here.

    Args:
        store: Open store.
        item: Conversation of a run.
        asked: Its questions with the window that asks, by key, in order.
    """
    by_key = {call.key: call for call in store.calls.list_calls_answering(asked)}
    return tuple(
        replace(by_key[key], window=window, is_reused=True)
        for key, (_, window) in asked.items()
        if key in by_key and by_key[key].item != item
    )


async def _replay_stored_replies(
    store: Store, row: RunRow, item: ItemId, asked: dict[str, tuple[JudgeRequest, int | None]]
) -> None:
    """Take the metric as far as stored replies lead, and note what it asks, in which window.

    Raises:
        FaithtuiError: The metric is not what it was, or cannot go on.
    """
    metric = rebuild_and_check_metric(store, row)
    number = store.runs.read_item_rows([item])[0].conversation
    conversation = store.conversations.get(number)
    claims, _ = find_claims_to_judge(store, row.spec, number)
    judge = await _make_silent_judge(row)
    asking_window: int | None = None

    def note_question(key: str, request: JudgeRequest) -> None:
        asked.setdefault(key, (request, asking_window))

    def note_window(window: int | None) -> None:
        nonlocal asking_window
        asking_window = window

    asker = Asker(
        judge,
        _ReadOnlyReplies(store),
        load_image=_make_empty_image_data,
        sender=_NobodySends(),
        on_question=note_question,
        answer_limit=row.spec.profile.max_tokens,
    )
    respondent = _WindowNotingRespondent(asker.bind_to_item(item), note_window)
    try:
        await assess_conversation(metric, conversation, respondent, claims)
    except AnswerOutstanding:
        pass  # The run was stopped there.
    finally:
        await asker.aclose()


@dataclass(frozen=True, slots=True)
class _WindowNotingRespondent:
    """Answers as another respondent does, and says before each question which window asks it."""

    respondent: BoundAsk
    note_window: Callable[[int | None], None]

    @property
    def judge_traits(self) -> JudgeTraits:
        return self.respondent.judge_traits

    def hold_answer_slot(self) -> AbstractAsyncContextManager[object]:
        return self.respondent.hold_answer_slot()

    async def __call__(self, question: Question[T], window: int | None = None) -> T:
        # A question is looked up before its branch first waits, so that no other comes between.
        self.note_window(window)
        return await self.respondent(question, window)


@dataclass(frozen=True, slots=True)
class _SilentJudge(LocalJudge):
    """The judge of a run, as far as questions depend on it."""

    ref: str
    fingerprint: str
    takes_images: bool = False
    context_window: int | None = None

    async def send(self, request: JudgeRequest) -> JudgeReply:
        """Nothing is sent.

        Raises:
            AnswerOutstanding: Always.
        """
        raise AnswerOutstanding

    async def aclose(self) -> None:
        """There is nothing to close."""


async def _make_silent_judge(row: RunRow) -> _SilentJudge:
    """Find out what questions depend on; without its key, a judge is taken to have no limits."""
    spec = row.spec
    silent = _SilentJudge(spec.judge, spec.judge_fingerprint)
    if is_in_process_judge(spec.judge):
        return silent
    try:
        async with open_run_judge(row, RunEnvironment()) as judge:
            return replace(
                silent, takes_images=judge.takes_images, context_window=judge.context_window
            )
    except ConfigError:
        return silent


class _ReadOnlyReplies:
    """Stored replies, to which nothing is added."""

    def __init__(self, store: Store) -> None:
        self._calls = store.calls

    def find(self, key: str, *, or_cut: bool = False) -> StoredReply | None:
        return self._calls.find_usable_reply(key, or_cut=or_cut)

    def find_unusable(self, key: str) -> StoredReply | None:
        return self._calls.find_unusable_reply(key)

    async def wait_until_writable(self) -> None:
        raise AnswerOutstanding

    async def save_reply(self, asked: QuestionContext, reply: StoredReply, *, usable: bool) -> None:
        raise AnswerOutstanding


class _NobodySends:
    """Stands in the place of a sender: a question without a stored reply has none."""

    def stop_and_list_in_flight(self) -> frozenset[asyncio.Task[object]]:
        return frozenset()

    async def answer_question(
        self, asked: QuestionContext, request: JudgeRequest, understand: Callable[[JudgeReply], T]
    ) -> T:
        raise AnswerOutstanding

    def count_unreadable_answers(self, key: str) -> int:
        return 0


def _make_empty_image_data(image: Image) -> ImageData:
    """Name an image: a key depends on nothing else of it."""
    return ImageData(image.sha256, image.media_type, image.mark, None, image.url)
