import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from faithtui.domain.conversation import Image
from faithtui.domain.ids import ItemId
from faithtui.domain.judging.tasks import ExplainScore
from faithtui.engine.calls import reply_cache
from faithtui.engine.calls.answers_per_question import REPAIRS
from faithtui.engine.calls.ask import DOUBLINGS, Asker
from faithtui.engine.calls.reply_cache import (
    MemoryReplyCache,
    QuestionContext,
    QuestionKeys,
    compute_question_key,
)
from faithtui.engine.calls.send import (
    ATTEMPTS,
    ATTEMPTS_WHERE_NOTHING_LISTENS,
    LONGEST_WAIT_S,
    OUTAGE_FAILURES,
    REFUSALS,
    CallCounts,
)
from faithtui.errors import (
    ImagesNotSupported,
    JudgeAuthFailed,
    JudgeError,
    JudgeMustWait,
    JudgeRateLimited,
    JudgeRefused,
    JudgeReplyInvalid,
    JudgeReplyTruncated,
    JudgeRequestRejected,
    JudgeTimeout,
    JudgeUnavailable,
    JudgeUnreachable,
    JudgeUnusable,
)
from faithtui.judges.base import ImageData, JudgeReply, JudgeRequest, LocalJudge, StopReason, Usage
from faithtui.metrics.base import Question, QuestionPace, ReplyMismatch, ReplyShape
from faithtui.metrics.reply_shapes import make_one_text_reply_shape
from faithtui.store.records import StoredReply

ITEM = ItemId(7)
GOOD = JudgeReply('{"reason": "fine"}', usage=Usage(10, 3, 2), request_id="r1", latency_ms=5)
PROSE = JudgeReply("I would rather not say.")
WRONG_SHAPE = JudgeReply('{"reason": 5}')
CUT = JudgeReply('{"reason": "fi', stop=StopReason.LENGTH)

Answer = JudgeReply | JudgeError | Callable[[JudgeRequest], JudgeReply]


class ScriptedJudge(LocalJudge):
    """Gives the scripted answers in turn, and the last one from then on."""

    ref = "scripted"
    fingerprint = "scripted"
    takes_images = False
    context_window: int | None = None

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.requests: list[JudgeRequest] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.in_flight = 0
        self.most_in_flight = 0

    async def send(self, request: JudgeRequest) -> JudgeReply:
        self.requests.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(0)
            await self.gate.wait()
        finally:
            self.in_flight -= 1
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, JudgeError):
            raise answer
        return answer if isinstance(answer, JudgeReply) else answer(request)

    async def aclose(self) -> None:
        self.gate.set()


@dataclass(frozen=True)
class Kept:
    key: str
    step: str
    item: ItemId | None
    reply: StoredReply
    usable: bool


