import asyncio

import pytest

from faithtui.engine.calls.output_format_fallback import MOST_WASTED, OutputFormatFallback
from faithtui.errors import JudgeSpeaksNoJson, JudgeUnsupported
from faithtui.judges.base import OutputFormat

ALL = tuple(OutputFormat)
NO_SCHEMA = JudgeUnsupported("no schemas here", status=400)


def test_a_judge_without_rungs_needs_none() -> None:
    ladder = OutputFormatFallback("offline", ())
    assert ladder.output_format is None
    ladder.record_success(None)


def test_what_is_refused_steps_down_once_for_all_who_asked_so() -> None:
    steps: list[tuple[OutputFormat, OutputFormat]] = []
    ladder = OutputFormatFallback("m", ALL, on_step=lambda left, taken: steps.append((left, taken)))
    for _ in range(5):
        ladder.record_refusal(OutputFormat.SCHEMA, NO_SCHEMA)
    assert ladder.output_format is OutputFormat.TOOL
    assert steps == [(OutputFormat.SCHEMA, OutputFormat.TOOL)]


def test_a_judge_that_takes_no_form_is_given_up() -> None:
    ladder = OutputFormatFallback("m", (OutputFormat.SCHEMA,))
    with pytest.raises(JudgeSpeaksNoJson, match="no schemas here"):
        ladder.record_refusal(OutputFormat.SCHEMA, NO_SCHEMA)


def test_two_bad_replies_of_the_first_three_step_down() -> None:
    ladder = OutputFormatFallback("m", ALL)
    ladder.record_failure(OutputFormat.SCHEMA)
    ladder.record_success(OutputFormat.SCHEMA)
    ladder.record_failure(OutputFormat.SCHEMA)
    assert ladder.output_format is OutputFormat.TOOL


def test_bad_replies_later_on_are_the_replies_fault() -> None:
    ladder = OutputFormatFallback("m", ALL)
    for _ in range(3):
        ladder.record_success(OutputFormat.SCHEMA)
    for _ in range(20):
        ladder.record_failure(OutputFormat.SCHEMA)
    assert ladder.output_format is OutputFormat.SCHEMA


def test_a_judge_that_never_answers_in_json_is_given_up_after_six_replies() -> None:
    ladder = OutputFormatFallback("m", ALL)
    wasted = 0

    def waste() -> None:
        nonlocal wasted
        while wasted < 100:
            wasted += 1
            assert ladder.output_format is not None
            ladder.record_failure(ladder.output_format)

    with pytest.raises(JudgeSpeaksNoJson, match=r"6 answers.*choose another model"):
        waste()
    assert wasted == MOST_WASTED == 6


def test_what_works_is_told_once_and_known_the_next_time() -> None:
    found: list[OutputFormat] = []
    ladder = OutputFormatFallback("m", ALL, on_known=found.append)
    ladder.record_refusal(OutputFormat.SCHEMA, NO_SCHEMA)
    ladder.record_success(OutputFormat.TOOL)
    ladder.record_success(OutputFormat.TOOL)
    assert found == [OutputFormat.TOOL]
    later = OutputFormatFallback("m", ALL, known=OutputFormat.TOOL, on_known=found.append)
    assert later.output_format is OutputFormat.TOOL
    later.record_success(OutputFormat.TOOL)
    assert found == [OutputFormat.TOOL]


async def test_until_a_rung_has_proved_itself_one_request_goes_at_a_time() -> None:
    ladder = OutputFormatFallback("m", ALL)
    together = most = 0

    async def ask() -> None:
        nonlocal together, most
        async with ladder.acquire_format() as rung:
            together += 1
            most = max(most, together)
            await asyncio.sleep(0.001)
            together -= 1
            ladder.record_success(rung)

    await ask()
    assert most == 1
    await asyncio.gather(*(ask() for _ in range(5)))
    assert most == 5


async def test_those_who_waited_for_the_first_ask_in_the_way_it_found() -> None:
    ladder = OutputFormatFallback("m", ALL)
    used: list[OutputFormat | None] = []

    async def ask() -> None:
        async with ladder.acquire_format() as rung:
            used.append(rung)
            await asyncio.sleep(0)
            if rung is OutputFormat.SCHEMA:
                ladder.record_refusal(rung, NO_SCHEMA)
            else:
                ladder.record_success(rung)

    await asyncio.gather(*(ask() for _ in range(8)))
    assert used == [OutputFormat.SCHEMA] + [OutputFormat.TOOL] * 7


async def test_those_who_waited_for_a_rung_that_works_go_together() -> None:
    ladder = OutputFormatFallback("m", ALL)
    together = most = 0

    async def ask() -> None:
        nonlocal together, most
        async with ladder.acquire_format() as rung:
            together += 1
            most = max(most, together)
            await asyncio.sleep(0.01)
            together -= 1
            ladder.record_success(rung)

    await asyncio.gather(*(ask() for _ in range(6)))
    assert most == 5


async def test_a_request_that_is_never_answered_does_not_make_the_others_wait_in_turn() -> None:
    ladder = OutputFormatFallback("m", ALL)
    began: list[int] = []

    async def ask(number: int) -> None:
        async with ladder.acquire_format():
            began.append(number)
            await asyncio.sleep(0.01)
            assert len(began) in (1, 6), "the first alone, the others together"

    await asyncio.gather(*(ask(number) for number in range(6)))
    assert began == [0, 1, 2, 3, 4, 5]


def test_a_bad_reply_that_leads_to_another_rung_is_told_so_that_it_is_asked_again_there() -> None:
    ladder = OutputFormatFallback("m", ALL)
    assert not ladder.record_failure(OutputFormat.SCHEMA)
    assert ladder.record_failure(OutputFormat.SCHEMA)
    assert ladder.output_format is OutputFormat.TOOL
    assert ladder.record_failure(OutputFormat.SCHEMA), "one that was in the air meanwhile"
    assert ladder.output_format is OutputFormat.TOOL


def test_only_what_was_wasted_since_the_last_usable_reply_counts() -> None:
    ladder = OutputFormatFallback("m", (OutputFormat.SCHEMA, OutputFormat.TEXT))
    ladder.record_failure(OutputFormat.SCHEMA)
    ladder.record_success(OutputFormat.SCHEMA)
    assert ladder.record_failure(OutputFormat.SCHEMA)
    for _ in range(MOST_WASTED - 2):
        assert not ladder.record_failure(OutputFormat.TEXT)
    with pytest.raises(JudgeSpeaksNoJson):
        ladder.record_failure(OutputFormat.TEXT)
