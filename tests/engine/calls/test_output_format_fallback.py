import asyncio

import pytest

from faithtui.engine.calls.output_format_fallback import MOST_WASTED, OutputFormatFallback
from faithtui.errors import JudgeSpeaksNoJson, JudgeUnsupported
from faithtui.judges.base import OutputFormat

ALL = tuple(OutputFormat)
NO_SCHEMA = JudgeUnsupported("no schemas here", status=400)


def test_a_judge_without_output_formats_needs_none() -> None:
    fallback = OutputFormatFallback("offline", ())
    assert fallback.output_format is None
    fallback.record_success(None)


def test_what_is_refused_steps_down_once_for_all_who_asked_so() -> None:
    steps: list[tuple[OutputFormat, OutputFormat]] = []
    fallback = OutputFormatFallback(
        "m", ALL, on_step=lambda left, taken: steps.append((left, taken))
    )
    for _ in range(5):
        fallback.record_refusal(OutputFormat.SCHEMA, NO_SCHEMA)
    assert fallback.output_format is OutputFormat.TOOL
    assert steps == [(OutputFormat.SCHEMA, OutputFormat.TOOL)]


def test_a_judge_that_takes_no_form_is_given_up() -> None:
    fallback = OutputFormatFallback("m", (OutputFormat.SCHEMA,))
    with pytest.raises(JudgeSpeaksNoJson, match="no schemas here"):
        fallback.record_refusal(OutputFormat.SCHEMA, NO_SCHEMA)


def test_two_bad_replies_of_the_first_three_step_down() -> None:
    fallback = OutputFormatFallback("m", ALL)
    fallback.record_failure_worth_retrying(OutputFormat.SCHEMA)
    fallback.record_success(OutputFormat.SCHEMA)
    fallback.record_failure_worth_retrying(OutputFormat.SCHEMA)
    assert fallback.output_format is OutputFormat.TOOL


def test_bad_replies_later_on_are_the_replies_fault() -> None:
    fallback = OutputFormatFallback("m", ALL)
    for _ in range(3):
        fallback.record_success(OutputFormat.SCHEMA)
    for _ in range(20):
        fallback.record_failure_worth_retrying(OutputFormat.SCHEMA)
    assert fallback.output_format is OutputFormat.SCHEMA


def test_a_judge_that_never_answers_in_json_is_given_up_after_six_replies() -> None:
    fallback = OutputFormatFallback("m", ALL)
    wasted = 0

    def waste() -> None:
        nonlocal wasted
        while wasted < 100:
            wasted += 1
            assert fallback.output_format is not None
            fallback.record_failure_worth_retrying(fallback.output_format)

    with pytest.raises(JudgeSpeaksNoJson, match=r"6 answers.*choose another model"):
        waste()
    assert wasted == MOST_WASTED == 6


def test_what_works_is_told_once_and_known_the_next_time() -> None:
    found: list[OutputFormat] = []
    fallback = OutputFormatFallback("m", ALL, on_known=found.append)
    fallback.record_refusal(OutputFormat.SCHEMA, NO_SCHEMA)
    fallback.record_success(OutputFormat.TOOL)
    fallback.record_success(OutputFormat.TOOL)
    assert found == [OutputFormat.TOOL]
    later = OutputFormatFallback("m", ALL, known=OutputFormat.TOOL, on_known=found.append)
    assert later.output_format is OutputFormat.TOOL
    later.record_success(OutputFormat.TOOL)
    assert found == [OutputFormat.TOOL]


async def test_until_a_format_has_proved_itself_one_request_goes_at_a_time() -> None:
    fallback = OutputFormatFallback("m", ALL)
    together = most = 0

    async def ask() -> None:
        nonlocal together, most
        async with fallback.acquire_format() as output_format:
            together += 1
            most = max(most, together)
            await asyncio.sleep(0.001)
            together -= 1
            fallback.record_success(output_format)

    await ask()
    assert most == 1
    await asyncio.gather(*(ask() for _ in range(5)))
    assert most == 5


async def test_those_who_waited_for_the_first_ask_in_the_way_it_found() -> None:
    fallback = OutputFormatFallback("m", ALL)
    used: list[OutputFormat | None] = []

    async def ask() -> None:
        async with fallback.acquire_format() as output_format:
            used.append(output_format)
            await asyncio.sleep(0)
            if output_format is OutputFormat.SCHEMA:
                fallback.record_refusal(output_format, NO_SCHEMA)
            else:
                fallback.record_success(output_format)

    await asyncio.gather(*(ask() for _ in range(8)))
    assert used == [OutputFormat.SCHEMA] + [OutputFormat.TOOL] * 7


async def test_those_who_waited_for_a_format_that_works_go_together() -> None:
    fallback = OutputFormatFallback("m", ALL)
    together = most = 0

    async def ask() -> None:
        nonlocal together, most
        async with fallback.acquire_format() as output_format:
            together += 1
            most = max(most, together)
            await asyncio.sleep(0.01)
            together -= 1
            fallback.record_success(output_format)

    await asyncio.gather(*(ask() for _ in range(6)))
    assert most == 5


async def test_a_request_that_is_never_answered_does_not_make_the_others_wait_in_turn() -> None:
    fallback = OutputFormatFallback("m", ALL)
    began: list[int] = []

    async def ask(number: int) -> None:
        async with fallback.acquire_format():
            began.append(number)
            await asyncio.sleep(0.01)
            assert len(began) in (1, 6), "the first alone, the others together"

    await asyncio.gather(*(ask(number) for number in range(6)))
    assert began == [0, 1, 2, 3, 4, 5]


def test_a_bad_reply_that_leads_to_another_format_is_told_so_that_it_is_asked_again_there() -> None:
    fallback = OutputFormatFallback("m", ALL)
    assert not fallback.record_failure_worth_retrying(OutputFormat.SCHEMA)
    assert fallback.record_failure_worth_retrying(OutputFormat.SCHEMA)
    assert fallback.output_format is OutputFormat.TOOL
    assert fallback.record_failure_worth_retrying(OutputFormat.SCHEMA), (
        "one that was in flight meanwhile"
    )
    assert fallback.output_format is OutputFormat.TOOL


def test_only_what_was_wasted_since_the_last_usable_reply_counts() -> None:
    fallback = OutputFormatFallback("m", (OutputFormat.SCHEMA, OutputFormat.TEXT))
    fallback.record_failure_worth_retrying(OutputFormat.SCHEMA)
    fallback.record_success(OutputFormat.SCHEMA)
    assert fallback.record_failure_worth_retrying(OutputFormat.SCHEMA)
    for _ in range(MOST_WASTED - 2):
        assert not fallback.record_failure_worth_retrying(OutputFormat.TEXT)
    with pytest.raises(JudgeSpeaksNoJson):
        fallback.record_failure_worth_retrying(OutputFormat.TEXT)
