import asyncio

import pytest

from faithtui.engine.calls.output_format_fallback import MOST_WASTED, Ladder
from faithtui.errors import JudgeSpeaksNoJson, JudgeUnsupported
from faithtui.judges.base import Rung

ALL = tuple(Rung)
NO_SCHEMA = JudgeUnsupported("no schemas here", status=400)


def test_a_judge_without_rungs_needs_none() -> None:
    ladder = Ladder("offline", ())
    assert ladder.rung is None
    ladder.worked(None)


def test_what_is_refused_steps_down_once_for_all_who_asked_so() -> None:
    steps: list[tuple[Rung, Rung]] = []
    ladder = Ladder("m", ALL, on_step=lambda left, taken: steps.append((left, taken)))
    for _ in range(5):
        ladder.refused(Rung.SCHEMA, NO_SCHEMA)
    assert ladder.rung is Rung.TOOL
    assert steps == [(Rung.SCHEMA, Rung.TOOL)]


def test_a_judge_that_takes_no_form_is_given_up() -> None:
    ladder = Ladder("m", (Rung.SCHEMA,))
    with pytest.raises(JudgeSpeaksNoJson, match="no schemas here"):
        ladder.refused(Rung.SCHEMA, NO_SCHEMA)


def test_two_bad_replies_of_the_first_three_step_down() -> None:
    ladder = Ladder("m", ALL)
    ladder.failed(Rung.SCHEMA)
    ladder.worked(Rung.SCHEMA)
    ladder.failed(Rung.SCHEMA)
    assert ladder.rung is Rung.TOOL


def test_bad_replies_later_on_are_the_replies_fault() -> None:
    ladder = Ladder("m", ALL)
    for _ in range(3):
        ladder.worked(Rung.SCHEMA)
    for _ in range(20):
        ladder.failed(Rung.SCHEMA)
    assert ladder.rung is Rung.SCHEMA


def test_a_judge_that_never_answers_in_json_is_given_up_after_six_replies() -> None:
    ladder = Ladder("m", ALL)
    wasted = 0

    def waste() -> None:
        nonlocal wasted
        while wasted < 100:
            wasted += 1
            assert ladder.rung is not None
            ladder.failed(ladder.rung)

    with pytest.raises(JudgeSpeaksNoJson, match=r"6 answers.*choose another model"):
        waste()
    assert wasted == MOST_WASTED == 6


def test_what_works_is_told_once_and_known_the_next_time() -> None:
    found: list[Rung] = []
    ladder = Ladder("m", ALL, on_known=found.append)
    ladder.refused(Rung.SCHEMA, NO_SCHEMA)
    ladder.worked(Rung.TOOL)
    ladder.worked(Rung.TOOL)
    assert found == [Rung.TOOL]
    later = Ladder("m", ALL, known=Rung.TOOL, on_known=found.append)
    assert later.rung is Rung.TOOL
    later.worked(Rung.TOOL)
    assert found == [Rung.TOOL]


async def test_until_a_rung_has_proved_itself_one_request_goes_at_a_time() -> None:
    ladder = Ladder("m", ALL)
    together = most = 0

    async def ask() -> None:
        nonlocal together, most
        async with ladder.turn() as rung:
            together += 1
            most = max(most, together)
            await asyncio.sleep(0.001)
            together -= 1
            ladder.worked(rung)

    await ask()
    assert most == 1
    await asyncio.gather(*(ask() for _ in range(5)))
    assert most == 5


async def test_those_who_waited_for_the_first_ask_in_the_way_it_found() -> None:
    ladder = Ladder("m", ALL)
    used: list[Rung | None] = []

    async def ask() -> None:
        async with ladder.turn() as rung:
            used.append(rung)
            await asyncio.sleep(0)
            if rung is Rung.SCHEMA:
                ladder.refused(rung, NO_SCHEMA)
            else:
                ladder.worked(rung)

    await asyncio.gather(*(ask() for _ in range(8)))
    assert used == [Rung.SCHEMA] + [Rung.TOOL] * 7


async def test_those_who_waited_for_a_rung_that_works_go_together() -> None:
    ladder = Ladder("m", ALL)
    together = most = 0

    async def ask() -> None:
        nonlocal together, most
        async with ladder.turn() as rung:
            together += 1
            most = max(most, together)
            await asyncio.sleep(0.01)
            together -= 1
            ladder.worked(rung)

    await asyncio.gather(*(ask() for _ in range(6)))
    assert most == 5


async def test_a_request_that_is_never_answered_does_not_make_the_others_wait_in_turn() -> None:
    ladder = Ladder("m", ALL)
    began: list[int] = []

    async def ask(number: int) -> None:
        async with ladder.turn():
            began.append(number)
            await asyncio.sleep(0.01)
            assert len(began) in (1, 6), "the first alone, the others together"

    await asyncio.gather(*(ask(number) for number in range(6)))
    assert began == [0, 1, 2, 3, 4, 5]


def test_a_bad_reply_that_leads_to_another_rung_is_told_so_that_it_is_asked_again_there() -> None:
    ladder = Ladder("m", ALL)
    assert not ladder.failed(Rung.SCHEMA)
    assert ladder.failed(Rung.SCHEMA)
    assert ladder.rung is Rung.TOOL
    assert ladder.failed(Rung.SCHEMA), "one that was in the air meanwhile"
    assert ladder.rung is Rung.TOOL


def test_only_what_was_wasted_since_the_last_usable_reply_counts() -> None:
    ladder = Ladder("m", (Rung.SCHEMA, Rung.TEXT))
    ladder.failed(Rung.SCHEMA)
    ladder.worked(Rung.SCHEMA)
    assert ladder.failed(Rung.SCHEMA)
    for _ in range(MOST_WASTED - 2):
        assert not ladder.failed(Rung.TEXT)
    with pytest.raises(JudgeSpeaksNoJson):
        ladder.failed(Rung.TEXT)
