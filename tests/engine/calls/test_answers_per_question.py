"""No question is answered more often than eight times, over HTTP, whatever comes back."""

import asyncio
import contextlib
import random
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from faithtui import single_turn
from faithtui.engine.calls.answers_per_question import MOST_ANSWERS
from faithtui.engine.calls.ask import Asker, BoundAsk
from faithtui.engine.calls.metric_driver import assess_conversation
from faithtui.engine.calls.reply_cache import MemoryReplyCache
from faithtui.errors import FaithtuiError, JudgeAnswersUsedUp, JudgeError
from faithtui.judges.registry import open_judge
from faithtui.metrics.base import AGAIN_SUFFIX, JudgeTraits, Metric, Question
from faithtui.metrics.prompt_texts import load_prompts
from faithtui.metrics.questions import STEPS, make_pooled_claims_question
from faithtui.metrics.registry import METRICS, build
from tests.judges.fake_server import Answer, FakeServer, fake_server
from tests.judges.questions import KEY

T = TypeVar("T")
Steps = list[tuple[Metric[Any], list[str]]]
"""Metrics with the kinds of questions each asks."""


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with fake_server() as fake:
        yield fake


CONVERSATION = single_turn(
    "How long can I return it?",
    "Returns are possible for a year. Shipping is free.",
    ["Returns are possible for thirty days. Shipping costs five euros."],
)

OTHER_WORDS = '{"verdict": "perhaps", "reason": "r", "supports": [], "contradicts": []}'

BAD = {
    "prose": ("I would rather chat about the weather.", False),
    "empty": ("", False),
    "empty-object": ("{}", False),
    "cut-json": ('{"c0": {"reason": "it sa', False),
    "cut-by-length": ("YES", True),
    "json-cut-by-length": ('{"c0": {"reason": "it sa', True),
    "other-words": (f'{{"c0": {OTHER_WORDS}, "c1": {OTHER_WORDS}, "s0": {OTHER_WORDS}}}', False),
    "html": ("<html><title>Sign in</title></html>", False),
    "null": ("null", False),
    "yes-3000-times": ("yes " * 3000, False),
}


def body(provider: str, text: str, is_cut: bool) -> dict[str, Any]:
    """Wrap a model's text as the provider does."""
    if provider == "openai":
        message = {"role": "assistant", "content": text}
        finish = "length" if is_cut else "stop"
        return {
            "id": "1",
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5},
        }
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "max_tokens" if is_cut else "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def configurations() -> Iterator[Metric[Any]]:
    """Every metric with every strategy it has, by our rules and by the peer's."""
    for entry in METRICS:
        key = entry.spec.key
        for options in ({}, {"as_peer": True}):
            yield build(key, options)
            if key.startswith("turn-"):
                yield build(key, {**options, "strategy": "window"})


@dataclass(frozen=True)
class OneStepElsewhere:
    """Sends the questions of one step to a provider, and all others to the embedded judge."""

    embedded: BoundAsk
    provider: BoundAsk | None
    step: str
    seen: set[str]

    judge_traits = JudgeTraits()

    def hold_answer_slot(self) -> AbstractAsyncContextManager[object]:
        return self.embedded.hold_answer_slot()

    async def __call__(self, question: Question[T], window: int | None = None) -> T:
        self.seen.add(question.step)
        chosen = (
            self.provider
            if question.step.removesuffix(AGAIN_SUFFIX) == self.step
            else self.embedded
        )
        return await (chosen or self.embedded)(question, window)


async def no_wait(seconds: float) -> None:
    pass


async def measured(metric: Metric[Any], ask: OneStepElsewhere) -> None:
    """Take a metric through a conversation, as far as it goes."""
    # Under a peer's rules one failure loses the conversation.
    with contextlib.suppress(FaithtuiError):
        await assess_conversation(metric, CONVERSATION, ask)


@pytest.fixture(scope="module")
def steps() -> Steps:
    """List all configurations with the kinds of questions each asks."""

    async def list_steps() -> Steps:
        found = []
        async with open_judge("offline") as offline:
            embedded = Asker(offline, MemoryReplyCache()).bind_to_item(None)
            for metric in configurations():
                seen: set[str] = set()
                await measured(metric, OneStepElsewhere(embedded, None, "", seen))
                found.append((metric, sorted(seen)))
        return found

    return asyncio.run(list_steps())


def judge_at(server: FakeServer, provider: str) -> AbstractAsyncContextManager[Any]:
    url = server.url + ("/v1" if provider == "openai" else "")
    return open_judge(f"{provider}:m", base_url=url, environ={"FAITHTUI_JUDGE_KEY": KEY})


async def counts(server: FakeServer, provider: str, steps: Steps) -> dict[str, int]:
    """Count what each kind of question of each metric costs at a server that always says the same.

    Returns:
        Requests by metric and step.
    """
    found: dict[str, int] = {}
    async with judge_at(server, provider) as judge, open_judge("offline") as offline:
        embedded = Asker(offline, MemoryReplyCache()).bind_to_item(None)
        for number, (metric, its_steps) in enumerate(steps):
            for step in its_steps:
                server.sent.clear()
                asker = Asker(judge, MemoryReplyCache(), pause=no_wait)
                ask = OneStepElsewhere(embedded, asker.bind_to_item(None), step, set())
                await measured(metric, ask)
                found[f"{number} {metric.spec.key} {step}"] = len(server.sent)
    return found


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("name", BAD)
async def test_no_question_of_any_metric_costs_more_than_the_limit(
    name: str, provider: str, server: FakeServer, steps: Steps
) -> None:
    server.answer(body(provider, *BAD[name]))
    found = await counts(server, provider, steps)
    assert len({key.split()[1] for key in found}) == 5
    assert len(found) > 30
    assert {key: count for key, count in found.items() if not 1 <= count <= MOST_ANSWERS} == {}


