"""What is given out next: urgent work at once, the rest when nobody waits for the app."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from faithtui.store.file.write_queue import (
    LEAST_WORK_S,
    LONGEST_REST_S,
    MOST_TOGETHER,
    WriteQueue,
)
from faithtui.store.store import Store


class Clock:
    """A time that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def seconds(self) -> float:
        return self.now


class Writer:
    """Takes what the queue gives out, in a thread, and tells of each job."""

    def __init__(self, queue: WriteQueue) -> None:
        self.queue = queue
        self.done: list[str] = []
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def put(self, name: str, *, urgent: bool = False) -> Callable[[], object]:
        future = self.queue.add_job(lambda: self.done.append(name), urgent=urgent, shares=False)
        assert future is not None
        return future.result

    def _work(self) -> None:
        for jobs in self.queue.iter_started_batches():
            for job in jobs:
                job.run_and_resolve()

    def end(self) -> None:
        self.queue.close_unless_closed()
        self.thread.join()


def test_what_is_urgent_does_not_rest() -> None:
    clock = Clock()
    queue = WriteQueue(clock.seconds)
    queue.delay_non_urgent_work(0.08)
    writer = Writer(queue)
    writer.put("reply")
    writer.put("label", urgent=True)()
    assert writer.done == ["label"]
    clock.now += 0.08
    writer.put("another label", urgent=True)()
    writer.end()
    assert writer.done[0] == "label"
    assert sorted(writer.done[1:]) == ["another label", "reply"]


def test_keys_without_end_leave_the_writer_time_of_its_own() -> None:
    clock = Clock()
    queue = WriteQueue(clock.seconds)
    queue.delay_non_urgent_work(LONGEST_REST_S * 10)
    writer = Writer(queue)
    first, second, third = (writer.put(name) for name in ("one", "two", "three"))
    writer.put("label", urgent=True)()
    assert writer.done == ["label"]
    clock.now += LONGEST_REST_S
    queue.delay_non_urgent_work(LONGEST_REST_S * 10)
    first()
    second()
    third()
    assert writer.done == ["label", "one", "two", "three"], "for as long as the time stands still"
    clock.now += LEAST_WORK_S
    fourth = writer.put("four")
    writer.put("another label", urgent=True)()
    assert writer.done[-1] == "another label"
    writer.end()
    fourth()
    assert writer.done[-1] == "four", "at the end all of it is written"


def test_without_a_rest_all_is_given_out_in_its_order() -> None:
    writer = Writer(WriteQueue())
    results = [writer.put(str(number)) for number in range(20)]
    for result in results:
        result()
    writer.end()
    assert writer.done == [str(number) for number in range(20)]


def test_no_more_jobs_share_a_transaction_than_may() -> None:
    queue = WriteQueue()
    for _ in range(MOST_TOGETHER + 3):
        queue.add_job(lambda: None, urgent=False, shares=True)
    queue.close_unless_closed()
    assert [len(jobs) for jobs in queue.iter_started_batches()] == [MOST_TOGETHER, 3]


def test_a_job_that_shares_with_none_is_alone() -> None:
    queue = WriteQueue()
    for shares in (True, True, False, True):
        queue.add_job(lambda: None, urgent=False, shares=shares)
    queue.close_unless_closed()
    assert [len(jobs) for jobs in queue.iter_started_batches()] == [2, 1, 1]


def test_whoever_computes_much_waits_while_urgent_work_waits_or_runs() -> None:
    queue = WriteQueue(Clock().seconds)
    began, go_on = threading.Event(), threading.Event()
    order: list[str] = []

    def is_at_hand() -> bool:
        return queue.is_urgent_work_at_hand

    def save_label() -> None:
        began.set()
        go_on.wait()
        order.append("label")

    label = queue.add_job(save_label, urgent=True, shares=False)
    dropped = queue.add_job(lambda: None, urgent=True, shares=False)
    assert label is not None
    assert dropped is not None
    dropped.cancel()
    assert is_at_hand()
    writer = Writer(queue)
    began.wait()

    def read_on() -> None:
        queue.wait_for_urgent_work()
        order.append("next record")

    reader = threading.Thread(target=read_on)
    reader.start()
    assert is_at_hand()
    go_on.set()
    reader.join()
    assert order == ["label", "next record"]
    assert not is_at_hand()
    queue.wait_for_urgent_work()
    writer.end()


def test_a_label_waits_for_one_of_the_writes_that_share_a_transaction(tmp_path: Path) -> None:
    order: list[int | str] = []
    labels: list[Future[None]] = []
    began, go_on = threading.Event(), threading.Event()

    def hold_writer() -> None:
        began.set()
        go_on.wait()

    with Store.open(tmp_path / "s.db") as store:

        def write_reply(number: int) -> int:
            order.append(number)
            if number == 1:
                labels.append(store.submit(order.append, "label", urgent=True))
            return number

        store.submit(hold_writer)
        began.wait()
        replies = [store.submit(write_reply, number, shares=True) for number in range(5)]
        go_on.set()
        assert [each.result() for each in replies] == [0, 1, 2, 3, 4]
        labels[0].result()
    assert order == [0, 1, "label", 2, 3, 4]


def test_an_urgent_job_that_was_given_back_is_waited_for_once() -> None:
    queue = WriteQueue()
    for _ in range(3):
        queue.add_job(lambda: None, urgent=True, shares=True)
    batches = queue.iter_started_batches()
    first = next(batches)
    queue.give_back_unrun_jobs(first[1:])
    second = next(batches)
    assert len(second) == 2
    at_hand = [queue.is_urgent_work_at_hand]
    queue.close_unless_closed()
    assert next(batches, None) is None
    at_hand.append(queue.is_urgent_work_at_hand)
    assert at_hand == [True, False]
    queue.wait_for_urgent_work()  # and does not wait for ever
