"""A whole set by the library: one judge, shared limits, interrupts, results in every form."""

import asyncio
import json
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from faithtui import evaluate, evaluate_async, measure
from faithtui.domain.conversation import Conversation, Document, Turn, single_turn
from faithtui.domain.judging.judge_profile import JudgeProfile
from faithtui.engine.calls import send
from faithtui.engine.library.evaluation import EvaluationProgress
from faithtui.errors import (
    BudgetReached,
    ConfigError,
    FaithtuiError,
    InputError,
    JudgeAuthFailed,
    JudgeUnreachable,
)
from faithtui.judges.base import JudgeReply, JudgeRequest, Usage
from faithtui.judges.plugin_judge import CustomAnswer, CustomQuestion
from tests.engine.building import CountingJudge, conversation
from tests.judges.fake_server import answering_server

CONVERSATIONS = [conversation(key, 2) for key in "abcdef"]


class Answering:
    """What a package's entry point returns: a fingerprint, and `answer`."""

    def __init__(self, *, interrupt_at: int = 0, fails: bool = False) -> None:
        self.fingerprint = "answering 1"
        self.asked = 0
        self.interrupt_at = interrupt_at
        self.fails = fails

    async def answer(self, question: CustomQuestion) -> CustomAnswer | str:
        self.asked += 1
        if self.fails:
            raise ZeroDivisionError("by zero")
        await asyncio.sleep(0)
        if self.asked == self.interrupt_at:
            os.kill(os.getpid(), signal.SIGINT)
            # No event tells it: it is a signal.
            while not any(each.cancelling() for each in asyncio.all_tasks()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            for _ in range(20):  # until everybody has heard of it
                await asyncio.sleep(0)
        assert question.schema is not None
        return json.dumps(fill(question.schema))


def fill(schema: Any) -> Any:
    """Make the simplest value that fits a schema, with one text in each list."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema["type"]:
        case "object":
            return {name: fill(part) for name, part in schema["properties"].items()}
        case "array":
            return [fill(schema["items"])]
        case _:
            return "It is blue."


def test_a_set_is_measured_like_each_of_its_conversations() -> None:
    metrics = ["turn-faithfulness", "ragas_faithfulness"]
    found = evaluate(CONVERSATIONS, metrics, CountingJudgeOfAll())
    assert found.is_complete
    assert [(each.spec.key, each.conversation.key) for each in found] == [
        *(("turn-faithfulness", each.key) for each in CONVERSATIONS),
        *(("ragas-faithfulness", each.key) for each in CONVERSATIONS),
    ]
    for each in found:
        alone = measure(each.conversation, each.spec.key, CountingJudgeOfAll())
        assert (each.scores, each.verdicts, each.reason) == (
            alone.scores,
            alone.verdicts,
            alone.reason,
        )


class CountingJudgeOfAll(CountingJudge):
    """Fills any schema."""

    async def send(self, request: JudgeRequest) -> JudgeReply:
        self.asked.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(0)
        self._before(request)
        self.in_flight -= 1
        return JudgeReply(json.dumps(fill(request.schema)))


def test_equal_questions_of_the_set_are_asked_once_and_again_by_nobody_who_has_the_replies() -> (
    None
):
    twice = [single_turn("Open?", "It opens at nine.", ["It opens at nine."], key=k) for k in "ab"]
    judge = CountingJudge()
    found = evaluate(twice, judge=judge)
    assert found.calls == len(judge.asked) == 4
    assert found.tokens_in == 7 * 4
    again = evaluate(twice, judge=judge, replies=found.replies)
    assert (again.calls, len(judge.asked)) == (0, 4)
    assert again.calls_stored
    assert [each.scores for each in again] == [each.scores for each in found]


def test_no_more_questions_are_in_flight_than_were_allowed() -> None:
    judge = CountingJudge()
    evaluate(CONVERSATIONS, judge=judge, concurrency=3)
    assert judge.most_in_flight == 3


def test_progress_is_told_after_each_conversation_with_totals() -> None:
    told: list[EvaluationProgress] = []
    found = evaluate(CONVERSATIONS, judge=CountingJudge(), on_progress=told.append)
    assert [each.measured for each in told] == [1, 2, 3, 4, 5, 6]
    assert {each.total for each in told} == {6}
    assert told[-1].calls == found.calls
    assert {each.latest.conversation.key for each in told if each.latest} == set("abcdef")


class Thirsty(CountingJudge):
    """Uses a thousand tokens for each answer."""

    async def send(self, request: JudgeRequest) -> JudgeReply:
        return replace(await super().send(request), usage=Usage(700, 300))


def test_a_budget_ends_it_and_what_was_measured_is_kept() -> None:
    found = evaluate(CONVERSATIONS, judge=Thirsty(), concurrency=1, budget_tokens=20_000)
    assert found.problem is not None
    assert "budget" in found.problem
    assert 0 < len(found) < len(CONVERSATIONS)
    assert found.pending == len(CONVERSATIONS) - len(found)
    assert "not measured" in str(found)
    with pytest.raises(BudgetReached):
        evaluate(CONVERSATIONS, judge=CountingJudge(), budget_tokens=1)
    with pytest.raises(ConfigError, match="budget_usd cannot be kept"):
        evaluate(CONVERSATIONS, judge=Answering(), budget_usd=1)


def test_a_budget_that_ends_the_first_conversation_keeps_its_replies() -> None:
    found = evaluate(CONVERSATIONS[:1], judge=Thirsty(), concurrency=1, budget_tokens=5_000)
    assert found.problem is not None
    assert (len(found), found.pending) == (0, 1)
    assert found.calls
    judge = Thirsty()
    rest = evaluate(CONVERSATIONS[:1], judge=judge, replies=found.replies)
    assert rest.is_complete
    whole = evaluate(CONVERSATIONS[:1], judge=Thirsty())
    assert rest.calls == len(judge.asked) == whole.calls - found.calls


def test_what_progress_raises_ends_the_asking_and_loses_nothing() -> None:
    def show(progress: EvaluationProgress) -> None:
        if progress.measured == 2:
            raise ZeroDivisionError("by zero")

    judge = CountingJudge()
    found = evaluate(CONVERSATIONS, judge=judge, concurrency=1, on_progress=show)
    assert found.problem == "on_progress raised ZeroDivisionError: by zero"
    assert (len(found), found.pending, found.interrupted) == (2, 4, False)
    assert "stopped: on_progress raised" in str(found)
    rest = evaluate(CONVERSATIONS, judge=judge, replies=found.replies)
    assert (rest.is_complete, rest.calls) == (True, len(judge.asked) - found.calls)


def test_what_one_conversation_fails_at_is_told_and_the_others_are_measured() -> None:
    def fail(request: JudgeRequest) -> None:
        if "Parcel c-" in request.prompt:
            raise JudgeAuthFailed("no")

    options = {"raise_error": True}
    chats = [
        single_turn("Open?", "It opens at nine.", ["It opens at nine."], key="good"),
        single_turn("Dogs?", "Dogs fly.", ["It opens at nine."], key="bad"),
    ]
    found = evaluate(chats, "llamaindex-faithfulness", options=options)
    assert [each.conversation.key for each in found] == ["good"]
    (failure,) = found.failures
    assert (failure.conversation.key, failure.metric) == ("bad", "llamaindex-faithfulness")
    assert not found.is_complete
    assert [row["state"] for row in found.rows()] == ["scored", "failed"]
    with pytest.raises(JudgeAuthFailed):
        evaluate(CONVERSATIONS[2:3], judge=CountingJudge(fail))


def test_an_interrupt_ends_the_asking_and_gives_what_is_measured() -> None:
    judge = Answering(interrupt_at=20)
    found = evaluate(CONVERSATIONS, judge=judge, concurrency=1)
    assert found.interrupted
    assert 0 < len(found) < len(CONVERSATIONS)
    assert judge.asked == 20
    again = evaluate(CONVERSATIONS, judge=judge, replies=found.replies)
    assert again.is_complete
    alone = Answering()
    assert judge.asked == evaluate(CONVERSATIONS, judge=alone).calls == alone.asked, (
        "nothing bought twice"
    )


@pytest.mark.parametrize("runs_below_asyncio", [False, True], ids=["notebook", "asyncio.run"])
def test_in_a_running_loop_an_interrupt_ends_the_asking_too(runs_below_asyncio: bool) -> None:
    judge = Answering(interrupt_at=20)
    before = signal.getsignal(signal.SIGINT)

    async def cell() -> Any:
        mine = signal.getsignal(signal.SIGINT)
        found = evaluate(CONVERSATIONS, judge=judge, concurrency=1)
        assert signal.getsignal(signal.SIGINT) == mine, "the handler of asyncio is back"
        return found

    found = asyncio.run(cell()) if runs_below_asyncio else run_without_signal_handler(cell)
    assert signal.getsignal(signal.SIGINT) == before
    assert found.interrupted
    assert judge.asked == 20
    assert not [each for each in threading.enumerate() if each.name == "faithtui-measure"]


def test_measuring_one_conversation_in_a_running_loop_ends_with_the_interrupt() -> None:
    judge = Answering(interrupt_at=3)

    async def cell() -> None:
        measure(conversation("long", 20), judge=judge, concurrency=1)

    with pytest.raises(KeyboardInterrupt):
        run_without_signal_handler(cell)
    (*left,) = [each for each in threading.enumerate() if each.name == "faithtui-measure"]
    for each in left:
        each.join()
    assert judge.asked <= 4


def run_without_signal_handler(cell: Callable[[], Any]) -> Any:
    """Run as a notebook's kernel does: interrupts are raised where the code waits."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(cell())
    finally:
        loop.close()


async def test_the_async_twin_stops_when_told_and_gives_up_when_cancelled() -> None:
    stop = asyncio.Event()
    judge = CountingJudge()

    def stop_at_two(progress: EvaluationProgress) -> None:
        if progress.measured == 2:
            stop.set()

    found = await evaluate_async(
        CONVERSATIONS, judge=judge, concurrency=1, stop=stop, on_progress=stop_at_two
    )
    assert found.interrupted
    assert 2 <= len(found) < len(CONVERSATIONS)
    asked = len(judge.asked)
    begun = asyncio.Event()
    endless = CountingJudge(lambda request: begun.set())
    task = asyncio.create_task(evaluate_async(CONVERSATIONS, judge=endless))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert endless.in_flight == 0
    assert len(judge.asked) == asked


def test_a_judge_with_answer_is_taken_as_it_is_by_both() -> None:
    judge = Answering()
    assert measure(CONVERSATIONS[0], judge=judge).judge == "Answering"
    assert evaluate(CONVERSATIONS[:1], judge=judge).is_complete


def test_what_a_judge_raises_becomes_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(send, "FIRST_WAIT_S", 0.0)

    def fail_to_send(request: JudgeRequest) -> None:
        raise ZeroDivisionError("by zero")

    for judge in (Answering(fails=True), CountingJudge(fail_to_send)):
        with pytest.raises(JudgeUnreachable, match="failed: ZeroDivisionError: by zero") as raised:
            measure(CONVERSATIONS[0], judge=judge)
        causes, error = [], raised.value.__cause__
        while error is not None:
            causes.append(type(error))
            error = error.__cause__
        assert ZeroDivisionError in causes


@pytest.mark.parametrize(
    ("how", "error", "said"),
    [
        ({"conversations": "chat"}, InputError, "conversations: is a text; expected a list"),
        ({"conversations": [1]}, InputError, r"conversations\[0\]: is an int"),
        ({"conversations": []}, InputError, "conversations: is empty"),
        ({"metrics": []}, InputError, "metrics: is empty"),
        ({"metrics": "nothing"}, ConfigError, "there is no metric `nothing`"),
        ({"judge": object()}, InputError, "judge: is an object; expected a text .* with `answer`"),
        ({"judge": type("Deaf", (), {"answer": 1})()}, ConfigError, "has no `async def answer`"),
        ({"concurrency": 0}, ConfigError, "concurrency is 0"),
        ({"budget_tokens": 0}, ConfigError, "budget_tokens is 0"),
        ({"budget_usd": float("inf")}, ConfigError, "budget_usd is inf"),
        ({"profile": {}}, InputError, "profile: is a dict; expected a JudgeProfile"),
        ({"profile": JudgeProfile(seed=1)}, ConfigError, "offline takes no parameters"),
        ({"replies": {}}, InputError, "replies: is a dict"),
        ({"on_progress": 3}, InputError, "on_progress: is no function"),
        (
            {"metrics": ["ragas-faithfulness", "turn-faithfulness"], "options": {"x": 1}},
            ConfigError,
            "no metric has an option `x`",
        ),
    ],
)
def test_what_cannot_be_meant_is_told_before_anything_is_asked(
    how: dict[str, Any], error: type[FaithtuiError], said: str
) -> None:
    with pytest.raises(error, match=said):
        evaluate(**{"conversations": CONVERSATIONS, **how})


HOSTILE = "[bold red]<script>alert(1)</script>\x1b[31m [/] {x}"


def test_results_are_shown_as_text_everywhere() -> None:
    chat = Conversation.of(
        Turn("user", "What?"), Turn("assistant", HOSTILE, (Document(HOSTILE),)), key=HOSTILE
    )
    found = evaluate([chat])
    for shown in (found, found.measurements[0]):
        page = shown._repr_html_()
        assert "<script>" not in page
        assert "&lt;script&gt;" in page
        out = StringIO()
        Console(file=out, force_terminal=True, color_system="truecolor", width=300).print(shown)
        assert "[bold red]<script>" in out.getvalue()
        assert "\x1b[31m" not in out.getvalue()
        assert "\x1b" not in str(shown)
        assert str(shown) == str(shown.to_table())


def test_results_are_plain_values() -> None:
    found = evaluate(CONVERSATIONS[:2], ["turn-faithfulness", "ragas-faithfulness"])
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert again["mean_scores"] == found.mean_scores
    assert len(again["measurements"]) == 4
    plain = (str, int, float, bool, type(None))
    for row in (*found.rows(), *found.claim_rows()):
        assert all(isinstance(value, plain) for value in row.values())
    first = found.rows()[0]
    assert (first["conversation"], first["score"], first["claims_yes"]) == ("a", 1.0, 2)
    assert len(found.claim_rows()) == sum(len(each.claims) for each in found)


def test_a_provider_is_asked_with_the_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering_server() as server:
        found = evaluate(
            CONVERSATIONS[:1],
            judge="openai:m",
            base_url=server.url,
            profile=JudgeProfile(temperature=0.5, seed=7),
        )
    assert found.is_complete
    assert found.measurements[0].parameters == "temperature 0.5, seed 7"


def test_temperature_0_finds_the_replies_of_the_default_however_it_is_typed() -> None:
    with answering_server() as server:
        found = evaluate(CONVERSATIONS[:1], judge="openai:m", base_url=server.url)
        again = evaluate(
            CONVERSATIONS[:1],
            judge="openai:m",
            base_url=server.url,
            profile=JudgeProfile(temperature=0),
            replies=found.replies,
        )
    assert found.calls
    assert (again.calls, again.is_complete) == (0, True)
    assert evaluate(CONVERSATIONS[:1], profile=JudgeProfile(temperature=0)).is_complete, "offline"