@pytest.mark.thorough
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_page_in_place_of_json_counts_as_an_answer(
    provider: str, server: FakeServer, steps: Steps
) -> None:
    server.answer("<html><title>Sign in</title></html>", content_type="text/html")
    found = await counts(server, provider, steps)
    assert {key: count for key, count in found.items() if not 1 <= count <= MOST_ANSWERS} == {}


@pytest.mark.parametrize(
    "provider", ["openai", pytest.param("anthropic", marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize("seed", range(4))
async def test_no_mixture_of_bad_answers_gets_past_the_limit(
    seed: int, provider: str, server: FakeServer, steps: Steps
) -> None:
    luck = random.Random(seed)
    async with judge_at(server, provider) as judge, open_judge("offline") as offline:
        embedded = Asker(offline, MemoryReplyCache()).bind_to_item(None)
        for _ in range(40):
            metric, its_steps = luck.choice(steps)
            step = luck.choice(its_steps)
            server.sent.clear()
            server.script = [
                Answer(body(provider, *luck.choice(list(BAD.values())))) for _ in range(30)
            ]
            asker = Asker(judge, MemoryReplyCache(), pause=no_wait)
            ask = OneStepElsewhere(embedded, asker.bind_to_item(None), step, set())
            await measured(metric, ask)
            assert 1 <= len(server.sent) <= MOST_ANSWERS, (metric.spec.key, step)


def claims_question() -> Question[tuple[str, ...]]:
    steps = {step: STEPS[step] for step in ("system", "pooled-claims")}
    return make_pooled_claims_question(load_prompts("shared", steps, None), [], [])


async def test_reaching_the_limit_is_a_failure_that_says_what_came_last(server: FakeServer) -> None:
    """Pages in place of JSON, cut answers and such of the wrong shape draw on one count."""
    page = Answer("<html><title>Sign in</title></html>", content_type="text/html")
    cut = Answer(body("openai", '{"claims": ["It is fr', True))
    odd = Answer(body("openai", '{"claims": 3}', False))
    server.script = [page, page, cut, page, odd, page, page, cut, page, page]
    question = claims_question()
    async with judge_at(server, "openai") as judge:
        asker = Asker(judge, MemoryReplyCache(), pause=no_wait)
        with pytest.raises(JudgeError) as caught:
            await asker.ask(question, None)
    assert len(server.sent) == MOST_ANSWERS
    assert isinstance(caught.value, JudgeAnswersUsedUp)
    assert (asker.tally.calls, asker.tally.calls_again) == (3, 3)
    assert "`claims` was answered 8 times, the most that a question may cost" in str(caught.value)
    assert "ran into the limit of tokens. Choose another model" in str(caught.value)


async def test_a_question_that_waits_for_another_ones_answers_counts_them_too(
    server: FakeServer,
) -> None:
    """Equal questions share a call; the first one is given up, and the other one goes on."""
    bad = Answer(body("openai", '{"claims": 3}', False))
    server.script = [bad] * 30
    first, second = claims_question(), claims_question()
    async with judge_at(server, "openai") as judge:
        asker = Asker(judge, MemoryReplyCache(), pause=no_wait)
        both = await asyncio.gather(
            asker.ask(first, None), asker.ask(second, None), return_exceptions=True
        )
    assert all(isinstance(each, JudgeError) for each in both)
    assert len(server.sent) == 3, "both are repaired by the same questions"
    assert first.count.answers == second.count.answers == 3


async def test_a_limit_that_another_question_reached_leaves_this_one_its_answers(
    server: FakeServer,
) -> None:
    bad, good = (
        Answer(body("openai", text, False)) for text in ('{"claims": 3}', '{"claims": ["Free."]}')
    )
    server.script = [bad, good]
    first, second = claims_question(), claims_question()
    first.count.answers = MOST_ANSWERS - 1
    async with judge_at(server, "openai") as judge:
        asker = Asker(judge, MemoryReplyCache(), pause=no_wait)
        one, other = await asyncio.gather(
            asker.ask(first, None), asker.ask(second, None), return_exceptions=True
        )
    assert isinstance(one, JudgeAnswersUsedUp)
    assert other == ("Free.",)


async def test_refusals_cost_nothing_and_are_not_counted(server: FakeServer) -> None:
    """Ten times "too many requests", and the answer after them still counts as the first."""
    busy = Answer({"error": {"message": "slow down"}}, status=429)
    good = Answer(body("openai", '{"claims": ["It is free."]}', False))
    server.script = [*[busy] * 10, good]
    question = claims_question()
    async with judge_at(server, "openai") as judge:
        asker = Asker(judge, MemoryReplyCache(), pause=no_wait)
        assert await asker.ask(question, None) == ("It is free.",)
    assert len(server.sent) == 11
    assert question.count.answers == 1
    assert (asker.tally.calls, asker.tally.calls_again, asker.tally.retries) == (1, 0, 10)
