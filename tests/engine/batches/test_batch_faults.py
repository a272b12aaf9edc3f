"""What goes wrong with batches, and what a run makes of it."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faithtui.engine.batches import batch_run
from faithtui.engine.batches.question_collector import TRIES
from faithtui.engine.runs import runner
from faithtui.engine.runs.events import RunEnded, RunEvent
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import ConfigError
from faithtui.judges.providers.batches import open_batch_client
from faithtui.judges.redaction import Redact
from faithtui.store.calls.batch_records import BatchState
from faithtui.store.records import ItemState, RunState
from faithtui.store.store import Store
from tests.engine.batch_provider import Provider, Twist, come_back, judged, provider
from tests.engine.building import conversation, store_with
from tests.judges.fake_batches import FakeBatches, Given

CONVERSATIONS = [conversation("a", 2), conversation("b", 1)]
STEPS = ["List the facts", "List the claims", "Judge"]


@pytest.fixture(params=["openai", pytest.param("anthropic", marks=pytest.mark.thorough)])
def anyone(request: pytest.FixtureRequest) -> Iterator[Provider]:
    with provider(request.param) as found:
        yield found


@pytest.fixture
def openai() -> Iterator[Provider]:
    with provider("openai") as found:
        yield found


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", CONVERSATIONS) as found:
        yield found


async def undisturbed(path: Path) -> list[object]:
    """What a run finds when nothing goes wrong."""
    with provider("openai") as sound, store_with(path, CONVERSATIONS) as store:
        run = sound.plan(store)
        await come_back(store, run)
        return judged(store, run)


def silent(event: RunEvent) -> None:
    """Hear nothing."""


async def once(store: Store, run: int, environment: RunEnvironment | None = None) -> RunState:
    return await runner.execute_run(store, run, silent, environment=environment)  # type: ignore[arg-type]  # a number


def first_times(count: int, given: tuple[int, Any] | str, about: str) -> Twist:
    """Give something else to each question about something, so often."""
    times: dict[str, int] = {}

    def twist(prompt: str) -> tuple[int, Any] | str | None:
        if about not in prompt or "could not be used" in prompt or times.get(prompt, 0) >= count:
            return None
        times[prompt] = times.get(prompt, 0) + 1
        return given

    return twist


async def test_a_lost_receipt_is_looked_for_and_nothing_is_bought_twice(
    store: Store, anyone: Provider, tmp_path: Path
) -> None:
    run = anyone.plan(store)
    anyone.batches.loses_creations = 1
    assert await once(store, run) is RunState.WAITING
    (row,) = store.batches.list_open_batches(run)
    assert (row.state, row.provider_id) == (BatchState.PLANNED, None)
    assert "are with the provider; " in (store.runs.read_run(run).reason or "")
    if anyone.name == "anthropic":
        # While it is at work nobody can tell whether it is the one: nothing is sent meanwhile.
        assert await once(store, run) is RunState.WAITING
        assert len(anyone.batches.batches) == 1
        anyone.batches.end(anyone.batches.batches[0])
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert anyone.sold_twice == []
    assert len(anyone.batches.batches) == 3
    assert judged(store, run) == await undisturbed(tmp_path / "u.db")


async def test_a_batch_that_never_came_to_be_is_made_again(
    store: Store, openai: Provider, tmp_path: Path
) -> None:
    run = openai.plan(store)
    openai.server.batches = Deaf(openai.batches)
    assert await once(store, run) is RunState.WAITING
    assert openai.batches.batches == []
    openai.server.batches = openai.batches
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert judged(store, run) == await undisturbed(tmp_path / "u.db")
    assert [row.reason for row in store.batches.list_failed_batches(run)] == [
        "the provider never got it"
    ]


class Deaf(FakeBatches):
    """Batches that cannot be made."""

    def __init__(self, other: FakeBatches) -> None:
        super().__init__(other.answer, batches=other.batches, files=other.files)

    def handle(self, method: str, path: str, headers: Any, body: bytes) -> Given:
        if method == "POST" and path == "/v1/batches":
            return 503, b'{"error": {"message": "try later"}}'
        return super().handle(method, path, headers, body)


PASSING = [
    (500, {"error": {"type": "api_error", "message": "it broke"}}),
    (429, {"error": {"type": "rate_limit_error", "message": "too many"}}),
    (200, {"odd": True}),
]


@pytest.mark.thorough
@pytest.mark.parametrize("given", PASSING, ids=["500", "429", "no message"])
async def test_a_line_that_failed_goes_into_the_next_batch(
    store: Store, anyone: Provider, tmp_path: Path, given: tuple[int, Any]
) -> None:
    anyone.twist = first_times(TRIES - 1, given, "Parcel a-1")
    run = anyone.plan(store)
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert judged(store, run) == await undisturbed(tmp_path / "u.db")
    assert anyone.sold_twice == []


async def test_a_line_that_fails_too_often_fails_its_conversation_and_no_other(
    store: Store, anyone: Provider
) -> None:
    anyone.twist = first_times(TRIES, PASSING[0], "Parcel a-1")
    run = anyone.plan(store)
    assert (await come_back(store, run))[-1] is RunState.DONE
    first, second = store.runs.read_item_rows(store.runs.list_item_ids(run))
    assert (first.state, second.state) == (ItemState.FAILED, ItemState.DONE)
    assert (first.reason or "").startswith("JudgeUnavailable: ")
    assert "it broke" in (first.reason or "")
    assert anyone.sold_twice == []
    # Asked to try again, it asks what failed, and nothing else.
    before = anyone.sold.copy()
    await runner.execute_run(store, run, silent, retry_unfinished=True)
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert store.runs.read_run(run).failed == 0
    assert anyone.sold_twice == []
    assert not any("Parcel b" in prompt for prompt in anyone.sold - before)


async def test_a_question_the_provider_does_not_take_is_asked_once(
    store: Store, anyone: Provider
) -> None:
    refusal = {"error": {"type": "invalid_request_error", "message": "not that"}}
    anyone.twist = first_times(9, (400, refusal), "Parcel a-1")
    run = anyone.plan(store)
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert {count for prompt, count in anyone.asked.items()} == {1}
    first = store.runs.read_item_rows(store.runs.list_item_ids(run))[0]
    assert (first.reason or "").startswith("JudgeRequestRejected: ")


@pytest.mark.thorough
@pytest.mark.parametrize("fate", ["expired", "cancelled"])
async def test_what_was_not_asked_in_time_is_asked_again(
    store: Store, anyone: Provider, tmp_path: Path, fate: str
) -> None:
    run = anyone.plan(store)
    anyone.batches.unasked = {str(number): fate for number in range(1, 50)}
    await once(store, run)
    await once(store, run)
    assert anyone.sold.total() == 1
    anyone.batches.unasked = {}
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert anyone.sold_twice == []
    assert judged(store, run) == await undisturbed(tmp_path / "u.db")


async def test_a_batch_that_somebody_else_cancelled_gives_what_it_has(
    store: Store, openai: Provider, tmp_path: Path
) -> None:
    run = openai.plan(store)
    await once(store, run)
    batch = openai.batches.batches[0]
    for name in list(batch.requests)[2:]:
        del batch.requests[name]  # they do not even appear in the results
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert openai.sold_twice == []
    assert judged(store, run) == await undisturbed(tmp_path / "u.db")


async def test_an_answer_of_the_wrong_shape_is_repaired_in_the_next_wave(
    store: Store, anyone: Provider, tmp_path: Path
) -> None:
    anyone.twist = first_times(1, '{"odd": 1}', "Parcel a-1")
    run = anyone.plan(store)
    events: list[RunEvent] = []
    states = await come_back(store, run, events=events)
    assert states[-1] is RunState.DONE
    repaired = [prompt for prompt in anyone.sold if "could not be used" in prompt]
    assert repaired
    assert all("An earlier answer" in prompt for prompt in repaired)
    assert anyone.sold_twice == []
    ends = [each.progress for each in events if isinstance(each, RunEnded)]
    assert sum(each.calls for each in ends) == sum(anyone.sold.values())
    assert sum(each.calls_again for each in ends) == len(repaired)
    calls = [
        call for item in store.runs.list_item_ids(run) for call in store.calls.list_item_calls(item)
    ]
    assert sum(not call.usable for call in calls) == len(repaired)
    assert {call.reply.batch_uid for call in calls} == {
        row.uid
        for row in store.batches.find_batches({call.reply.batch_uid or "" for call in calls})
    }


async def test_an_answer_that_stays_wrong_fails_after_two_repairs(
    store: Store, openai: Provider
) -> None:
    openai.twist = lambda prompt: '{"odd": 1}' if "Parcel a-1" in prompt else None
    run = openai.plan(store)
    assert (await come_back(store, run))[-1] is RunState.DONE
    tried = [prompt for prompt in openai.sold if "Parcel a-1" in prompt]
    bases = {prompt.split("\n\nAn earlier")[0].split("\n\nThe last")[0] for prompt in tried}
    assert len(tried) == 3 * len(bases)
    assert openai.sold_twice == []
    first, second = store.runs.read_item_rows(store.runs.list_item_ids(run))
    assert (first.state, second.state) == (ItemState.FAILED, ItemState.DONE)
    assert (first.reason or "").startswith("JudgeReplyInvalid: ")


async def test_a_wrong_key_in_the_results_stops_the_run_and_blames_no_question(
    store: Store, openai: Provider, tmp_path: Path
) -> None:
    openai.twist = first_times(TRIES + 1, (401, {"error": {"message": "who?"}}), "Parcel a-1")
    run = openai.plan(store)
    await once(store, run)
    for _ in range(TRIES + 1):
        assert await once(store, run) is RunState.STOPPED
        assert "answered 401: who?" in (store.runs.read_run(run).reason or "")
        assert await once(store, run) is RunState.WAITING
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert judged(store, run) == await undisturbed(tmp_path / "u.db")
    assert openai.sold_twice == []


async def test_results_that_break_off_are_kept_and_read_on_later(
    store: Store, anyone: Provider, tmp_path: Path
) -> None:
    run = anyone.plan(store)
    await once(store, run)
    anyone.batches.breaks = "cut"
    assert await once(store, run) is RunState.WAITING
    row = store.runs.read_run(run)
    asked = len(anyone.batches.batches[0].requests)
    assert 0 < row.calls < asked
    first = store.batches.list_open_batches(run)[0]
    assert len(store.batches.list_waiting_questions(first.uid)) == asked - row.calls
    assert await once(store, run) is RunState.WAITING
    assert len(store.batches.list_waiting_questions(first.uid)) == asked - row.calls, (
        "read as far as it goes"
    )
    anyone.batches.breaks = ""
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert judged(store, run) == await undisturbed(tmp_path / "u.db")
    assert anyone.sold_twice == []
    assert store.runs.read_run(run).calls == anyone.sold.total(), "nothing is counted twice"


async def test_a_batch_the_provider_does_not_have_is_not_bought_again_unasked(
    store: Store, anyone: Provider, tmp_path: Path
) -> None:
    run = anyone.plan(store)
    await once(store, run)
    lost = anyone.batches.batches.pop()
    assert await once(store, run) is RunState.STOPPED
    reason = store.runs.read_run(run).reason or ""
    assert f"does not have the batch {lost.id}" in reason
    assert f"faithtui batch cancel {run}" in reason
    assert anyone.batches.batches == []
    out = await batch_run.cancel_batches_of_run(store, run)
    assert out.questions == len(lost.requests)
    assert store.batches.sum_outstanding_of_run(run).questions == 0
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert judged(store, run) == await undisturbed(tmp_path / "u.db")


async def test_cancelling_asks_the_provider_and_keeps_what_was_answered(
    store: Store, anyone: Provider
) -> None:
    run = anyone.plan(store)
    await once(store, run)
    await batch_run.cancel_batches_of_run(store, run)
    assert anyone.batches.batches[0].cancelled
    assert store.runs.read_run(run).state is RunState.CANCELLED
    assert store.batches.sum_outstanding_of_run(run).batches == 1, "it is still to be read"
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert anyone.sold_twice == []


async def test_cancelling_a_batch_without_a_receipt_finds_it_or_lets_it_be(
    store: Store, openai: Provider
) -> None:
    run = openai.plan(store)
    openai.batches.loses_creations = 1
    await once(store, run)
    await batch_run.cancel_batches_of_run(store, run)
    assert openai.batches.batches[0].cancelled
    store.conversations.import_batch([conversation("new", 1)])
    other = openai.plan(store, metric="ragas-faithfulness")
    openai.server.batches = Deaf(openai.batches)
    await once(store, other)
    assert store.batches.list_open_batches(other)
    await batch_run.cancel_batches_of_run(store, other)
    assert store.batches.list_open_batches(other) == ()


async def test_an_account_that_takes_less_gets_less_and_one_after_the_other(
    store: Store, openai: Provider, tmp_path: Path
) -> None:
    run = openai.plan(store)
    openai.batches.refusal = "Enqueued token limit reached"
    await once(store, run)
    first = len(openai.batches.batches[0].requests)
    openai.server.batches = Small(openai.batches, first // 2)
    states = await come_back(store, run, 60)
    assert states[-1] is RunState.DONE
    sizes = [len(each.requests) for each in openai.batches.batches]
    assert sizes[0] == first
    assert all(size <= first // 2 for size in sizes[1:])
    assert openai.sold_twice == []
    assert judged(store, run) == await undisturbed(tmp_path / "u.db")


class Small(FakeBatches):
    """Batches of an account that may have so many questions at work at once."""

    def __init__(self, other: FakeBatches, most: int) -> None:
        super().__init__(other.answer, polls_until_end=0, batches=other.batches, files=other.files)
        self.most = most

    def handle(self, method: str, path: str, headers: Any, body: bytes) -> Given:
        at_work = sum(len(each.requests) for each in self.batches[1:] if not each.ended)
        assert at_work <= self.most
        return super().handle(method, path, headers, body)


@pytest.mark.parametrize("sentence", ["the file is odd", "limit of 0 questions"])
async def test_a_batch_refused_for_good_stops_the_run_with_the_providers_words(
    tmp_path: Path, openai: Provider, sentence: str
) -> None:
    with store_with(tmp_path / "s.db", [conversation("a", 1)]) as store:
        run = openai.plan(store)
        openai.batches.refusal = sentence
        await once(store, run)
        for _ in range(8):
            state = await once(store, run)
            if state is RunState.STOPPED:
                break
        assert state is RunState.STOPPED
        assert sentence in (store.runs.read_run(run).reason or "")
        assert store.runs.read_run(run).calls == 0
        openai.batches.refusal = None
        openai.batches.batches.clear()
        assert (await come_back(store, run, 60))[-1] is RunState.DONE


@pytest.mark.parametrize("name", ["openai", pytest.param("anthropic", marks=pytest.mark.thorough)])
async def test_a_server_without_batches_stops_the_run_and_says_what_to_do(
    store: Store, name: str
) -> None:
    with provider(name) as plain:
        run = plain.plan(store)
        plain.server.batches = None
        assert await once(store, run) is RunState.STOPPED
        assert "has no Batch API" in (store.runs.read_run(run).reason or "")
        assert store.batches.sum_outstanding_of_run(run).questions == 0


async def test_a_program_without_batches_is_named_with_another_way(
    store: Store, openai: Provider
) -> None:
    run = Provider("vllm", openai.server).plan(store)
    assert await once(store, run) is RunState.STOPPED
    reason = store.runs.read_run(run).reason or ""
    assert "vllm:w has no Batch API" in reason
    assert f"faithtui batch export {run} FILE" in reason
    assert openai.server.sent == []


async def test_a_question_that_cannot_be_written_fails_alone(
    store: Store, openai: Provider
) -> None:
    def about_b(text: str) -> str:
        if "b-0 weighs" in text:
            raise ValueError("not this one")
        return text

    redact: Redact = about_b
    environment = RunEnvironment(redact=redact)
    run = openai.plan(store, environment=environment)
    for _ in range(9):
        state = await once(store, run, environment)
        if state is not RunState.WAITING:
            break
    first, second = store.runs.read_item_rows(store.runs.list_item_ids(run))
    assert (first.state, second.state) == (ItemState.DONE, ItemState.FAILED)
    assert "redaction hook failed" in (second.reason or "")
    with pytest.raises(ConfigError, match="another way of redacting"):
        await once(store, run)


async def test_a_batch_that_is_being_sent_is_sent_when_the_run_is_cancelled(
    store: Store, openai: Provider
) -> None:
    run = openai.plan(store)
    slow = Slow(openai.batches)
    openai.server.batches = slow
    task = asyncio.create_task(once(store, run))
    await asyncio.to_thread(slow.asked.wait)
    task.cancel()
    await asyncio.sleep(0.05)
    slow.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    (row,) = store.batches.list_open_batches(run)
    assert (row.state, row.provider_id) == (BatchState.SENT, "batch_0")
    assert store.runs.read_run(run).state is RunState.WAITING


async def test_cancelled_twice_a_batch_is_looked_for_next_time(
    store: Store, openai: Provider
) -> None:
    run = openai.plan(store)
    slow = Slow(openai.batches)
    openai.server.batches = slow
    task = asyncio.create_task(once(store, run))
    await asyncio.to_thread(slow.asked.wait)
    task.cancel()
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    slow.go_on.set()
    (row,) = store.batches.list_open_batches(run)
    assert (row.state, row.provider_id) == (BatchState.PLANNED, None)
    openai.server.batches = openai.batches
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert openai.sold_twice == []


class Slow(FakeBatches):
    """Batches that take their time to be made."""

    def __init__(self, other: FakeBatches) -> None:
        super().__init__(other.answer, batches=other.batches, files=other.files)
        self.asked = threading.Event()
        self.go_on = threading.Event()

    def handle(self, method: str, path: str, headers: Any, body: bytes) -> Given:
        if method == "POST" and path == "/v1/batches":
            self.asked.set()
            self.go_on.wait(10)
        return super().handle(method, path, headers, body)


async def test_a_batch_refused_at_once_for_its_size_comes_back_smaller(
    store: Store, openai: Provider, tmp_path: Path
) -> None:
    run = openai.plan(store)
    openai.server.batches = Strict(openai.batches, 3)
    sizes = []
    for _ in range(40):
        state = await once(store, run)
        if state is RunState.STOPPED:
            assert "limit of 3" in (store.runs.read_run(run).reason or "")
            sizes.append(store.batches.list_failed_batches(run)[-1].requests)
        if state is RunState.DONE:
            break
    assert state is RunState.DONE
    assert sizes == [6], "half of it is taken"
    assert openai.sold_twice == []
    assert judged(store, run) == await undisturbed(tmp_path / "u.db")


class Strict(FakeBatches):
    """Batches that are refused when they are made if they hold too many questions."""

    def __init__(self, other: FakeBatches, most: int) -> None:
        super().__init__(other.answer, polls_until_end=0, batches=other.batches, files=other.files)
        self.most = most

    def handle(self, method: str, path: str, headers: Any, body: bytes) -> Given:
        if method == "POST" and path == "/v1/batches":
            newest = list(self.files.values())[-1]
            if newest.count(b"\n") > self.most:
                said = {"error": {"message": f"over the limit of {self.most}"}}
                return 400, json.dumps(said).encode()
        return super().handle(method, path, headers, body)


async def test_a_provider_that_says_nothing_leaves_the_run_waiting(
    store: Store, openai: Provider
) -> None:
    run = openai.plan(store)
    slow = Slow(openai.batches)
    openai.server.batches = slow
    clients = open_batch_client("openai:w", base_url=openai.server.url, timeout_s=0.3)
    assert (
        await batch_run.advance_run_without_waiting(store, run, silent, clients=clients)
        is RunState.WAITING
    )
    slow.go_on.set()
    assert "within 0.3 s" in (store.runs.read_run(run).reason or "")
    openai.server.batches = openai.batches
    assert (await come_back(store, run))[-1] is RunState.DONE
    assert openai.sold_twice == []


@pytest.mark.thorough
async def test_verdicts_that_are_missing_are_asked_for_again_in_another_batch(
    store: Store, anyone: Provider
) -> None:
    """Each time it is resumed after its end: three batches at most, of that question alone."""

    def without_verdicts(prompt: str) -> str | None:
        return '{"nothing": {}}' if "Truths:\n" in prompt else None

    anyone.twist = without_verdicts
    run = anyone.plan(store, options={"include_reason": "false"})
    assert (await come_back(store, run))[-1] is RunState.DONE
    row = store.runs.read_run(run)
    assert (row.failed, row.incomplete) == (0, 2)
    before = sum(anyone.sold.values())
    state = await runner.execute_run(store, run, silent, retry_unfinished=True)
    while state is RunState.WAITING:
        state = await runner.execute_run(store, run, silent, retry_unfinished=True)
    assert state is RunState.DONE
    assert store.runs.read_run(run).incomplete == 2
    again = sum(anyone.sold.values()) - before
    anyone.twist = lambda prompt: None
    state = await runner.execute_run(store, run, silent, retry_unfinished=True)
    while state is RunState.WAITING:
        state = await runner.execute_run(store, run, silent, retry_unfinished=True)
    row = store.runs.read_run(run)
    assert (state, row.incomplete, row.missing_verdicts) == (RunState.DONE, 0, 0)
    assert again == 2 * 3
    assert sum(anyone.sold.values()) - before - again == 2
    assert all("Truths:\n" in each for each in anyone.sold_twice)
