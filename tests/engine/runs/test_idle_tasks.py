import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithtui.engine.runs.idle_tasks import StepCounter
from faithtui.metrics.concurrency import await_all

Tree = Any
"""A way to wait: a number of turns, a wait for good, or a list of trees in one of several forms."""

trees = st.recursive(
    st.one_of(st.integers(0, 3), st.just("for good")),
    lambda children: st.tuples(
        st.sampled_from(["together", "gather", "in turn", "shield"]),
        st.lists(children, min_size=1, max_size=4),
    ),
    max_leaves=30,
)


def ends(tree: Tree) -> bool:
    """Whether a tree of waits has an end."""
    if isinstance(tree, tuple):
        return all(map(ends, tree[1]))
    return isinstance(tree, int)


class Grove:
    """Waits as trees say, and counts the leaves it has come past."""

    def __init__(self) -> None:
        self.passed = 0

    async def wait(self, tree: Tree) -> None:
        match tree:
            case "for good":
                await asyncio.get_running_loop().create_future()
            case int():
                for _ in range(tree):
                    await asyncio.sleep(0)
                self.passed += 1
            case "together", children:
                await await_all(self.wait(each) for each in children)
            case "gather", children:
                await asyncio.gather(*map(self.wait, children))
            case "shield", children:
                for each in children:
                    await asyncio.shield(asyncio.ensure_future(self.wait(each)))
            case _, children:
                for each in children:
                    await self.wait(each)


def reached(tree: Tree) -> int:
    """Count the leaves that a tree comes past before it can go no further."""
    match tree:
        case "for good":
            return 0
        case int():
            return 1
        case "together" | "gather", children:
            return sum(map(reached, children))
        case _, children:
            count = 0
            for each in children:
                count += reached(each)
                if not ends(each):
                    break
            return count
    raise AssertionError(tree)


async def driven(tree: Tree) -> tuple[bool, int]:
    """Drive a tree until it is still; say whether it ended, and how far it came."""
    grove, steps = Grove(), StepCounter()
    with steps.count_steps():
        before = asyncio.all_tasks()
        task = asyncio.create_task(grove.wait(tree))
        await steps.wait_until_idle([task], lambda: False)
        has_ended = task.done()
        left = asyncio.all_tasks() - before
        for each in left:
            each.cancel()
        await asyncio.gather(*left, return_exceptions=True)
    return has_ended, grove.passed


@settings(max_examples=50, deadline=None)
@given(trees)
def test_tasks_are_driven_exactly_as_far_as_they_go(tree: Tree) -> None:
    assert asyncio.run(driven(tree)) == (ends(tree), reached(tree))


async def test_many_tasks_without_a_word_are_not_taken_for_still() -> None:
    tree: Tree = ("in turn", [("together", [0] * 2_000), ("together", [1] * 500)])
    assert await driven(tree) == (True, 2_500)


async def test_deep_nests_are_not_taken_for_still() -> None:
    tree: Tree = 0
    for form in ["together", "gather", "shield", "in turn"] * 20:
        tree = (form, [tree])
    assert await driven(tree) == (True, 1)


async def test_what_is_done_outside_the_loop_is_waited_for() -> None:
    steps = StepCounter()
    busy = True

    async def write() -> str:
        nonlocal busy
        await asyncio.to_thread(lambda: None)
        await asyncio.sleep(0.05)
        busy = False
        return "written"

    with steps.count_steps():
        task = asyncio.create_task(write())
        await steps.wait_until_idle([task], lambda: busy)
    assert await task == "written"
    assert not busy


async def test_an_error_ends_a_task_and_is_its_own() -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise ValueError("so")

    steps = StepCounter()
    with steps.count_steps():
        task = asyncio.create_task(fail())
        await steps.wait_until_idle([task], lambda: False)
    with pytest.raises(ValueError, match="so"):
        task.result()


async def test_the_loop_is_left_as_it_was() -> None:
    loop = asyncio.get_running_loop()
    before = loop.get_task_factory()
    with StepCounter().count_steps(), StepCounter().count_steps():
        assert loop.get_task_factory() is not before
        assert await asyncio.create_task(asyncio.sleep(0, "inner")) == "inner"
    assert loop.get_task_factory() is before
