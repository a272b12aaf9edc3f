"""A judge whose answers keep failing alike is not paid to the end, over HTTP and by itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.domain.judging.failure_limit import DEFAULT_FAILURE_LIMIT, FailureLimit
from faithtui.domain.scores import ScoreSet
from faithtui.engine.calls.answers_per_question import REPAIRS
from faithtui.engine.calls.circuit_breaker import CircuitBreaker
from faithtui.errors import JudgeKeepsFailing, JudgeRateLimited
from faithtui.store.records import RunState
from tests.engine.faulty_runs import STEPS, filled, judged, providers, soon
from tests.judges.fault_server import FaultServer, Rule, fault_server
from tests.judges.faults import Fault

CONVERSATIONS = 40
CONCURRENT = 8

MOST = (10 + 2 * CONCURRENT) * (1 + REPAIRS)
"""Ten questions with all their tries, and what was asked beside them."""


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        yield running


@providers
async def test_a_judge_that_always_answers_in_the_wrong_shape_is_given_up(
    tmp_path: Path, server: FaultServer, provider: str
) -> None:
    """Measured: 350 answers of no use were bought for 60 conversations; now it is about 40."""
    server.config.rules = (Rule((Fault("wrong_schema"),)),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
    assert ran.state is RunState.STOPPED
    assert "10 questions in a row failed in the same way" in (ran.row.reason or "")
    assert "has the wrong shape" in (ran.row.reason or "")
    assert len(ran.entries) <= MOST
    assert ran.row.failed <= 10
    assert ran.row.pending == CONVERSATIONS - ran.row.failed


@providers
async def test_a_judge_that_never_gives_a_verdict_is_given_up(
    tmp_path: Path, server: FaultServer, provider: str
) -> None:
    """Truths and claims are answered all the while; that is no success of the verdicts."""
    server.config.rules = (Rule((Fault("wrong_enum"),)),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, provider)
        assert ran.state is RunState.STOPPED
        assert "no answer to `verdicts` had a verdict" in (ran.row.reason or "")
        assert ran.kinds["wrong_enum"] <= MOST
        assert (ran.row.failed, ran.row.score) == (0, None)
        server.config.rules = ()
        last = await judged(store, server, provider, run=ran.run, retry_unfinished=True)
        assert (last.state, last.row.scored) == (RunState.DONE, CONVERSATIONS)
        asked = last.entries + ran.entries
        good = [each.question for each in asked if each.kind == "ok"]
        assert len(good) == len(set(good)), "what was answered is not bought twice"


@providers
async def test_it_goes_on_where_it_was_given_up(
    tmp_path: Path, server: FaultServer, provider: str, clean: list[ScoreSet | None]
) -> None:
    server.config.rules = (Rule((Fault("wrong_schema"),)),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        stopped = await judged(store, server, provider)
        again = await judged(store, server, provider, run=stopped.run, retry_unfinished=True)
        assert again.state is RunState.STOPPED
        assert len(again.entries) <= MOST
        server.config.rules = ()
        ran = await judged(store, server, provider, run=stopped.run, retry_unfinished=True)
    assert (ran.state, ran.row.done, ran.row.failed) == (RunState.DONE, CONVERSATIONS, 0)
    assert ran.scores[: len(clean)] == clean
    assert len(ran.entries) == CONVERSATIONS * STEPS


@providers
@pytest.mark.parametrize("knows", [("tool", "text"), ("tool", "json", "text")])
async def test_a_tool_that_is_called_with_nothing_is_given_up_for_text(
    tmp_path: Path, server: FaultServer, provider: str, knows: tuple[str, ...]
) -> None:
    """Measured: 3 answers to every question and no score; now one question is put once more."""
    server.config.knows = knows
    server.config.empty_tools = True
    with filled(tmp_path / "s.db", 6) as store:
        ran = await judged(store, server, provider)
    assert (ran.state, ran.row.scored) == (RunState.DONE, 6)
    assert ran.kinds["empty_tool"] == 1
    assert {each.output_format for each in ran.entries if each.kind == "ok"} <= {"json", "text"}


async def test_a_share_of_the_conversations_may_fail(tmp_path: Path, server: FaultServer) -> None:
    server.config.rules = (Rule((Fault("refusal"),)),)
    with filled(tmp_path / "s.db", 40) as store:
        ran = await judged(store, server, max_failures=FailureLimit(share=0.25), concurrency=1)
    assert (ran.state, ran.row.failed) == (RunState.STOPPED, 11)
    assert "11 of 40 conversations failed or lack a verdict, more than 25%" in (
        ran.row.reason or ""
    )


async def test_all_may_fail_where_that_is_allowed(tmp_path: Path, server: FaultServer) -> None:
    server.config.rules = (Rule((Fault("refusal"),)),)
    with filled(tmp_path / "s.db", 30) as store:
        ran = await judged(store, server, max_failures=FailureLimit(share=1.0))
    assert (ran.state, ran.row.failed) == (RunState.DONE, 30)


async def test_a_judge_of_which_half_fails_is_not_given_up(
    tmp_path: Path, server: FaultServer
) -> None:
    faults = (Fault("wrong_schema"), Fault("refusal"))
    server.config.rules = (Rule(faults, probability=0.5),)
    with filled(tmp_path / "s.db", CONVERSATIONS) as store:
        ran = await judged(store, server, environment=soon())
    assert ran.state is RunState.DONE
    assert ran.row.failed > 10


def test_what_is_alike_is_counted_until_its_step_is_answered() -> None:
    breaker = CircuitBreaker(FailureLimit(in_a_row=3), 10)
    for n in range(2):
        breaker.record_failed_question_or_stop("verdicts", f"v{n}", "A", "so")
        breaker.record_failed_question_or_stop("verdicts", f"w{n}", "B", "so")
    breaker.record_failed_question_or_stop(
        "verdicts", "v1", "A", "the same question, for somebody else"
    )
    breaker.clear_failures_of_answered_step("truths")
    breaker.clear_failures_of_answered_step("verdicts-again")
    breaker.record_failed_question_or_stop("truths", "t0", "A", "so")
    breaker.record_failed_question_or_stop("claims", "c0", "A", "so")
    with pytest.raises(JudgeKeepsFailing, match="3 questions in a row"):
        breaker.record_failed_question_or_stop("verdicts-again", "v2", "A", "so")
    with pytest.raises(JudgeKeepsFailing, match="3 questions in a row"):
        breaker.record_failed_question_or_stop(
            "claims", "c1", "A", "what was on its way says the same"
        )


def test_who_is_asked_too_much_is_not_told_to_choose_another_model() -> None:
    breaker = CircuitBreaker(FailureLimit(in_a_row=1), 10)
    with pytest.raises(JudgeKeepsFailing, match="ask less at once with --concurrency, or allow"):
        breaker.record_question_error_or_stop("claims", "c0", JudgeRateLimited("too many"))


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("10", FailureLimit(in_a_row=10)),
        (" 5% ", FailureLimit(share=0.05)),
        ("2.5 %", FailureLimit(share=0.025)),
        ("100%", FailureLimit(share=1.0)),
        ("0%", FailureLimit(share=0.0)),
        ("0", None),
        ("-1", None),
        ("101%", None),
        ("ten", None),
        ("nan%", None),
        ("", None),
        ("5%%", None),
    ],
)
def test_a_limit_is_a_number_or_a_share(text: str, limit: FailureLimit | None) -> None:
    assert FailureLimit.parse(text) == limit
    if limit is not None:
        assert FailureLimit.parse(str(limit)) == limit


def test_ten_failures_are_the_limit_unless_another_is_set() -> None:
    assert FailureLimit(in_a_row=10) == DEFAULT_FAILURE_LIMIT
