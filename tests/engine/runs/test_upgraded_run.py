"""A run that was begun before judges had parameters and prompts had a second version goes on.

`runs/v15.sqlite` holds a run of turn faithfulness by `openai:m` over three conversations, begun by
the version before. It stopped in the third one, at its second comparison.
"""

import asyncio
import shutil
from pathlib import Path

import pytest

from faithtui.domain.judging.judge_profile import NO_PARAMETERS
from faithtui.engine.review.run_prompts import read_run_prompts_with_examples
from faithtui.engine.review.stored_questions import rebuild_questions
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.engine.runs.run_execution import open_run_judge
from faithtui.engine.runs.runner import execute_run
from faithtui.store.records import RunState
from faithtui.store.store import Store
from tests.engine.building import CountingJudge, opened, planned

OLDER = Path(__file__).parents[3] / "fixtures" / "databases" / "runs" / "v15.sqlite"
STORED = 23
"""Replies that the run had paid for."""


class OldJudge(CountingJudge):
    """Answers in the place of `openai:m`, under the name that replies were stored by."""

    ref = "openai:m"

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.fingerprint = store.runs.list_runs()[0].spec.judge_fingerprint


def stored_keys(store: Store) -> list[str]:
    items = store.runs.list_item_ids(store.runs.list_runs()[0].id)
    return [each.key for item in items for each in store.calls.list_item_calls(item)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Path(shutil.copy(OLDER, tmp_path / "older.db"))


def test_it_keeps_its_identity_and_sends_no_parameter(path: Path) -> None:
    with Store.open(path) as store:
        (run,) = store.runs.list_runs()
        assert run.spec.profile == NO_PARAMETERS
        assert run.spec.judge_fingerprint == ("openai-chat/1 json-schema http://judge.example/v1 m")
        open_run_judge(run, RunEnvironment())  # refuses a judge that is not what it was


def test_it_is_finished_and_buys_nothing_twice(path: Path) -> None:
    with Store.open(path) as store:
        (run,) = store.runs.list_runs()
        before = stored_keys(store)
        judge = OldJudge(store)
        done = asyncio.run(execute_run(store, run.id, lambda event: None, judge=opened(judge)))
        assert done is RunState.DONE
        after = stored_keys(store)
        assert len(before) == run.calls == STORED
        assert len(after) == len(set(after)) == STORED + len(judge.asked)
        assert all(
            "Parcel c-" in each.prompt or each.step == "final-reason" for each in judge.asked
        )
        assert len(judge.asked) <= 3


def test_its_questions_and_texts_are_those_that_were_sent(path: Path) -> None:
    with Store.open(path) as store:
        (run,) = store.runs.list_runs()
        shown = read_run_prompts_with_examples(store, run.id)
        assert (shown.version, shown.digest) == (1, run.spec.prompt_digest)
        assert "Rules:" not in shown.texts["evidence"]
        item = store.runs.list_item_ids(run.id)[1]
        calls = store.calls.list_item_calls(item)
        found = rebuild_questions(store, item, calls)
        assert found.problem is None
        assert {each.id for each in calls} <= found.requests.keys()
        claims = [each.prompt for each in found.requests.values() if each.step == "claims"]
        assert any(" ...\n" in each for each in claims), "earlier messages were cut"


def test_a_new_run_over_the_same_store_asks_with_the_second_version(path: Path) -> None:
    with Store.open(path) as store:
        run = planned(store, metric="turn-faithfulness")
        shown = read_run_prompts_with_examples(store, run)
        assert shown.version == 2
        assert "Rules:" in shown.texts["evidence"]
