"""A run keeps the rule it was made by, whatever later versions make of nothing.

`runs/v7.sqlite` holds a run of turn faithfulness, version 2, by the embedded judge, one interaction
a window. By its rule windows without claims score 1.0: two of three in the conversation `mixed`,
and the only one of `small-talk`.
"""

import asyncio
import shutil
from pathlib import Path

import pytest

from faithtui.domain.labels.label_events import Action
from faithtui.domain.scores import make_score
from faithtui.engine.runs import run_planner, runner
from faithtui.engine.runs.request import RunRequest
from faithtui.errors import ConfigError
from faithtui.store.records import ItemRow
from faithtui.store.store import Store

OLDER = Path(__file__).parents[3] / "fixtures" / "databases" / "runs" / "v7.sqlite"


def items_of(store: Store) -> list[ItemRow]:
    (run,) = store.runs.list_runs()
    return list(store.runs.read_item_rows(store.runs.list_item_ids(run.id)))


def label(store: Store, word: str) -> None:
    """Say something of the run's only claim."""
    view = store.runs.read_conversation_for_review(items_of(store)[0].id, "me")
    (claim,) = view.claims
    store.label_log.append_label_event(
        claim.id,
        "me",
        Action.OVERRIDDEN,
        word,
        run=view.run.id,
        judge_verdict="yes",
        saw_judge=True,
    )


def test_scores_of_an_older_run_stay_as_they_were_stored(path: Path) -> None:
    shutil.copy(OLDER, path)
    with Store.open(path) as store:
        (run,) = store.runs.list_runs()
        assert (run.spec.metric_version, run.spec.rule.when_empty) == ("2", 1.0)
        assert (run.score, run.scored, run.undefined, run.undefined_windows) == (1.0, 2, 0, 0)
        for item in items_of(store):
            assert item.scores is not None
            assert item.scores.windowed == make_score(1.0)


@pytest.mark.parametrize(
    ("word", "windowed", "pooled"), [("no", 2 / 3, 0.0), ("x", 1.0, 1.0), ("yes", 1.0, 1.0)]
)
def test_with_overrides_an_older_run_is_scored_by_its_own_rule(
    path: Path, word: str, windowed: float, pooled: float
) -> None:
    shutil.copy(OLDER, path)
    with Store.open(path) as store:
        label(store, word)
        mixed, small_talk = items_of(store)
        assert mixed.corrected is not None
        assert small_talk.corrected is not None
        assert mixed.corrected.windowed.value == pytest.approx(windowed)
        assert mixed.corrected.pooled == make_score(pooled)
        assert small_talk.corrected.windowed == make_score(1.0)
        assert mixed.scores is not None
        assert mixed.scores.windowed == make_score(1.0)
        view = store.runs.read_conversation_for_review(mixed.id, "me")
        assert [each.score for each in view.windows] == [make_score(1.0)] * 3


def test_a_run_of_an_older_version_is_not_gone_on_with(path: Path) -> None:
    shutil.copy(OLDER, path)
    with Store.open(path) as store:
        (run,) = store.runs.list_runs()
        with pytest.raises(ConfigError, match="start a new run"):
            asyncio.run(
                runner.execute_run(store, run.id, lambda event: None, retry_unfinished=True)
            )
        again = run_planner.save_planned_run(
            store,
            RunRequest(metric="turn-faithfulness", judge="offline", options={"window_size": "1"}),
        )
        asyncio.run(runner.execute_run(store, again, lambda event: None))
        new = store.runs.read_run(again)
        assert (new.score, new.scored, new.undefined, new.undefined_windows) == (1.0, 1, 1, 3)
        assert store.runs.read_run(run.id).score == 1.0
