import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.engine.calls.ask import Asker
from faithtui.engine.calls.budget import NUSD, Budget, BudgetCaps, Expense
from faithtui.engine.calls.reply_cache import MemoryReplyCache
from faithtui.engine.calls.send import CallCounts
from faithtui.errors import BudgetReached, JudgeReplyInvalid, JudgeRequestRejected
from tests.engine.calls.test_ask import GOOD, ITEM, Answer, ScriptedJudge, question


async def turns(count: int = 10) -> None:
    """Let everybody go on who can."""
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_question_that_does_not_fit_is_not_asked() -> None:
    budget = Budget(BudgetCaps(nusd=100), Expense(90))
    with pytest.raises(BudgetReached, match=r"--budget-usd"):
        await budget.reserve(Expense(11))
    await budget.reserve(Expense(10))


async def test_tokens_are_a_budget_too() -> None:
    budget = Budget(BudgetCaps(tokens=1_000), Expense(5, 990))
    with pytest.raises(BudgetReached, match=r"1,000 tokens .* 990 are used .* --budget-tokens"):
        await budget.reserve(Expense(0, 11))


async def test_who_does_not_fit_waits_for_others_to_cost_less_than_they_might() -> None:
    budget = Budget(BudgetCaps(nusd=100))
    await budget.reserve(Expense(80))
    waiting = asyncio.create_task(budget.reserve(Expense(60)))
    await asyncio.sleep(0)
    assert not waiting.done()
    budget.replace_reserve_by_cost(Expense(80), Expense(40))
    await turns()
    assert waiting.done()
    await waiting
    assert budget.spent == Expense(40)


async def test_when_the_others_cost_all_they_might_it_ends_there() -> None:
    budget = Budget(BudgetCaps(nusd=100))
    await budget.reserve(Expense(80))
    waiting = asyncio.create_task(budget.reserve(Expense(60)))
    await asyncio.sleep(0)
    budget.replace_reserve_by_cost(Expense(80), Expense(80))
    await turns()
    assert waiting.done()
    with pytest.raises(BudgetReached):
        await waiting


async def test_what_other_processes_spend_counts() -> None:
    budget = Budget(BudgetCaps(nusd=100))
    await budget.reserve(Expense(10))
    budget.set_total_spent(Expense(95))
    budget.replace_reserve_by_cost(Expense(10), Expense(5))
    assert budget.spent == Expense(95)
    with pytest.raises(BudgetReached):
        await budget.reserve(Expense(6))


def test_the_sentence_is_in_dollars() -> None:
    budget = Budget(BudgetCaps(nusd=NUSD // 100), Expense(NUSD // 200))
    with pytest.raises(BudgetReached, match=r"\$0\.0100 .* \$0\.0050 is spent .* \$0\.0060"):
        asyncio.run(budget.reserve(Expense(NUSD * 6 // 1000)))


def asker_with(budget: Budget, *answers: Answer) -> Asker:
    return Asker(
        ScriptedJudge(*answers),
        MemoryReplyCache(),
        concurrency=1,
        budget=budget,
        tally=CallCounts(),
        on_retry=lambda step, error, wait_s: None,
        pause=asyncio.sleep,
    )


async def test_each_question_costs_what_its_reply_took_and_not_what_it_might_have() -> None:
    budget = Budget(BudgetCaps(tokens=100_000))
    ask = asker_with(budget, GOOD).bind_to_item(ITEM)
    for count in range(1, 4):
        await ask(question(f"Why {count}?"))
        assert budget.spent == Expense(0, count * 13), "10 tokens in and 3 out"
    await budget.reserve(Expense(0, 100_000 - 39))


async def test_a_question_that_is_not_answered_costs_nothing_and_an_odd_answer_does() -> None:
    budget = Budget(BudgetCaps(tokens=100_000))
    odd = replace(GOOD, text="I would rather not say.")
    ask = asker_with(budget, JudgeRequestRejected("no", status=400), odd).bind_to_item(ITEM)
    with pytest.raises(JudgeRequestRejected):
        await ask(question())
    assert budget.spent == Expense()
    with pytest.raises(JudgeReplyInvalid):
        await ask(question())
    assert budget.spent.tokens >= 13
    assert budget.spent.tokens % 13 == 0
    await budget.reserve(Expense(0, 100_000 - budget.spent.tokens))


@given(
    cap=st.integers(1, 1_000),
    calls=st.lists(st.tuples(st.integers(1, 200), st.floats(0, 1)), max_size=30),
)
def test_spending_never_goes_over(cap: int, calls: list[tuple[int, float]]) -> None:
    async def play() -> Budget:
        budget = Budget(BudgetCaps(nusd=cap))

        async def call(worst: int, share: float) -> None:
            await budget.reserve(Expense(worst))
            await asyncio.sleep(0)
            budget.replace_reserve_by_cost(Expense(worst), Expense(int(worst * share)))
            assert budget.spent.nusd <= cap

        everybody = asyncio.gather(*(call(*each) for each in calls), return_exceptions=True)
        await turns(10 * len(calls) + 10)
        assert everybody.done(), "nobody waits for what will not come"
        return budget

    assert asyncio.run(play()).spent.nusd <= cap
