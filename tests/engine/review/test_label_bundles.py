"""Bundles of several people, taken in as one log."""

from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from itertools import permutations
from pathlib import Path

import pytest

from faithtui.domain.annotations import Action
from faithtui.engine.review.label_bundles import merge_bundles_into_store, write_bundle_file
from faithtui.engine.runs import runner
from faithtui.store.store import Store
from tests.engine.building import conversation, planned, store_with

Copies = Callable[[], Store]


@pytest.fixture
async def copies(tmp_path: Path) -> AsyncIterator[Copies]:
    """A judged conversation, of which everybody gets a copy."""
    with store_with(tmp_path / "base.db", [conversation("a", 1)]) as store:
        await runner.execute_run(store, planned(store), lambda event: None)
    content = (tmp_path / "base.db").read_bytes()
    with ExitStack() as stack:
        made: list[Path] = []

        def copy() -> Store:
            made.append(tmp_path / f"copy-{len(made)}.db")
            made[-1].write_bytes(content)
            return stack.enter_context(Store.open(made[-1]))

        yield copy


def say(store: Store, reviewer: str, verdict: str) -> None:
    run = store.runs.find_newest_run_id()
    assert run is not None
    claim = store.runs.read_review_view(store.runs.item_ids(run)[0], reviewer).claims[0]
    store.reviews.record(
        claim.id, reviewer, Action.BLIND, verdict, run=run, judge_verdict="yes", saw_judge=False
    )


def arrived(store: Store) -> list[tuple[int, str]]:
    """Clock and name of each act, in the order in which they were stored."""
    with store._database.open_reader() as connection:
        rows = connection.exec_driver_sql("SELECT clock, uid FROM human_label ORDER BY id").all()
    return [(clock, uid) for clock, uid in rows]


async def test_acts_of_several_files_are_stored_in_the_order_of_one_log(
    copies: Copies, tmp_path: Path
) -> None:
    files = []
    for number, (person, verdicts) in enumerate({"ann": "nyn", "bo": "y", "cy": "nn"}.items()):
        store = copies()
        for verdict in verdicts:
            say(store, person, {"y": "yes", "n": "no"}[verdict])
        files.append(tmp_path / f"{number}.jsonl")
        write_bundle_file(store, files[-1], force=False)
    orders = []
    for order in permutations(files):
        target = copies()
        assert merge_bundles_into_store(target, order).is_complete
        orders.append(arrived(target))
    assert len(orders[0]) == 6
    assert orders == [sorted(orders[0])] * len(orders)


async def test_an_act_of_several_files_has_its_earliest_clock(
    copies: Copies, tmp_path: Path
) -> None:
    store = copies()
    say(store, "ann", "no")
    early, late = tmp_path / "early.jsonl", tmp_path / "late.jsonl"
    write_bundle_file(store, early, force=False)
    assert '"clock":1,' in early.read_text()
    late.write_text(early.read_text().replace('"clock":1,', '"clock":5,'))
    for order in ([early, late], [late, early]):
        target = copies()
        assert merge_bundles_into_store(target, order).is_complete
        assert [clock for clock, _ in arrived(target)] == [1]
