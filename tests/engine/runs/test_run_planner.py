from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from faithtui.domain.ids import RunId
from faithtui.engine.runs import run_planner
from faithtui.engine.runs.request import RunRequest
from faithtui.engine.runs.run_environment import RunEnvironment
from faithtui.errors import ConfigError
from faithtui.store.records import RunSpec, RunState
from faithtui.store.store import Store
from tests.engine.building import conversation, store_with


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with store_with(tmp_path / "s.db", [conversation("a"), conversation("b")]) as found:
        yield found


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (RunRequest(metric="nonsense"), "there is no metric `nonsense`"),
        (RunRequest(options={"window": "3"}), "has no option `window`"),
        (RunRequest(options={"window_size": "many"}), "option window_size"),
        (RunRequest(options={"window_size": "0"}), "window_size is 0"),
        (RunRequest(strategy="guess"), "option strategy"),
        (RunRequest(judge="oracle:x"), "oracle"),
        (RunRequest(judge="openai:gpt-x"), "variable OPENAI_API_KEY"),
        (RunRequest(judge="anthropic:claude-x"), "variable ANTHROPIC_API_KEY"),
        (RunRequest(sources=("nowhere",)), "there is no source `nowhere`; imported: parcels"),
        (RunRequest(limit=0), "limit is 0"),
        (RunRequest(concurrency=0), "concurrency is 0"),
        (RunRequest(prompts_dir=Path("/nonexistent")), "no prompt of turn-faithfulness"),
    ],
)
def test_an_order_that_cannot_be_is_refused_before_anything_is_written(
    store: Store, request_: RunRequest, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        run_planner.save_planned_run(store, request_, environ={})
    assert store.runs.list_runs() == ()


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    with (
        Store.open(tmp_path / "s.db") as store,
        pytest.raises(ConfigError, match="faithtui import"),
    ):
        run_planner.save_planned_run(store, RunRequest(), environ={})


def test_a_planned_run_holds_everything_needed_to_repeat_it(store: Store) -> None:
    order = RunRequest(options={"threshold": "none", "window_size": "3"}, limit=1)
    row = store.runs.read_run(run_planner.save_planned_run(store, order, environ={}))
    assert row.state is RunState.PLANNED
    assert row.conversations == 1
    assert row.spec.options["window_size"] == 3
    assert row.spec.options["threshold"] is None
    assert row.spec.rule.threshold is None
    assert len(row.spec.prompt_digest) == 64
    assert row.spec.peer == "deepeval 4.3.1"


def test_a_compatible_server_needs_no_key(store: Store) -> None:
    order = RunRequest(judge="openai:llama", base_url="http://127.0.0.1:1/v1")
    assert run_planner.save_planned_run(store, order, environ={}) == 1


def test_options_typed_for_several_metrics_go_to_those_that_have_them() -> None:
    ordered = ("turn_faithfulness", "ragas-faithfulness")
    typed = {"window_size": "3", "batch-size": "2", "verbose_mode": "true"}
    assert run_planner.select_metric_options("turn-faithfulness", typed, ordered) == {
        "window_size": "3",
        "verbose_mode": "true",
    }
    assert run_planner.select_metric_options("ragas-faithfulness", typed, ordered) == {
        "batch_size": "2",
        "verbose_mode": "true",
    }


def test_an_option_may_name_its_metric() -> None:
    ordered = ("turn-faithfulness", "deepevalex-faithfulness")
    typed = {"threshold": "0.7", "turn_faithfulness.threshold": "0.9"}
    assert run_planner.select_metric_options("turn-faithfulness", typed, ordered) == {
        "threshold": "0.9"
    }
    assert run_planner.select_metric_options("deepevalex-faithfulness", typed, ordered) == {
        "threshold": "0.7"
    }
    own_first = dict(reversed(typed.items()))
    assert run_planner.select_metric_options("turn-faithfulness", own_first, ordered) == {
        "threshold": "0.9"
    }, "its own counts, whichever was typed last"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("nonsense", "turn-faithfulness and ragas-faithfulness has no option `nonsense`"),
        ("deepevalex-faithfulness.threshold", "is not among the metrics of this run"),
        ("nowhere.threshold", "there is no metric `nowhere`"),
    ],
)
def test_an_option_of_no_metric_is_refused(typed: str, message: str) -> None:
    ordered = ("turn-faithfulness", "ragas-faithfulness")
    with pytest.raises(ConfigError, match=message):
        run_planner.select_metric_options("turn-faithfulness", {typed: "1"}, ordered)


@pytest.mark.parametrize("metric", ["turn-contextual-relevancy", "llamaindex-faithfulness"])
def test_imported_claims_are_refused_by_metrics_that_judge_something_else(
    store: Store, metric: str
) -> None:
    with pytest.raises(ConfigError, match="without imported claims"):
        run_planner.save_planned_run(
            store, RunRequest(metric=metric, claims="imported"), environ={}
        )


def test_a_judge_that_an_option_names_is_the_runs(store: Store) -> None:
    order = RunRequest(options={"model": "gpt-6-luna"}, judge="offline")
    with pytest.raises(ConfigError, match="openai:gpt-6-luna needs a key"):
        run_planner.save_planned_run(store, order, environ={})
    row = store.runs.read_run(
        run_planner.save_planned_run(store, order, environ={"OPENAI_API_KEY": "sk-x"})
    )
    assert row.spec.judge == "openai:gpt-6-luna"
    assert row.spec.options["model"] == "gpt-6-luna"


def test_later_judges_of_an_order_get_the_claims_of_the_first(store: Store) -> None:
    ordered = [
        RunRequest(metric, judge=judge)
        for metric in ("turn-faithfulness", "turn-contextual-relevancy")
        for judge in ("offline", "vllm:m")
    ]
    runs = run_planner.save_planned_runs(store, ordered, RunEnvironment())
    kept = [(each.claims_from, each.claims_run) for each in specs(store, runs)]
    assert kept == [("extracted", None), ("run", runs[0]), ("extracted", None), ("extracted", None)]
    for changes in ({"claims": "own"}, {"as_peer": True}):
        own = [replace(each, **changes) for each in ordered[:2]]
        runs = run_planner.save_planned_runs(store, own, RunEnvironment())
        assert {each.claims_run for each in specs(store, runs)} == {None}


def test_an_order_with_a_run_that_cannot_be_leaves_nothing_planned(store: Store) -> None:
    ordered = [RunRequest(), RunRequest("turn-contextual-relevancy", claims="imported")]
    with pytest.raises(ConfigError, match="run it without imported claims"):
        run_planner.save_planned_runs(store, ordered, RunEnvironment())
    assert store.runs.list_runs() == ()


def specs(store: Store, runs: Sequence[RunId]) -> list[RunSpec]:
    return [store.runs.read_run(run).spec for run in runs]