class RecordingReplies(MemoryReplyCache):
    """Keeps everything it is given, and takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Kept] = []

    async def save_reply(self, asked: QuestionContext, reply: StoredReply, *, usable: bool) -> None:
        await asyncio.sleep(0)
        await super().save_reply(asked, reply, usable=usable)
        self.kept.append(Kept(asked.key, asked.step, asked.item, reply, usable))


class Desk:
    """An asker with everything around it in view."""

    def __init__(self, *answers: Answer, concurrency: int = 4) -> None:
        self.judge = ScriptedJudge(*answers)
        self.replies = RecordingReplies()
        self.waits: list[float] = []
        self.retried: list[tuple[str, str, float]] = []
        self.tally = CallCounts()
        self.asker = Asker(
            self.judge,
            self.replies,
            concurrency=concurrency,
            tally=self.tally,
            on_retry=lambda step, error, wait_s: self.retried.append(
                (step, type(error).__name__, wait_s)
            ),
            pause=self._pause,
        )

    async def _pause(self, wait_s: float) -> None:
        self.waits.append(wait_s)

    async def ask(self, asked: Question[str]) -> str:
        return await self.asker.bind_to_item(ITEM)(asked)


def question(prompt: str = "Why?") -> Question[str]:
    return Question(
        "reason",
        ExplainScore(1.0, ()),
        "You explain.",
        prompt,
        make_one_text_reply_shape("reason"),
        100,
    )


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


# Stored replies


async def test_a_stored_reply_is_used_before_the_judge() -> None:
    collector = Desk(GOOD)
    assert await collector.ask(question()) == "fine"
    assert await collector.ask(question()) == "fine"
    assert len(collector.judge.requests) == 1
    assert (collector.tally.calls, collector.tally.calls_stored) == (1, 1)


async def test_another_asker_finds_the_reply_too() -> None:
    first, second = Desk(GOOD), Desk(PROSE)
    await first.ask(question())
    second.asker = Asker(second.judge, first.replies, concurrency=1)
    assert await second.ask(question()) == "fine"
    assert second.judge.requests == []


async def test_a_stored_reply_that_this_question_cannot_use_is_repaired() -> None:
    collector = Desk(GOOD)
    request = JudgeRequest(
        "reason", question().task, "You explain.", "Why?", question().reply.schema, 100
    )
    old = StoredReply(
        text='{"because": 1}',
        stop="ok",
        structured=False,
        tokens_in=None,
        tokens_out=None,
        tokens_cached=None,
        request_id=None,
        served_model=None,
        latency_ms=0,
    )
    asked = QuestionContext(compute_question_key("scripted", request), "reason", ITEM)
    await collector.replies.save_reply(asked, old, usable=True)
    assert await collector.ask(question()) == "fine"
    (sent,) = collector.judge.requests
    assert "`reason` must be a string" in sent.prompt


async def test_a_reply_is_kept_whole_before_it_is_used() -> None:
    collector = Desk(GOOD)
    used = asyncio.create_task(collector.ask(question()))
    while not collector.replies.kept:
        assert not used.done()
        await asyncio.sleep(0)
    (kept,) = collector.replies.kept
    assert (kept.step, kept.item, kept.usable) == ("reason", ITEM, True)
    assert (kept.reply.text, kept.reply.stop) == (GOOD.text, "ok")
    assert (kept.reply.tokens_in, kept.reply.tokens_out, kept.reply.tokens_cached) == (10, 3, 2)
    assert (kept.reply.request_id, kept.reply.latency_ms) == ("r1", 5)
    assert await used == "fine"


async def test_a_reply_that_cannot_be_used_is_kept_and_never_found() -> None:
    collector = Desk(PROSE, GOOD)
    await collector.ask(question())
    unusable, usable = collector.replies.kept
    assert (unusable.usable, unusable.reply.text) == (False, PROSE.text)
    assert collector.replies.find(unusable.key) is None
    assert collector.replies.find(usable.key) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"step": "verdicts"},
        {"system": "Other."},
        {"prompt": "Other?"},
        {"schema": {"type": "object"}},
        {"max_tokens": 101},
        {"replicate": 1},
    ],
)
def test_a_key_changes_with_everything_that_determines_the_answer(change: dict[str, Any]) -> None:
    request = JudgeRequest("reason", question().task, "System.", "Why?", {}, 100)
    assert compute_question_key("a", request) != compute_question_key(
        "a", replace(request, **change)
    )
    assert compute_question_key("a", request) != compute_question_key("b", request)
    other_task = replace(request, task=ExplainScore(0.0, ("x",)))
    assert compute_question_key("a", request) == compute_question_key("a", other_task)
    assert len(compute_question_key("a", request)) == 64
    keys = QuestionKeys("a")
    for each in (request, replace(request, **change), other_task, request):
        assert keys.get_key(each) == compute_question_key("a", each)


def test_keys_of_the_latest_questions_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []

    def note(fingerprint: str, request: JudgeRequest) -> str:
        computed.append(request.prompt)
        return compute_question_key(fingerprint, request)

    monkeypatch.setattr(reply_cache, "compute_question_key", note)
    monkeypatch.setattr(reply_cache, "_LATEST", 2)
    keys = QuestionKeys("a")
    for prompt in "abacab":
        keys.get_key(JudgeRequest("reason", question().task, "", prompt, {"type": "object"}, 9))
    assert computed == ["a", "b", "c", "b"]


def test_a_key_can_be_made_of_any_text() -> None:
    odd = JudgeRequest("reason", question().task, "\ud800", "\0\u2028", {}, 100)
    assert len(compute_question_key("é", odd)) == 64


async def test_the_peers_own_reader_is_used_where_a_question_brings_one() -> None:
    collector = Desk(JudgeReply('{"reason": "unclosed"'))
    peer = replace(question(), reply=make_one_text_reply_shape("reason", as_peer=True))
    assert await collector.ask(peer) == "unclosed"
    with pytest.raises(JudgeReplyInvalid):
        await collector.ask(question("Another?"))


# Equal questions


async def test_equal_questions_in_the_air_share_one_call() -> None:
    collector = Desk(GOOD)
    found = await asyncio.gather(*(collector.ask(question()) for _ in range(5)))
    assert found == ["fine"] * 5
    assert len(collector.judge.requests) == 1
    assert len(collector.replies.kept) == 1


async def test_they_share_its_failure_and_a_later_one_asks_anew() -> None:
    collector = Desk(JudgeRequestRejected("no"), GOOD)
    found = await asyncio.gather(
        *(collector.ask(question()) for _ in range(3)), return_exceptions=True
    )
    assert [type(each) for each in found] == [JudgeRequestRejected] * 3
    assert await collector.ask(question()) == "fine"
    assert len(collector.judge.requests) == 2


async def test_cancelling_one_who_waits_does_not_take_the_call_from_another() -> None:
    collector = Desk(GOOD)
    collector.judge.gate.clear()
    given_up, waiting = (asyncio.create_task(collector.ask(question())) for _ in range(2))
    await settle()
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    collector.judge.gate.set()
    assert await waiting == "fine"
    assert len(collector.judge.requests) == 1


async def test_a_call_nobody_waits_for_is_kept_when_it_lands() -> None:
    collector = Desk(GOOD)
    collector.judge.gate.clear()
    alone = asyncio.create_task(collector.ask(question()))
    await settle()
    alone.cancel()
    collector.judge.gate.set()
    await settle()
    assert [each.usable for each in collector.replies.kept] == [True]
    assert await collector.ask(question()) == "fine"
    assert len(collector.judge.requests) == 1


async def test_a_failure_nobody_waits_for_goes_unheard() -> None:
    collector = Desk(JudgeAuthFailed("no key"))
    collector.judge.gate.clear()
    alone = asyncio.create_task(collector.ask(question()))
    await settle()
    alone.cancel()
    collector.judge.gate.set()
    await settle()
    assert alone.cancelled()
    assert collector.replies.kept == []


async def test_closing_cancels_what_is_in_the_air() -> None:
    collector = Desk(GOOD)
    collector.judge.gate.clear()
    waiting = asyncio.create_task(collector.ask(question()))
    await settle()
    await collector.asker.aclose()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert collector.judge.in_flight == 0
    await collector.asker.aclose()


# Replies that cannot be used


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (PROSE, "holds no JSON object"),
        (WRONG_SHAPE, "the answer to `reason` has the wrong shape"),
        (JudgeReply(""), "is empty"),
    ],
)
async def test_an_unusable_reply_is_asked_for_again_with_the_reason(
    bad: JudgeReply, why: str
) -> None:
    collector = Desk(bad, GOOD)
    assert await collector.ask(question()) == "fine"
    first, second = collector.judge.requests
    assert first.prompt == "Why?"
    assert second.prompt.startswith("Why?\n\nAn earlier answer could not be used: ")
    assert why in second.prompt
    assert (second.system, second.schema, second.max_tokens) == (
        first.system,
        first.schema,
        first.max_tokens,
    )


async def test_repair_is_tried_at_most_twice() -> None:
    collector = Desk(PROSE)
    with pytest.raises(JudgeReplyInvalid) as raised:
        await collector.ask(question())
    assert raised.value.raw == PROSE.text
    assert len(collector.judge.requests) == 1 + REPAIRS == 3
    assert [each.usable for each in collector.replies.kept] == [False] * 3
    assert [request.prompt.count("Why?") for request in collector.judge.requests] == [1, 1, 1]


async def test_the_repair_names_the_last_error() -> None:
    collector = Desk(PROSE, WRONG_SHAPE, GOOD)
    await collector.ask(question())
    assert "no JSON" in collector.judge.requests[1].prompt
    assert "wrong shape" in collector.judge.requests[2].prompt
    assert "no JSON" not in collector.judge.requests[2].prompt


@pytest.mark.parametrize("stop", [StopReason.REFUSAL, StopReason.FILTER])
async def test_refusals_are_not_asked_again(stop: StopReason) -> None:
    collector = Desk(replace(GOOD, stop=stop))
    with pytest.raises(JudgeRefused):
        await collector.ask(question())
    assert len(collector.judge.requests) == 1
    assert [each.usable for each in collector.replies.kept] == [False]


async def test_a_reply_that_ran_into_the_limit_gets_twice_the_tokens() -> None:
    collector = Desk(CUT, CUT, GOOD)
    assert await collector.ask(question()) == "fine"
    assert [request.max_tokens for request in collector.judge.requests] == [100, 200, 400]
    assert {request.prompt for request in collector.judge.requests} == {"Why?"}
    assert len({each.key for each in collector.replies.kept}) == 3, (
        "a limit is part of the question"
    )
    assert await collector.ask(question()) == "fine"
    assert len(collector.judge.requests) == 3, (
        "what was cut is not bought again to learn that it is"
    )


async def test_a_reply_that_is_always_too_long_fails_without_repair() -> None:
    collector = Desk(CUT)
    with pytest.raises(JudgeReplyTruncated) as raised:
        await collector.ask(question())
    assert raised.value.raw == CUT.text
    assert len(collector.judge.requests) == 1 + DOUBLINGS
    assert [each.usable for each in collector.replies.kept] == [False] * 3
    with pytest.raises(JudgeReplyTruncated):
        await collector.ask(question())
    limits = [request.max_tokens for request in collector.judge.requests]
    assert limits == [100, 200, 400, 400], "the highest limit alone is tried once more"


async def test_a_complete_object_cut_by_the_limit_is_not_used() -> None:
    collector = Desk(replace(GOOD, stop=StopReason.LENGTH))
    with pytest.raises(JudgeReplyTruncated):
        await collector.ask(question())


async def test_an_unusable_reply_after_doubling_is_repaired() -> None:
    collector = Desk(CUT, PROSE, GOOD)
    assert await collector.ask(question()) == "fine"
    assert [request.max_tokens for request in collector.judge.requests] == [100, 200, 200]


async def test_a_limit_is_raised_twice_however_often_a_question_is_repaired() -> None:
    collector = Desk(CUT, PROSE, CUT, PROSE, CUT)
    with pytest.raises(JudgeReplyTruncated, match="also when it was raised to 400"):
        await collector.ask(question())
    assert [request.max_tokens for request in collector.judge.requests] == [100, 200, 200, 400, 400]


async def test_a_reply_that_stopped_for_another_reason_is_read() -> None:
    assert await Desk(replace(GOOD, stop=StopReason.OTHER)).ask(question()) == "fine"


# Failures that may pass


@pytest.mark.parametrize(
    "error",
    [JudgeRateLimited("slow down"), JudgeTimeout("no answer"), JudgeUnavailable("cut")],
)
async def test_failures_that_may_pass_are_tried_again_with_doubling_waits(
    error: JudgeError,
) -> None:
    collector = Desk(error, error, error, GOOD)
    assert await collector.ask(question()) == "fine"
    assert collector.waits == [0.5, 1.0, 2.0]
    name = type(error).__name__
    assert collector.retried == [
        ("reason", name, 0.5),
        ("reason", name, 1.0),
        ("reason", name, 2.0),
    ]
    assert (collector.tally.retries, collector.tally.calls) == (3, 1)


async def test_a_lasting_failure_is_raised_after_the_last_attempt() -> None:
    collector = Desk(JudgeUnavailable("overloaded", status=503))
    with pytest.raises(JudgeUnavailable, match="overloaded"):
        await collector.ask(question())
    assert len(collector.judge.requests) == ATTEMPTS
    assert len(collector.waits) == ATTEMPTS - 1
    assert collector.replies.kept == []


async def test_what_the_provider_asks_us_to_wait_is_waited() -> None:
    collector = Desk(JudgeRateLimited("slow down", retry_after_s=33.0), GOOD)
    assert await collector.ask(question()) == "fine"
    assert collector.waits == [33.0]


async def test_a_wait_of_0_is_taken_at_its_word() -> None:
    collector = Desk(JudgeRateLimited("slow down", retry_after_s=0.0), GOOD)
    await collector.ask(question())
    assert collector.waits == [0.0]


@pytest.mark.parametrize(("wait_s", "sent"), [(LONGEST_WAIT_S, 2), (LONGEST_WAIT_S + 1, 1)])
async def test_a_provider_that_wants_us_to_wait_too_long_stops_the_run(
    wait_s: float, sent: int
) -> None:
    collector = Desk(JudgeRateLimited("tomorrow", retry_after_s=wait_s), JudgeAuthFailed("end"))
    with pytest.raises(JudgeUnusable) as stopped:
        await collector.ask(question())
    assert len(collector.judge.requests) == sent
    if sent == 1:
        assert isinstance(stopped.value, JudgeMustWait)
        assert stopped.value.retry_after_s == wait_s
        assert "ask again then" in str(stopped.value)
        assert "resume" not in str(stopped.value)


@pytest.mark.parametrize(
    ("wait_s", "sentence"),
    [
        (3_600.0, "for 60 min; ask again then"),
        (86_400.0, "for 24 hours; ask again then"),
        (2_592_000.0, "for 30 days; ask again then"),
        (1e11, "for more than a year; choose another judge, or ask its provider"),
    ],
)
async def test_a_long_wait_is_told_in_a_unit_that_people_use(wait_s: float, sentence: str) -> None:
    collector = Desk(JudgeRateLimited("tomorrow", retry_after_s=wait_s), JudgeAuthFailed("end"))
    with pytest.raises(JudgeMustWait, match=re.escape(sentence)):
        await collector.ask(question())


async def test_a_judge_that_never_answered_stops_the_run() -> None:
    collector = Desk(JudgeUnavailable("no connection"))
    with pytest.raises(JudgeUnreachable, match="no connection"):
        await collector.ask(question())
    assert len(collector.judge.requests) == ATTEMPTS


async def test_a_judge_whose_port_nobody_has_stops_the_run_sooner_unless_it_answered() -> None:
    refused = JudgeUnavailable("nothing listens")
    refused.nothing_listens = True
    collector = Desk(refused)
    with pytest.raises(JudgeUnreachable, match="Nothing was answered so far"):
        await collector.ask(question())
    assert len(collector.judge.requests) == ATTEMPTS_WHERE_NOTHING_LISTENS < ATTEMPTS
    collector = Desk(GOOD, *[refused] * (ATTEMPTS - 1), GOOD)
    await collector.ask(question("Before?"))
    assert await collector.ask(question()) == "fine"


async def test_one_question_that_always_fails_does_not_stop_the_run() -> None:
    collector = Desk(GOOD, JudgeUnavailable("cut"))
    await collector.ask(question("Before?"))
    with pytest.raises(JudgeUnavailable, match="cut"):
        await collector.ask(question())
    assert len(collector.judge.requests) == 1 + ATTEMPTS


async def test_when_everything_fails_questions_wait_for_the_judge_to_come_back() -> None:
    gone = [JudgeUnavailable("cut")] * (2 * OUTAGE_FAILURES)
    collector = Desk(GOOD, *gone, GOOD)
    await collector.ask(question("Before?"))
    answers = await asyncio.gather(*(collector.ask(question(f"{n}?")) for n in range(4)))
    assert answers == ["fine"] * 4


async def test_a_judge_that_does_not_come_back_stops_the_run() -> None:
    collector = Desk(GOOD, JudgeUnavailable("cut"))
    await collector.ask(question("Before?"))
    asked = [collector.ask(question(f"{n}?")) for n in range(4)]
    ends = await asyncio.gather(*asked, return_exceptions=True)
    assert any(isinstance(end, JudgeUnreachable) for end in ends)


async def test_requests_that_are_found_too_many_have_more_tries_than_failing_ones() -> None:
    collector = Desk(JudgeRateLimited("busy"))
    with pytest.raises(JudgeRateLimited):
        await collector.ask(question())
    assert len(collector.judge.requests) == REFUSALS > ATTEMPTS


@pytest.mark.parametrize("error", [JudgeAuthFailed("no key"), JudgeRequestRejected("bad request")])
async def test_other_failures_are_raised_at_once(error: JudgeError) -> None:
    collector = Desk(error)
    with pytest.raises(type(error)) as raised:
        await collector.ask(question())
    assert raised.value is error
    assert (len(collector.judge.requests), collector.waits) == (1, [])


# How many at once


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_no_more_requests_than_allowed_are_under_way(concurrency: int) -> None:
    collector = Desk(GOOD, concurrency=concurrency)
    await asyncio.gather(*(collector.ask(question(f"Why {n}?")) for n in range(10)))
    assert collector.judge.most_in_flight == concurrency
    assert len(collector.judge.requests) == 10
    assert collector.tally.in_flight == 0


async def test_a_question_that_waits_to_be_tried_again_holds_no_slot() -> None:
    collector = Desk(JudgeTimeout("no answer"), GOOD, concurrency=1)
    paused, go_on = asyncio.Event(), asyncio.Event()

    async def pause(wait_s: float) -> None:
        paused.set()
        await go_on.wait()

    asker = Asker(collector.judge, collector.replies, concurrency=1, pause=pause)
    slow = asyncio.create_task(asker.ask(question("Slow?"), ITEM))
    await paused.wait()
    assert await asker.ask(question("Quick?"), ITEM) == "fine"
    go_on.set()
    assert await slow == "fine"


async def test_requests_and_tokens_are_counted() -> None:
    collector = Desk(PROSE, GOOD)
    await collector.ask(question())
    tally = collector.tally
    # The first judge's reply does not say its tokens, so they are estimated and said to be.
    assert (tally.calls, tally.estimated) == (2, 1)
    assert [kept.reply.estimated for kept in collector.replies.kept] == [True, False]
    assert tally.tokens_in == sum(kept.reply.tokens_in or 0 for kept in collector.replies.kept) > 10
    assert (
        tally.tokens_out == sum(kept.reply.tokens_out or 0 for kept in collector.replies.kept) > 3
    )


async def test_a_request_carries_the_whole_question() -> None:
    collector = Desk(GOOD)
    await collector.ask(question())
    (sent,) = collector.judge.requests
    assert sent == JudgeRequest(
        "reason", question().task, "You explain.", "Why?", question().reply.schema, 100
    )
    assert json.dumps(sent.schema)


def test_images_are_taken_when_the_judge_takes_them() -> None:
    collector = Desk(GOOD)
    assert collector.asker.bind_to_item(None).judge_traits.takes_images is False


# What a metric's options allow


def asker(judge: ScriptedJudge, pace: QuestionPace, waits: list[float] | None = None) -> Asker:
    async def pause(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)

    return Asker(judge, MemoryReplyCache(), concurrency=8, pace=pace, pause=pause)


async def test_one_call_at_a_time_is_one_in_the_whole_run() -> None:
    judge = ScriptedJudge(GOOD)
    found = asker(judge, QuestionPace(one_call=True))
    asks = [found.bind_to_item(ItemId(n)) for n in range(4)]
    await asyncio.gather(*(ask(question(f"Why {n}?")) for n, ask in enumerate(asks)))
    assert (len(judge.requests), judge.most_in_flight) == (4, 1)


async def test_a_pause_goes_before_each_call_and_before_no_stored_reply() -> None:
    waits: list[float] = []
    found = asker(ScriptedJudge(GOOD), QuestionPace(pause_s=1.5), waits)
    for _ in range(2):
        await found.bind_to_item(None)(question())
    await found.bind_to_item(None)(question("Why not?"))
    assert waits == [1.5, 1.5]


async def test_so_many_answers_are_in_flight_and_no_more() -> None:
    found = asker(ScriptedJudge(GOOD), QuestionPace(answers=2))
    inside = most = 0

    async def judge_answer(number: int) -> None:
        nonlocal inside, most
        async with found.bind_to_item(ItemId(number)).hold_answer_slot():
            inside += 1
            most = max(most, inside)
            await settle()
            inside -= 1

    await asyncio.gather(*(judge_answer(number) for number in range(6)))
    assert most == 2


async def test_without_such_an_option_all_answers_are_in_flight() -> None:
    found = asker(ScriptedJudge(GOOD), QuestionPace())
    async with found.hold_answer_slot(), found.hold_answer_slot(), found.hold_answer_slot():
        pass


# Plain text and images


def plain(read: Callable[[object, bool], str]) -> Question[str]:
    return replace(question(), reply=ReplyShape(None, read))


async def test_a_plain_text_reply_is_read_as_it_came() -> None:
    collector = Desk(JudgeReply("  NO. Not at all.\n"))
    assert await collector.ask(plain(lambda value, structured: str(value))) == "  NO. Not at all.\n"
    assert collector.judge.requests[0].schema is None


async def test_a_plain_text_reply_of_no_use_is_asked_for_again() -> None:
    def read(value: object, structured: bool) -> str:
        if value != "YES":
            raise ReplyMismatch("begin with YES or NO")
        return str(value)

    collector = Desk(JudgeReply("Perhaps."), JudgeReply("YES"))
    assert await collector.ask(plain(read)) == "YES"
    assert "begin with YES or NO" in collector.judge.requests[1].prompt


async def test_images_go_with_the_question_and_into_its_key() -> None:
    def load(image: Image) -> ImageData:
        return ImageData(image.sha256, image.media_type, image.mark, b"png")

    judge = ScriptedJudge(GOOD)
    found = Asker(judge, MemoryReplyCache(), concurrency=1, load_image=load)
    ask = found.bind_to_item(None)
    for digest in ("a" * 64, "b" * 64, "a" * 64):
        await ask(replace(question(), images=(Image(digest, "image/png"),)))
    assert [request.images[0].sha256[0] for request in judge.requests] == ["a", "b"]
    assert judge.requests[0].images[0].data == b"png"


async def test_without_a_source_of_images_none_is_sent() -> None:
    collector = Desk(GOOD)
    with pytest.raises(ImagesNotSupported):
        await collector.ask(replace(question(), images=(Image("a" * 64, "image/png"),)))
    assert collector.judge.requests == []


async def test_every_reply_that_is_used_is_told_once_with_where_it_came_from() -> None:
    heard: list[tuple[str, str, bool]] = []
    found = Asker(
        ScriptedJudge(PROSE, GOOD),
        MemoryReplyCache(),
        concurrency=1,
        on_reply=lambda step, reply, stored: heard.append((step, reply.text, stored)),
    )
    for prompt in ("Why?", "Why not?", "Why not?"):
        await found.bind_to_item(None)(question(prompt))
    assert heard == [
        ("reason", PROSE.text, False),
        ("reason", GOOD.text, False),
        ("reason", GOOD.text, False),
        ("reason", GOOD.text, True),
    ]


async def test_the_judges_context_window_is_known_to_who_asks() -> None:
    judge = ScriptedJudge(GOOD)
    judge.context_window = 4096
    assert asker(judge, QuestionPace()).bind_to_item(None).judge_traits.context_window == 4096
